"""Risk and coverage, and what other thresholds would do."""

from __future__ import annotations

from harness.reporting.facts import CurvePoint, Facts
from harness.reporting.graphics import Frame, Scale, curve
from harness.reporting.parts import Cell, Column, Figure, Places, name_of, percent

DRAWN = 250  # points of the curve: more would not be seen
TABLED = tuple(step / 10 for step in range(1, 11))  # coverages for the table


def risk_coverage(facts: Facts) -> Figure | None:
    """Return how often the system errs by how much it answers; None when scores grade nothing."""
    points, now = facts.curve, facts.now
    if not points:
        return None
    steady = [point for point in points if point.coverage >= 0.05] or list(points)
    high = max(0.02, *(point.risk for point in steady), now.risk if now else 0.0)
    frame = Frame(Scale(0, 1), Scale(0, 1.1 * high))
    drawn = steady[:: -(-len(steady) // DRAWN)]
    drawn = drawn if drawn[-1] is steady[-1] else [*drawn, steady[-1]]
    title = _title(points[-1], now)
    chart = curve(
        frame,
        [(point.coverage, point.risk) for point in drawn],
        (now.coverage, now.risk) if now else None,
        f"Line chart. {title}. The table below has the figures.",
    )
    return Figure(
        id="risk",
        topic="Risk",
        title=title,
        lead="If questions were answered with the first candidate from a score on, how many would be answered, and how "
        "many of these wrongly? Questions that have a right pair only. The dot is what the run did.",
        columns=tuple(map(Column, ("score from", "answered", "of all", "wrong", "of those answered"))),
        rows=tuple(_rows(points)),
        chart=chart,
    )


def _rows(points: tuple[CurvePoint, ...]) -> list[tuple[Cell, ...]]:
    chosen = dict.fromkeys(
        next((point for point in points if point.coverage >= wanted - 1e-9), points[-1]) for wanted in TABLED
    )
    return [
        (
            Cell(f"{point.score:.2f}"),
            Cell(str(point.answered), f"scored ranked s>={point.score:.4f}"),
            Cell(percent(point.coverage, 1)),
            Cell(str(point.wrong), f"scored other s>={point.score:.4f}"),
            Cell(percent(point.risk, 1)),
        )
        for point in chosen
    ]


def _title(everything: CurvePoint, now: CurvePoint | None) -> str:
    most = "everything" if everything.coverage > 0.995 else f"all {percent(everything.coverage)} that have a candidate"
    all_ = f"answering {most} would err on {percent(everything.risk, 1)}"
    if now is None:
        return f"Nothing was answered; {all_}"
    return f"Today {percent(now.coverage)} are answered and {percent(now.risk, 1)} of these are wrong; {all_}"


def thresholds(facts: Facts, places: Places) -> Figure | None:
    """Return what other thresholds would do, in total and per vignette; None when scores grade nothing."""
    advice = facts.advice.threshold
    if advice is None:
        return None
    names = [name for name in places.vignettes if name in advice.current.vignettes]
    rows = []
    for move in advice.moves:
        mark = "now" if move.current else "best" if advice.best is move else ""
        rows.append(
            (
                Cell(f"{move.answer:.2f}{f' ({mark})' if mark else ''}"),
                Cell(
                    percent(move.total.accuracy, 1),
                    f"scored first open s>={move.answer:.4f}" if not move.current else "right",
                ),
                Cell(percent(move.total.precision, 1)),
                Cell(percent(move.total.wrong, 1)),
                Cell(percent(move.worst, 1)),
                *(Cell(percent(move.vignettes[name].accuracy, 1)) for name in names),
            )
        )
    heads = ("threshold", "answered right", "precision", "wrong, of all", "wrong in worst vignette")
    return Figure(
        id="thresholds",
        topic="Thresholds",
        title=advice.headline,
        lead=f"{advice.caution} "
        "The run under other thresholds for direct answers. Novel questions count as wrong unless raters "
        "called the answer correct. The last columns are answered right, by vignette.",
        columns=(*map(Column, heads), *(Column(name_of(name)) for name in names)),
        rows=tuple(rows),
    )
