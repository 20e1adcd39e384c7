"""Readability of questions and answers against the vignettes, and costs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from harness.reporting.drawing import Cell, Column, Figure, Places, Scale, axis, name_of, spread
from harness.reporting.facts import Facts, Quartiles, Reading, Spent

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
                    Cell(f"{name_of(one.vignette)}: answers shown to it"),
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
        title=_title(facts.reading),
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
        Cell(f"{name_of(one.vignette)}: questions"),
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


def _title(reading: tuple[Reading, ...]) -> str:
    outside = sum(len(one.outside) for one in reading)
    n = sum(one.n for one in reading if one.targets)
    drift = f"; {outside} of {n} questions lie outside what their vignette asks for" if n else ""
    gaps = {one.vignette: one.answers.median - one.ease.median for one in reading if one.answers}
    if not gaps:
        hardest = min(reading, key=lambda one: one.ease.median)
        return (
            f"{name_of(hardest.vignette)} writes the hardest questions, reading ease {hardest.ease.median:.0f}{drift}"
        )
    worst = min(gaps, key=lambda name: gaps[name])
    one = next(one for one in reading if one.vignette == worst)
    if one.answers and gaps[worst] < 0:
        plain = ", below plain language" if one.answers.median < HARD else ""
        return (
            f"{name_of(worst)} gets answers of reading ease {one.answers.median:.0f}{plain}, to questions of "
            f"{one.ease.median:.0f}{drift}"
        )
    return f"Answers are no harder to read than the questions of any vignette{drift}"


def spent_by(sums: Mapping[str, Spent]) -> list[tuple[str, float]]:
    """Return names with what was spent on each."""
    return [(name, spent.cost) for name, spent in sums.items()]


def cost(facts: Facts, places: Places) -> Figure | None:
    """Return what the run cost; None when nobody wrote it down."""
    costs = facts.costs
    if costs is None:
        return None
    n, spent_in_all = len(facts.run.outcomes), costs.total.cost
    counts = {name: sum(o.vignette == name for o in facts.run.outcomes) for name in places.vignettes}
    rows = [
        (
            places.vignette(name, name_of(name)),
            Cell(f"{spent:.2f}"),
            places.vignette(name, str(counts[name])),
            Cell(f"{spent / counts[name]:.4f}"),
        )
        for name, spent in spent_by(costs.vignette)
        if counts.get(name)
    ]
    per_pair = [
        (places.pair(name, name), Cell(f"{spent:.2f}"), Cell(""), Cell(""))
        for name, spent in sorted(spent_by(costs.pair), key=lambda item: -item[1])
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
