"""`klartext harness run`, `klartext harness stability` and `klartext demo`: ask a suite, print the paper's tables."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Column, Table

from bot import BadData, Catalog, Unreachable, friendly_errors
from harness.commands import options
from harness.console import plain_console, plain_table, print_json, progress_bar, share
from harness.labelling.labels import Verdicts, verdicts_on
from harness.patients.suites import Suite, SuiteOnDisk, load_suite, open_suite
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.paper_tables import NOTE_1, Titles, note_2, table_1, table_2
from harness.running.outcomes import ERROR, Outcome, Tally
from harness.running.run import How, ask_suite, load_outcomes, load_run, plan_of, recipe_of, run_suite
from harness.running.store import Store
from harness.running.workers import Recipe
from harness.scoring.expectations import KINDS, OFFERED, Expectation, expectations_of
from harness.scoring.score import Summary, summarise, summarise_tally
from harness.scoring.stability import Share, Stability, stability
from harness.statistics import Interval
from harness.systems.system import InProcess, Opening, System


def run(
    suite: options.Suite,
    out: Annotated[Path, typer.Option(help="Folder of the run. An unfinished run in it is continued.")],
    asking: options.SystemOptions,
    data: options.Data = None,
) -> None:
    """Ask a system every question of a suite, score it, and print the tables."""
    from harness.labelling.ambiguous import MOST_JUDGED, find_ambiguous  # scipy.optimize is slow to import

    with friendly_errors():
        opening, opened_suite = asking.opening(data), open_suite(suite)
        recipe = recipe_of(
            asking.system, opening, opened_suite.meta.language, asking.how, spoken=opened_suite.meta.spoken
        )
        with recipe.opened() as opened:
            store = _ask(opened_suite, recipe, opened, out, asking.how)
        counts = store.tally()
        _require_answers(opened_suite, store, counts)
        record: dict[str, Any] = {}
        if any(count.cell.right is not None for count in counts):
            summary = summarise_tally(counts)
            print_tables(opened_suite, list(store.novel()), summary, verdicts=verdicts_on(out, opened_suite.meta.name))
            record = summary.as_json()
            if summary.total.n <= MOST_JUDGED:
                _, record["automatic"] = find_ambiguous(out, load_outcomes(out), suite=opened_suite.meta.name)
        expected = expectations_of(counts)
        if expected:
            print_expectations(opened_suite, expected, counts, alone=not record)
            record["expectations"] = {name: one.as_json() for name, one in expected.items()}
        (out / "summary.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _ask(suite: SuiteOnDisk, recipe: Recipe, opened: tuple[System, Catalog], out: Path, how: How) -> Store:
    system, catalog = opened
    with progress_bar(_label(suite, system), len(suite.questions)) as advance:
        return ask_suite(suite, system, catalog, out, plan_of(how, recipe, system, advance))


def _label(suite: Suite | SuiteOnDisk, system: System) -> str:
    return f"{suite.meta.name}, {system.identity.get('method') or system.identity['system']}"


def _require_answers(suite: SuiteOnDisk, store: Store, counts: Tally) -> None:
    """Raise an error in one line when there is nothing to score."""
    if counts and all(count.cell.decision == ERROR for count in counts):
        reason = next(outcome.error for outcome in store.failed())
        raise Unreachable(f"The system answered no question ({reason}). Mend it and run this again.")
    if all(count.cell.right is None and count.cell.expected is None for count in counts):
        raise BadData(
            f"The suite {suite.meta.name!r} left no paraphrase to score, only novel questions to label. "
            "Import one with `--variations 1` or more."
        )


def print_tables(
    suite: Suite | SuiteOnDisk,
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
    console = plain_console()
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


def print_expectations(suite: SuiteOnDisk, found: Mapping[str, Expectation], counts: Tally, *, alone: bool) -> None:
    """Print what was expected of messages in chats and how often it came; `alone`: no other table says the rest."""
    table = plain_table(
        "What should come of messages", "Expected", "n", "met", "95 %", "offered", Column("worst vignette")
    )
    for name, one in found.items():
        worst, total = one.worst(), one.total
        interval = total.wilson
        said = "" if worst is None or len(one.vignettes) < 2 else f"{worst} {share(one.vignettes[worst].share)}"
        table.add_row(
            KINDS.get(name, name),
            str(total.n),
            share(total.share, none="–"),
            f"{share(interval.low)}-{share(interval.high)}" if interval else "",
            share(total.offered / total.n) if name in OFFERED and total.n else "",
            said,
        )
    console = plain_console()
    console.print(table)
    console.print("95 %: Wilson. offered: the right pair was not shown, but among the choices.", style="dim")
    unscored, failed = (sum(getattr(one.total, what) for one in found.values()) for what in ("unscored", "failed"))
    if unscored:
        console.print(f"{unscored} follow-ups were not scored: nothing had been shown that they could be about.")
    if alone:
        left_out = len(suite.questions) - sum(count.n for count in counts)
        if left_out:
            console.print(f"{left_out} messages were left out: they are near copies of the catalog's texts.")
        if failed:
            console.print(f"The system failed on {failed} messages: not scored. Run again to say them again.")
        if suite.meta.note:
            console.print(f"\n{suite.meta.note}")


def demo(
    no_chat: Annotated[bool, typer.Option("--no-chat", help="End after the tables.")] = False,
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Which recorded suite.")] = "de",
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
) -> None:
    """Evaluate the assistant on the recorded questions, beside the published method, then open the chat."""
    with friendly_errors():
        Console(stderr=True).print("Opening the catalog (the first time it is embedded and trained: some minutes) …")
        suite = load_suite(f"mammography-{lang}")
        hybrid = InProcess.open(Opening("mammography", "embedded", "hybrid", data), lang)
        cosine = InProcess(hybrid.assistant, "cosine", {**hybrid.identity, "method": "cosine"})
        catalog = hybrid.assistant.catalog(lang)
        with tempfile.TemporaryDirectory() as folder:
            found = []
            for system in (hybrid, cosine):
                with progress_bar(_label(suite, system), len(suite.questions)) as advance:
                    found.append(run_suite(suite, system, catalog, Path(folder) / system.method, progress=advance))
            outcomes, beside = found
            verdicts = verdicts_on(Path(folder) / hybrid.method, suite.meta.name)
        print_tables(suite, outcomes, summarise(outcomes), verdicts=verdicts, beside=(beside, summarise(beside)))
        if not no_chat:
            from bot.commands.chat import run_chat  # the interview takes a while to import

            run_chat("mammography", encoder="embedded", data=data)


@dataclass(frozen=True, slots=True)
class RepeatOptions:
    """A suite that is asked again and again."""

    suite: Annotated[str | None, typer.Option("--suite", help="Ask this suite again and again instead.")] = None
    repeats: Annotated[int, typer.Option(min=2, max=100, help="How often, with --suite.")] = 3
    out: Annotated[Path | None, typer.Option(help="Folder for the repeats, with --suite; they are continued.")] = None


@dataclass(frozen=True, slots=True)
class ListOptions:
    """How much is shown, and whether as JSON."""

    most: Annotated[int, typer.Option("--list", min=0, help="Changed questions to list.")] = 20
    json_: options.Json = False


def stability_(
    repeats: RepeatOptions,
    asking: options.SystemOptions,
    listing: ListOptions,
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]…", help="Runs to compare, at least two.")] = None,
    data: options.Data = None,
) -> None:
    """List answers that change between repeats of a suite, or between runs of several releases."""
    with friendly_errors():
        if (repeats.suite is None) == (not runs) or (repeats.suite is None) != (repeats.out is None):
            raise BadData("Give either runs to compare, or `--suite NAME --out DIR` to ask a suite again and again.")
        if runs and len(runs) == 1:
            raise BadData("One run shows no change. Give at least two.")
        if repeats.suite is not None and repeats.out is not None:
            opening, suite = asking.opening(data), open_suite(repeats.suite)
            runs = [repeats.out / f"repeat-{number}" for number in range(1, repeats.repeats + 1)]
            recipe = recipe_of(asking.system, opening, suite.meta.language, asking.how, spoken=suite.meta.spoken)
            with recipe.opened() as opened:
                for folder in runs:
                    _ask(suite, recipe, opened, folder, asking.how)
        loaded = [load_run(folder) for folder in runs or ()]
        found = stability([one.outcomes for one in loaded])
        if not found.compared:
            raise BadData("No question has an answer in two of these runs. Compare runs of the same suite.")
        if listing.json_:
            print_json(found.as_json())
        else:
            _print_stability(found, [one.identity for one in loaded], listing.most)


def _print_stability(found: Stability, identities: Sequence[dict[str, str]], most: int) -> None:
    """Print shares by vignette and pair, what tells the runs apart, and the questions whose answers changed."""
    console = plain_console()
    console.print(_shares(f"Stability of {found.runs} runs", "Patient vignette", found.vignettes, found.total))
    console.print("changed: decision, shown pair or choices differ. flipped: right in one run, wrong in another.")
    for key in dict.fromkeys(key for identity in identities for key in identity):
        values = list(dict.fromkeys(identity.get(key, "–") for identity in identities))
        if len(values) > 1:
            console.print(f"The runs differ in {key}: {', '.join(values)}.")
    if found.alone:
        console.print(f"{found.alone} questions have fewer than two answers: not compared.")
    if found.pairs:
        console.print()
        console.print(_shares("Pairs whose answers changed", "Pair", found.pairs))
    changed = found.changed
    for repeated in changed[:most]:
        answers = " | ".join("–" if answer is None else str(answer) for answer in repeated.answers)
        console.print(f"\n{repeated.first.id} ({repeated.first.pair_id or repeated.first.kind})", style="bold")
        console.print(f"  {repeated.first.text}\n  {answers}")
    if len(changed) > most:
        console.print(f"\n… and {len(changed) - most} more; `--list N` shows more, `--json` all.")


def _shares(title: str, first: str, shares: dict[str, Share], total: Share | None = None) -> Table:
    """Return a table that fits 80 columns."""

    def cells(one: Share) -> list[str]:
        value = share(one.changed / one.n) if one.n else ""
        return [str(one.n), str(one.changed), value, between(one.wilson), between(one.clustered), str(one.flipped)]

    def between(interval: Interval | None) -> str:
        return "" if interval is None else f"{share(interval.low)}-{share(interval.high)}"

    names = ("n", "chan-\nged", "share", "95 %\nWilson", "95 %\nby pair", "flip-\nped")
    table = plain_table(title, first, *names, padding=(0, 1))
    for name, one in shares.items():
        table.add_row(name, *cells(one))
    if total is not None:
        table.add_section()
        table.add_row("Total", *cells(total), style="bold")
    return table
