"""Accuracy per vignette and pair, what changed since the baseline, readability, and costs. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from harness.console import chance
from harness.reporting.drawing import (
    Cell,
    Column,
    Figure,
    Places,
    Scale,
    axis,
    change,
    interval,
    percent,
    points,
    spread,
)
from harness.reporting.facts import Facts, Quartiles, Reading, interval_of
from harness.scoring.comparison import Comparison, Paired
from harness.scoring.score import Score

ROWS = 60  # of pairs; the CSV tables hold all
WEAK = 0.5
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = Scale(0, 1)
ALPHA = 0.05


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
        "as not right. Lines are 95 % intervals that count how alike phrasings of one pair fare, since they "
        "fail together.",
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
        Cell(places.name(name) if name is not None else "All questions"),
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
        f"{' and '.join(map(facts.name, worst))} {'is' if len(worst) == 1 else 'are'} understood worst, "
        f"{percent(low.accuracy)} answered right; "
        f"{facts.name(best)} best, {percent(high.accuracy)}"
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
        columns=(Column("pair", "text"), *(Column(places.name(name)) for name in names), Column("all")),
        rows=tuple(rows),
        note=f"{rest} pairs that fare better are in the CSV tables (--csv)." if rest else "",
    )


def _heat_title(facts: Facts) -> str:
    weak = [key for key, cell in facts.cells.items() if cell.share < WEAK]
    pair, vignette = min(facts.cells, key=lambda key: (facts.cells[key].share, -facts.cells[key].n))
    cell = facts.cells[pair, vignette]
    if cell.right == cell.n:
        return "Every question about every pair is answered right"
    worst = f"weakest is {pair} asked by {facts.name(vignette)}, {cell.right} of {cell.n}"
    if not weak:
        return f"No pair falls below half in any vignette; {worst}"
    return f"In {len(weak)} of {len(facts.cells)} combinations fewer than half are answered right; {worst}"


def shade(share: float) -> int:
    """Return a depth of colour: 0 from 80 % on, 4 below 20 %."""
    return 4 - min(4, math.floor(share * 5 + 1e-9))


def by_vignette(facts: Facts, places: Places) -> Figure | None:
    """Return the change in total and per vignette; None without a baseline."""
    comparison = facts.comparison
    if comparison is None or not comparison.scored:
        return None
    total = comparison.total()
    rows = [_moved(row, places.name(row.name), partial(places.vignette, row.name)) for row in comparison.strata()]
    rows.append(_moved(total, "All questions", Cell))
    return Figure(
        id="change",
        topic="Change",
        title=_change_title(facts, comparison, total),
        lead="Share answered right before (hollow) and now (filled), on the questions that both runs answered. p: "
        "exact test by pair, vignettes adjusted by Holm.",
        columns=_columns("vignette"),
        rows=tuple(rows),
        note=" ".join(comparison.notes),
    )


def by_pair(facts: Facts, places: Places) -> Figure | None:
    """Return the change of each pair, the largest loss first; None without a baseline."""
    if facts.comparison is None or not facts.comparison.scored:
        return None
    moved = [row for row in facts.by_pair if row.fixed or row.broken]
    half = ROWS // 2
    shown = moved if len(moved) <= ROWS else [*moved[:half], *moved[-half:]]
    rows = tuple(_moved(row, row.name, partial(places.pair, row.name)) for row in shown)
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


def _moved(row: Paired, name: str, number: Callable[[str, str], Cell]) -> tuple[Cell, ...]:
    """Return the change of one group; `number` makes a cell that leads to its questions with a mark."""
    return (
        Cell(name),
        Cell("", graphic=change(SCALE, row.before, row.after)),
        Cell(percent(row.before, 1)),
        Cell(percent(row.after, 1)),
        Cell(points(row.difference)),
        number(str(row.fixed), "fixed"),
        number(str(row.broken), "broken"),
        Cell(chance(row.adjusted)),
    )


def _change_title(facts: Facts, comparison: Comparison, total: Paired) -> str:
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
    hurt = (
        f"; {', '.join(map(facts.name, worse))} {'is' if len(worse) == 1 else 'are'} understood worse" if worse else ""
    )
    return f"{said}: {total.fixed} questions fixed, {total.broken} broken{hurt}"


LOWEST, HIGHEST = -50.0, 150.0  # of the axis
HARD = 60.0  # below it, a text is no plain language


def readability(facts: Facts, places: Places) -> Figure:
    """Return how easy questions and answers are to read, by vignette, against what the vignette asks for."""
    values = [value for one in facts.reading for value in _values(one)]
    # One endless sentence may have an ease of minus thousands; what lies outside is drawn at the edge.
    scale = Scale(max(LOWEST, 10 * (min(values) // 10)), min(HIGHEST, 10 * -(-max(values) // 10) + 10))
    rows = []
    for one in facts.reading:
        wanted = one.targets.reading_ease if one.targets else None
        rows.append(_questions(one, scale, places))
        if one.answers:
            rows.append(
                (
                    Cell(f"{places.name(one.vignette)}: answers shown to it"),
                    Cell("", graphic=spread(scale, _three(one.answers), wanted)),
                    Cell(f"{one.answers.median:.0f}"),
                    Cell(f"{one.answers.low:.0f} to {one.answers.high:.0f}"),
                    *(Cell(""),) * 4,
                )
            )
    names = ("median", "middle half", "wanted", "words, median", "words wanted", "questions outside")
    return Figure(
        id="readability",
        topic="Readability",
        title=_reading_title(facts),
        lead="Reading ease (Flesch; Amstad's formula in German): higher is easier, 60 to 70 is plain language. Dots "
        "are medians, lines the middle half, bands the range that the vignette asks of its questions.",
        columns=(
            Column("vignette", "text"),
            Column(
                "reading ease",
                "graphic",
                axis(
                    scale,
                    scale.ticks(next(step for step in (10, 20, 50) if (scale.high - scale.low) / step <= 8)),
                    share=False,
                ),
            ),
            *map(Column, names),
        ),
        rows=tuple(rows),
        note="The catalog has changed since the run: the answers measured are today's." if facts.stale else "",
    )


def _questions(one: Reading, scale: Scale, places: Places) -> tuple[Cell, ...]:
    wanted = one.targets.reading_ease if one.targets else None
    words = one.targets.words if one.targets else None
    return (
        Cell(f"{places.name(one.vignette)}: questions"),
        Cell("", graphic=spread(scale, _three(one.ease), wanted)),
        places.vignette(one.vignette, f"{one.ease.median:.0f}"),
        Cell(f"{one.ease.low:.0f} to {one.ease.high:.0f}"),
        Cell(f"{wanted[0]:.0f} to {wanted[1]:.0f}" if wanted else "–"),
        Cell(f"{one.words.median:.0f}"),
        Cell(f"{words[0]} to {words[1]}" if words else "–"),
        places.vignette(one.vignette, f"{len(one.outside)} of {one.n}", "outside") if one.targets else Cell("–"),
    )


def _three(found: Quartiles) -> tuple[float, float, float]:
    return found.low, found.median, found.high


def _values(one: Reading) -> list[float]:
    wanted = list(one.targets.reading_ease) if one.targets else []
    return [*_three(one.ease), *(_three(one.answers) if one.answers else ()), *wanted]


def _reading_title(facts: Facts) -> str:
    reading = facts.reading
    outside = sum(len(one.outside) for one in reading)
    n = sum(one.n for one in reading if one.targets)
    drift = f"; {outside} of {n} questions lie outside what their vignette asks for" if n else ""
    gaps = {one.vignette: one.answers.median - one.ease.median for one in reading if one.answers}
    if not gaps:
        hardest = min(reading, key=lambda one: one.ease.median)
        name, ease = facts.name(hardest.vignette), hardest.ease.median
        return f"{name} writes the hardest questions, reading ease {ease:.0f}{drift}"
    worst = min(gaps, key=lambda name: gaps[name])
    one = next(one for one in reading if one.vignette == worst)
    if one.answers and gaps[worst] < 0:
        plain = ", below plain language" if one.answers.median < HARD else ""
        return (
            f"{facts.name(worst)} gets answers of reading ease {one.answers.median:.0f}{plain}, to questions of "
            f"{one.ease.median:.0f}{drift}"
        )
    return f"Answers are no harder to read than the questions of any vignette{drift}"


def cost(facts: Facts, places: Places) -> Figure | None:
    """Return what the run cost; None when nobody wrote it down."""
    costs = facts.costs
    if costs is None:
        return None
    n, spent_in_all = len(facts.run.outcomes), costs.total.cost
    spent_on, pairs = ({name: one.cost for name, one in by.items()} for by in (costs.vignette, costs.pair))
    counts = {name: sum(o.vignette == name for o in facts.run.outcomes) for name in places.vignettes}
    rows = [
        (
            places.vignette(name, places.name(name)),
            Cell(f"{spent:.2f}"),
            places.vignette(name, str(counts[name])),
            Cell(f"{spent / counts[name]:.4f}"),
        )
        for name, spent in spent_on.items()
        if counts.get(name)
    ]
    per_pair = [
        (places.pair(name, name), Cell(f"{spent:.2f}"), Cell(""), Cell(""))
        for name, spent in sorted(pairs.items(), key=lambda item: -item[1])
        if name in places.pairs
    ]
    each = f"{spent_in_all / n:.4f}"
    total = (Cell("All questions"), Cell(f"{spent_in_all:.2f}"), Cell(str(n), "all"), Cell(each))
    return Figure(
        id="cost",
        topic="Cost",
        title=f"All cost {spent_in_all:.2f} {costs.currency}, {each} {costs.currency} a question",
        lead=f"In {costs.currency}, for having the questions written by a model. Dropped ones count.",
        columns=(Column("vignette or pair", "text"), *map(Column, ("cost", "questions", "a question"))),
        rows=(*rows, *per_pair, total),
    )
