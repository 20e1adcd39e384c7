"""`klartext harness judge`: have a model judge answers, and see how far it agrees with people.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Column, Table

from bot import BadData, Settings, friendly_errors
from harness.commands import options
from harness.console import plain_console, plain_table, print_json, progress_bar
from harness.labelling.labels import Rater, Verdicts, label_files, load_labels
from harness.llm.batch_files import ModelAnswer, read_answers, write_requests
from harness.running.run import load_outcomes, load_run

if TYPE_CHECKING:
    from harness.judging.judge import JudgePrompt
    from harness.judging.judge_report import Against, BothOrders, JudgeReport, Selection


TemperatureOption = Annotated[float | None, typer.Option(min=0, max=2, help="Default: left open.")]
NOTE = """\
in sample: on the pairs that the aspects were chosen on. held out: on pairs that
the choice had not seen (5 folds by question, 10 splits); trust this one. -: too
few questions."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What is judged, and how."""

    mode: Annotated[
        Literal["label", "rate", "compare"],
        typer.Option("--mode", help="Label as raters do, score aspects, or compare two runs."),
    ] = "label"
    beside: Annotated[
        Path | None, typer.Option("--beside", help="Another run of the suite; needed to compare.", metavar="RUN")
    ] = None
    items: options.Items = "all"
    catalog: options.CatalogPath = "mammography"

    def prompts(self, run: Path) -> list[JudgePrompt]:
        """Return what a judge is asked about a run."""
        from harness.judging.judge import plan

        return plan(run, self.mode, beside=self.beside, items=self.items, catalog=self.catalog)


def export(
    run: options.RunFolder,
    out: options.PromptsFile,
    judged: JudgeOptions,
    model: options.ModelName = "gpt-4o",
    temperature: TemperatureOption = None,
) -> None:
    """Write what a judge is asked as an OpenAI Batch input file, to be answered by any model anywhere."""
    with friendly_errors():
        prompts = judged.prompts(run)
        write_requests(prompts, out, model=model, temperature=temperature)
        print(f"{len(prompts)} prompts in {out}")


def import_(
    run: options.RunFolder,
    files: Annotated[list[Path], typer.Argument(help="Batch output files (JSONL) with the answers.")],
    rater: Annotated[str, typer.Option(help="Name of the model. Default: as the answers say.", metavar="NAME")] = "",
) -> None:
    """Read a judge's answers into a run: labels beside those of people, scores and comparisons for `report`."""
    with friendly_errors():
        _take(run, read_answers(files), rater)


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How a live judge is asked."""

    temperature: TemperatureOption = None
    parallel: options.Parallel = 4
    budget: options.Budget = None
    replay: options.Replay = False


def ask(
    run: options.RunFolder,
    model: Annotated[str, typer.Option(help="Model at KLARTEXT_MODEL_URL.")],
    judged: JudgeOptions,
    live: LiveOptions,
) -> None:
    """Have a live model judge: what was answered is kept in the store, and not asked again."""
    from harness.generation.answering import Keeping
    from harness.llm import ModelCall, Request, open_model

    with friendly_errors():
        prompts, settings = judged.prompts(run), Settings.from_environment()
        call = ModelCall(model, live.temperature, parallel=live.parallel)
        terms = Keeping(live.replay, budget=live.budget).terms(settings, job=f"judge {run.absolute()}")
        answers: dict[str, ModelAnswer] = {}
        with open_model(settings, call, terms) as opened, progress_bar("prompts", len(prompts)) as advance:
            for done in opened.complete([Request(prompt.id, prompt.messages) for prompt in prompts]):
                answers[done.id] = ModelAnswer(done.id, done.text, model, done.problem)
                advance()
            for line in opened.notes:
                print(line, file=sys.stderr)
        _take(run, answers, model)


def _take(run: Path, answers: Mapping[str, ModelAnswer], rater: str) -> None:
    from harness.judging.judge import keep, take

    known = {outcome.id for outcome in load_outcomes(run)}
    models = list({answer.model for answer in answers.values()} - {""})
    if not rater and len(models) != 1:
        raise BadData(f"The answers name {len(models)} models. Say who judged: `--rater NAME`.")
    named = Rater(kind="model", name=rater or models[0])
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


def report(
    run: options.RunFolder,
    by: Annotated[Literal["person", "model"], typer.Option(help="Whose labels to compare with.")] = "person",
    json_: options.Json = False,
) -> None:
    """Show how far each judge agrees with labels: scores, both orders, and the aspects that agree best."""
    from harness.judging.judge import judges_of
    from harness.judging.judge_report import report_of

    with friendly_errors():
        judges = judges_of(run)
        if not judges:
            raise BadData(f"{run} has no judge's scores. Run `klartext harness judge export {run} --mode rate`.")
        labels = load_labels(label_files(run, load_run(run).suite))
        verdicts = Verdicts([label for label in labels if label.rater.kind == by])
        reports = [report_of(run, name, verdicts) for name in judges]
        if json_:
            print_json({"by": by, "judges": [each.as_json() for each in reports]})
            return
        for each in reports:
            _print_judge(each, "people" if by == "person" else "models")


def _print_judge(report: JudgeReport, whose: str) -> None:
    """Print what a judge said and how far it agrees with labels by people (or by models, if so asked)."""
    console = plain_console()
    console.print(f"Judge {report.judge}, beside labels by {whose}\n", style="bold")
    if report.aspects:
        title = "Scores by aspect, share of the highest"
        table = plain_table(title, "aspect", "n", "mean", f"tau with {whose}", "labelled")
        for aspect in report.aspects:
            cells = (str(aspect.n), f"{aspect.mean:.3f}", _number(aspect.tau), str(aspect.labelled))
            table.add_row(aspect.name, *cells, style="bold" if aspect.name == "total" else "")
        console.print(table)
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
    kappa, tau = _number(found.kappa), _number(found.tau)
    return f"n {found.n}, agreement {found.agreement:.3f}{between}, kappa {kappa}, tau {tau}"


def _selection(selection: Selection) -> Table:
    from harness.judging.judge import load_instructions

    names = [aspect.id for aspect in load_instructions().aspects]
    title = f"Aspects chosen by {selection.measure}, {selection.pairs} pairs"
    table = plain_table(title, "search", "in sample", "held out", Column("aspects"))
    for chosen in selection.chosen:
        held = _number(chosen.held_out) if chosen.spread is None else f"{chosen.held_out:.3f} ±{chosen.spread:.3f}"
        subset = "all" if len(chosen.subset) == len(names) else ", ".join(names[aspect] for aspect in chosen.subset)
        table.add_row(chosen.search, f"{chosen.in_sample:.3f}", held, subset)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
