"""Paired tests by cluster: exact, at their level, and McNemar's where every question stands alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from harness.statistics import Changes, Interval, change_interval, detectable_change, flip_test, holm


def bounded(gains: list[int], size: int = 10, *, before: float | None = None, chance: float = 0.05) -> Interval | None:
    """Bound a change that is fixed alone or broken alone in each cluster."""
    fixed, broken = [max(0, gain) for gain in gains], [max(0, -gain) for gain in gains]
    n = size * len(gains)
    share = (0.5 if 2 * sum(fixed) <= n >= 2 * sum(broken) else sum(broken) / n) if before is None else before
    changes = Changes(tuple(fixed), tuple(broken), (size,) * len(gains), share)
    return change_interval(changes, rng=np.random.default_rng(1), chance=chance, found=flip_test(gains) < chance)


def test_questions_on_their_own_are_the_published_mcnemar_test() -> None:
    # Fagerland, Lydersen & Laake (2013), airway hyper-responsiveness: 1 and 7 discordant pairs, exact conditional p.
    assert flip_test([1] + [-1] * 7 + [0] * 13) == pytest.approx(0.0703, abs=5e-5)


@pytest.mark.parametrize(("fixed", "broken"), [(0, 1), (0, 6), (5, 5), (3, 12), (40, 71), (400, 300)])
def test_questions_on_their_own_are_the_exact_binomial_test(fixed: int, broken: int) -> None:
    expected = binomtest(fixed, fixed + broken, 0.5).pvalue

    assert flip_test([1] * fixed + [-1] * broken) == pytest.approx(expected)
    assert flip_test([-1] * fixed + [1] * broken) == pytest.approx(expected)


@settings(max_examples=60)
@given(st.lists(st.integers(min_value=-6, max_value=6), max_size=9))
def test_the_exact_test_counts_every_way_of_flipping_signs(gains: list[int]) -> None:
    sums = [
        abs(sum(sign * gain for sign, gain in zip(signs, gains, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(gains))
    ]

    assert flip_test(gains) == pytest.approx(sum(one >= abs(sum(gains)) for one in sums) / len(sums))


def test_ten_phrasings_that_break_together_are_one_observation() -> None:
    assert flip_test([-10]) == 1.0
    assert flip_test([-10] * 5) == pytest.approx(2 / 2**5)
    assert flip_test([]) == 1.0


def test_a_million_questions_are_tested_at_once() -> None:
    rng = np.random.default_rng(1)
    many = rng.integers(-40, 41, 5_000).tolist()

    # The exact test and its normal approximation agree where there are thousands of clusters.
    from scipy.stats import norm

    assert flip_test(many) == pytest.approx(2 * norm.sf(abs(sum(many)) / np.sqrt(np.square(many).sum())), abs=2e-3)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # R: p.adjust(p, "holm")
        ([0.9, 0.8], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_holm_gives_what_r_gives(given: list[float], expected: list[float]) -> None:
    assert holm(given) == pytest.approx(expected)


@settings(max_examples=40)
@given(st.lists(st.integers(min_value=-10, max_value=10), min_size=2, max_size=25))
def test_the_interval_holds_zero_exactly_when_the_test_finds_nothing(gains: list[int]) -> None:
    found = bounded(gains)

    if not any(gains):
        assert found is None
        return
    assert found is not None
    assert found.low <= sum(gains) / (10 * len(gains)) <= found.high
    assert (found.low <= 0 <= found.high) == (flip_test(gains) >= 0.05)


def test_the_interval_of_a_change_takes_whole_pairs() -> None:
    # One pair of ten breaks as a whole, or one question of each of ten pairs.
    whole = bounded([-10] + [0] * 9)
    spread = bounded([-1] * 10)

    assert whole is not None
    assert spread is not None
    assert whole.low < -0.2 < whole.high
    assert whole.high >= 0
    assert spread.high < 0
    # Not narrower than if the hundred questions were independent, however alike the pairs.
    assert 0.1 < spread.high - spread.low < 0.2


def test_one_pair_shows_no_spread() -> None:
    assert bounded([-3]) is None


def test_a_change_of_all_questions_is_bounded_by_what_is_possible() -> None:
    all_fixed = bounded([1] * 8, 1, before=0)
    few = bounded([-1] * 4 + [0] * 4, 1, before=1)

    assert all_fixed is not None
    assert few is not None
    assert all_fixed.high == 1
    assert 0.3 < all_fixed.low < 0.8
    assert few.low < -0.5
    assert few.high == 0  # from 1.000 nothing can become better


def test_the_interval_over_few_pairs_is_the_exact_one() -> None:
    gains, size = [-4, -3, -5, -2, 1, -3, -4], 10
    found = bounded(gains, size)
    assert found is not None

    def p_value(supposed: float) -> float:
        rest = [gain - supposed * size for gain in gains]
        sums = [
            abs(sum(sign * one for sign, one in zip(signs, rest, strict=True)))
            for signs in itertools.product((-1, 1), repeat=len(rest))
        ]
        return sum(one >= abs(sum(rest)) - 1e-9 for one in sums) / len(sums)

    assert p_value(found.low + 1e-3) >= 0.05 > p_value(found.low - 1e-3)
    assert p_value(found.high - 1e-3) >= 0.05 > p_value(found.high + 1e-3)


def test_an_interval_of_several_is_wider() -> None:
    alone, several = bounded([-3, -2, -1, 0] * 5), bounded([-3, -2, -1, 0] * 5, chance=0.01)

    assert alone is not None
    assert several is not None
    assert several.low < alone.low < alone.high < several.high


@pytest.mark.parametrize("likeness", [0.0, 0.1, 0.3])
def test_the_interval_of_a_change_holds_the_truth_as_often_as_it_says(likeness: float) -> None:
    rng, held, draws = np.random.default_rng(4), 0, 150
    for _ in range(draws):
        drop = rng.normal(0.1, likeness, 20)
        gains = rng.binomial(10, 0.8 - np.clip(drop, -0.2, 0.8)) - rng.binomial(10, 0.8, 20)
        true = -float(np.clip(drop, -0.2, 0.8).mean()) if likeness == 0 else -0.1
        found = bounded(gains.tolist())
        held += found is not None and found.low <= true <= found.high

    assert held >= binom.ppf(0.001, draws, 0.93)


def test_at_best_six_pairs_must_change() -> None:
    # With all changes in one direction 6 of 6 are significant (p = 0.031): 6 or more must come with power 0.8.
    found = detectable_change([0] * 990, [1] * 990)

    assert found is not None
    assert binom.sf(5, 990, found) == pytest.approx(0.8, abs=1e-3)


def test_the_detectable_change_is_found_as_often_as_it_says() -> None:
    rng, likeness = np.random.default_rng(6), 0.08
    unchanged = [rng.binomial(10, 0.8 + rng.normal(0, likeness, 30).clip(-0.8, 0.2)) for _ in range(2)]
    smallest = detectable_change((unchanged[1] - unchanged[0]).tolist(), [10] * 30, rng=rng)
    assert smallest is not None

    found = 0
    for _ in range(200):
        before = rng.binomial(10, 0.8 + rng.normal(0, likeness, 30).clip(-0.8, 0.2))
        after = rng.binomial(10, 0.8 - smallest + rng.normal(0, likeness, 30).clip(-0.6, 0.2))
        found += flip_test((after - before).tolist()) < 0.05

    assert 0.65 < found / 200 < 0.92


def test_what_was_found_with_ease_is_no_larger_than_what_can_be_found() -> None:
    # A third of all questions lost in each of 20 pairs, more or less: p < 0.001.
    gains = [-3, -4, -2, -4] * 5

    smallest = detectable_change(gains, [10] * 20, rng=np.random.default_rng(1))

    assert flip_test(gains) < 0.001
    assert smallest is not None
    assert 0 < smallest < 0.1


def test_an_adjusted_test_finds_less() -> None:
    gains = [-1, 2, 0, 1, -2, 0] * 4
    alone, one_of_ten = (
        detectable_change(gains, [10] * 24, rng=np.random.default_rng(1), chance=chance) for chance in (0.05, 0.005)
    )

    assert alone is not None
    assert one_of_ten is not None
    assert alone < one_of_ten


def test_a_suite_too_small_to_show_any_change_says_so() -> None:
    assert detectable_change([0] * 5, [10] * 5) is None
    assert detectable_change([], []) is None
