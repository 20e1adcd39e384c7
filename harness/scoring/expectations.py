"""Scores of messages in chats: what was expected of them, and how often it came, per kind and vignette. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.running.outcomes import ERROR, Count, Tally, Traits
from harness.statistics import Interval, wilson

# What each kind of expectation is called for readers, in the order of tables.
KINDS = {
    "first": "first question answered",
    "same": "follow-up: same answer",
    "pair": "follow-up: other answer",
    "new": "new question answered",
    "act": "easier, shorter, again, more",
    "nothing": "nothing shown",
    "reaction": "reaction let be",
    "everyday": "everyday: nothing shown",
    "remark": "feeling met, place told",
    "complaint": "complaint: soon enough",
    "alarm": "alarm raised",
    "language": "language told",
    "foreign": "foreign language told",
    "real-manner": "not answered",
    "unanswered": "not answered (turn)",
}
OFFERED = ("first", "same", "pair", "new")  # kinds for which the right pair may be offered instead


@dataclass(frozen=True, slots=True)
class Met:
    """How one group of messages fared.

    Attributes:
        n: Messages that were scored.
        met: Of these, where what was expected came.
        offered: Of the others, where the right pair was among the choices offered.
        unscored: Messages besides, since nothing was shown before that they could be about.
        failed: Messages besides, since the system failed.
    """

    n: int
    met: int
    offered: int
    unscored: int
    failed: int

    @property
    def share(self) -> float | None:
        """Of the scored messages; None where there are none."""
        return self.met / self.n if self.n else None

    @property
    def wilson(self) -> Interval | None:
        return wilson(self.met, self.n)

    def as_json(self) -> dict[str, Any]:
        interval = self.wilson
        return {
            "n": self.n,
            "met": self.met,
            "share": self.share,
            "ci95": interval.as_json() if interval else None,
            "offered": self.offered,
            "unscored": self.unscored,
            "failed": self.failed,
        }


@dataclass(frozen=True, slots=True)
class Expectation:
    """How one kind of expectation fared, in total and by vignette, in the order of the run."""

    name: str
    total: Met
    vignettes: dict[str, Met]

    def worst(self, *, least: int = 1) -> str | None:
        """Return the vignette with the smallest share among those with `least` messages; None where there is none."""
        shares = {name: one.met / one.n for name, one in self.vignettes.items() if one.n >= least}
        return min(shares, key=lambda name: shares[name]) if shares else None

    def as_json(self) -> dict[str, Any]:
        vignettes = {name: one.as_json() for name, one in self.vignettes.items()}
        return {**self.total.as_json(), "worst_vignette": self.worst(), "vignettes": vignettes}


def expectations_of(counts: Tally) -> dict[str, Expectation]:
    """Return what was expected in a run, by kind in the order of `KINDS`; empty for a run of questions alone."""
    there = {count.cell.expected for count in counts if count.cell.expected is not None}
    found = {}
    for name in (*(known for known in KINDS if known in there), *sorted(there - set(KINDS))):
        mine = [count for count in counts if count.cell.expected == name]
        vignettes = dict.fromkeys(count.cell.vignette for count in mine)
        groups = {one: _met([count for count in mine if count.cell.vignette == one]) for one in vignettes}
        found[name] = Expectation(name, _met(mine), groups)
    return found


def _met(counts: Iterable[Count]) -> Met:
    cells = list(counts)

    def number(wanted: Callable[[Traits], bool]) -> int:
        return sum(count.n for count in cells if wanted(count.cell))

    return Met(
        n=number(lambda cell: cell.met is not None),
        met=number(lambda cell: cell.met is True),
        offered=number(lambda cell: cell.met is False and cell.offered is True),
        unscored=number(lambda cell: cell.met is None and cell.decision != ERROR),
        failed=number(lambda cell: cell.decision == ERROR),
    )
