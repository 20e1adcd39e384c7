"""Thresholds with a stated risk."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from bot.matching.calibration import (
    GRID,
    Judged,
    Limit,
    binomial_tail,
    choose_with_risk,
    choose_without_risk,
    risk_table,
    smallest_sample,
)
from bot.matching.decide import Thresholds


def _judged(*rows: tuple[int, float, bool], stratum: str = "everyone") -> Judged:
    """Return questions as (how many, score of the best pair, whether it is right), of three pairs and none."""
    probabilities, label = [], []
    for count, score, right in rows:
        rest = (1 - score) / 3
        probabilities += [[score, rest, rest, rest]] * count
        label += [0 if right else 1] * count
    return Judged(np.array(probabilities, np.float32), np.array(label, np.int32), [stratum] * len(label))


def _together(one: Judged, other: Judged) -> Judged:
    return Judged(
        np.concatenate([one.probabilities, other.probabilities]),
        np.concatenate([one.label, other.label]),
        [*one.stratum, *other.stratum],
    )


@given(n=st.integers(1, 400), share=st.floats(0, 1), risk=st.floats(0.005, 0.5))
def test_the_binomial_tail_is_that_of_scipy(n: int, share: float, risk: float) -> None:
    wrong = int(n * share)

    assert binomial_tail(wrong, n, risk) == pytest.approx(binom.cdf(wrong, n, risk), abs=1e-9)


def test_no_question_shows_nothing() -> None:
    assert binomial_tail(0, 0, 0.03) == 1.0


def test_the_smallest_sample_is_just_enough() -> None:
    limit = Limit(risk=0.03, confidence=0.95)

    needed = smallest_sample(limit)

    assert needed == 99  # 0.97 ** 98 is 0.0505, 0.97 ** 99 is 0.0490
    assert choose_with_risk(_judged((needed, 0.995, True)), limit) is not None
    assert choose_with_risk(_judged((needed - 1, 0.995, True)), limit) is None


def test_the_threshold_stops_above_the_scores_at_which_answers_are_wrong() -> None:
    judged = _judged((300, 0.9, True), (60, 0.6, False), (100, 0.4, True))

    chosen = choose_with_risk(judged, Limit(risk=0.03))

    assert chosen is not None
    assert chosen.answer == pytest.approx(0.61)


def test_a_few_wrong_answers_are_within_the_risk() -> None:
    judged = _judged((300, 0.9, True), (3, 0.6, False))

    chosen = choose_with_risk(judged, Limit(risk=0.03))

    assert chosen is not None
    assert chosen.answer == GRID[-1]


def test_one_bad_stratum_decides() -> None:
    good = _judged((500, 0.9, True), stratum="high-health-literacy")
    bad = _judged((110, 0.9, True), (20, 0.7, False), stratum="low-health-literacy")

    chosen = choose_with_risk(_together(good, bad), Limit(risk=0.03))

    assert chosen is not None
    assert chosen.answer == pytest.approx(0.71)


def test_a_stratum_too_small_to_show_anything_permits_no_threshold() -> None:
    big, small = _judged((500, 0.9, True)), _judged((20, 0.9, True), stratum="low-language-literacy")

    assert choose_with_risk(_together(big, small), Limit(risk=0.03)) is None


def test_without_calibration_questions_there_is_no_threshold() -> None:
    assert choose_with_risk(Judged(np.zeros((0, 4), np.float32), np.zeros(0, np.int32), []), Limit()) is None


def test_questions_that_no_pair_answers_are_enough_to_show_the_risk() -> None:
    outside = _judged((200, 0.6, False))

    chosen = choose_with_risk(replace(outside, label=np.full(200, 3, np.int32)), Limit())

    assert chosen is not None
    assert chosen.answer == pytest.approx(0.61)


def test_the_table_says_what_each_threshold_means() -> None:
    judged = _judged((80, 0.9, True), (10, 0.9, False), (10, 0.3, True))

    row = next(row for row in risk_table(judged, Limit()) if row.answer == 0.5)

    assert (row.answered, row.right, row.wrong) == (0.9, 0.8, {"everyone": 0.1})
    assert not row.holds


def test_no_threshold_holds_below_one_that_does_not() -> None:
    # Wrong answers score high, right ones low: the share of wrong ones is the same from 0.9 down.
    holds = [row.holds for row in risk_table(_judged((20, 0.9, False), (400, 0.4, True)), Limit(risk=0.03))]

    assert holds == sorted(holds, reverse=True)
    assert holds[0]
    assert not holds[-1]


def test_catalogs_with_little_held_out_get_the_default_thresholds() -> None:
    assert choose_without_risk(_judged((29, 0.9, True))) == Thresholds()


def test_held_out_texts_alone_give_the_lowest_threshold_with_few_wrong_answers() -> None:
    chosen = choose_without_risk(_judged((960, 0.8, True), (40, 0.6, False)))

    assert chosen.answer == pytest.approx(0.61)


def test_held_out_texts_alone_never_allow_an_answer_that_is_likelier_wrong_than_right() -> None:
    assert choose_without_risk(_judged((500, 0.3, True))).answer == pytest.approx(0.5)


def test_out_of_scope_questions_raise_the_threshold_of_held_out_texts() -> None:
    inside = _judged((500, 0.9, True))
    outside = np.tile(np.array([[0.7, 0.0, 0.0, 0.3]], dtype=np.float32), (100, 1))
    judged = Judged(
        np.concatenate([inside.probabilities, outside]),
        np.concatenate([inside.label, np.full(100, 3, dtype=np.int32)]),
        [*inside.stratum, *["held out"] * 100],
    )

    assert choose_without_risk(judged).answer == pytest.approx(0.71)


def _offers(*rows: tuple[int, float, bool]) -> Judged:
    """Return questions as (how many, how much the first three pairs of four have together, whether these hold the right one)."""
    probabilities, label = [], []
    for count, covered, held in rows:
        probabilities += [[covered / 3, covered / 3, covered / 3, (1 - covered) / 2, (1 - covered) / 2]] * count
        label += [0 if held else 3] * count
    return Judged(np.array(probabilities, np.float32), np.array(label, np.int32), ["everyone"] * len(label))


def test_choices_are_offered_from_where_they_hold_the_right_pair_often_enough() -> None:
    judged = _offers((95, 0.8, True), (5, 0.8, False), (50, 0.6, True), (50, 0.6, False))

    assert choose_without_risk(judged).clarify == pytest.approx(0.61)


def test_where_choices_never_hold_the_right_pair_as_often_as_wanted_the_best_are_offered() -> None:
    judged = _offers((85, 0.8, True), (15, 0.8, False), (50, 0.6, True), (50, 0.6, False))

    assert choose_without_risk(judged).clarify == pytest.approx(0.61)


def test_choices_that_are_as_often_wrong_are_not_offered() -> None:
    assert choose_without_risk(_offers((50, 0.8, True), (50, 0.8, False))).clarify == GRID[0]


def test_the_chosen_thresholds_keep_the_risk_in_new_questions() -> None:
    """Simulate a model whose scores are its accuracy; count how often the promise is broken."""
    rng = np.random.default_rng(0)
    broken = 0
    for _ in range(100):
        score = rng.beta(4, 1, size=600).astype(np.float32)
        right = rng.random(600) < score
        rest = ((1 - score) / 3)[:, None]
        judged = Judged(
            np.concatenate([score[:, None], rest, rest, rest], axis=1),
            np.where(right, 0, 1).astype(np.int32),
            ["everyone"] * 600,
        )
        chosen = choose_with_risk(judged, Limit(risk=0.05, confidence=0.9))
        threshold = chosen.answer if chosen else 1.0
        # The true risk: the integral of (1 - s) over scores above the threshold.
        grid = np.linspace(threshold, 1, 2001)
        broken += float(np.trapezoid((1 - grid) * 4 * grid**3, grid)) > 0.05
    assert broken <= 17  # 10 expected at most; 17 or fewer in 99% of repetitions
