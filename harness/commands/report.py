"""`klartext harness advise` and `klartext harness report`: for who must decide what to do about a run.

What `klartext harness errors` does.

Advice on a run as tables for a terminal of 80 columns.

The misses of a run as tables for a terminal of 80 columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot import Assistant, BadData, friendly_errors
from harness.advice.advice import Advice, ConfusedPairs, Weakness
from harness.advice.clues import KINDS
from harness.advice.misses import Findings, browse, load_explainable
from harness.advice.proposals import CAUSES, Entry
from harness.advice.thresholds import Effect, Move, ThresholdAdvice, best_move
from harness.commands.options import CatalogOption, DataOption
from harness.console import chance, progress_bar
from harness.running.results import Run, load_run
from harness.scoring.confusions import Confusion

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]
ROWS = 10  # of each table; `--json` has all
NOTE = "q: chance of a false alarm among all that were compared; rows in bold have q <= .05, the others are hints."
ENTRIES = 8  # of each cause; `errors.json` has all
CONFUSIONS = 10


def add_to(harness: typer.Typer) -> None:
    """Add both commands to the harness."""
    harness.command("advise")(advise_)
    harness.command("report")(report_)


def load_scored(folder: Path) -> Run:
    """Read a run; raise BadData when it holds nothing that is right or wrong."""
    run = load_run(folder)
    if all(outcome.right is None for outcome in run.outcomes):
        raise BadData(f"{folder} holds no answered question with a right pair. Run a suite that has paraphrases.")
    return run


def advise_(
    run: RunArgument,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Say what would improve the system of a run: pairs to merge or rephrase, missing variants, thresholds."""
    from harness.advice.advice import advise
    from harness.labelling.labels import verdicts_on

    with friendly_errors():
        loaded = load_scored(run)
        advice = advise(loaded.outcomes, verdicts_on(run, loaded.identity.get("suite", "")))
        if json_:
            print(json.dumps(advice.as_json(), indent=2, ensure_ascii=False))
        else:
            Console(highlight=False, markup=False).print(advice_tables(advice))


def report_(
    run: RunArgument,
    baseline: Annotated[Path | None, typer.Option(help="Folder of an earlier run.", metavar="DIR")] = None,
    out: Annotated[
        Path | None, typer.Option(help="HTML page to write; default: RUN/report.html.", metavar="FILE")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Folder for CSV tables.", metavar="DIR")] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write JUnit XML, one test case per question.", metavar="FILE")
    ] = None,
    fhir: Annotated[Path | None, typer.Option(help="Write a FHIR R4 MeasureReport.", metavar="FILE")] = None,
    costs: Annotated[
        Path | None, typer.Option(help="What the questions cost; default: RUN/costs.json.", metavar="FILE")
    ] = None,
    catalog: CatalogOption = "mammography",
    data: DataOption = None,
) -> None:
    """Write one HTML page about a run: charts, advice, and every question behind every number."""
    from harness.reporting.report import Sources, Wanted, gather, write

    with friendly_errors():
        facts = gather(load_run(run), Sources(catalog, data, baseline, costs))
        wanted = Wanted(out or run / "report.html", csv, junit, fhir)
        for path in write(facts, wanted, now=datetime.now().astimezone()):
            print(path)


def show_errors(folder: Path, *, catalog: str, data: Path | None, as_json: bool) -> None:
    """Explain the misses of a run, write them beside it, and print them."""
    run = load_explainable(folder)
    encoder = run.identity.get("encoder", "embedded")
    assistant = Assistant.open(catalog, data=data, encoder=encoder, sample=True, languages=[run.language])
    with progress_bar("misses") as bar:
        task = bar.add_task("misses", total=None)
        findings = browse(run, assistant, lambda done, total: bar.update(task, completed=done, total=total))
    path = findings.write()
    if as_json:
        print(json.dumps(findings.as_json(), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, markup=False)  # questions are data: brackets in them are brackets
    console.print(misses_tables(findings))
    console.print(f"\nEverything is in {path}", soft_wrap=True)


def advice_tables(advice: Advice) -> Group:
    """Return everything that is printed."""
    return Group(*_advice_parts(advice))


def _advice_parts(advice: Advice) -> Iterator[Table | Text]:
    if advice.confused:
        yield _confused(advice.confused)
    if advice.strata:
        yield _weak("\nPairs that need variants from a vignette", "in the\nothers", advice.strata)
    if advice.weak:
        yield _weak("\nPairs that are missed more than others", "other\npairs", advice.weak)
    if not (advice.confused or advice.strata or advice.weak):
        yield Text("No pair is confused or missed more than chance would have it.")
    else:
        yield Text(NOTE, style="dim")
    if advice.threshold is not None:
        yield _threshold_table(advice.threshold)
        yield Text(advice.threshold.said)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)


def _confused(found: Sequence[ConfusedPairs]) -> Table:
    table = _table("Pairs to merge or rephrase")
    table.add_column("asked about /\ntaken for", overflow="fold", max_width=20)
    for name in ("n", "by\nchance", "q"):
        table.add_column(name, justify="right")
    table.add_column("advice", overflow="fold")
    for one in found[:ROWS]:
        counts = one.confusion
        pair = Text(f"{counts.first} /\n{counts.second}")
        both = f"{counts.forth}+{counts.back}"
        style = "bold" if counts.beyond_chance else None
        table.add_row(pair, both, f"{counts.expected:.1f}", chance(counts.q_value), Text(one.action), style=style)
    return table


def _weak(title: str, beside: str, found: Sequence[Weakness]) -> Table:
    table = _table(title)
    table.add_column("pair", overflow="fold", max_width=22)
    for name in ("missed", beside, "q"):
        table.add_column(name, justify="right")
    table.add_column("advice", overflow="fold")
    for one in found[:ROWS]:
        pair = Text("\n".join(filter(None, (one.pair_id, one.vignette))))
        shares = (f"{one.missed}/{one.n}", f"{one.other_missed}/{one.other_n}")
        table.add_row(pair, *shares, chance(one.q_value), Text(one.action), style="bold" if one.beyond_chance else None)
    return table


def _threshold_table(advice: ThresholdAdvice) -> Table:
    table = _table("\nOther thresholds for direct answers, on this run")
    names = list(advice.current.vignettes)
    for name in ("threshold", "answered\nright", "precision", "wrong,\nof all", "wrong, in the\nworst vignette"):
        table.add_column(name, justify="right")
    table.add_column("answered right by vignette", justify="right")
    for move in advice.moves:
        name = f"{move.answer:.2f}" + (" (now)" if move.current else "")
        effect = move.total
        strata = " ".join(_share(move.vignettes[vignette].accuracy) for vignette in names)
        cells = (name, *_cells(effect), f"{move.worst:.1%}", strata)
        table.add_row(*cells, style="bold" if move.current else None)
    table.caption = "Vignettes: " + ", ".join(names)
    table.caption_justify = "left"
    return table


def _cells(effect: Effect) -> tuple[str, str, str]:
    return _share(effect.accuracy), _share(effect.precision), f"{effect.wrong:.1%}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def misses_tables(findings: Findings) -> Group:
    """Return everything that is printed."""
    return Group(*_misses_parts(findings))


def _misses_parts(findings: Findings) -> Iterator[Table | Text | Padding]:
    total, missed = len(findings.run.outcomes), len(findings.found)
    yield Text(f"{missed} of {total} questions were missed.")
    if findings.stale:
        yield Text("The catalog has changed since this run: causes and proposals are those of today's catalog.")
    if not missed:
        return
    yield _kinds(findings)
    yield _causes(findings)
    for cause, group in findings.groups.items():
        yield _entries(f"{CAUSES[cause]} ({sum(len(entry.clues) for entry in group)})", group)
    if findings.confusions:
        yield _confusions(findings.confusions)
    yield _move_table(findings.moves)
    yield Text(_advice(findings.moves))


def _kinds(findings: Findings) -> Table:
    table = _table("\nWhat happened")
    table.add_column("")
    table.add_column("n", justify="right")
    counts = Counter(one.clues.miss.kind for one in findings.found)
    for kind, said in KINDS.items():
        if counts[kind]:
            table.add_row(said, str(counts[kind]))
    return table


def _causes(findings: Findings) -> Table:
    table = _table("\nWhy")
    table.add_column("")
    table.add_column("n", justify="right")
    table.add_column("also\nheld", justify="right")
    also = Counter(cause for one in findings.found for cause in one.causes[1:])
    for cause, title in CAUSES.items():
        count = sum(len(entry.clues) for entry in findings.groups.get(cause, ()))
        if count or also[cause]:
            table.add_row(title, str(count), str(also[cause] or ""))
    return table


def _entries(title: str, group: Sequence[Entry]) -> Table:
    table = _table(f"\n{title}")
    table.add_column("pair", overflow="fold", max_width=22)
    table.add_column("n", justify="right")
    table.add_column("proposal, and the first question", overflow="fold")
    for entry in group[:ENTRIES]:
        cell = Text(entry.proposal)
        cell.append(f"\n{entry.clues[0].miss.outcome.text}\n", style="dim")
        table.add_row(Text("\n".join(entry.pairs)), str(len(entry.clues)), cell)
    rest = group[ENTRIES:]
    if rest:
        table.add_row(f"{len(rest)} more", str(sum(len(entry.clues) for entry in rest)), "see errors.json")
    return table


def _confusions(found: Sequence[Confusion]) -> Table:
    table = _table("\nPairs taken for each other")
    table.add_column("asked about / taken for", overflow="fold")
    for name in ("forth", "back", "by chance", "p", "q"):
        table.add_column(name, justify="right")
    for one in found[:CONFUSIONS]:
        style = "bold" if one.beyond_chance else None
        figures = (f"{one.expected:.1f}", _chance(one.p_value), _chance(one.q_value))
        table.add_row(f"{one.first} / {one.second}", str(one.forth), str(one.back), *figures, style=style)
    return table


def _chance(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _move_table(found: Sequence[Move]) -> Table:
    table = _table("\nOther thresholds for direct answers, on this run")
    for name in ("threshold", "right", "wrong", "novel, not\ncorrect", "wrong in the\nworst vignette"):
        table.add_column(name, justify="right")
    for move in found:
        name = f"{move.answer:.2f}" + (" (now)" if move.current else "")
        cells = (name, str(move.right), str(move.wrong), str(move.novel), f"{move.worst:.1%}")
        table.add_row(*cells, style="bold" if move.current else None)
    return table


def _advice(found: Sequence[Move]) -> str:
    best = best_move(found)
    now = next((move for move in found if move.current), None)
    if best is None or now is None:
        return "No lower threshold answers more of this run rightly within 3 % wrong answers in every vignette."
    return (
        f"A threshold of {best.answer:.2f} would answer {best.right - now.right} more rightly and "
        f"{best.wrong - now.wrong} more wrongly, and {best.novel - now.novel} more novel questions. A suite is no "
        "ground to set it: let `klartext qa calibrate` choose, with more calibration questions."
    )
