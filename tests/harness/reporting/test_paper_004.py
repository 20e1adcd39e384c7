"""The arithmetic of the paper we follow, from its own tables: Reichenpfader, Roesslhuemer and Denecke (2024).

Its slips, each shown by a test below:

- Section 3: "eleven questions (0.01 %)" of 990 are 1.1 %.
- Eq. 2 takes the argmin of the cosine similarity, which is the question least alike; argmax is meant.
- Section 4: "ten percentage points higher" for low health literacy; its own Table 1 gives 7.9. The 9.7 points that round
  to ten, and the sentence that follows, belong to low German literacy.
- Figure 1, line 14, divides by the number of saved objects, one per pair and vignette (99), where Eq. 1 divides by the
  questions (990).
- Section 4 speaks of a "distance threshold" that is "the minimum level of similarity": a similarity threshold is meant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bot import Assistant
from harness.reporting.paper_tables import PAPER_ERRORS, PAPER_N, PAPER_NOVEL
from harness.running.outcomes import Outcome
from harness.scoring.score import score, summarise
from harness.statistics import wilson

PAIRS = [f"pair-{number}" for number in range(33)]
PRINTED = {"high-health-literacy": 0.69, "low-health-literacy": 0.77, "low-language-literacy": 0.79}


@pytest.fixture
def paper_run(make_outcome: Callable[..., Outcome]) -> list[Outcome]:
    """A run with the errors of Table 1: 33 pairs, 10 paraphrases each, three vignettes."""
    outcomes = []
    for vignette, errors in PAPER_ERRORS.items():
        for number in range(PAPER_N):
            pair_id = PAIRS[number % 33]
            shown = "another" if number < errors else pair_id
            outcomes.append(
                make_outcome(f"{vignette}/{number}", pair_id=pair_id, answered_with=shown, vignette=vignette)
            )
    return outcomes


def test_thirty_three_pairs_ten_paraphrases_three_vignettes_are_990() -> None:
    assert 33 * 10 * 3 == PAPER_N * len(PAPER_ERRORS) == 990


def test_the_errors_of_table_1_give_its_accuracies(paper_run: list[Outcome]) -> None:
    summary = summarise(paper_run)

    assert {name: group.errors for name, group in summary.vignettes.items()} == {
        "high-health-literacy": 101,
        "low-health-literacy": 75,
        "low-language-literacy": 69,
    }
    assert {name: round(group.accuracy, 2) for name, group in summary.vignettes.items()} == PRINTED
    assert (summary.total.n, summary.total.errors) == (990, 245)
    assert round(summary.total.accuracy, 2) == 0.75


def test_the_rows_of_table_2_sum_to_its_total() -> None:
    assert [sum(column) for column in zip(*PAPER_NOVEL.values(), strict=True)] == [18, 5, 7]
    assert [sum(row) for row in PAPER_NOVEL.values()] == [10, 10, 10]


def test_eleven_unanswered_questions_are_one_percent_and_not_a_hundredth_of_one(
    make_outcome: Callable[..., Outcome],
) -> None:
    outcomes = [make_outcome(str(number), answered_with=None if number < 11 else "pain") for number in range(990)]

    group = score(outcomes)

    assert group.unanswered == group.errors == 11
    assert f"{group.unanswered / group.n:.1%}" == "1.1%"  # the paper prints 0.01 %


def test_equation_1_and_the_mean_of_the_vignettes_agree_since_all_are_of_one_size(paper_run: list[Outcome]) -> None:
    summary = summarise(paper_run)
    right = 990 - sum(PAPER_ERRORS.values())

    assert right / (33 * 3 * 10) == summary.total.accuracy == pytest.approx(0.7525, abs=1e-4)
    assert np.mean([group.accuracy for group in summary.vignettes.values()]) == pytest.approx(summary.total.accuracy)


def test_line_14_of_figure_1_would_give_an_accuracy_above_one(paper_run: list[Outcome]) -> None:
    saved_objects = {(outcome.pair_id, outcome.vignette) for outcome in paper_run}

    assert len(saved_objects) == 99
    assert (990 - 245) / len(saved_objects) > 7  # "x 100 %": 753 %


def test_the_ten_points_of_the_discussion_are_those_of_low_german_literacy() -> None:
    points = {
        name: 100 * (PAPER_ERRORS["high-health-literacy"] - errors) / PAPER_N for name, errors in PAPER_ERRORS.items()
    }

    assert round(points["low-health-literacy"], 1) == 7.9  # the paper says ten, of this one
    assert round(points["low-language-literacy"], 1) == 9.7


def test_the_precision_that_the_paper_leaves_out_follows_from_its_figures() -> None:
    """All 245 errors but the eleven short questions were wrong answers: hence its advice of a higher threshold."""
    answered = 990 - 11

    assert round(745 / answered, 3) == 0.761
    assert 245 - 11 == answered - 745 == 234


def test_the_interval_that_the_paper_leaves_out_and_the_groups_that_differ() -> None:
    total = wilson(745, 990)
    high, low = wilson(330 - 101, 330), wilson(330 - 69, 330)

    assert total is not None
    assert high is not None
    assert low is not None
    assert (round(total.low, 3), round(total.high, 3)) == (0.725, 0.778)
    assert (round(high.high, 3), round(low.low, 3)) == (0.741, 0.744)  # high health literacy apart from the best group


def test_novel_questions_were_answered_rightly_in_less_than_a_quarter() -> None:
    incorrect, partial, correct = (sum(column) for column in zip(*PAPER_NOVEL.values(), strict=True))
    short, nothing_similar = 4, 3

    assert f"{correct / 30:.0%}" == "23%"
    assert f"{PAPER_NOVEL['high-health-literacy'][1] / 10:.0%}" == "50%"  # partially, as the discussion says
    assert incorrect - short - nothing_similar == 11  # answered, and wrongly
    assert incorrect + partial + correct == 30


def test_a_dollar_for_ten_pairs() -> None:
    assert f"{3.43 / 33:.2f}" == "0.10"
    assert f"{3.43 / (33 * 3 + 3):.3f}" == "0.034"  # for one prompt of ten questions


def test_equation_2_needs_argmax(small: Assistant) -> None:
    """The question least alike would be answered: the published method, as we run it, takes the one most alike."""
    pairs = small.catalog("de").pairs
    asked = pairs[0].question
    vectors = small.encoder.encode([asked, *(pair.question for pair in pairs)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = unit[1:] @ unit[0]

    answered = small.answer(asked, "de", method="cosine")

    assert answered.pair_id == pairs[int(similarity.argmax())].id == pairs[0].id
    assert pairs[int(similarity.argmin())].id != pairs[0].id
