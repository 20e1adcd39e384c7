"""Intervals and agreement against published and hand-made values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.statistics import Interval, clustered, wilson


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [
        # Newcombe (1998), Two-sided confidence intervals for the single proportion, Table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),  # by symmetry with 0 of 20
        (8, 10, 0.4902, 0.9433),
    ],
)
def test_wilson_agrees_with_published_intervals(right: int, n: int, low: float, high: float) -> None:
    interval = wilson(right, n)

    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


@given(data=st.data(), n=st.integers(min_value=1, max_value=2000))
def test_wilson_holds_the_share_and_mirrors_errors(data: st.DataObject, n: int) -> None:
    right = data.draw(st.integers(min_value=0, max_value=n))

    interval, mirrored = wilson(right, n), wilson(n - right, n)

    assert interval is not None
    assert mirrored is not None
    assert 0 <= interval.low <= right / n + 1e-12
    assert right / n - 1e-12 <= interval.high <= 1
    assert interval.high - interval.low > 0
    assert (interval.low, interval.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_wilson_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("right", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_wilson_refuses_impossible_counts(right: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"right must lie between 0 and n, but is {right} of {n}"):
        wilson(right, n)


def test_questions_that_fail_together_widen_the_interval() -> None:
    right = [pair < 24 for pair in range(33) for _ in range(10)]
    cluster = [pair for pair in range(33) for _ in range(10)]

    independent, together = wilson(sum(right), 330), clustered(right, cluster, rng=np.random.default_rng(1))

    assert independent is not None
    assert together is not None
    assert together.high - together.low > 2.5 * (independent.high - independent.low)
    assert together.low < sum(right) / 330 < together.high


def test_pairs_that_succeed_or_fail_as_a_whole_are_so_many_coin_tosses() -> None:
    right = [pair < 24 for pair in range(33) for _ in range(10)]
    cluster = [pair for pair in range(33) for _ in range(10)]

    interval = clustered(right, cluster, rng=np.random.default_rng(1))

    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(tuple(binom.ppf([0.025, 0.975], 33, 24 / 33) / 33))


def test_pairs_that_fare_alike_show_no_spread() -> None:
    right = [True, False] * 50
    cluster = [number // 2 for number in range(100)]

    assert clustered(right, cluster, rng=np.random.default_rng(1)) == Interval(0.5, 0.5)


def test_the_same_seed_gives_the_same_interval() -> None:
    right, cluster = [number % 3 > 0 for number in range(60)], [number // 7 for number in range(60)]

    def draw(seed: int) -> Interval | None:
        return clustered(right, cluster, rng=np.random.default_rng(seed), draws=500)

    assert draw(7) == draw(7)
    assert draw(7) != draw(8)


@pytest.mark.parametrize("right", [[], [True], [True, False, True]])
def test_fewer_than_two_clusters_have_no_interval(right: list[bool]) -> None:
    assert clustered(right, ["pain"] * len(right), rng=np.random.default_rng(1)) is None


def test_every_question_needs_its_cluster() -> None:
    with pytest.raises(ValueError, match="shorter"):
        clustered([True, False], ["pain"], rng=np.random.default_rng(1))
