"""`klartext harness judge`: have a model judge answers, live or by files, and see how far it agrees with people.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Column, Table

from bot import BadData, Settings, friendly_errors
from harness.commands import options
from harness.console import plain_console, plain_table, print_json, progress_bar
from harness.labelling.labels import Rater, Verdicts, label_files, load_labels
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.running.run import catalog_of, load_outcomes, load_run

if TYPE_CHECKING:
    from harness.judging.judge import JudgePrompt
    from harness.judging.judge_report import Against, BothOrders, JudgeReport, Selection


INCOMPLETE = 1  # exit code
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
    catalog: options.RunCatalog = None

    def prompts(self, run: Path) -> list[JudgePrompt]:
        """Return what a judge is asked about a run."""
        from harness.judging.judge import plan

        return plan(run, self.mode, beside=self.beside, items=self.items, catalog=catalog_of(run, self.catalog))


def judge(
    run: options.RunFolder,
    judged: JudgeOptions,
    asking: options.ModelOptions,
    by: options.By = "person",
    json_: options.Json = False,
) -> None:
    """Have a model judge answers; without a model and files: how far the judges so far agree with labels."""
    left = 0
    with friendly_errors():
        if asking.answers:
            left = _take(run, read_answers(asking.answers), asking.model or "")
        elif asking.by_file:
            print(asking.write(judged.prompts(run)))
        elif asking.live:
            left = _ask(run, judged.prompts(run), asking)
        else:
            _report(run, by, json_=json_)
    if left and not asking.allow_short:
        typer.echo(
            f"{left} answers could not be read: what was read is kept. Run this again to ask again, or accept it with "
            "`--allow-short`.",
            err=True,
        )
        raise typer.Exit(INCOMPLETE)


def _ask(run: Path, prompts: Sequence[JudgePrompt], asking: options.ModelOptions) -> int:
    """Ask a live judge, and once more what it answered unreadably; return how many answers could not be read."""
    from harness.judging.judge import ask_until_read
    from harness.llm import Request, open_model
    from harness.llm.opening import MissingRecord

    call, settings = asking.call(), Settings.from_environment()
    terms = asking.keeping.terms(settings, job=f"judge {run.absolute()}")
    known, rater = {outcome.id for outcome in load_outcomes(run)}, Rater(kind="model", name=call.model)
    with open_model(settings, call, terms) as opened, progress_bar("prompts", len(prompts)) as advance:

        def complete(asked: Sequence[JudgePrompt], attempt: int) -> tuple[dict[str, ModelAnswer], bool]:
            answers: dict[str, ModelAnswer] = {}
            anew = False
            try:
                for done in opened.complete([Request(one.id, one.messages, sample=attempt) for one in asked]):
                    answers[done.id] = ModelAnswer(done.id, done.text, call.model, done.problem)
                    anew = anew or not done.replayed
                    advance(0 if attempt else 1)
            except MissingRecord:
                if not attempt:  # else a replay: nobody was asked once more
                    raise
            return answers, anew

        answers = ask_until_read(prompts, complete, rater=rater, known=known)
        for line in opened.notes:
            print(line, file=sys.stderr)
    return _take(run, answers, call.model)


def _take(run: Path, answers: Mapping[str, ModelAnswer], rater: str) -> int:
    from harness.judging.judge import keep, take

    known = {outcome.id for outcome in load_outcomes(run)}
    models = list({answer.model for answer in answers.values()} - {""})
    if not rater and len(models) != 1:
        raise BadData(f"The answers name {len(models)} models. Say who judged: `--model NAME`.")
    named = Rater(kind="model", name=rater or models[0])
    taken = take(answers, rater=named, known=known)
    if taken.strange:
        raise BadData(
            f"{len(taken.strange)} answers belong to no question of {run}, for example {taken.strange[0]!r}. "
            "Give the answers to the prompts that `judge --prompts` wrote for this run."
        )
    keep(run, taken, named)
    unread = sum(taken.unread.values())
    print(
        f"{named.id}: {len(taken.labels)} labels, {len(taken.ratings)} ratings, "
        f"{len(taken.comparisons)} comparisons; {unread} answers could not be read and count nowhere"
    )
    return unread


def _report(run: Path, by: Literal["person", "model"], *, json_: bool) -> None:
    """Show how far each judge agrees with labels: scores, both orders, and the aspects that agree best."""
    from harness.judging.judge import judges_of
    from harness.judging.judge_report import report_of

    judges = judges_of(run)
    if not judges:
        raise BadData(
            f"{run} has no judge's scores. Ask a model: `klartext harness judge {run} --mode rate --model NAME`, or "
            "write prompts for one with `--prompts FILE`."
        )
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
