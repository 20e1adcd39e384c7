"""What changed since the baseline, in total, per vignette and per pair."""

from __future__ import annotations

from harness.advice_report import chance
from harness.comparison import Comparison, Paired
from harness.reporting.facts import Facts
from harness.reporting.graphics import Scale, axis, change
from harness.reporting.parts import Cell, Column, Figure, Places, name_of, percent, points

ROWS = 60
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = Scale(0, 1)
ALPHA = 0.05


def by_vignette(facts: Facts, places: Places) -> Figure | None:
    """Return the change in total and per vignette; None without a baseline."""
    comparison = facts.comparison
    if comparison is None:
        return None
    total = comparison.total()
    strata = [
        (
            row,
            _cells(
                row,
                places.vignette(row.name, str(row.fixed), "fixed"),
                places.vignette(row.name, str(row.broken), "broken"),
            ),
        )
        for row in comparison.strata()
    ]
    rows = [(Cell(name_of(row.name)), *cells) for row, cells in strata]
    rows.append(
        (Cell("All questions"), *_cells(total, Cell(str(total.fixed), "fixed"), Cell(str(total.broken), "broken")))
    )
    return Figure(
        id="change",
        topic="Change",
        title=_title(comparison, total),
        lead="Share answered right before (hollow) and now (filled), on the questions that both runs answered. p: "
        "exact McNemar test, vignettes adjusted by Holm.",
        columns=_columns("vignette"),
        rows=tuple(rows),
        note=" ".join(comparison.notes),
    )


def by_pair(facts: Facts, places: Places) -> Figure | None:
    """Return the change of each pair, the largest loss first; None without a baseline."""
    if facts.comparison is None:
        return None
    moved = [row for row in facts.by_pair if row.fixed or row.broken]
    half = ROWS // 2
    shown = moved if len(moved) <= ROWS else [*moved[:half], *moved[-half:]]
    rows = tuple(
        (
            Cell(row.name),
            *_cells(
                row, places.pair(row.name, str(row.fixed), "fixed"), places.pair(row.name, str(row.broken), "broken")
            ),
        )
        for row in shown
    )
    worse = sum(row.difference < 0 for row in moved)
    better = sum(row.difference > 0 for row in moved)
    same = len(facts.by_pair) - worse - better
    return Figure(
        id="change-pairs",
        topic="Change by pair",
        title=f"{better} pairs are answered better than before, {worse} worse, {same} alike",
        lead="Before (hollow) and now (filled), the largest loss first. p is not adjusted for the number of pairs.",
        columns=_columns("pair"),
        rows=rows,
        note=f"{len(moved) - len(shown)} pairs between are in the CSV tables (--csv)."
        if len(moved) > len(shown)
        else "",
    )


def _columns(first: str) -> tuple[Column, ...]:
    names = ("before", "now", "points", "fixed", "broken", "p")
    return Column(first, "text"), Column("answered right, in %", "graphic", axis(SCALE, TICKS)), *map(Column, names)


def _cells(row: Paired, fixed: Cell, broken: Cell) -> tuple[Cell, ...]:
    return (
        Cell("", graphic=change(SCALE, row.before, row.after)),
        Cell(percent(row.before, 1)),
        Cell(percent(row.after, 1)),
        Cell(points(row.difference)),
        fixed,
        broken,
        Cell(chance(row.adjusted)),
    )


def _title(comparison: Comparison, total: Paired) -> str:
    if not total.fixed and not total.broken:
        return "Nothing changed since the baseline"
    what = "more" if total.difference > 0 else "fewer"
    sure = "" if total.adjusted < ALPHA else ", which chance may explain"
    said = (
        f"{abs(100 * total.difference):.1f} points {what} are answered right than before{sure}"
        if total.difference
        else "As many are answered right as before"
    )
    worse = [row.name for row in comparison.strata() if row.difference < 0 and row.adjusted < ALPHA]
    hurt = f"; {', '.join(map(name_of, worse))} {'is' if len(worse) == 1 else 'are'} understood worse" if worse else ""
    return f"{said}: {total.fixed} questions fixed, {total.broken} broken{hurt}"
