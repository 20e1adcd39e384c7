"""`klartext harness judge`: have a model judge answers, and see how far it agrees with people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from bot import BadData, friendly_errors
from harness.options import CatalogOption

if TYPE_CHECKING:
    from harness.recording import ModelAnswer

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
ModeOption = Annotated[
    Literal["label", "rate", "compare"],
    typer.Option("--mode", help="Label as raters do, score aspects, or compare two runs."),
]
BesideOption = Annotated[
    Path | None, typer.Option("--beside", help="Another run of the suite; needed to compare.", metavar="RUN")
]
ItemsOption = Annotated[
    Literal["novel", "ambiguous", "all"],
    typer.Option("--items", help="Answers to novel questions, ambiguous ones, or both."),
]
judge = typer.Typer(help="A model as judge, and how far it agrees with people.", no_args_is_help=True)


@judge.command("export")
def export(
    run: RunArgument,
    out: Annotated[Path, typer.Option(help="Batch input file (JSONL) to write.")],
    mode: ModeOption = "label",
    beside: BesideOption = None,
    items: ItemsOption = "all",
    catalog: CatalogOption = "mammography",
    model: Annotated[str, typer.Option(help="Model named in the requests.")] = "gpt-4o",
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Default: left open.")] = None,
) -> None:
    """Write what a judge is asked as an OpenAI Batch input file, to be answered by any model anywhere."""
    from harness.judging.judge_plan import plan
    from harness.judging.judge_prompts import write_judge_prompts

    with friendly_errors():
        prompts = plan(run, mode, beside=beside, items=items, catalog=catalog)
        write_judge_prompts(prompts, out, model=model, temperature=temperature)
        print(f"{len(prompts)} prompts in {out}")


@judge.command("import")
def import_(
    run: RunArgument,
    files: Annotated[list[Path], typer.Argument(help="Batch output files (JSONL) with the answers.")],
    rater: Annotated[str, typer.Option(help="Name of the model. Default: as the answers say.", metavar="NAME")] = "",
) -> None:
    """Read a judge's answers into a run: labels beside those of people, scores and comparisons for `report`."""
    from harness.recording import read_answers

    with friendly_errors():
        _take(run, read_answers(files), rater)


@judge.command("ask")
def ask(
    run: RunArgument,
    model: Annotated[str, typer.Option(help="Model at KLARTEXT_MODEL_URL.")],
    mode: ModeOption = "label",
    beside: BesideOption = None,
    items: ItemsOption = "all",
    catalog: CatalogOption = "mammography",
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Default: left open.")] = None,
    parallel: Annotated[int, typer.Option(min=1, max=256, help="Requests under way at once.")] = 4,
    budget: Annotated[float | None, typer.Option(min=0, help="Most to spend, in the price table's currency.")] = None,
    replay: Annotated[bool, typer.Option("--replay/--record", help="Answer from the store only.")] = False,
) -> None:
    """Have a live model judge: what was answered is kept in the store, and not asked again."""
    from harness.judging.judge_live import answers_of
    from harness.judging.judge_plan import plan
    from harness.llm import ModelCall
    from harness.llm.generating import Keeping

    with friendly_errors():
        prompts = plan(run, mode, beside=beside, items=items, catalog=catalog)
        call = ModelCall(model, temperature, parallel=parallel)
        _take(run, answers_of(prompts, call, Keeping(replay, budget=budget), job=f"judge {run.absolute()}"), model)


def _take(run: Path, answers: Mapping[str, ModelAnswer], rater: str) -> None:
    from harness.judging.judge_records import keep, take
    from harness.labels import Rater
    from harness.run import load_outcomes

    known = {outcome.id for outcome in load_outcomes(run)}
    named = Rater(kind="model", name=rater or _model(list({answer.model for answer in answers.values()} - {""})))
    taken = take(answers, rater=named, known=known)
    if taken.strange:
        raise BadData(
            f"{len(taken.strange)} answers belong to no question of {run}, for example {taken.strange[0]!r}. "
            "Give the answers to the prompts that `judge export` wrote for this run."
        )
    keep(run, taken, named)
    unread = sum(taken.unread.values())
    print(
        f"{named.id}: {len(taken.labels)} labels, {len(taken.ratings)} ratings, "
        f"{len(taken.comparisons)} comparisons; {unread} answers could not be read and count nowhere"
    )


def _model(names: list[str]) -> str:
    if len(names) != 1:
        raise BadData(f"The answers name {len(names)} models. Say who judged: `--rater NAME`.")
    return names[0]


@judge.command("report")
def report(
    run: RunArgument,
    by: Annotated[Literal["person", "model"], typer.Option(help="Whose labels to compare with.")] = "person",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show how far each judge agrees with labels: scores, both orders, and the aspects that agree best."""
    from harness.comparison import load_run
    from harness.judging.judge_records import judges_of
    from harness.judging.judge_report import report_of
    from harness.judging.judge_tables import print_judge
    from harness.labels import Verdicts, label_files, load_labels

    with friendly_errors():
        judges = judges_of(run)
        if not judges:
            raise BadData(f"{run} has no judge's scores. Run `klartext harness judge export {run} --mode rate`.")
        labels = load_labels(label_files(run, load_run(run).identity.get("suite", "")))
        verdicts = Verdicts([label for label in labels if label.rater.kind == by])
        reports = [report_of(run, name, verdicts) for name in judges]
        if json_:
            print(json.dumps({"by": by, "judges": [each.as_json() for each in reports]}, indent=2, ensure_ascii=False))
            return
        for each in reports:
            print_judge(each, "people" if by == "person" else "models", Console(highlight=False, markup=False))
