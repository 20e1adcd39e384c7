"""Pairs taken for each other, what to merge and write, risk and coverage, other thresholds. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.advice.advice import Weakness
from harness.console import chance
from harness.reporting.drawing import Cell, Column, Figure, Frame, Places, Scale, axis, bars, curve, percent
from harness.reporting.facts import CurvePoint, Facts
from harness.scoring.confusions import Confusion

CONFUSED_ROWS, ADVICE_ROWS = 15, 12
Q = "q allows for all that were compared: up to .05 it is more than chance, above it a hint."
LEAD = f"Not answered right, beside the others (Fisher's exact test). {Q}"
DRAWN = 250  # points of the curve: more would not be seen
TABLED = tuple(step / 10 for step in range(1, 11))  # coverages for the table


def confusion(facts: Facts, places: Places) -> Figure | None:
    """Return the pairs that are most confused; None when no first candidate was wrong."""
    shown = facts.confused[:CONFUSED_ROWS]
    if not shown:
        return None
    scale = Scale(0, max(4, *(one.count for one in shown)))
    step = next(step for step in (1, 2, 5, 10, 50, 100, 1000, 10**9) if scale.high / step <= 6)
    rows = tuple(
        (
            Cell(f"{one.first} / {one.second}"),
            Cell("", graphic=bars(scale, one.forth, one.back, one.expected)),
            *_both_ways(one, places),
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
        title=_confusion_title(facts),
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


def _both_ways(one: Confusion, places: Places) -> tuple[Cell, Cell]:
    """Return how often each pair was taken for the other."""
    there = places.pair(one.first, str(one.forth), f"t{places.pairs[one.second]}")
    back = places.pair(one.second, str(one.back), f"t{places.pairs[one.first]}") if one.back else Cell("0")
    return there, back


def _confusion_title(facts: Facts) -> str:
    sure = [one for one in facts.confused if one.beyond_chance]
    if not sure:
        total = sum(one.count for one in facts.confused)
        return f"No two pairs are confused more than chance explains; {total} questions had another pair first"
    first = sure[0]
    others = f", and {len(sure) - 1} more couples of pairs are confused beyond chance" if len(sure) > 1 else ""
    one_way = f"{first.first} is taken for {first.second}"
    said = f"{first.first} and {first.second} are taken for each other" if first.mutual else one_way
    return f"{said} {first.count} times, where chance would give {first.expected:.1f}{others}"


def confused_pairs(facts: Facts, places: Places) -> Figure | None:
    """Return pairs to merge or rephrase; None when there are none."""
    found = facts.advice.confused
    if not found:
        return None
    sure = sum(one.confusion.beyond_chance for one in found)
    rows = []
    for one in found[:ADVICE_ROWS]:
        counts = one.confusion
        pairs = Cell(f"{counts.first} / {counts.second}")
        rows.append((pairs, *_both_ways(counts, places), Cell(chance(counts.q_value)), Cell(one.action)))
    return Figure(
        id="merge",
        topic="Merge or rephrase",
        title=f"{_counted(sure, 'couple')} of pairs should be merged or rephrased"
        if sure
        else f"No pairs need merging for sure; {_counted(len(found), 'couple')} may",
        lead=f"Pairs that are taken for each other. {Q}",
        columns=(Column("pairs", "text"), *map(Column, ("there", "back", "q")), Column("what to do", "text")),
        rows=tuple(rows),
    )


def weak_strata(facts: Facts, places: Places) -> Figure | None:
    """Return pairs that need variants from a vignette; None when there are none."""
    found = facts.advice.strata
    title = _weakness_title(found, "needs variants from one vignette", "need variants from one vignette")
    columns, rows = _weak("other vignettes", found, places)
    return Figure("write", "Missing variants", title, LEAD, columns, rows) if found else None


def weak(facts: Facts, places: Places) -> Figure | None:
    """Return pairs that are missed more often than others; None when there are none."""
    found = facts.advice.weak
    title = _weakness_title(found, "is missed more often than others", "are missed more often than others")
    columns, rows = _weak("other pairs", found, places)
    return Figure("weak", "Weak pairs", title, LEAD, columns, rows) if found else None


def _weakness_title(found: Sequence[Weakness], one: str, many: str) -> str:
    sure = [weakness for weakness in found if weakness.beyond_chance]
    if not sure:
        return f"No pair {one} for sure; {_counted(len(found), 'hint')}"
    return f"{_counted(len(sure), 'pair')} {one if len(sure) == 1 else many}, {sure[0].pair_id} before all"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _weak(
    beside: str, found: Sequence[Weakness], places: Places
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    rows = []
    for one in found[:ADVICE_ROWS]:
        said = f"{one.missed}/{one.n}"
        missed = (
            places.cell(one.pair_id, one.vignette, said, "missed")
            if one.vignette is not None
            else places.pair(one.pair_id, said, "missed")
        )
        name = one.pair_id if one.vignette is None else f"{one.pair_id}, {places.name(one.vignette)}"
        rest = f"{one.other_missed}/{one.other_n}"
        rows.append((Cell(name), missed, Cell(rest), Cell(chance(one.q_value)), Cell(one.action)))
    columns = (Column("pair", "text"), *map(Column, ("missed", beside, "q")), Column("what to do", "text"))
    return columns, tuple(rows)


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
    title = _risk_title(points[-1], now)
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
        rows=tuple(_risk_rows(points)),
        chart=chart,
    )


def _risk_rows(points: tuple[CurvePoint, ...]) -> list[tuple[Cell, ...]]:
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


def _risk_title(everything: CurvePoint, now: CurvePoint | None) -> str:
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
        columns=(*map(Column, heads), *(Column(places.name(name)) for name in names)),
        rows=tuple(rows),
    )
