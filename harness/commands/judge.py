"""`klartext harness judge`: have a model judge answers, and see how far it agrees with people.

A live model as judge.

A judge's report for the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, Settings, friendly_errors
from harness.commands.options import CatalogOption
from harness.console import progress_bar
from harness.generation.answering import Keeping
from harness.judging.judge_prompts import JudgePrompt, load_instructions
from harness.judging.judge_report import Against, BothOrders, JudgeReport, Selection
from harness.llm.batch_files import ModelAnswer
from harness.llm.contract import ModelCall, Request
from harness.llm.opening import open_model

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
NOTE = """\
in sample: on the pairs that the aspects were chosen on. held out: on pairs that
the choice had not seen (5 folds by question, 10 splits); trust this one. -: too
few questions."""


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
    from harness.judging.judge_prompts import plan, write_judge_prompts

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
    from harness.llm.batch_files import read_answers

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
    from harness.generation.answering import Keeping
    from harness.judging.judge_prompts import plan
    from harness.llm.contract import ModelCall

    with friendly_errors():
        prompts = plan(run, mode, beside=beside, items=items, catalog=catalog)
        call = ModelCall(model, temperature, parallel=parallel)
        _take(run, answers_of(prompts, call, Keeping(replay, budget=budget), job=f"judge {run.absolute()}"), model)


def _take(run: Path, answers: Mapping[str, ModelAnswer], rater: str) -> None:
    from harness.judging.judge_answers import keep, take
    from harness.labelling.labels import Rater
    from harness.running.run import load_outcomes

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
    from harness.judging.judge_answers import judges_of
    from harness.judging.judge_report import report_of
    from harness.labelling.labels import Verdicts, label_files, load_labels
    from harness.running.results import load_run

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


def answers_of(
    prompts: Sequence[JudgePrompt], call: ModelCall, keeping: Keeping, *, job: str
) -> dict[str, ModelAnswer]:
    """Ask every prompt and return the answers by prompt id; those already in the store are not asked again.

    Raises:
        UserFixable: The model cannot be asked, or the budget is reached; what was answered is in the store.
    """
    settings = Settings.from_environment()
    answers: dict[str, ModelAnswer] = {}
    with open_model(settings, call, keeping.terms(settings, job=job)) as model, progress_bar("prompts") as bar:
        task = bar.add_task("prompts", total=len(prompts))
        for completion in model.complete([Request(prompt.id, prompt.messages) for prompt in prompts]):
            answers[completion.id] = ModelAnswer(completion.id, completion.text, call.model, completion.problem)
            bar.advance(task)
        for line in model.notes:
            print(line, file=sys.stderr)
    return answers


def print_judge(report: JudgeReport, whose: str, console: Console) -> None:
    """Print what a judge said and how far it agrees with labels by people (or by models, if so asked)."""
    console.print(f"Judge {report.judge}, beside labels by {whose}\n", style="bold")
    if report.aspects:
        console.print(_aspects(report, whose))
    if report.orders is not None:
        console.print(_orders(report.orders))
    for name, found in (("Comparison", report.compared), ("Rating", report.rated)):
        if found is not None:
            console.print(f"{name} and {whose}: {_against(found)}")
    for selection in report.selections:
        console.print()
        console.print(_selection(selection))
    if report.selections:
        console.print(NOTE, style="dim")
    console.print()


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    return table


def _aspects(report: JudgeReport, whose: str) -> Table:
    table = _table("Scores by aspect, share of the highest", "aspect", "n", "mean", f"tau with {whose}", "labelled")
    for aspect in report.aspects:
        cells = (str(aspect.n), f"{aspect.mean:.3f}", _number(aspect.tau), str(aspect.labelled))
        table.add_row(aspect.name, *cells, style="bold" if aspect.name == "total" else "")
    return table


def _orders(orders: BothOrders) -> str:
    share = f"{orders.inconsistent / orders.n:.1%}" if orders.n else "-"
    interval = f" [{orders.bias.low:.1%}, {orders.bias.high:.1%}]" if orders.bias else ""
    single = f" {orders.single} were judged in one order only and are left out." if orders.single else ""
    return (
        f"Both orders: {orders.n} pairs, {len(orders.preferences)} consistent; position bias {share}{interval}: "
        f"{orders.first} for the first, {orders.second} for the second, {orders.wavering} wavering.{single}"
    )


def _against(found: Against) -> str:
    between = f" [{found.interval.low:.2f}, {found.interval.high:.2f}]" if found.interval else ""
    return (
        f"n {found.n}, agreement {found.agreement:.3f}{between}, kappa {_number(found.kappa)}, tau {_number(found.tau)}"
    )


def _selection(selection: Selection) -> Table:
    names = [aspect.id for aspect in load_instructions().aspects]
    title = f"Aspects chosen by {selection.measure}, {selection.pairs} pairs"
    table = _table(title, "search", "in sample", "held out", "aspects")
    table.columns[3].justify = "left"
    for chosen in selection.chosen:
        held = _number(chosen.held_out) if chosen.spread is None else f"{chosen.held_out:.3f} ±{chosen.spread:.3f}"
        subset = "all" if len(chosen.subset) == len(names) else ", ".join(names[aspect] for aspect in chosen.subset)
        table.add_row(chosen.search, f"{chosen.in_sample:.3f}", held, subset)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
