"""What was expected of messages in chats, and how often it came. Pure."""

from __future__ import annotations

from harness.reporting.drawing import Cell, Column, Figure, Places, Scale, axis, interval, percent, points
from harness.reporting.facts import Facts
from harness.scoring.expectations import KINDS, OFFERED, Expectation, Met

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
SCALE = Scale(0, 1)


def mark_of(kind: str) -> str:
    """Return the mark of the questions of which this was expected."""
    return f"x-{kind}"


def expectations(facts: Facts, places: Places) -> Figure | None:
    """Return each kind of expectation, in total and by vignette; None for a run of questions alone."""
    if not facts.expectations:
        return None
    changes = {row.name: row for row in facts.comparison.expectations()} if facts.comparison else {}
    rows = []
    for kind, one in facts.expectations.items():
        change = changes.get(kind)
        moved = f"{points(change.difference)} ({change.fixed} fixed, {change.broken} broken)" if change else ""
        rows.append((*_row(KINDS.get(kind, kind), one, one.total, None, places), Cell(moved)))
        if len(one.vignettes) > 1:
            rows += [
                (*_row(f"– {places.name(name)}", one, met, name, places), Cell(""))
                for name, met in one.vignettes.items()
            ]
    names = ["met", "95 % interval", "messages", "right pair offered", "not scored"]
    heads = [*names, "since the baseline"] if changes else names
    return Figure(
        id="expectations",
        topic="Expectations",
        title=_title(facts.expectations),
        lead="Messages said in a chat, as patients say them, and whether what should come of each came. Lines are "
        "95 % intervals (Wilson). Offered: the right pair was not shown, but among the choices; the simulated patient "
        "then takes it. Not scored: follow-ups to which nothing had been shown before, and messages on which the "
        "system failed.",
        columns=(
            Column("expected", "text"),
            Column("met in %", "graphic", axis(SCALE, TICKS)),
            *map(Column, heads),
        ),
        rows=tuple(row if changes else row[:-1] for row in rows),
    )


def _row(said: str, one: Expectation, met: Met, vignette: str | None, places: Places) -> tuple[Cell, ...]:
    def number(text: str, *marks: str) -> Cell:
        there = (mark_of(one.name), *marks)
        return Cell(text, " ".join(there)) if vignette is None else places.vignette(vignette, text, *there)

    within, share = met.wilson, met.share
    drawn = interval(SCALE, within.low, share, within.high, TICKS) if within and share is not None else None
    return (
        Cell(said),
        Cell("", graphic=drawn),
        number(percent(share, 1), "met"),
        Cell(f"{percent(within.low, 1)} to {percent(within.high, 1)}" if within else "–"),
        number(str(met.n)),
        number(str(met.offered), "offered") if one.name in OFFERED else Cell(""),
        Cell(str(met.unscored + met.failed) if met.unscored + met.failed else ""),
    )


def _title(found: dict[str, Expectation]) -> str:
    shares = {name: one.total.share for name, one in found.items() if one.total.share is not None}
    if not shares:
        return "Nothing that was expected could be scored"
    worst = min(shares, key=lambda name: shares[name] or 0.0)
    return f"Met least: {KINDS.get(worst, worst)}, {percent(shares[worst])}"
