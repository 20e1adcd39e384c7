"""Intervals for accuracies. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a share, 0 to 1."""

    low: float
    high: float


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
