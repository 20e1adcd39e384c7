"""Paired tests give the published figures, and those of scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from harness.statistics import Interval, clustered_change, detectable_change, holm, mcnemar, mcnemar_power


def test_mcnemar_gives_the_published_value() -> None:
    # Fagerland, Lydersen & Laake (2013), airway hyper-responsiveness: 1 and 7 discordant pairs, exact conditional p.
    assert mcnemar(1, 7) == pytest.approx(0.0703, abs=5e-5)


@pytest.mark.parametrize(("fixed", "broken"), [(0, 1), (0, 6), (5, 5), (3, 12), (40, 71), (400, 300)])
def test_mcnemar_is_the_exact_binomial_test(fixed: int, broken: int) -> None:
    expected = binomtest(fixed, fixed + broken, 0.5).pvalue

    assert mcnemar(fixed, broken) == pytest.approx(expected)
    assert mcnemar(broken, fixed) == pytest.approx(expected)


def test_nothing_changed_is_no_evidence() -> None:
    assert mcnemar(0, 0) == 1.0


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


def test_the_interval_of_a_change_resamples_whole_pairs() -> None:
    # All questions of a pair change together: ten pairs, one of which breaks, are ten observations and not a hundred.
    before, cluster = [True] * 100, [number // 10 for number in range(100)]
    after = [number >= 10 for number in range(100)]

    found = clustered_change(before, after, cluster, rng=np.random.default_rng(1))

    assert found is not None
    # One of ten pairs lost, resampled: the share lost is Binomial(10, 0.1) / 10.
    assert found == Interval(-binom.ppf(0.975, 10, 0.1) / 10, 0.0)


def test_one_pair_shows_no_spread() -> None:
    assert clustered_change([True], [False], ["pain"], rng=np.random.default_rng(1)) is None


@pytest.mark.parametrize(("n", "changed", "change"), [(30, 0.3, 0.2), (60, 0.5, 0.5), (100, 0.2, 0.0)])
def test_the_power_is_that_of_every_possible_outcome_together(n: int, changed: float, change: float) -> None:
    better, worse = (changed + change) / 2, (changed - change) / 2
    expected = 0.0
    for fixed in range(n + 1):
        for broken in range(n + 1 - fixed):
            if fixed + broken and binomtest(fixed, fixed + broken, 0.5).pvalue <= 0.05:
                ways = math.factorial(n) // (
                    math.factorial(fixed) * math.factorial(broken) * math.factorial(n - fixed - broken)
                )
                expected += ways * better**fixed * worse**broken * (1 - changed) ** (n - fixed - broken)

    assert mcnemar_power(n, changed, change) == pytest.approx(expected)


def test_the_detectable_change_has_the_power_and_a_smaller_one_has_not() -> None:
    found = detectable_change(990, 0.1)

    assert found is not None
    assert mcnemar_power(990, 0.1, found) >= 0.8 > mcnemar_power(990, 0.1, found - 0.001)
    # Connor (1987): n = (z_a sqrt(psi) + z_b sqrt(psi - d²))² / d²; the exact test needs a little more.
    needed = (1.96 * math.sqrt(0.1) + 0.8416 * math.sqrt(0.1 - found**2)) ** 2 / found**2
    assert 900 < needed < 990


def test_at_best_six_questions_must_break() -> None:
    found = detectable_change(990, 0.0)

    # With all changes in one direction 6 of 6 are significant (p = 0.031): 6 or more of 990 must come with power 0.8.
    assert found is not None
    assert binom.sf(5, 990, found) == pytest.approx(0.8, abs=1e-3)


def test_a_suite_too_small_to_show_any_change_says_so() -> None:
    assert detectable_change(5, 0.0) is None
    assert detectable_change(0, 0.0) is None
