"""Scores of a run, and the JSON that others build on."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.running.outcomes import Outcome
from harness.scoring.score import score, summarise

MakeOutcome = Callable[..., Outcome]


@pytest.fixture
def mixed(make_outcome: MakeOutcome) -> list[Outcome]:
    """Six paraphrases (three right, one wrong, one asked back with the right pair, one declined), two novel."""
    return [
        make_outcome("1"),
        make_outcome("2", pair_id="costs", answered_with="costs"),
        make_outcome("3", vignette="high-health-literacy"),
        make_outcome("4", answered_with="costs"),
        make_outcome("5", answered_with=None, decision="clarify", choices=("costs", "pain")),
        make_outcome("6", answered_with=None),
        make_outcome("7", pair_id=None),
        make_outcome("8", pair_id=None, answered_with=None, vignette="high-health-literacy"),
    ]


def test_each_figure_counts_what_it_says(mixed: list[Outcome]) -> None:
    total = summarise(mixed).total

    assert total.n == 6
    assert total.accuracy == 3 / 6
    assert total.top1 == 3 / 6
    assert total.offered == 1 / 6
    assert total.precision == 3 / 4
    assert (total.errors, total.wrong, total.unanswered) == (3, 1, 1)


def test_novel_questions_are_counted_apart(mixed: list[Outcome]) -> None:
    summary = summarise(mixed)

    assert summary.novel == {"low-health-literacy": {"answered": 1}, "high-health-literacy": {"declined": 1}}
    assert {name: group.n for name, group in summary.vignettes.items()} == {
        "low-health-literacy": 5,
        "high-health-literacy": 1,
    }


def test_a_group_of_one_pair_has_no_interval_by_pair(make_outcome: MakeOutcome) -> None:
    group = score([make_outcome("1"), make_outcome("2")])

    assert group.clustered is None
    assert (group.interval.low, group.interval.high) == (0, 1)  # nothing follows for other pairs


def test_nothing_answered_means_no_precision(make_outcome: MakeOutcome) -> None:
    assert score([make_outcome("1", answered_with=None)]).precision is None


def test_a_run_without_paraphrases_cannot_be_scored(make_outcome: MakeOutcome) -> None:
    with pytest.raises(ValueError, match="no question with a known pair"):
        summarise([make_outcome("1", pair_id=None)])


def test_a_group_without_questions_cannot_be_scored() -> None:
    with pytest.raises(ValueError, match="a group without questions has no score"):
        score([])


def test_summaries_are_reproducible_and_plain_json(mixed: list[Outcome]) -> None:
    first, second = summarise(mixed).as_json(), summarise(mixed).as_json()

    assert first == second
    assert json.loads(json.dumps(first)) == first
    assert set(first) == {"total", "vignettes", "novel", "failed", "urgent"}
    assert {"n", "top1", "accuracy", "offered", "precision", "ci95"} <= set(first["total"])
    low, high = first["total"]["ci95"]["clustered"]
    assert 0 <= low <= first["total"]["accuracy"] <= high <= 1
    assert first["vignettes"]["high-health-literacy"]["ci95"]["clustered"][1] == 1  # one question of one pair
