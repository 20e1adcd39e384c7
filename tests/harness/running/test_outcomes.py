"""What one answer counts as, and what is under test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot import Assistant, BadData
from harness.patients.suites import Question
from harness.running.outcomes import Outcome, accepted_pairs
from harness.systems.system import InProcess, require_known
from tests.harness.conftest import ByCosine

MakeQuestion = Callable[..., Question]


def test_a_pair_that_curators_declared_the_same_counts_as_right(
    small: Assistant, by_cosine: ByCosine, make_question: MakeQuestion
) -> None:
    catalog = small.catalog("de")
    pairs = tuple(
        pair.model_copy(update={"same_as": ("costs",)}) if pair.id == "pain" else pair for pair in catalog.pairs
    )
    question = make_question(1, "Was kostet die Untersuchung?", "pain")
    response = by_cosine.ask([question.text], "de")[0]

    with_same = Outcome.of(question, response, accepted_pairs(replace(catalog, pairs=pairs), "pain"))
    without = Outcome.of(question, response, accepted_pairs(catalog, "pain"))

    assert (with_same.answered_with, with_same.right, with_same.top1) == ("costs", True, True)
    assert (without.answered_with, without.right, without.top1) == ("costs", False, False)


def test_the_right_pair_among_the_choices_counts_as_offered_not_as_right(
    by_cosine: ByCosine, make_question: MakeQuestion
) -> None:
    question = make_question(1, "Was kostet die Untersuchung?", "pain")
    asks_back = replace(
        by_cosine.ask([question.text], "de")[0], decision="clarify", pair_id=None, choices=("costs", "pain")
    )

    outcome = Outcome.of(question, asks_back, frozenset({"pain"}))

    assert (outcome.right, outcome.offered, outcome.answered_with) == (False, True, None)


def test_an_outcome_survives_its_line(make_outcome: Callable[..., Outcome]) -> None:
    outcome = make_outcome("x", decision="clarify", answered_with=None, choices=("pain", "costs"), text="ä\u2028\n?")

    line = outcome.as_line()

    assert Outcome.from_line(line) == outcome
    assert line.count("\n") == 1
    assert json.loads(line)["choices"] == ["pain", "costs"]


def test_systems_that_are_not_there_are_refused() -> None:
    require_known("klartext")

    with pytest.raises(BadData, match=r"no system 'rasa'\. Use `--system klartext`, or a YAML file"):
        require_known("rasa")


def test_in_process_asks_the_assistant_by_the_method_it_was_opened_with(small: Assistant) -> None:
    texts = ["Tut die Untersuchung weh?", "wie teuer?"]

    responses = InProcess(small, "cosine", {}).ask(texts, "de")

    expected = small.answer_all(texts, "de", method="cosine")
    assert [replace(r, elapsed_ms=0.0) for r in responses] == [replace(r, elapsed_ms=0.0) for r in expected]
