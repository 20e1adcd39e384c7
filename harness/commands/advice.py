"""`klartext harness advise` and `report`: why a run missed what it missed, and what to do about it.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import group
from rich.table import Column, Table
from rich.text import Text

from bot import Assistant, BadData, friendly_errors
from harness.advice.advice import LEAST, Advice, Weakness, advise
from harness.advice.causes import CAUSES, KINDS, Entry
from harness.advice.misses import Findings, browse, load_explainable
from harness.advice.outside import Instead, is_ours, said_instead, what_came
from harness.advice.thresholds import Move, ThresholdAdvice, ThresholdMove, best_move
from harness.commands import options
from harness.console import chance, folded, plain_console, plain_table, print_json, printable, progress_bar, share
from harness.files import writing
from harness.judging.rescore import by_people
from harness.labelling.labels import verdicts_on
from harness.running.outcomes import tally
from harness.running.run import catalog_of, load_run, nothing_answered
from harness.scoring.confusions import Confusion
from harness.scoring.expectations import KINDS as EXPECTED
from harness.scoring.expectations import Expectation, expectations_of

ROWS = 10  # of each table; `--json` has all
ENTRIES = 8  # of each cause; `errors.json` has all
MOVES = "\nOther thresholds for direct answers, on this run"
NOTE = "q: chance of a false alarm among all that were compared; rows in bold have q <= .05, the others are hints."


@dataclass(frozen=True, slots=True)
class MissesOptions:
    """Whether every miss is explained, with which catalog."""

    misses: Annotated[
        bool,
        typer.Option("--misses", help="Group what was missed by cause; the assistant is opened. Also RUN/errors.json."),
    ] = False
    catalog: options.RunCatalog = None
    data: options.Data = None


def advise_(run: options.RunFolder, explained: MissesOptions, json_: options.Json = False) -> None:
    """Say what would improve the system of a run: pairs to merge or rephrase, missing variants, thresholds."""
    with friendly_errors():
        loaded = by_people(load_run(run)).run
        ours = is_ours(loaded.identity)
        if explained.misses and ours:
            _explain_misses(run, explained, json_=json_)
            return
        expected, came = expectations_of(tally(loaded.outcomes)), what_came(loaded.outcomes)
        if not expected and all(outcome.right is None and not outcome.unjudged for outcome in loaded.outcomes):
            raise nothing_answered(run, loaded.outcomes)
        advice = advise(loaded.outcomes, verdicts_on(run, loaded.suite), ours=ours)
        instead = said_instead(loaded.outcomes)
        if json_:
            more = {"expectations": {name: one.as_json() for name, one in expected.items()}} if expected else {}
            print_json({**advice.as_json(), "instead": [asdict(one) for one in instead], **more})
            return
        console = plain_console()
        if advice.n or not expected:
            console.print(advice_tables(advice))
        if came:
            console.print(Text(came))
        if expected:
            console.print(_missed_expectations(expected))
        if explained.misses or expected:
            console.print(_instead(instead))
        if explained.misses:
            console.print("\nWhy it answers so, is known of this assistant alone: into other systems nobody can see.")


def _missed_expectations(expected: Mapping[str, Expectation]) -> Table:
    """Return what did not come in chats, what was missed most first."""
    table = plain_table("\nExpected in chats, and missed", "expected", "missed", "of", "worst vignette")
    for name, one in sorted(expected.items(), key=lambda item: item[1].total.met - item[1].total.n):
        missed = one.total.n - one.total.met
        if missed:
            table.add_row(EXPECTED.get(name, name), str(missed), str(one.total.n), one.worst() or "")
    return table


def _instead(instead: Sequence[Instead]) -> Table:
    table = plain_table("\nWhat came instead", folded("what came", 40), "n", folded("for example asked"))
    for one in instead[:ROWS]:
        table.add_row(Text(printable(one.what)), str(one.n), Text(printable(one.example)))
    return table


def _explain_misses(run: Path, explained: MissesOptions, *, json_: bool) -> None:
    loaded = load_explainable(run)
    encoder, catalog = loaded.identity.get("encoder", "embedded"), catalog_of(run, explained.catalog)
    assistant = Assistant.open(catalog, data=explained.data, encoder=encoder, sample=True, languages=[loaded.language])
    with progress_bar("misses") as advance:
        findings = browse(loaded, assistant, lambda _, total: advance(total=total))
    path = findings.write()
    if json_:
        print_json(findings.as_json())
        return
    console = plain_console()
    console.print(misses_tables(findings))
    console.print(f"\nEverything is in {path}", soft_wrap=True)


@group()
def misses_tables(findings: Findings) -> Iterator[Table | Text]:
    """Return the misses of a run as tables for a terminal of 80 columns."""
    total, missed = len(findings.run.outcomes), len(findings.found)
    yield Text(f"{missed} of {total} questions were missed.")
    if findings.stale:
        yield Text("The catalog has changed since this run: causes and proposals are those of today's catalog.")
    if not missed:
        return
    table = plain_table("\nWhat happened", "", "n")
    counts = Counter(one.clues.miss.kind for one in findings.found)
    for kind, said in KINDS.items():
        if counts[kind]:
            table.add_row(said, str(counts[kind]))
    yield table
    table = plain_table("\nWhy", "", "n", "also\nheld")
    also = Counter(cause for one in findings.found for cause in one.causes[1:])
    for cause, title in CAUSES.items():
        count = sum(len(entry.clues) for entry in findings.groups.get(cause, ()))
        if count or also[cause]:
            table.add_row(title, str(count), str(also[cause] or ""))
    yield table
    for cause, entries in findings.groups.items():
        yield _entries(f"\n{CAUSES[cause]} ({sum(len(entry.clues) for entry in entries)})", entries)
    if findings.confusions:
        yield _confusions(findings.confusions)
    names = ("right", "wrong", "novel, not\ncorrect", "wrong in the\nworst vignette")
    table = plain_table(MOVES, Column("threshold", justify="right"), *names)
    for move in findings.moves:
        figures = (str(move.right), str(move.wrong), str(move.novel), f"{move.worst:.1%}")
        table.add_row(_level(move), *figures, style="bold" if move.current else None)
    yield table
    yield Text(_lower_threshold(findings.moves))


def _entries(title: str, entries: Sequence[Entry]) -> Table:
    table = plain_table(title, folded("pair", 22), "n", folded("proposal, and the first question"))
    for entry in entries[:ENTRIES]:
        cell = Text(entry.proposal)
        cell.append(f"\n{entry.clues[0].miss.outcome.text}\n", style="dim")
        table.add_row(Text("\n".join(entry.pairs)), str(len(entry.clues)), cell)
    rest = entries[ENTRIES:]
    if rest:
        table.add_row(f"{len(rest)} more", str(sum(len(entry.clues) for entry in rest)), "see errors.json")
    return table


def _confusions(found: Sequence[Confusion]) -> Table:
    def plain(value: float) -> str:
        return "<0.001" if value < 0.001 else f"{value:.3f}"

    names = ("forth", "back", "by chance", "p", "q")
    table = plain_table("\nPairs taken for each other", folded("asked about / taken for"), *names)
    for one in found[:ROWS]:
        figures = (str(one.forth), str(one.back), f"{one.expected:.1f}", plain(one.p_value), plain(one.q_value))
        table.add_row(f"{one.first} / {one.second}", *figures, style="bold" if one.beyond_chance else None)
    return table


def _level(move: Move | ThresholdMove) -> str:
    return f"{move.answer:.2f}" + (" (now)" if move.current else "")


def _lower_threshold(found: Sequence[Move]) -> str:
    best = best_move(found)
    now = next((move for move in found if move.current), None)
    if best is None or now is None:
        return "No lower threshold answers more of this run rightly within 3 % wrong answers in every vignette."
    return (
        f"A threshold of {best.answer:.2f} would answer {best.right - now.right} more rightly and "
        f"{best.wrong - now.wrong} more wrongly, and {best.novel - now.novel} more novel questions. A suite is no "
        "ground to set it: let `klartext qa calibrate` choose, with more calibration questions."
    )


@group()
def advice_tables(advice: Advice) -> Iterator[Table | Text]:
    """Return advice on questions of a run as tables for a terminal of 80 columns."""
    if advice.n:
        yield Text(f"{advice.right} of {advice.n} questions were answered right ({advice.right / advice.n:.0%}).")
    if advice.headline:
        yield Text(advice.headline)
    if advice.confused:
        names = (folded("asked about /\ntaken for", 20), "n", "by\nchance", "q", folded("advice"))
        table = plain_table("Pairs to merge or rephrase", *names)
        for one in advice.confused[:ROWS]:
            counts = one.confusion
            figures = (f"{counts.forth}+{counts.back}", f"{counts.expected:.1f}", chance(counts.q_value))
            pair, style = Text(f"{counts.first} /\n{counts.second}"), "bold" if counts.beyond_chance else None
            table.add_row(pair, *figures, Text(one.action), style=style)
        yield table
    if advice.strata:
        yield _weak("\nPairs that need variants from a vignette", "in the\nothers", advice.strata)
    if advice.weak:
        yield _weak("\nPairs that are missed more than others", "other\npairs", advice.weak)
    if advice.confused or advice.strata or advice.weak:
        yield Text(NOTE, style="dim")
    if 0 < advice.n < LEAST:
        yield Text(f"{advice.n} questions are too few to say anything of thresholds: at least {LEAST} are needed.")
    elif advice.threshold is not None:
        yield _thresholds(advice.threshold)
        yield Text(advice.threshold.said)


def _weak(title: str, beside: str, found: Sequence[Weakness]) -> Table:
    table = plain_table(title, folded("pair", 22), "missed", beside, "q", folded("advice"))
    for one in found[:ROWS]:
        pair = Text("\n".join(filter(None, (one.pair_id, one.vignette))))
        shares = (f"{one.missed}/{one.n}", f"{one.other_missed}/{one.other_n}")
        table.add_row(pair, *shares, chance(one.q_value), Text(one.action), style="bold" if one.beyond_chance else None)
    return table


def _thresholds(advice: ThresholdAdvice) -> Table:
    names = ("answered\nright", "precision", "wrong,\nof all", "wrong, in the\nworst vignette")
    strata = Column("answered right by vignette", justify="right")
    table = plain_table(MOVES, Column("threshold", justify="right"), *names, strata)
    vignettes = list(advice.current.vignettes)
    for move in advice.moves:
        by_vignette = " ".join(share(move.vignettes[vignette].accuracy, none="–") for vignette in vignettes)
        shares = (share(move.total.accuracy, none="–"), share(move.total.precision, none="–"))
        figures = (*shares, f"{move.total.wrong:.1%}", f"{move.worst:.1%}", by_vignette)
        table.add_row(_level(move), *figures, style="bold" if move.current else None)
    table.caption = "Vignettes: " + ", ".join(vignettes)
    table.caption_justify = "left"
    return table


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is written."""

    out: Annotated[Path | None, typer.Option(help="HTML page to write; default: RUN/report.html.", metavar="FILE")] = (
        None
    )
    csv: Annotated[Path | None, typer.Option(help="Folder for CSV tables.", metavar="DIR")] = None
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, one test case per question.", metavar="FILE")] = (
        None
    )
    fhir: Annotated[Path | None, typer.Option(help="Write a FHIR R4 MeasureReport.", metavar="FILE")] = None


@dataclass(frozen=True, slots=True)
class ReportSources:
    """What is known besides the run."""

    config: Annotated[Path | None, typer.Option("--config", help="Gates, as of `gate`.", metavar="FILE")] = None
    lang: Annotated[
        Literal["de", "en"] | None,
        typer.Option("--lang", help="Of what a board reads. Default: that of the questions."),
    ] = None
    costs: Annotated[
        Path | None, typer.Option("--costs", help="What the questions cost; default: RUN/costs.json.", metavar="FILE")
    ] = None
    catalog: options.RunCatalog = None
    data: options.Data = None
    exam: Annotated[
        str,
        typer.Option("--exam", help="With `--history`: runs about one exam, by its catalog's name.", metavar="NAME"),
    ] = ""


def report_(
    run: Annotated[Path | None, typer.Argument(metavar="[RUN]", help="Folder of a run.")] = None,
    baseline: options.Baseline = None,
    history: Annotated[
        Path | None,
        typer.Option("--history", help="Instead of one run: all below this folder, over time.", metavar="DIR"),
    ] = None,
    *,
    files: ReportFiles,
    known: ReportSources,
) -> None:
    """Write one HTML page about a run: verdict, charts, advice, and every question behind every number."""
    from harness.reporting.board import board_of
    from harness.reporting.history import render_history
    from harness.reporting.report import Sources, Wanted, gather, write

    with friendly_errors():
        if (run is None) == (history is None):
            raise BadData("Give the folder of a run, or `--history DIR` for all runs below a folder.")
        if known.exam and history is None:
            raise BadData("`--exam` chooses among many runs. Give it with `--history DIR`.")
        now = datetime.now().astimezone()
        if run is None or history is not None:
            page = files.out or Path(history or ".") / "history.html"
            below, spoken = Path(history or "."), known.lang or "en"
            text = render_history(below, language=spoken, made=now, config=known.config, exam=known.exam)
            with writing(page, "Choose another place with `--out`."):
                page.write_text(text, encoding="utf-8")
            print(page)
            return
        loaded = load_run(run)
        facts = gather(loaded, Sources(catalog_of(run, known.catalog), known.data, baseline, known.costs))
        language = known.lang or loaded.language
        earlier = load_run(baseline) if baseline is not None else None
        board = board_of(facts, language=language, baseline=earlier, config=known.config)
        wanted = Wanted(files.out or run / "report.html", files.csv, files.junit, files.fhir, language)
        for path in write(facts, wanted, now=now, board=board):
            print(path)
