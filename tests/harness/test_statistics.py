"""Intervals and agreement against published and hand-made values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.statistics import clustered_share, largest_gap, wilson


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


def test_questions_that_fail_together_are_so_many_coin_tosses() -> None:
    # 24 of 33 pairs answered as a whole: the ten phrasings of each say nothing more.
    together, pairs = clustered_share([10] * 24 + [0] * 9, [10] * 33), wilson(24, 33)

    assert together is not None
    assert pairs is not None
    # A little wider still, since the spread itself is only estimated (Student's t).
    assert (together.low, together.high) == pytest.approx((pairs.low, pairs.high), abs=0.012)
    assert together.high - together.low > pairs.high - pairs.low


def test_questions_that_are_pairs_of_their_own_have_the_plain_interval() -> None:
    assert clustered_share([1] * 30 + [0] * 10, [1] * 40) == wilson(30, 40)


def test_pairs_that_fare_alike_have_nearly_the_plain_interval() -> None:
    together, plain = clustered_share([8] * 33, [10] * 33), wilson(264, 330)

    assert together is not None
    assert plain is not None
    assert 1 < (together.high - together.low) / (plain.high - plain.low) < 1.2


@pytest.mark.parametrize("right", [0, 10])
def test_where_nothing_failed_pairs_are_taken_to_be_alike(right: int) -> None:
    found, plain = clustered_share([right] * 5, [10] * 5), wilson(5 * right, 50)

    assert found is not None
    assert plain is not None
    # Nothing says whether 50 questions or 5 pairs were tried: somewhere between.
    assert plain.high - plain.low < 0.1
    assert 0.4 < found.high - found.low < 0.6


@pytest.mark.parametrize("right", [[], [1], [3]])
def test_fewer_than_two_clusters_have_no_interval(right: list[int]) -> None:
    assert clustered_share(right, [3] * len(right)) is None


def test_one_large_pair_among_small_ones_is_hardly_more_than_one() -> None:
    mixed, even = clustered_share([80] + [4] * 19, [100] + [5] * 19), clustered_share([8] * 20, [10] * 20)

    assert mixed is not None
    assert even is not None
    assert mixed.high - mixed.low > 2 * (even.high - even.low)


@pytest.mark.parametrize("sizes", [[10] * 20, [20] * 5, [100] + [5] * 19])
@pytest.mark.parametrize("share", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("likeness", [0.0, 0.1, 0.3, 0.5, 0.8, 0.95])
def test_intervals_of_pairs_hold_the_truth_as_often_as_they_say(
    likeness: float, share: float, sizes: list[int]
) -> None:
    rng, held, above, draws = np.random.default_rng(3), 0, 0, 300
    apart = 1 / likeness - 1 if likeness else 0
    for _ in range(draws):
        clusters = len(sizes)
        shares = rng.beta(share * apart, (1 - share) * apart, clusters) if likeness else np.full(clusters, share)
        found = clustered_share(rng.binomial(sizes, shares).tolist(), sizes)
        assert found is not None
        held += found.low <= share <= found.high
        above += found.low > share

    assert held >= binom.ppf(0.001, draws, 0.94)
    # A gate whose limit is the truth passes when the interval lies above.
    assert above <= binom.ppf(0.999, draws, 0.025)


def test_the_largest_gap_is_bounded_with_regard_to_what_easy_pairs_do_to_both() -> None:
    # Ten pairs of ten questions; the second group misses one more of each: always the same, so surely there.
    right = np.array([[9] * 10, [8] * 10, [9] * 10])

    found = largest_gap(right, np.full((3, 10), 10))

    assert found is not None
    assert (found.best, found.worst) == (0, 1)
    assert found.value == pytest.approx(0.1)
    # That all pairs moved alike is chance as well: no narrower than chance within pairs allows.
    assert found.interval.low == 0
    assert 0.2 < found.interval.high < 0.3


def test_a_gap_that_is_there_by_chance_reaches_zero() -> None:
    rng = np.random.default_rng(5)
    reached, draws = 0, 300
    for _ in range(draws):
        shares = rng.beta(4, 1, 20)
        found = largest_gap(rng.binomial(10, np.tile(shares, (3, 1))), np.full((3, 20), 10))
        assert found is not None
        reached += found.interval.low <= 0

    assert reached >= binom.ppf(0.001, draws, 0.95)


def test_one_group_has_no_gap() -> None:
    assert largest_gap(np.array([[1, 2]]), np.array([[2, 2]])) is None
