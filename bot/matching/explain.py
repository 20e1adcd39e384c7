"""What decided on a question, for staff and engineers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.matching.decide import Thresholds
from bot.matching.emergency import Verdict
from bot.matching.features import VIEWS, Floats, Views
from bot.ports import Neighbour

LISTED = 3


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair with its probability and the raw score of each view."""

    pair_id: str
    probability: float
    views: dict[str, float]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a question was answered, asked back or declined.

    Attributes:
        nearest: Curated texts nearest in meaning (an empty pair id is a background question).
        pairs: The likeliest pairs, then those that were asked about.
        none_of_these: Probability that no pair fits.
        thresholds: In force.
        alarm: Whether it is an emergency, and the words or passage that say so.
    """

    nearest: tuple[Neighbour, ...]
    pairs: tuple[ScoredPair, ...]
    none_of_these: float
    thresholds: Thresholds
    alarm: Verdict

    @classmethod
    def of(  # noqa: PLR0913 - gathers what the steps before found
        cls,
        *,
        nearest: Sequence[Neighbour],
        views: Views,
        probabilities: Floats,
        pair_ids: Sequence[str],
        thresholds: Thresholds,
        alarm: Verdict,
        about: Sequence[str] = (),
    ) -> Explanation:
        best = sorted(range(len(pair_ids)), key=lambda number: -probabilities[number])[:LISTED]
        best += [number for number, pair_id in enumerate(pair_ids) if pair_id in about and number not in best]
        column = {int(number): place for place, number in enumerate(views.pairs[0])}
        pairs = tuple(
            ScoredPair(
                pair_ids[number],
                round(float(probabilities[number]), 4),
                {
                    name: round(float(score), 4)
                    for name, score in zip(VIEWS, views.scores[0, column[number]], strict=True)
                },
            )
            for number in best
            if number in column
        )
        return cls(tuple(nearest), pairs, round(float(probabilities[-1]), 4), thresholds, alarm)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
