"""Intervals of agreement: items are resampled, and small or uniform samples get no false certainty. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from harness.judging.coefficients import Coefficient, Floats, Patterns, Ratings, percentage
from harness.stats import Interval, wilson

DRAWS = 4000
MIN_ITEMS = 10  # below, a percentile bootstrap is far too narrow
MIN_DEFINED = 0.95  # share of resamples in which the coefficient exists


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with what is known of its precision.

    Attributes:
        value: None when it cannot be computed: no common item, or all labels the same, so that chance explains all.
        interval: 95 %; None when the items do not tell.
        n: Items that at least two raters labelled.
        note: Why there is no value or no interval, or how the interval was made when not by resampling; else empty.
    """

    value: float | None
    interval: Interval | None
    n: int
    note: str = ""

    def as_json(self) -> dict[str, object]:
        ci = [self.interval.low, self.interval.high] if self.interval else None
        return {"value": self.value, "ci95": ci, "n": self.n, "note": self.note}


def estimate(coefficient: Coefficient, ratings: Ratings, *, rng: Generator, draws: int = DRAWS) -> Estimate:
    """Return a coefficient with its 95 % interval by a bootstrap over items.

    Args:
        coefficient: One of `coefficients`.
        ratings: Shape (items, raters).
        rng: Seeded by the caller.
        draws: Resamples of whole items.

    Returns:
        An estimate whose interval is never of zero width: where every resample gives the same value because nobody
        disagreed, the low end is Wilson's bound of the agreement at the same chance agreement.
    """
    pairable = ratings.pairable
    n = len(pairable.codes)
    if not n:
        return Estimate(None, None, 0, "no item was labelled by two raters")
    patterns, often = Patterns.of(pairable)
    parts = coefficient(patterns, often[None, :])
    value = float(parts.value[0])
    if np.isnan(value):
        return Estimate(None, None, n, "all labels are the same: chance alone would agree")
    if coefficient is percentage and pairable.codes.shape[1] == 2:
        return Estimate(value, wilson(round(value * n), n), n)
    if n < MIN_ITEMS:
        return Estimate(value, None, n, f"fewer than {MIN_ITEMS} items")
    resampled = coefficient(patterns, rng.multinomial(n, often / n, size=draws).astype(np.float64)).value
    return _bounded(value, resampled, n, chance=float(parts.chance[0]))


def _bounded(value: float, resampled: Floats, n: int, *, chance: float) -> Estimate:
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < MIN_DEFINED * len(resampled):
        return Estimate(value, None, n, "nearly all labels are the same")
    low, high = (float(bound) for bound in np.percentile(defined, [2.5, 97.5]))
    if high - low > 1e-9:
        return Estimate(value, Interval(low, high), n)
    bound = wilson(n, n)
    if value < 1 - 1e-9 or bound is None:
        return Estimate(value, None, n, "every item is like the others")
    low = 1 - (1 - bound.low) / (1 - chance)
    return Estimate(value, Interval(max(-1.0, low), 1.0), n, "nobody disagreed: the low end is Wilson's")
