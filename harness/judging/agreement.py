"""How far raters agree beyond chance: percentage, kappa, alpha, AC1, Kendall's tau, with intervals. Pure.

Each coefficient is (observed - chance) / (1 - chance). All are computed from the distinct rows of the ratings and a
weight for each, for many sets of weights at once: that makes a bootstrap over items a matter of one matrix product.
Items are resampled, and small or uniform samples get no false certainty. Compared are every two raters, people among
themselves, and models beside people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import kendalltau

from harness.labelling.labels import VERDICTS, Verdicts
from harness.statistics import Interval, wilson

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
MISSING = -1
DRAWS = 4000
MIN_ITEMS = 10  # below, a percentile bootstrap is far too narrow
MIN_DEFINED = 0.95  # share of resamples in which the coefficient exists


@dataclass(frozen=True, slots=True)
class Ratings:
    """Labels as numbers.

    Attributes:
        codes: Shape (items, raters): 0 to categories - 1 in the order of the scale; `MISSING` where there is no label.
        categories: Length of the scale, whether or not all of it was used.
    """

    codes: Codes
    categories: int

    def __post_init__(self) -> None:
        if self.codes.ndim != 2:
            raise ValueError(f"codes must have the shape (items, raters), but have {self.codes.ndim} dimensions")
        if self.codes.size and not MISSING <= self.codes.min() <= self.codes.max() < self.categories:
            raise ValueError(f"codes must lie between {MISSING} and {self.categories - 1}")

    @property
    def pairable(self) -> Ratings:
        """The items that at least two raters labelled."""
        return Ratings(self.codes[(self.codes != MISSING).sum(axis=1) >= 2], self.categories)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The distinct rows of ratings.

    Attributes:
        rows: Shape (patterns, raters).
        counts: How many raters chose each category, shape (patterns, categories).
        raters: How many raters labelled, shape (patterns,).
    """

    rows: Codes
    counts: Floats
    raters: Floats

    @classmethod
    def of(cls, ratings: Ratings) -> tuple[Patterns, Floats]:
        """Return the patterns and how often each occurs, shape (patterns,)."""
        rows, often = np.unique(ratings.codes, axis=0, return_counts=True)
        counts = (rows[:, :, None] == np.arange(ratings.categories)).sum(axis=1).astype(np.float64)
        return cls(rows, counts, counts.sum(axis=1)), often.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Parts:
    """Observed and chance agreement, each of shape (draws,)."""

    observed: Floats
    chance: Floats

    @property
    def value(self) -> Floats:
        """(observed - chance) / (1 - chance); NaN where chance leaves no room for disagreement."""
        room = 1 - self.chance
        possible = room > 1e-12
        return np.where(possible, (self.observed - self.chance) / np.where(possible, room, 1.0), np.nan)


Coefficient = Callable[[Patterns, Floats], Parts]


def percentage(patterns: Patterns, weights: Floats) -> Parts:
    """Return the share of agreeing pairs of raters, averaged over items; nothing is taken off for chance."""
    # The share of agreeing pairs of raters for each pattern; 0 where there is no pair.
    n = patterns.raters
    pairs = n * (n - 1)
    agreeing = (patterns.counts * (patterns.counts - 1)).sum(axis=1)
    agreed = np.asarray(np.divide(agreeing, pairs, out=np.zeros_like(n), where=pairs > 0))
    both = patterns.raters >= 2
    observed = (weights[:, both] @ agreed[both]) / weights[:, both].sum(axis=1)
    return Parts(observed, np.zeros_like(observed))


def cohen(patterns: Patterns, weights: Floats) -> Parts:
    """Return Cohen's kappa of two raters, over the items that both labelled.

    Raises:
        ValueError: There are more or fewer than two raters.

    References:
        Cohen (1960), A coefficient of agreement for nominal scales.
    """
    if patterns.rows.shape[1] != 2:
        raise ValueError(f"Cohen's kappa compares two raters, not {patterns.rows.shape[1]}")
    both = patterns.raters == 2
    rows, given = patterns.rows[both], weights[:, both]
    n = given.sum(axis=1)
    scale = np.arange(patterns.counts.shape[1])
    first, second = (given @ (rows[:, [rater]] == scale) for rater in (0, 1))
    return Parts(given @ (rows[:, 0] == rows[:, 1]) / n, (first * second).sum(axis=1) / n**2)


def alpha_nominal(patterns: Patterns, weights: Floats) -> Parts:
    """Return Krippendorff's alpha; any two categories differ equally."""
    return _alpha(patterns, weights, ordinal=False)


def alpha_ordinal(patterns: Patterns, weights: Floats) -> Parts:
    """Return Krippendorff's alpha for a scale with an order: its ends differ more than neighbours do."""
    return _alpha(patterns, weights, ordinal=True)


def _alpha(patterns: Patterns, weights: Floats, *, ordinal: bool) -> Parts:
    """Return the parts of alpha, from the matrix of coincidences.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    both = patterns.raters >= 2
    counts, raters = patterns.counts[both], patterns.raters[both]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    coincidences = np.tensordot(weights[:, both], pairs / (raters - 1)[:, None, None], axes=1)
    margins = coincidences.sum(axis=2)
    n = margins.sum(axis=1)
    distance = _ordinal(margins) if ordinal else np.broadcast_to(1 - np.eye(margins.shape[1]), coincidences.shape)
    observed = (coincidences * distance).sum(axis=(1, 2)) / n
    expected = (margins[:, :, None] * margins[:, None, :] * distance).sum(axis=(1, 2)) / (n * np.maximum(n - 1, 1))
    return Parts(1 - observed, 1 - expected)


def _ordinal(margins: Floats) -> Floats:
    """Return squared distances between mean ranks, the largest being 1; shape (draws, categories, categories)."""
    ranks = np.cumsum(margins, axis=1) - margins / 2
    squared = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    largest = squared.max(axis=(1, 2), keepdims=True)
    return np.asarray(squared / np.where(largest > 0, largest, 1.0))


def ac1(patterns: Patterns, weights: Floats) -> Parts:
    """Return Gwet's AC1: like kappa, but not dragged down when nearly all labels are the same.

    Raises:
        ValueError: The scale has a single category.

    References:
        Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement.
    """
    categories = patterns.counts.shape[1]
    if categories < 2:
        raise ValueError("AC1 needs a scale of two categories or more")
    rated = patterns.raters >= 1
    shares = patterns.counts[rated] / patterns.raters[rated, None]
    prevalence = (weights[:, rated] @ shares) / weights[:, rated].sum(axis=1, keepdims=True)
    chance = (prevalence * (1 - prevalence)).sum(axis=1) / (categories - 1)
    return Parts(percentage(patterns, weights).observed, chance)


def point(coefficient: Coefficient, ratings: Ratings) -> float | None:
    """Return a coefficient; None without an item that two raters labelled, or when chance alone explains everything."""
    pairable = ratings.pairable
    if not len(pairable.codes):
        return None
    patterns, often = Patterns.of(pairable)
    value = float(coefficient(patterns, often[None, :]).value[0])
    return None if np.isnan(value) else value


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau-b; None with fewer than two values, or when one side is all the same.

    References:
        Kendall (1945), The treatment of ties in ranking problems.
    """
    if len(first) != len(second):
        raise ValueError(f"the two sides have {len(first)} and {len(second)} values")
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(kendalltau(first, second).statistic)


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
        ci = self.interval.as_json() if self.interval else None
        return {"value": self.value, "ci95": ci, "n": self.n, "note": self.note}


def estimate(coefficient: Coefficient, ratings: Ratings, *, rng: Generator, draws: int = DRAWS) -> Estimate:
    """Return a coefficient with its 95 % interval by a bootstrap over items.

    Args:
        coefficient: One of `OF_TWO_RATERS` or `OF_MANY_RATERS`.
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
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < MIN_DEFINED * len(resampled):
        return Estimate(value, None, n, "nearly all labels are the same")
    low, high = (float(bound) for bound in np.percentile(defined, [2.5, 97.5]))
    if high - low > 1e-9:
        return Estimate(value, Interval(low, high), n)
    bound = wilson(n, n)
    if value < 1 - 1e-9 or bound is None:
        return Estimate(value, None, n, "all items were rated alike, so no spread can be told")
    low = 1 - (1 - bound.low) / (1 - float(parts.chance[0]))
    return Estimate(value, Interval(max(-1.0, low), 1.0), n, "nobody disagreed: the low end is Wilson's")


OF_TWO_RATERS: dict[str, Coefficient] = {
    "agreement": percentage,
    "kappa": cohen,
    "alpha": alpha_ordinal,
    "alpha_nominal": alpha_nominal,
    "ac1": ac1,
}
OF_MANY_RATERS: dict[str, Coefficient] = {name: of for name, of in OF_TWO_RATERS.items() if name != "kappa"}
ItemId = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RaterGroup:
    """Raters compared with one another.

    Attributes:
        name: What the group is.
        raters: Their ids.
        n: Items that at least two of them labelled.
        figures: Coefficients by name.
        confusion: For two raters: how often the first said the row and the second the column; None for more.
    """

    name: str
    raters: tuple[str, ...]
    n: int
    figures: dict[str, Estimate]
    confusion: Codes | None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "raters": list(self.raters),
            "n": self.n,
            **{name: figure.as_json() for name, figure in self.figures.items()},
            "confusion": None if self.confusion is None else self.confusion.tolist(),
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """All comparisons of a run's raters.

    Attributes:
        labelled: How many of the items each rater labelled.
        items: How many items there are.
        pairs: Every two raters that share an item; people first, then people and models, then models.
        groups: All people, and all models, where there are more than two.
    """

    labelled: dict[str, int]
    items: int
    pairs: tuple[RaterGroup, ...]
    groups: tuple[RaterGroup, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "labels": list(VERDICTS),
            "items": self.items,
            "labelled": self.labelled,
            "pairs": [group.as_json() for group in self.pairs],
            "groups": [group.as_json() for group in self.groups],
        }


def agreement_of(verdicts: Verdicts, items: Sequence[ItemId], *, rng: Generator) -> Agreement:
    """Compare all raters on these items; adjudicators are left out, since they saw the others' labels.

    Args:
        verdicts: All labels.
        items: (question id, pair id).
        rng: Seeded by the caller; fixes the intervals.
    """
    raters = sorted(verdicts.rater_ids, key=lambda rater: (not _is_person(rater), rater))
    people = [_is_person(rater) for rater in raters]
    codes = _codes(verdicts, items, raters)
    pairs = [
        _group(f"{raters[a]} and {raters[b]}", raters, codes, (a, b), rng)
        for a, b in sorted(combinations(range(len(raters)), 2), key=lambda two: sum(not people[each] for each in two))
    ]
    groups = []
    for name, kind in {"all people": True, "all models": False}.items():
        members = tuple(number for number, person in enumerate(people) if person == kind)
        if len(members) > 2:
            groups.append(_group(name, raters, codes, members, rng))
    return Agreement(
        labelled={rater: int((codes[:, number] != MISSING).sum()) for number, rater in enumerate(raters)},
        items=len(items),
        pairs=tuple(group for group in pairs if group.n),
        groups=tuple(group for group in groups if group.n),
    )


def _codes(verdicts: Verdicts, items: Sequence[ItemId], raters: Sequence[str]) -> Codes:
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for row, item in enumerate(items):
        for column, rater in enumerate(raters):
            label = verdicts.label_of(rater, *item)
            if label is not None:
                codes[row, column] = VERDICTS.index(label.label)
    return codes


def _group(name: str, raters: Sequence[str], codes: Codes, members: tuple[int, ...], rng: Generator) -> RaterGroup:
    ratings = Ratings(codes[:, list(members)], len(VERDICTS))
    shared = ratings.pairable.codes
    two = len(members) == 2
    confusion = np.zeros((len(VERDICTS), len(VERDICTS)), dtype=np.int64) if two else None
    if confusion is not None:
        np.add.at(confusion, (shared[:, 0], shared[:, 1]), 1)
    figures = {key: estimate(of, ratings, rng=rng) for key, of in (OF_TWO_RATERS if two else OF_MANY_RATERS).items()}
    return RaterGroup(name, tuple(raters[member] for member in members), len(shared), figures, confusion)


def _is_person(rater: str) -> bool:
    return rater.startswith("person:")
