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
from scipy.special import bdtr, ndtri, stdtrit
from scipy.stats import binom

Z95 = 1.959963984540054
ALPHA, POWER = 0.05, 0.8
CAUTIOUS = 0.5  # how alike questions of one cluster are taken to fare where nothing is seen of it
SEEN = 4  # failures that weigh as much as that; chosen by simulation, see docs/status.md
ALL_FLIPS = 12  # clusters of which all sign flips are counted
FLIPS = 4_999  # random sign flips for an interval, with more clusters
MOST_FLIPPED = 2_000  # clusters; with more, the normal approximation is as good
DRAWN, FLIPS_OF_DRAWN, MOST_DRAWN = 100, 499, 200  # to find how large a change must be: draws, flips, clusters
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a share, 0 to 1, or of a change of one, -1 to 1; of 95 % unless said otherwise."""

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


def clustered_share(right: Sequence[int], sizes: Sequence[int], *, chance: float = ALPHA) -> Interval | None:
    """Bound a share when questions come in clusters: Wilson's interval for the number of independent questions.

    Of n questions, n / (1 + rho (m - 1)) are worth counting, where m is the size of a cluster (as a question finds it,
    so that one large cluster among small ones counts: n over Kish's number of clusters) and rho the intra-cluster
    correlation. Near 0 and 1 too few failures are seen to tell rho: with f failures (or right ones, if these are
    fewer) it is drawn towards `CAUTIOUS` with the weight of `SEEN` failures, but never below what was measured. The
    number is reduced once more for how few clusters there are (Student's t).

    Args:
        right: How many questions of each cluster were right, shape (clusters,).
        sizes: How many questions each cluster has.
        chance: That the interval misses the truth.

    Returns:
        None without questions, and for several questions of one cluster: they say nothing of other clusters. Where each
        question is a cluster of its own, Wilson's interval.

    References:
        Kish (1965), Survey sampling, 8.2; Korn & Graubard (1998), Confidence intervals for proportions with small
        expected number of positive counts estimated from survey data; Dean & Pagano (2015), Evaluating confidence
        interval methods for binomial proportions in clustered surveys.
    """
    hits, whole = np.asarray(right, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    hits, whole = hits[whole > 0], whole[whole > 0]
    clusters, n = len(whole), float(whole.sum())
    if not clusters:
        return None
    share = float(hits.sum() / n)
    if n == clusters:
        return _wilson_of(share, n, chance)
    if clusters < 2:
        return None
    worth = n * n / float((whole**2).sum())  # clusters of one size that would say as much
    fewer = min(float(hits.sum()), n - float(hits.sum()))
    measured = _alike(hits, whole)
    alike = max(measured, (fewer * measured + SEEN * CAUTIOUS) / (fewer + SEEN))
    independent = n / (1 + alike * (n / worth - 1))
    return _wilson_of(share, independent * (_normal(chance) / _student(worth - 1, chance)) ** 2, chance)


def _alike(hits: Floats, sizes: Floats) -> float:
    """Return the intra-cluster correlation, 0 to 1, by analysis of variance (unbiased where sizes differ, too)."""
    clusters, n = len(sizes), float(sizes.sum())
    shares, mean = hits / sizes, float(hits.sum() / n)
    between = float((sizes * (shares - mean) ** 2).sum()) / (clusters - 1)
    within = float((sizes * shares * (1 - shares)).sum()) / (n - clusters)
    size = (n - float((sizes**2).sum()) / n) / (clusters - 1)
    spread = between + (size - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0


def _wilson_of(share: float, n: float, chance: float = ALPHA) -> Interval:
    z = _normal(chance)
    square = z * z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _normal(chance: float) -> float:
    """Return the two-sided quantile of the normal distribution."""
    return Z95 if chance == ALPHA else float(ndtri(1 - chance / 2))


def _student(degrees: float, chance: float = ALPHA) -> float:
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
    differences finds one by chance. No variance is taken to be smaller than chance within clusters makes it (binomial).

    Args:
        right: Questions of each group and cluster that were right, shape (groups, clusters).
        sizes: Questions of each group and cluster; same shape. All groups must have been asked about all clusters.

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
    inside = right * (sizes - right) / np.maximum(1, sizes - 1)  # binomial variance of each cell, unbiased
    binomial = inside.sum(axis=1) / n**2
    low = high = 0.0
    for one in range(groups):
        for other in range(one):
            variance = clusters / (clusters - 1) * float(((pulls[one] - pulls[other]) ** 2).sum())
            # One question more or less in each group: else groups without a spread would have no interval.
            variance = max(variance, float(binomial[one] + binomial[other]))
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


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two runs on the same questions, by cluster; all of shape (clusters,).

    Attributes:
        fixed: Questions that hit only after.
        broken: Questions that hit only before.
        sizes: Questions.
        before: Share of questions that hit before.
    """

    fixed: tuple[int, ...]
    broken: tuple[int, ...]
    sizes: tuple[int, ...]
    before: float

    @property
    def gains(self) -> list[int]:
        return [fixed - broken for fixed, broken in zip(self.fixed, self.broken, strict=True)]


def change_interval(changes: Changes, *, rng: Generator, chance: float = ALPHA, found: bool = False) -> Interval | None:
    """Bound the change of a share between two runs: all changes that `flip_test` would not reject.

    At least it is as wide as independent questions would leave it (Wilson's intervals of the shares that were fixed
    and broken, joined as Newcombe joins two), since changes that happen to be alike in all clusters show no spread; and
    it lies within what is possible from the share before.

    Args:
        changes: By cluster.
        rng: Seeded by the caller.
        chance: That the interval misses the truth; when it is one of several, divided by their number.
        found: Whether a change was found, which decides on which side of the edge 0 lies. Adjusted tests (Holm) find
            a little more than intervals of one level for all would say.

    Returns:
        None with several questions of a single cluster, and where no question changed: there is no spread to tell from.

    References:
        Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired
        data; Strassburger & Bretz (2008), Compatible simultaneous lower confidence bounds for the Holm procedure.
    """
    if len(changes.sizes) < 2 or not (any(changes.fixed) or any(changes.broken)):
        return None
    gain, size = np.asarray(changes.gains, dtype=np.float64), np.asarray(changes.sizes, dtype=np.float64)
    n = float(size.sum())
    change, better, worse = float(gain.sum() / n), sum(changes.fixed) / n, sum(changes.broken) / n
    fixed, broken = _wilson_of(better, n, chance), _wilson_of(worse, n, chance)
    low, high = _unrejected(gain, size, rng, chance) if gain.any() else (change, change)
    low = min(low, change - math.hypot(better - fixed.low, broken.high - worse))
    high = max(high, change + math.hypot(fixed.high - better, worse - broken.low))
    if found:
        low, high = (max(low, 1e-4 * change), high) if change > 0 else (low, min(high, 1e-4 * change))
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    return Interval(max(-changes.before, low), min(1 - changes.before, high))


def _unrejected(gain: Floats, size: Floats, rng: Generator, chance: float) -> tuple[float, float]:
    """Return the smallest and the largest change that flipping signs does not reject."""
    clusters, n = len(gain), float(size.sum())
    change = float(gain.sum() / n)
    if clusters > MOST_FLIPPED:
        spread = math.sqrt(clusters / (clusters - 1) * float(((gain - change * size) ** 2).sum())) / n
        return change - _normal(chance) * spread, change + _normal(chance) * spread
    if clusters <= ALL_FLIPS:
        signs = 1.0 - 2.0 * (np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1)
        itself = 0
    else:
        signs, itself = rng.choice(np.array([-1.0, 1.0]), size=(FLIPS, clusters)), 1
    flipped_gain, flipped_size = signs @ gain, signs @ size

    def rejected(supposed: float) -> bool:
        far = np.abs(flipped_gain - supposed * flipped_size) >= abs(gain.sum() - supposed * n) - 1e-9
        return float((far.sum() + itself) / (len(signs) + itself)) < chance

    return _edge(rejected, change, -1.0), _edge(rejected, change, 1.0)


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


def detectable_change(
    gains: Sequence[int], sizes: Sequence[int], *, rng: Generator | None = None, chance: float = ALPHA
) -> float | None:
    """Return the smallest true change of a share that `flip_test` would find with power 0.8.

    Simulated: clusters are drawn from those that were seen, less the change that was seen, and all moved by one change.

    Args:
        gains: Of each cluster, what changed between two runs; all 0 for the best case, in which every change goes in
            one direction and they are spread over the clusters.
        sizes: Questions of each cluster.
        rng: Seeded by the caller; needed unless all gains are 0.
        chance: Level of the test.

    Returns:
        A share, 0 to 1; None when no change is large enough, since the suite has too few clusters.
    """
    clusters, n = len(sizes), sum(sizes)
    fewest = math.ceil(math.log2(2 / chance))  # clusters that must change, all in one direction
    if clusters < fewest:
        return None
    mean = n / clusters

    def seen(change: float) -> bool:
        touched = 1 - (1 - change) ** mean  # chance that a cluster changes at all
        return 1 - float(bdtr(fewest - 1, clusters, touched)) >= POWER

    best = _smallest(seen, 17)
    if best is None or rng is None or not any(gains):
        return best
    size = np.asarray(sizes, dtype=np.float64)
    residual = np.asarray(gains, dtype=np.float64) - sum(gains) / n * size
    if clusters > MOST_DRAWN:
        spread = math.sqrt(float((residual**2).sum()) * clusters / (clusters - 1)) / n
        return min(1.0, max(best, (_normal(chance) + float(ndtri(POWER))) * spread))
    drawn = rng.integers(clusters, size=(clusters, DRAWN))
    moved, weight = residual[drawn] * rng.choice([-1.0, 1.0], size=drawn.shape), size[drawn]
    signs = rng.choice(np.array([-1.0, 1.0]), size=(FLIPS_OF_DRAWN, clusters))
    flipped, flipped_weight = signs @ moved, signs @ weight

    def enough(change: float) -> bool:
        reached = np.abs(moved.sum(axis=0) + change * weight.sum(axis=0)) - 1e-9
        far = (np.abs(flipped + change * flipped_weight) >= reached).sum(axis=0)
        return float(((far + 1) / (FLIPS_OF_DRAWN + 1) < chance).mean()) >= POWER

    found = _smallest(enough, 10)
    return None if found is None else max(best, found)


def _smallest(enough: Callable[[float], bool], halvings: int) -> float | None:
    """Return the smallest share that is enough, if 1 is."""
    low, high = 0.0, 1.0
    if not enough(high):
        return None
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
