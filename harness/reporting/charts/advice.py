"""Advice: what to merge, rephrase and write."""

from __future__ import annotations

from collections.abc import Sequence

from harness.advice import Weakness
from harness.advice_report import chance
from harness.reporting.facts import Facts
from harness.reporting.parts import Cell, Column, Figure, Places, name_of

ROWS = 12
Q = "q allows for all that were compared: up to .05 it is more than chance, above it a hint."
LEAD = f"Not answered right, beside the others (Fisher's exact test). {Q}"


def confused_pairs(facts: Facts, places: Places) -> Figure | None:
    """Return pairs to merge or rephrase; None when there are none."""
    found = facts.advice.confused
    if not found:
        return None
    sure = sum(one.confusion.beyond_chance for one in found)
    rows = []
    for one in found[:ROWS]:
        counts = one.confusion
        there = places.pair(counts.first, str(counts.forth), f"t{places.pairs[counts.second]}")
        back = places.pair(counts.second, str(counts.back), f"t{places.pairs[counts.first]}")
        pairs = Cell(f"{counts.first} / {counts.second}")
        rows.append((pairs, there, back if counts.back else Cell("0"), Cell(chance(counts.q_value)), Cell(one.action)))
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


def strata(facts: Facts, places: Places) -> Figure | None:
    """Return pairs that need variants from a vignette; None when there are none."""
    found = facts.advice.strata
    title = _title(found, "needs variants from one vignette", "need variants from one vignette")
    columns, rows = _weak("other vignettes", found, places)
    return Figure("write", "Missing variants", title, LEAD, columns, rows) if found else None


def weak(facts: Facts, places: Places) -> Figure | None:
    """Return pairs that are missed more often than others; None when there are none."""
    found = facts.advice.weak
    title = _title(found, "is missed more often than others", "are missed more often than others")
    columns, rows = _weak("other pairs", found, places)
    return Figure("weak", "Weak pairs", title, LEAD, columns, rows) if found else None


def _title(found: Sequence[Weakness], one: str, many: str) -> str:
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
    for one in found[:ROWS]:
        said = f"{one.missed}/{one.n}"
        missed = (
            places.cell(one.pair_id, one.vignette, said, "missed")
            if one.vignette is not None
            else places.pair(one.pair_id, said, "missed")
        )
        name = one.pair_id if one.vignette is None else f"{one.pair_id}, {name_of(one.vignette)}"
        rest = f"{one.other_missed}/{one.other_n}"
        rows.append((Cell(name), missed, Cell(rest), Cell(chance(one.q_value)), Cell(one.action)))
    columns = (Column("pair", "text"), *map(Column, ("missed", beside, "q")), Column("what to do", "text"))
    return columns, tuple(rows)
