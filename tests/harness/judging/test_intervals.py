"""Intervals cover what they should, and promise nothing that few or uniform items cannot show."""

from __future__ import annotations

import numpy as np
import pytest

from harness.judging.agreement import (
    MIN_ITEMS,
    Ratings,
    ac1,
    alpha_nominal,
    alpha_ordinal,
    cohen,
    estimate,
    percentage,
    point,
)
from harness.statistics import wilson

ALL = [percentage, cohen, alpha_nominal, alpha_ordinal, ac1]


def ratings(rows: object) -> Ratings:
    return Ratings(np.array(rows, dtype=np.int64), 3)


def draw(n: int, rng: np.random.Generator) -> Ratings:
    """Two raters who both see the truth in 80 % of the items, and guess in the rest."""
    truth = rng.choice(3, size=n, p=[0.5, 0.2, 0.3])
    seen = [np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n)) for _ in range(2)]
    return ratings(np.stack(seen, axis=1))


@pytest.mark.parametrize("coefficient", ALL)
def test_intervals_hold_the_true_value_about_as_often_as_they_say(coefficient) -> None:
    rng = np.random.default_rng(5)
    true = point(coefficient, draw(200_000, rng))
    assert true is not None

    intervals = [estimate(coefficient, draw(80, rng), rng=rng, draws=400).interval for _ in range(200)]

    hits = sum(i is not None and i.low <= true <= i.high for i in intervals)
    assert 0.88 <= hits / 200 <= 0.99


@pytest.mark.parametrize("coefficient", ALL)
def test_no_interval_has_zero_width(coefficient) -> None:
    agreed = ratings([[0, 0]] * 20 + [[1, 1]] * 20 + [[2, 2]] * 20)

    found = estimate(coefficient, agreed, rng=np.random.default_rng(1))

    assert found.value == pytest.approx(1.0)
    assert found.interval is not None
    assert found.interval.low < 0.97
    assert found.interval.high == pytest.approx(1.0)


def test_when_all_labels_are_the_same_it_is_said_why_there_is_no_kappa() -> None:
    same = ratings([[2, 2]] * 60)

    found = estimate(cohen, same, rng=np.random.default_rng(1))

    assert (found.value, found.interval, found.n) == (None, None, 60)
    assert "all labels are the same" in found.note
    high = estimate(ac1, same, rng=np.random.default_rng(1))
    assert high.value == 1.0
    assert high.interval is not None
    bound = wilson(60, 60)
    assert bound is not None
    assert high.interval.low == pytest.approx(bound.low)  # chance agreement is 0


@pytest.mark.parametrize("n", [1, 2, MIN_ITEMS - 1])
def test_few_items_have_a_value_and_no_interval(n: int) -> None:
    found = estimate(ac1, ratings(([[0, 1], [1, 1]] * n)[:n]), rng=np.random.default_rng(1))

    assert found.value is not None
    assert found.interval is None
    assert found.note == f"fewer than {MIN_ITEMS} items"


def test_one_item_has_wilsons_interval_of_the_percentage() -> None:
    found = estimate(percentage, ratings([[1, 1]]), rng=np.random.default_rng(1))

    assert found.value == 1.0
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.2065, abs=1e-4)


def test_a_coefficient_that_many_resamples_cannot_have_gets_no_interval() -> None:
    lopsided = ratings([[2, 2]] * 29 + [[1, 1]])

    found = estimate(cohen, lopsided, rng=np.random.default_rng(1))

    assert found.value == pytest.approx(1.0)
    assert found.interval is None
    assert found.note == "nearly all labels are the same"


def test_nothing_in_common_is_said() -> None:
    found = estimate(alpha_ordinal, ratings([[0, -1], [-1, 2]]), rng=np.random.default_rng(1))

    assert (found.value, found.n, found.note) == (None, 0, "no item was labelled by two raters")


def test_the_same_seed_gives_the_same_interval() -> None:
    sample = draw(50, np.random.default_rng(3))

    one, two = (estimate(ac1, sample, rng=np.random.default_rng(7)) for _ in range(2))

    assert one == two
