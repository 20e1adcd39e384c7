"""Count outcomes by what scores need of them, so that a run of any size is scored in little memory. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Cell:
    """What outcomes may have in common; `Outcome` says what the fields mean."""

    vignette: str
    kind: str
    pair_id: str | None
    decision: str
    right: bool | None
    offered: bool | None
    top1: bool | None

    @classmethod
    def of(cls, outcome: Outcome) -> Cell:
        return cls(
            outcome.vignette,
            outcome.kind,
            outcome.pair_id,
            outcome.decision,
            outcome.right,
            outcome.offered,
            outcome.top1,
        )


@dataclass(frozen=True, slots=True)
class Count:
    """How many outcomes a cell holds.

    Attributes:
        cell: What they have in common.
        n: Their number.
        first: Place of the first of them in the run: vignettes and pairs are reported in the order of the suite.
    """

    cell: Cell
    n: int
    first: int


Tally = tuple[Count, ...]  # in the order of `first`


def tally(outcomes: Iterable[Outcome]) -> Tally:
    """Count outcomes that come in the order of the run."""
    return tally_placed(enumerate(outcomes))


def tally_placed(outcomes: Iterable[tuple[int, Outcome]]) -> Tally:
    """Count outcomes that come in any order, each with its place in the run."""
    numbers: dict[Cell, int] = {}
    firsts: dict[Cell, int] = {}
    for place, outcome in outcomes:
        cell = Cell.of(outcome)
        numbers[cell] = numbers.get(cell, 0) + 1
        firsts[cell] = min(place, firsts.get(cell, place))
    return in_order(Count(cell, n, firsts[cell]) for cell, n in numbers.items())


def in_order(counts: Iterable[Count]) -> Tally:
    """Return counts in the order in which their cells appear in the run."""
    return tuple(sorted(counts, key=lambda count: count.first))
