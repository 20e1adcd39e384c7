"""What `klartext harness run` and `klartext demo` share: run a suite, print the tables."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot import BadData
from harness.labels import LABELS, Verdicts, load_labels, shipped_labels
from harness.report import NOTE_1, Titles, note_2, table_1, table_2
from harness.run import Outcome, run_suite
from harness.score import Summary, summarise
from harness.suite import Suite, load_suite
from harness.systems import InProcess, Opening
from harness.vignettes import load_vignettes


def run_and_report(suite_name: str, out: Path, opening: Opening) -> Summary:
    """Run a suite against the assistant and print Tables 1 and 2."""
    suite = load_suite(suite_name)
    under_test = InProcess.open(opening, suite.meta.language)
    outcomes = run_with_bar(suite, under_test, out)
    if all(outcome.right is None for outcome in outcomes):
        raise BadData(
            f"The suite {suite.meta.name!r} left no paraphrase to score, only novel questions to label. "
            "Import one with `--variations 1` or more."
        )
    summary = summarise(outcomes)
    print_tables(suite, outcomes, summary, verdicts=verdicts_of(suite, out))
    return summary


def run_with_bar(suite: Suite, system: InProcess, out: Path) -> list[Outcome]:
    """Run a suite with a progress bar on standard error."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar:
        task = bar.add_task(f"{suite.meta.name}, {system.method}", total=len(suite.questions))
        catalog = system.assistant.catalog(suite.meta.language)
        return run_suite(suite, system, catalog, out, progress=lambda done: bar.advance(task, done))


def verdicts_of(suite: Suite, out: Path) -> Verdicts:
    """Return the verdicts shipped with the suite and those given on this run."""
    return Verdicts(load_labels([shipped_labels(suite.meta.name), out / LABELS]))


def print_tables(
    suite: Suite,
    outcomes: list[Outcome],
    summary: Summary,
    *,
    verdicts: Verdicts,
    beside: tuple[list[Outcome], Summary] | None = None,
) -> None:
    """Print the paper's tables for a run, with another run (the published method) beside it."""
    titles = Titles({vignette.id: vignette.title for vignette in load_vignettes(suite.meta.language)})
    console = Console(highlight=False, markup=False)  # notes and names are data: brackets in them are brackets
    console.print(table_1(summary, beside[1] if beside else None, titles))
    console.print(NOTE_1, style="dim")
    if any(outcome.kind == "novel" for outcome in outcomes):
        console.print()
        console.print(table_2(outcomes, beside[0] if beside else None, verdicts, titles))
        console.print(note_2(verdicts), style="dim")
    left_out = len(suite.questions) - len(outcomes)
    if left_out:
        console.print(f"\n{left_out} questions were left out: they are near copies of the catalog's texts.")
    if suite.meta.note:
        console.print(f"\n{suite.meta.note}")
