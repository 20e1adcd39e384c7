"""The misses of a run as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.confusions import Confusion
from harness.misses.browser import Findings
from harness.misses.causes import CAUSES
from harness.misses.kinds import KINDS
from harness.misses.moves import Move, best_move
from harness.misses.proposals import Entry

ENTRIES = 8  # of each cause; `errors.json` has all
CONFUSIONS = 10


def report(findings: Findings) -> Group:
    """Return everything that is printed."""
    return Group(*_parts(findings))


def _parts(findings: Findings) -> Iterator[Table | Text | Padding]:
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
    yield _moves(findings.moves)
    yield Text(_advice(findings.moves))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)


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


def _moves(found: Sequence[Move]) -> Table:
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
