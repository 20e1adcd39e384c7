"""Pairs that are taken for each other."""

from __future__ import annotations

from harness.advice_report import chance
from harness.reporting.facts import Facts
from harness.reporting.graphics import Scale, axis, bars
from harness.reporting.parts import Cell, Column, Figure, Places

ROWS = 15


def confusion(facts: Facts, places: Places) -> Figure | None:
    """Return the pairs that are most confused; None when no first candidate was wrong."""
    shown = facts.confused[:ROWS]
    if not shown:
        return None
    scale = Scale(0, max(4, *(one.count for one in shown)))
    step = next(step for step in (1, 2, 5, 10, 50, 100, 1000, 10**9) if scale.high / step <= 6)
    rows = tuple(
        (
            Cell(f"{one.first} / {one.second}"),
            Cell("", graphic=bars(scale, one.forth, one.back, one.expected)),
            places.pair(one.first, str(one.forth), f"t{places.pairs[one.second]}"),
            places.pair(one.second, str(one.back), f"t{places.pairs[one.first]}") if one.back else Cell("0"),
            Cell(f"{one.expected:.1f}"),
            Cell(chance(one.p_value)),
            Cell(chance(one.q_value)),
        )
        for one in shown
    )
    rest = len(facts.confused) - len(shown)
    return Figure(
        id="confusion",
        topic="Confusion",
        title=_title(facts),
        lead="Questions for which another pair came first, whether or not it was shown. Dark: about the first, taken "
        "for the second; light: the other way round. The tick is what chance would give; q allows "
        "for all that were compared.",
        columns=(
            Column("asked about / taken for", "text"),
            Column("questions", "graphic", axis(scale, scale.ticks(step), share=False)),
            *map(Column, ("there", "back", "by chance", "p", "q")),
        ),
        rows=rows,
        note=f"{rest} more couples of pairs were confused, less surely; all are in the CSV tables (--csv)."
        if rest
        else "",
    )


def _title(facts: Facts) -> str:
    sure = [one for one in facts.confused if one.beyond_chance]
    if not sure:
        total = sum(one.count for one in facts.confused)
        return f"No two pairs are confused more than chance explains; {total} questions had another pair first"
    first = sure[0]
    others = f", and {len(sure) - 1} more couples of pairs are confused beyond chance" if len(sure) > 1 else ""
    return (
        f"{first.first} and {first.second} are taken for each other {first.count} times, where chance would give "
        f"{first.expected:.1f}{others}"
        if first.mutual
        else f"{first.first} is taken for {first.second} {first.count} times, where chance would give "
        f"{first.expected:.1f}{others}"
    )
