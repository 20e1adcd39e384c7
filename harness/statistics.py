"""Intervals of shares, tests for two runs on the same questions, and adjustment for many tests. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.special import bdtr, gammaln

Z95 = 1.959963984540054
ALPHA, POWER = 0.05, 0.8
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a share, 0 to 1, or of a change of one, -1 to 1."""

    low: float
    high: float

    def as_json(self) -> list[float]:
        return [self.low, self.high]


def wilson(right: int, n: int) -> Interval | None:
    """Return the 95 % Wilson score interval of `right` of `n`; None when n is 0.

    It treats questions as independent, which ten phrasings of one pair are not: see `clustered`.

    Raises:
        ValueError: `right` is not between 0 and n.

    References:
        Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    if not 0 <= right <= n:
        raise ValueError(f"right must lie between 0 and n, but is {right} of {n}")
    if n == 0:
        return None
    share, square = right / n, Z95 * Z95
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def clustered(
    right: Sequence[bool], cluster: Sequence[Hashable], *, rng: Generator, draws: int = 10_000
) -> Interval | None:
    """Bound a share when questions come in clusters (all phrasings of a pair succeed or fail together).

    Args:
        right: Whether each question was right, shape (questions,).
        cluster: What each question belongs to, usually its pair; same shape.
        rng: Seeded by the caller.
        draws: Resamples of whole clusters.

    Returns:
        95 % percentile interval; None with fewer than two clusters, since one cluster shows no spread.

    References:
        Field & Welsh (2007), Bootstrapping clustered data.
    """
    hits: dict[Hashable, int] = defaultdict(int)
    sizes: dict[Hashable, int] = defaultdict(int)
    for value, name in zip(right, cluster, strict=True):
        hits[name] += value
        sizes[name] += 1
    return clustered_counts(list(hits.values()), list(sizes.values()), rng=rng, draws=draws)


def clustered_counts(
    hits: Sequence[int], sizes: Sequence[int], *, rng: Generator, draws: int = 10_000
) -> Interval | None:
    """Bound a share as `clustered` does, from counts: how many of each cluster were right, and how large it is."""
    if len(sizes) < 2:
        return None
    right, whole = np.array(hits, dtype=np.float64), np.array(sizes, dtype=np.float64)
    chosen = rng.integers(0, len(sizes), size=(draws, len(sizes)))
    shares = right[chosen].sum(axis=1) / whole[chosen].sum(axis=1)
    low, high = np.percentile(shares, [2.5, 97.5])
    return Interval(float(low), float(high))


def mcnemar(fixed: int, broken: int) -> float:
    """Return the exact two-sided p-value for `fixed` and `broken` questions; 1.0 when nothing changed.

    References:
        McNemar (1947), Note on the sampling error of the difference between correlated proportions.
    """
    changed = fixed + broken
    return min(1.0, 2 * float(bdtr(min(fixed, broken), changed, 0.5))) if changed else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for being several, in the order given.

    References:
        Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, number in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[number]))
        adjusted[number] = largest
    return adjusted


def false_discovery(p_values: Sequence[float], *, tests: int | None = None) -> list[float]:
    """Return q-values, in the order given: the false discovery rate if everything up to this one is believed.

    `tests` counts those that were made, where p-values of tests without any finding are left out.

    References:
        Benjamini & Hochberg (1995), Controlling the false discovery rate.
    """
    adjusted = [0.0] * len(p_values)
    smallest, made = 1.0, max(tests or 0, len(p_values))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for rank, number in reversed(list(enumerate(order, 1))):
        smallest = min(smallest, p_values[number] * made / rank)
        adjusted[number] = smallest
    return adjusted


def clustered_change(
    before: Sequence[bool], after: Sequence[bool], cluster: Sequence[Hashable], *, rng: Generator, draws: int = 10_000
) -> Interval | None:
    """Bound the change of a share between two runs, questions about one pair resampled together.

    Args:
        before: Whether each question was right, shape (questions,).
        after: The same questions in the same order.
        cluster: What each question belongs to, usually its pair.
        rng: Seeded by the caller.
        draws: Resamples of whole clusters.

    Returns:
        95 % percentile interval; None with fewer than two clusters, since one cluster shows no spread.

    References:
        Field & Welsh (2007), Bootstrapping clustered data.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for was, is_, name in zip(before, after, cluster, strict=True):
        groups[name].append(int(is_) - int(was))
    gains, sizes = [sum(values) for values in groups.values()], [len(values) for values in groups.values()]
    return clustered_counts(gains, sizes, rng=rng, draws=draws)


def detectable_change(n: int, changed: float, *, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Return the smallest true change of a share that `mcnemar` would find with this power.

    Args:
        n: Questions that both runs were asked.
        changed: Share of questions that change in either direction. When all change in one direction, the change is
            this share itself: 0 asks for that best case.
        alpha: Two-sided level of the test.
        power: Wanted probability of finding the change.

    Returns:
        A share, 0 to 1; None when the suite is too small to find any change.
    """
    if n == 0 or mcnemar_power(n, 1.0, 1.0, alpha=alpha) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        if mcnemar_power(n, max(changed, middle), middle, alpha=alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def mcnemar_power(n: int, changed: float, change: float, *, alpha: float = ALPHA) -> float:
    """Return the probability that `mcnemar` is at most `alpha` for a true change.

    Args:
        n: Questions.
        changed: Share that changes in either direction, at least `change`.
        change: Share that gets better less share that gets worse, 0 to 1.
        alpha: Two-sided level.
    """
    counts = np.arange(n + 1)
    weights = _binomial(counts, n, changed)
    counts = counts[weights > 1e-12]
    # The most changes against the trend with which each number of changes is still significant; -1: none is.
    most = np.array([_most_against(int(count), alpha) for count in counts])
    against = (1 - change / changed) / 2 if changed else 0.5
    found = np.where(most >= 0, bdtr(np.maximum(most, 0), counts, against), 0.0)
    # Significant in the wrong direction also counts as significant, as in any two-sided test.
    found += np.where(most >= 0, bdtr(np.maximum(most, 0), counts, 1 - against), 0.0)
    return float((weights[weights > 1e-12] * found).sum())


def _most_against(changed: int, alpha: float) -> int:
    low, high = -1, changed // 2
    while low < high:
        middle = (low + high + 1) // 2
        if mcnemar(middle, changed - middle) <= alpha:
            low = middle
        else:
            high = middle - 1
    return low


def _binomial(counts: npt.NDArray[np.int64], n: int, share: float) -> Floats:
    """Return the probability of each count, through logarithms: n may be a million."""
    if share in (0.0, 1.0):
        return np.asarray(counts == round(n * share), dtype=np.float64)
    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + counts * np.log(share) + (n - counts) * np.log1p(-share)), dtype=np.float64)
