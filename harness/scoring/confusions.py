"""Which pairs are taken for each other more often than chance would have it. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harness.running.outcomes import Outcome
from harness.statistics import false_discovery

SIGNIFICANT = 0.05
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A question about one pair for which another pair came first."""

    right: str
    taken: str


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two pairs that were taken for each other.

    Attributes:
        first, second: The pairs; more questions about `first` went to `second` than the other way round.
        forth: Questions about `first` for which `second` came first.
        back: The other way round.
        expected: Of both, if each pair drew mistakes as it does from the questions about all other pairs.
        p_value: Of as many or more by chance.
        q_value: The same, adjusted for all pairs of pairs there are (false discovery rate).
    """

    first: str
    second: str
    forth: int
    back: int
    expected: float
    p_value: float
    q_value: float

    @property
    def count(self) -> int:
        return self.forth + self.back

    @property
    def beyond_chance(self) -> bool:
        return self.q_value <= SIGNIFICANT

    @property
    def mutual(self) -> bool:
        return self.forth > 0 and self.back > 0


def mistakes_of(outcomes: Sequence[Outcome]) -> list[Mistake]:
    """Return the questions with a known pair for which another pair came first."""
    return [
        Mistake(outcome.pair_id, outcome.candidates[0])
        for outcome in outcomes
        if outcome.pair_id is not None and not outcome.top1 and outcome.candidates
    ]


def confusions(mistakes: Sequence[Mistake], pairs: int) -> list[Confusion]:
    """Return the pairs of pairs that were confused at all, the least likely by chance first.

    The chance that a mistake about A goes to B is estimated from how often mistakes about all other pairs go to B,
    with one added to every pair; the number of mistakes about A and about B is taken as given.

    Args:
        mistakes: One for each question whose first candidate was wrong.
        pairs: How many pairs the catalog has.

    References:
        Benjamini & Hochberg (1995), Controlling the false discovery rate.
    """
    tally = Counter((mistake.right, mistake.taken) for mistake in mistakes)
    seen = sorted({tuple(sorted(key)) for key in tally})
    found = [_confusion(tally, first, second, pairs) for first, second in seen]
    found.sort(key=lambda confusion: (confusion.p_value, -confusion.count, confusion.first, confusion.second))
    # What was not seen counts as a test too.
    q_values = false_discovery([one.p_value for one in found], tests=pairs * (pairs - 1) // 2)
    return [replace(one, q_value=q_value) for one, q_value in zip(found, q_values, strict=True)]


def _confusion(tally: Counter[tuple[str, str]], first: str, second: str, pairs: int) -> Confusion:
    if tally[second, first] > tally[first, second]:
        first, second = second, first
    forth, back = tally[first, second], tally[second, first]
    mistakes_first, chance_first = _chance(tally, first, second, pairs)
    mistakes_second, chance_second = _chance(tally, second, first, pairs)
    expected = mistakes_first * chance_first + mistakes_second * chance_second
    both = np.convolve(_binomial(mistakes_first, chance_first), _binomial(mistakes_second, chance_second))
    p_value = min(1.0, float(both[forth + back :].sum()))
    return Confusion(first, second, forth, back, expected, p_value, p_value)


def _chance(tally: Counter[tuple[str, str]], right: str, taken: str, pairs: int) -> tuple[int, float]:
    """Return the number of mistakes about `right`, and the chance that one of them goes to `taken`."""
    about = sum(count for (of, _), count in tally.items() if of == right)
    others = {key: count for key, count in tally.items() if right not in key}
    to_taken = sum(count for (_, to), count in others.items() if to == taken)
    return about, (to_taken + 1) / (sum(others.values()) + max(1, pairs - 1))


def _binomial(n: int, chance: float) -> Floats:
    """Return the probabilities of 0 to n, shape (n + 1,)."""
    return np.array([math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)])
