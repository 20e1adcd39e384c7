"""The arithmetic of the paper we follow, from its own tables: Reichenpfader, Roesslhuemer and Denecke (2024)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.report import PAPER_ERRORS, PAPER_N, PAPER_NOVEL
from harness.run import Outcome
from harness.score import score, summarise

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
