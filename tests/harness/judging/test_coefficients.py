"""Our closed forms, against published figures and against scikit-learn, krippendorff and scipy on random ratings."""

from __future__ import annotations

from typing import Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from harness.judging.agreement import (
    MISSING,
    Ratings,
    ac1,
    alpha_nominal,
    alpha_ordinal,
    cohen,
    kendall_tau,
    percentage,
    point,
)

N = MISSING
# Krippendorff (2011), section C, and Gwet's irrCAC (cac.raw4raters): twelve items, four observers, five categories.
KRIPPENDORFF = [
    *([0, 0, N, 0], [1, 1, 2, 1], [2, 2, 2, 2], [2, 2, 2, 2], [1, 1, 1, 1], [0, 1, 2, 3]),
    *([3, 3, 3, 3], [0, 0, 1, 0], [1, 1, 1, 1], [N, 4, 4, 4], [N, N, 0, 0], [N, N, 2, N]),
]


def ratings(rows: object, categories: int = 3) -> Ratings:
    return Ratings(np.array(rows, dtype=np.int64), categories)


def test_krippendorffs_own_example_gives_his_alphas() -> None:
    example = ratings(KRIPPENDORFF, 5)

    assert point(alpha_nominal, example) == pytest.approx(0.743, abs=5e-4)
    assert point(alpha_ordinal, example) == pytest.approx(0.815, abs=5e-4)


def test_gwets_ac1_of_the_same_example_is_as_his_software_prints_it() -> None:
    # irrCAC, vignette "Calculating chance-corrected agreement coefficients": AC1 0.77544, agreement 0.81818.
    # Its prevalences count the item with a single label; `point` leaves that out, which changes the third digit.
    from harness.judging.agreement import Patterns

    patterns, often = Patterns.of(ratings(KRIPPENDORFF, 5))
    parts = ac1(patterns, often[None, :])

    assert parts.value[0] == pytest.approx(0.77544, abs=5e-6)
    assert parts.observed[0] == pytest.approx(0.81818, abs=5e-6)
    assert point(ac1, ratings(KRIPPENDORFF, 5)) == pytest.approx(0.775, abs=2e-3)


def test_cohens_kappa_of_a_table_worked_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: agreement 0.7, chance 0.5.
    rows = [[0, 0]] * 20 + [[0, 1]] * 5 + [[1, 0]] * 10 + [[1, 1]] * 15

    assert point(cohen, ratings(rows, 2)) == pytest.approx(0.4)
    assert point(percentage, ratings(rows, 2)) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0, 0], [1, 1]], 1.0),
        ([[0, 1], [1, 0]], -1.0),
        ([[0, 0], [0, 1], [1, 0], [1, 1]], 0.0),
        ([[0, 0], [1, 1], [2, 2]], 1.0),
    ],
)
def test_kappa_at_its_ends(rows: list[list[int]], expected: float) -> None:
    assert point(cohen, ratings(rows)) == pytest.approx(expected)


def test_ac1_does_not_collapse_where_kappa_does() -> None:
    # Feinstein & Cicchetti's paradox: 118 of 125 agree, yet kappa is negative. Gwet (2008), table 1.
    rows = [[0, 0]] * 118 + [[0, 1]] * 5 + [[1, 0]] * 2

    assert point(cohen, ratings(rows, 2)) == pytest.approx(-0.0234, abs=5e-5)
    assert point(ac1, ratings(rows, 2)) == pytest.approx(0.9408, abs=5e-4)


codes = st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=40)
sparse = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=2, max_size=30)


@given(codes)
def test_kappa_is_as_scikit_learn_has_it(rows: list[tuple[int, int]]) -> None:
    first, second = zip(*rows, strict=True)
    assume(len({*first, *second}) > 1)

    assert point(cohen, ratings(rows)) == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


@given(sparse, st.sampled_from(["nominal", "ordinal"]))
def test_alpha_is_as_the_library_has_it(rows: list[tuple[int, int, int]], level: Literal["nominal", "ordinal"]) -> None:
    table = np.array(rows, dtype=np.float64)
    table[table < 0] = np.nan
    kept = table[(~np.isnan(table)).sum(axis=1) >= 2]
    assume(len(kept) > 0 and len(np.unique(kept[~np.isnan(kept)])) > 1)

    ours = point(alpha_nominal if level == "nominal" else alpha_ordinal, ratings(rows))

    theirs = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level, value_domain=[0, 1, 2])
    assert ours == pytest.approx(theirs, abs=1e-9)


def _ac1_by_definition(rows: list[tuple[int, int, int]]) -> float:
    labels = [[code for code in row if code >= 0] for row in rows]
    labels = [given for given in labels if len(given) >= 2]
    observed = np.mean([np.mean([a == b for i, a in enumerate(x) for j, b in enumerate(x) if i != j]) for x in labels])
    shares = [np.mean([x.count(k) / len(x) for x in labels]) for k in range(3)]
    chance = sum(share * (1 - share) for share in shares) / 2
    return float((observed - chance) / (1 - chance))


@given(sparse)
def test_ac1_is_what_its_definition_says(rows: list[tuple[int, int, int]]) -> None:
    assume(any(sum(code >= 0 for code in row) >= 2 for row in rows))

    assert point(ac1, ratings(rows)) == pytest.approx(_ac1_by_definition(rows), abs=1e-12)


@pytest.mark.parametrize("coefficient", [percentage, cohen, alpha_nominal, alpha_ordinal, ac1])
def test_without_a_common_item_there_is_no_coefficient(coefficient) -> None:
    assert point(coefficient, ratings([[0, N], [N, 1]])) is None


def test_when_all_labels_are_the_same_kappa_and_alpha_are_undefined_and_ac1_is_one() -> None:
    same = ratings([[1, 1]] * 8)

    assert point(cohen, same) is None
    assert point(alpha_nominal, same) is None
    assert point(alpha_ordinal, same) is None
    assert point(ac1, same) == 1.0
    assert point(percentage, same) == 1.0


def test_one_item_that_both_label_differently_is_worked_out_and_not_a_number_too_many() -> None:
    single = ratings([[0, 1]])

    assert point(percentage, single) == 0.0
    assert point(cohen, single) == 0.0
    assert point(alpha_nominal, single) == pytest.approx(0.0)


def test_kendalls_tau_needs_two_different_values_on_both_sides() -> None:
    assert kendall_tau([1, 2, 3], [1, 2, 3]) == pytest.approx(1.0)
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    # Kendall's ties: 4 concordant, 0 discordant, one tie on each side of six pairs: 4 / sqrt(5 * 5).
    assert kendall_tau([1, 1, 2, 3], [1, 2, 3, 3]) == pytest.approx(4 / 5)
    assert kendall_tau([1, 1], [1, 2]) is None
    assert kendall_tau([1], [1]) is None
    with pytest.raises(ValueError, match="2 and 1 values"):
        kendall_tau([1, 2], [1])


def test_codes_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="between -1 and 2"):
        ratings([[0, 3]])
    with pytest.raises(ValueError, match="two raters, not 3"):
        point(cohen, ratings([[0, 1, 2]]))
