"""Accuracy per vignette, and pair by vignette."""

from __future__ import annotations

import math

from harness.reporting.facts import Facts, interval_of
from harness.reporting.graphics import Scale, axis, interval
from harness.reporting.parts import Cell, Column, Figure, Places, name_of, percent
from harness.score import Score

ROWS = 60  # of pairs; the CSV tables hold all
WEAK = 0.5


def accuracy(facts: Facts, places: Places) -> Figure:
    """Return accuracy per vignette with intervals."""
    groups = facts.summary.vignettes
    lows = [interval_of(score)[0] for score in (*groups.values(), facts.summary.total)]
    scale = Scale(max(0.0, math.floor(10 * min(lows) - 0.2) / 10), 1.0)
    ticks = scale.ticks(0.1 if scale.low >= 0.5 else 0.25)
    rows = [_row(places, name, score, scale, ticks) for name, score in groups.items()]
    rows.append(_row(places, None, facts.summary.total, scale, ticks))
    names = ("answered right", "95 % interval", "questions", "wrong", "asked back or declined", "right pair offered")
    return Figure(
        id="accuracy",
        topic="Accuracy",
        title=_accuracy_title(facts),
        lead="Answered directly with the right pair, of all questions that have one; asking back and declining count "
        "as not right. Lines are 95 % intervals that resample whole pairs, since phrasings of one pair fail "
        "together (Wilson's where all pairs fare alike).",
        columns=(
            Column("vignette", "text"),
            Column("accuracy in %", "graphic", axis(scale, ticks)),
            *map(Column, names),
        ),
        rows=tuple(rows),
    )


def _row(places: Places, name: str | None, score: Score, scale: Scale, ticks: list[float]) -> tuple[Cell, ...]:
    def number(text: str, *marks: str) -> Cell:
        return places.vignette(name, text, *marks) if name is not None else Cell(text, " ".join(marks))

    low, high = interval_of(score)
    offered = round(score.offered * score.n)
    return (
        Cell(name_of(name) if name is not None else "All questions"),
        Cell("", graphic=interval(scale, low, score.accuracy, high, ticks)),
        number(percent(score.accuracy, 1), "right"),
        Cell(f"{percent(low, 1)} to {percent(high, 1)}"),
        number(str(score.n), "scored"),
        number(str(score.wrong), "wrong"),
        number(str(score.errors - score.wrong), "scored", "silent"),
        number(str(offered), "offered"),
    )


def _accuracy_title(facts: Facts) -> str:
    groups = facts.summary.vignettes
    if len(groups) < 2:
        return f"{percent(facts.summary.total.accuracy)} of all questions are answered right"
    shares = [score.accuracy for score in groups.values()]
    worst = [name for name in groups if groups[name].accuracy == min(shares)]
    best = next(name for name in groups if groups[name].accuracy == max(shares))
    low, high = groups[worst[0]], groups[best]
    if low.accuracy == high.accuracy:
        return f"All vignettes are understood alike: {percent(low.accuracy)} are answered right"
    said = (
        f"{' and '.join(map(name_of, worst))} {'is' if len(worst) == 1 else 'are'} understood worst, "
        f"{percent(low.accuracy)} answered right; "
        f"{name_of(best)} best, {percent(high.accuracy)}"
    )
    return said + (", but their intervals overlap" if interval_of(low)[1] >= interval_of(high)[0] else "")


def heat_map(facts: Facts, places: Places) -> Figure:
    """Return right answers by pair and vignette, the weakest pairs first."""
    shown = facts.pairs[:ROWS]
    names = list(facts.summary.vignettes)
    rows = []
    for pair in shown:
        found = {name: facts.cells.get((pair, name)) for name in names}
        n, right = (sum(getattr(cell, what) for cell in found.values() if cell) for what in ("n", "right"))
        cells = [
            places.cell(pair, name, f"{cell.right}/{cell.n}", "scored", shade=shade(cell.share)) if cell else Cell("")
            for name, cell in found.items()
        ]
        rows.append((Cell(pair), *cells, places.pair(pair, f"{right}/{n}", "scored")))
    rest = len(facts.pairs) - len(shown)
    return Figure(
        id="pairs",
        topic="Pairs",
        title=_heat_title(facts),
        lead="Right answers of all questions, by pair and vignette, the weakest pairs first. "
        "The stronger the colour, the fewer.",
        columns=(Column("pair", "text"), *(Column(name_of(name)) for name in names), Column("all")),
        rows=tuple(rows),
        note=f"{rest} pairs that fare better are in the CSV tables (--csv)." if rest else "",
    )


def _heat_title(facts: Facts) -> str:
    weak = [key for key, cell in facts.cells.items() if cell.share < WEAK]
    pair, vignette = min(facts.cells, key=lambda key: (facts.cells[key].share, -facts.cells[key].n))
    cell = facts.cells[pair, vignette]
    if cell.right == cell.n:
        return "Every question about every pair is answered right"
    worst = f"weakest is {pair} asked by {name_of(vignette)}, {cell.right} of {cell.n}"
    if not weak:
        return f"No pair falls below half in any vignette; {worst}"
    return f"In {len(weak)} of {len(facts.cells)} combinations fewer than half are answered right; {worst}"


def shade(share: float) -> int:
    """Return a depth of colour: 0 from 80 % on, 4 below 20 %."""
    return 4 - min(4, math.floor(share * 5 + 1e-9))
