"""What `klartext harness run` and `klartext demo` share: run a suite, print the tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot import BadData, Catalog, Settings, Unreachable
from harness.labels import Verdicts, label_files, load_labels
from harness.report import NOTE_1, Titles, note_2, table_1, table_2
from harness.run import ERROR, Outcome, run_suite
from harness.score import Summary, summarise
from harness.suite import Suite, load_suite
from harness.systems import IN_PROCESS, InProcess, Opening, System
from harness.vignettes import ALL, load_vignettes


def run_and_report(suite_name: str, out: Path, opening: Opening, *, system: str = IN_PROCESS) -> Summary:
    """Run a suite against the assistant, or the system of a file, and print Tables 1 and 2."""
    suite = load_suite(suite_name)
    with _under_test(system, opening, suite.meta.language) as (under_test, catalog):
        outcomes = run_with_bar(suite, under_test, catalog, out)
    failed = [outcome.error for outcome in outcomes if outcome.decision == ERROR]
    if failed and len(failed) == len(outcomes):
        raise Unreachable(f"The system answered no question ({failed[-1]}). Mend it and run this again.")
    if all(outcome.right is None for outcome in outcomes):
        raise BadData(
            f"The suite {suite.meta.name!r} left no paraphrase to score, only novel questions to label. "
            "Import one with `--variations 1` or more."
        )
    summary = summarise(outcomes)
    print_tables(suite, outcomes, summary, verdicts=verdicts_of(suite, out))
    return summary


@contextmanager
def _under_test(system: str, opening: Opening, language: str) -> Iterator[tuple[System, Catalog]]:
    if system == IN_PROCESS:
        inside = InProcess.open(opening, language)
        yield inside, inside.assistant.catalog(language)
        return
    from harness.external.opening import open_external  # httpx and jsonpath, for those who ask elsewhere

    settings = Settings.from_environment(data=opening.data)
    with open_external(Path(system), opening, language, settings=settings, environ=os.environ) as opened:
        yield opened


def run_with_bar(suite: Suite, system: System, catalog: Catalog, out: Path) -> list[Outcome]:
    """Run a suite with a progress bar on standard error."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar:
        name = system.identity.get("method") or system.identity["system"]
        task = bar.add_task(f"{suite.meta.name}, {name}", total=len(suite.questions))
        return run_suite(suite, system, catalog, out, progress=lambda done: bar.advance(task, done))


def verdicts_of(suite: Suite, out: Path) -> Verdicts:
    """Return the verdicts shipped with the suite and those given on this run."""
    return Verdicts(load_labels(label_files(out, suite.meta.name)))


def print_tables(
    suite: Suite,
    outcomes: list[Outcome],
    summary: Summary,
    *,
    verdicts: Verdicts,
    beside: tuple[list[Outcome], Summary] | None = None,
) -> None:
    """Print the paper's tables for a run, with another run (the published method) beside it."""
    titles = Titles({vignette.id: vignette.title for vignette in load_vignettes(suite.meta.language, names=[ALL])})
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
    if summary.failed:
        console.print(f"\nThe system failed on {summary.failed} questions: not scored. Run again to ask them again.")
    if suite.meta.note:
        console.print(f"\n{suite.meta.note}")
