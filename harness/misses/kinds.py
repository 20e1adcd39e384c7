"""Which outcomes of a run are misses, and of what kind. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot import Catalog
from harness.labels import Verdicts
from harness.run import Outcome, accepted_pairs

Kind = Literal["wrong", "offered", "unsure", "lost", "intruding", "alarm"]
KINDS: dict[Kind, str] = {
    "wrong": "answered with another pair",
    "offered": "the right pair was only offered",
    "unsure": "the right pair came first, but was not shown",
    "lost": "the right pair did not come first, and nothing right was shown",
    "intruding": "answered, though raters have not called it correct",
    "alarm": "taken for an emergency",
}


@dataclass(frozen=True, slots=True)
class Miss:
    """An outcome that should have been another.

    Attributes:
        outcome: As stored with the run.
        kind: What went wrong.
        accepted: The right pair and those that curators declared the same; empty for novel questions.
    """

    outcome: Outcome
    kind: Kind
    accepted: frozenset[str]

    @property
    def pair_id(self) -> str:
        """The right pair; for novel questions, the pair that was shown instead."""
        return self.outcome.pair_id or self.outcome.answered_with or ""


def misses_of(outcomes: Sequence[Outcome], catalog: Catalog, verdicts: Verdicts) -> list[Miss]:
    """Return the misses of a run, in its order.

    A novel question that was answered is a miss unless raters called the answer correct.
    """
    found = []
    for outcome in outcomes:
        kind = _kind(outcome, verdicts)
        if kind is not None:
            found.append(Miss(outcome, kind, accepted_pairs(catalog, outcome.pair_id)))
    return found


def _kind(outcome: Outcome, verdicts: Verdicts) -> Kind | None:
    if outcome.right is None:
        shown = outcome.answered_with
        return "intruding" if shown is not None and verdicts.of(outcome.id, shown) != "correct" else None
    if outcome.right:
        return None
    if outcome.decision == "urgent":
        return "alarm"
    if outcome.answered_with is not None:
        return "wrong"
    if outcome.offered:
        return "offered"
    return "unsure" if outcome.top1 else "lost"
