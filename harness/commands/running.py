"""What `klartext harness run` and `klartext demo` share: run a suite, print the tables.

`klartext demo`: evaluate the assistant on the recorded suite, then open the chat."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot import BadData, Catalog, Unreachable, friendly_errors
from bot import run_chat as open_chat
from harness.labelling.labels import Verdicts, label_files, load_labels
from harness.patients.suites import Asked, load_suite, open_suite
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.paper_tables import NOTE_1, Titles, note_2, table_1, table_2
from harness.running.outcomes import ERROR, Outcome, Tally
from harness.running.recipe import Recipe
from harness.running.run import How, ask_suite, plan_of, recipe_of, run_suite
from harness.running.store import Store
from harness.scoring.score import Summary, summarise, summarise_tally
from harness.systems.system import IN_PROCESS, InProcess, Opening, System


def run_and_report(
    suite_name: str, out: Path, opening: Opening, *, system: str = IN_PROCESS, how: How | None = None
) -> Summary:
    """Run a suite against the assistant, or the system of a file, and print Tables 1 and 2."""
    suite = open_suite(suite_name)
    how = how or How()
    recipe = recipe_of(system, opening, suite.meta.language, how)
    with recipe.opened() as opened:
        store = _ask(suite, recipe, opened, out, how)
    counts = store.tally()
    _require_answers(suite, store, counts)
    summary = summarise_tally(counts)
    print_tables(suite, list(store.novel()), summary, verdicts=verdicts_of(suite, out))
    return summary


def ask_into(suite_name: str, folders: Sequence[Path], opening: Opening, *, system: str, how: How) -> None:
    """Run a suite once for each folder; no tables."""
    suite = open_suite(suite_name)
    recipe = recipe_of(system, opening, suite.meta.language, how)
    with recipe.opened() as opened:
        for folder in folders:
            _ask(suite, recipe, opened, folder, how)


def _ask(suite: Asked, recipe: Recipe, opened: tuple[System, Catalog], out: Path, how: How) -> Store:
    system, catalog = opened
    with _bar(suite, system) as progress:
        return ask_suite(suite, system, catalog, out, plan_of(how, recipe, system, progress))


def _require_answers(suite: Asked, store: Store, counts: Tally) -> None:
    """Raise an error in one line when there is nothing to score."""
    if counts and all(count.cell.decision == ERROR for count in counts):
        reason = next(outcome.error for outcome in store.failed())
        raise Unreachable(f"The system answered no question ({reason}). Mend it and run this again.")
    if all(count.cell.right is None for count in counts):
        raise BadData(
            f"The suite {suite.meta.name!r} left no paraphrase to score, only novel questions to label. "
            "Import one with `--variations 1` or more."
        )


def run_with_bar(suite: Asked, system: System, catalog: Catalog, out: Path) -> list[Outcome]:
    """Run a suite that fits in memory, with a progress bar on standard error."""
    with _bar(suite, system) as progress:
        return run_suite(suite, system, catalog, out, progress=progress)


@contextmanager
def _bar(suite: Asked, system: System) -> Iterator[Callable[[int], None]]:
    """Yield what moves a progress bar on standard error."""
    name = system.identity.get("method") or system.identity["system"]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(f"{suite.meta.name}, {name}", total=len(suite.questions))
        yield lambda done: bar.advance(task, done)


def verdicts_of(suite: Asked, out: Path) -> Verdicts:
    """Return the verdicts shipped with the suite and those given on this run."""
    return Verdicts(load_labels(label_files(out, suite.meta.name)))


def print_tables(
    suite: Asked,
    outcomes: list[Outcome],
    summary: Summary,
    *,
    verdicts: Verdicts,
    beside: tuple[list[Outcome], Summary] | None = None,
) -> None:
    """Print the paper's tables for a run, with another run (the published method) beside it.

    `outcomes` may be those of novel questions alone.
    """
    titles = Titles({vignette.id: vignette.title for vignette in load_vignettes(suite.meta.language, names=[ALL])})
    console = Console(highlight=False, markup=False)  # notes and names are data: brackets in them are brackets
    console.print(table_1(summary, beside[1] if beside else None, titles))
    console.print(NOTE_1, style="dim")
    if any(outcome.kind == "novel" for outcome in outcomes):
        console.print()
        console.print(table_2(outcomes, beside[0] if beside else None, verdicts, titles))
        console.print(note_2(verdicts), style="dim")
    left_out = len(suite.questions) - summary.asked
    if left_out:
        console.print(f"\n{left_out} questions were left out: they are near copies of the catalog's texts.")
    if summary.failed:
        console.print(f"\nThe system failed on {summary.failed} questions: not scored. Run again to ask them again.")
    if suite.meta.note:
        console.print(f"\n{suite.meta.note}")


def demo(
    no_chat: Annotated[bool, typer.Option("--no-chat", help="End after the tables.")] = False,
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Which recorded suite.")] = "de",
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
) -> None:
    """Evaluate the assistant on the recorded questions, beside the published method, then open the chat."""
    with friendly_errors():
        _evaluate(lang, data)
        if not no_chat:
            open_chat("mammography", encoder="embedded", data=data)


def _evaluate(lang: str, data: Path | None) -> None:
    Console(stderr=True).print("Opening the catalog (the first time it is embedded and trained, about half a minute) …")
    suite = load_suite(f"mammography-{lang}")
    hybrid = InProcess.open(Opening("mammography", "embedded", "hybrid", data), lang)
    cosine = InProcess(hybrid.assistant, "cosine", {**hybrid.identity, "method": "cosine"})
    catalog = hybrid.assistant.catalog(lang)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run_with_bar(suite, hybrid, catalog, Path(folder) / "hybrid")
        beside = run_with_bar(suite, cosine, catalog, Path(folder) / "cosine")
        verdicts = verdicts_of(suite, Path(folder) / "hybrid")
    print_tables(suite, outcomes, summarise(outcomes), verdicts=verdicts, beside=(beside, summarise(beside)))
