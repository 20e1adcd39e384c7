"""Intervals of shares, tests for two runs on the same questions, and adjustment for many tests. Pure.

Ten phrasings of one pair succeed or fail together, so they are not ten independent questions. Everything here takes
whole clusters (usually pairs, or dialogues) as what varies; where each question is a cluster of its own, it comes to
the textbook's formulas for independent questions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.signal import fftconvolve
from scipy.special import bdtr, stdtrit
from scipy.stats import binom

Z95 = 1.959963984540054
ALPHA, POWER = 0.05, 0.8
FLIPS = 4_999  # random sign flips for an interval
MOST_FLIPPED = 2_000  # clusters; with more, the normal approximation is as good
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

    It treats questions as independent, which ten phrasings of one pair are not: see `clustered_share`.

    Raises:
        ValueError: `right` is not between 0 and n.

    References:
        Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    if not 0 <= right <= n:
        raise ValueError(f"right must lie between 0 and n, but is {right} of {n}")
    if n == 0:
        return None
    return _wilson_of(right / n, n)


def clustered_share(right: Sequence[int], sizes: Sequence[int]) -> Interval | None:
    """Bound a share when questions come in clusters: Wilson's interval for the number of independent questions.

    The number of questions is divided by the design effect (the variance between clusters over that of independent
    questions, at least 1), and reduced once more for how few clusters there are (Student's t). Unlike resampled
    intervals it does not shrink to nothing at 0 and 1, nor with few clusters.

    Args:
        right: How many questions of each cluster were right, shape (clusters,).
        sizes: How many questions each cluster has.

    Returns:
        95 % interval; None with fewer than two clusters, since one cluster shows no spread.

    References:
        Korn & Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data; Dean & Pagano (2015), Evaluating confidence interval methods for binomial
        proportions in clustered surveys.
    """
    clusters = len(sizes)
    if clusters < 2:
        return None
    hits, whole = np.asarray(right, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    n = float(whole.sum())
    if n == clusters:  # each question is a cluster of its own
        return wilson(int(hits.sum()), int(n))
    share = float(hits.sum() / n)
    binomial = share * (1 - share) / n
    between = clusters / (clusters - 1) * float(((hits - share * whole) ** 2).sum()) / n**2
    effect = max(1.0, between / binomial) if binomial else 1.0
    return _wilson_of(share, n / effect * (Z95 / _student(clusters - 1)) ** 2)


def _wilson_of(share: float, n: float) -> Interval:
    square = Z95 * Z95
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _student(degrees: int, chance: float = ALPHA) -> float:
    """Return the two-sided quantile of Student's t."""
    return float(stdtrit(degrees, 1 - chance / 2))


@dataclass(frozen=True, slots=True)
class Gap:
    """The largest difference between the shares of two of several groups.

    Attributes:
        best, worst: Places of the two groups.
        value: Their difference, 0 to 1.
        interval: 95 % for the largest true difference, with regard to all pairs of groups that were compared.
    """

    best: int
    worst: int
    value: float
    interval: Interval


def largest_gap(right: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Gap | None:
    """Bound the largest difference between groups that were asked about the same clusters.

    Every two groups are compared cluster by cluster (an easy pair is easy for both), with variances between clusters
    and Student's t, at a level divided by the number of comparisons (Bonferroni): whoever looks for the largest of many
    differences finds one by chance.

    Args:
        right: Questions of each group and cluster that were right, shape (groups, clusters).
        sizes: Questions of each group and cluster; same shape. A group may lack clusters, but not all.

    Returns:
        None with fewer than two groups or clusters.
    """
    groups, clusters = right.shape
    if groups < 2 or clusters < 2:
        return None
    n = sizes.sum(axis=1).astype(np.float64)
    shares = right.sum(axis=1) / n
    quantile = _student(clusters - 1, ALPHA / (groups * (groups - 1) / 2))
    # How each cluster pulls the share of each group away from its mean.
    pulls = (right - shares[:, None] * sizes) / n[:, None]
    low = high = 0.0
    for one in range(groups):
        for other in range(one):
            variance = clusters / (clusters - 1) * float(((pulls[one] - pulls[other]) ** 2).sum())
            # One question more or less in each group: else groups without a spread would have no interval.
            wide = quantile * math.sqrt(variance + 1 / n[one] ** 2 + 1 / n[other] ** 2)
            apart = abs(float(shares[one] - shares[other]))
            low, high = max(low, apart - wide), max(high, apart + wide)
    best, worst = int(shares.argmax()), int(shares.argmin())
    value = float(shares[best] - shares[worst])
    return Gap(best, worst, value, Interval(max(0.0, low), min(1.0, high)))


def flip_test(gains: Sequence[int]) -> float:
    """Return the exact two-sided p-value for a change between two runs on the same questions.

    When nothing but chance tells the runs apart, each cluster might as well have changed the other way round: all ways
    of flipping the signs of the clusters are equally likely. Where each question is a cluster of its own, this is the
    exact McNemar test. k clusters that changed cannot give less than 2 / 2**k.

    Args:
        gains: Of each cluster, questions that were fixed less questions that broke, shape (clusters,).

    References:
        Fisher (1935), The design of experiments, 21; Canay, Romano & Shaikh (2017), Randomization tests under an
        approximate symmetry assumption; McNemar (1947).
    """
    counts = Counter(abs(int(gain)) for gain in gains if gain)
    if not counts:
        return 1.0
    furthest = sum(size * count for size, count in counts.items())
    chances = np.ones(1)
    for size, count in sorted(counts.items()):
        # The sum of `count` signs times `size` lies at -size*count, …, size*count in steps of 2*size.
        steps = np.zeros(2 * size * count + 1)
        steps[:: 2 * size] = binom.pmf(np.arange(count + 1), count, 0.5)
        chances = np.convolve(chances, steps) if chances.size * steps.size < 10**7 else fftconvolve(chances, steps)
    apart = np.abs(np.arange(chances.size) - furthest)
    return min(1.0, float(chances[apart >= abs(sum(gains))].clip(min=0).sum()))


def change_interval(gains: Sequence[int], sizes: Sequence[int], *, rng: Generator) -> Interval | None:
    """Bound the change of a share between two runs: all changes that `flip_test` would not reject at 5 %.

    So the interval contains 0 exactly when the test finds no change.

    Args:
        gains: Of each cluster, questions that were fixed less questions that broke, shape (clusters,).
        sizes: Questions of each cluster.
        rng: Seeded by the caller.

    Returns:
        95 % interval; None with fewer than two clusters, and where nothing changed: there is no spread to tell from.
    """
    if len(sizes) < 2 or not any(gains):
        return None
    gain, size = np.asarray(gains, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    n, clusters = float(size.sum()), len(sizes)
    change, p_value = float(gain.sum() / n), flip_test(gains)
    if clusters > MOST_FLIPPED:
        spread = math.sqrt(clusters / (clusters - 1) * float(((gain - change * size) ** 2).sum())) / n
        low, high = change - Z95 * spread, change + Z95 * spread
    else:
        signs = rng.choice(np.array([-1.0, 1.0]), size=(FLIPS, clusters))
        flipped_gain, flipped_size = signs @ gain, signs @ size

        def rejected(supposed: float) -> bool:
            far = np.abs(flipped_gain - supposed * flipped_size) >= abs(gain.sum() - supposed * n) - 1e-9
            return float((far.sum() + 1) / (FLIPS + 1)) < ALPHA

        low, high = _edge(rejected, change, -1.0), _edge(rejected, change, 1.0)
    # Random flips come near the exact test, but on which side of it 0 lies is for the exact test to say.
    if p_value < ALPHA:
        low, high = (max(low, 1e-4 * change), high) if change > 0 else (low, min(high, 1e-4 * change))
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(max(-1.0, low), min(1.0, high))


def _edge(rejected: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return where rejection begins between a value that is not rejected and one that may be."""
    if not rejected(outside):
        return outside
    for _ in range(20):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
    return inside


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


def detectable_change(gains: Sequence[int], sizes: Sequence[int]) -> float | None:
    """Return the smallest true change of a share that `flip_test` would find with power 0.8.

    Args:
        gains: Of each cluster, what changed between two runs; all 0 for the best case, in which every change goes in
            one direction and they are spread over the clusters.
        sizes: Questions of each cluster.

    Returns:
        A share, 0 to 1; None when the suite has too few clusters to find any change.
    """
    clusters, n = len(sizes), sum(sizes)
    if clusters < _fewest_changed():
        return None
    mean = n / clusters
    low, best = 0.0, 1.0
    while best - low > 1e-5:
        middle = (low + best) / 2
        touched = 1 - (1 - middle) ** mean  # chance that a cluster changes at all
        if 1 - float(bdtr(_fewest_changed() - 1, clusters, touched)) >= POWER:
            best = middle
        else:
            low = middle
    spread = math.sqrt(sum(gain * gain for gain in gains) * clusters / (clusters - 1)) / n
    student = _student(clusters - 1) + float(stdtrit(clusters - 1, POWER))
    return min(1.0, max(best, student * spread))


def _fewest_changed() -> int:
    """Return how many clusters must change, all in one direction, for `flip_test` to find it."""
    return math.ceil(math.log2(2 / ALPHA))
