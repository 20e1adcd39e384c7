"""Advice on a run as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from harness.advice import Advice, ConfusedPairs, Weakness
from harness.threshold_moves import Effect, ThresholdAdvice

ROWS = 10  # of each table; `--json` has all
NOTE = "q: chance of a false alarm among all that were compared; rows in bold have q <= .05, the others are hints."


def report(advice: Advice) -> Group:
    """Return everything that is printed."""
    return Group(*_parts(advice))


def _parts(advice: Advice) -> Iterator[Table | Text]:
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
        yield _moves(advice.threshold)
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


def chance(value: float) -> str:
    """Return a p- or q-value as people read it."""
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _moves(advice: ThresholdAdvice) -> Table:
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
