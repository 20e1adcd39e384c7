"""A run asks every question once and keeps every answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant
from harness.patients.suites import Question, Suite
from harness.running.run import load_outcomes, run_suite
from harness.running.store import OUTCOMES
from tests.harness.conftest import ByCosine

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


def test_outcomes_tell_right_wrong_declined_and_unscored(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    outcomes = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    told = [(o.decision, o.answered_with, o.right, o.top1, o.offered) for o in outcomes]
    assert told[0] == ("answered", "pain", True, True, False)
    assert told[1] == ("answered", "costs", False, False, False)
    assert told[2][:3] == ("declined", None, False)
    assert told[3] == ("answered", "duration", None, None, None)
    assert [len(o.candidates) for o in outcomes] == [3, 3, 3, 3]


def test_outcomes_come_in_the_order_of_the_suite_and_are_kept(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    outcomes = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    assert [outcome.id for outcome in outcomes] == [question.id for question in suite.questions]
    assert load_outcomes(tmp_path / "run") == outcomes


def test_a_finished_run_asks_nothing_again(suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path) -> None:
    first = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    progress: list[int] = []

    again = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run", progress=progress.append)

    assert again == first
    assert len(by_cosine.asked) == 4
    assert progress == [4]


def test_outcomes_stored_in_any_order_come_back_in_the_order_of_the_suite(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    first = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    stored = (tmp_path / "run" / OUTCOMES).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "run" / OUTCOMES).write_text("".join([stored[3], stored[1]]), encoding="utf-8")

    again = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    assert [outcome.id for outcome in again] == [outcome.id for outcome in first]
    assert by_cosine.asked[4:] == ["Tut die Untersuchung weh?", "wie teuer?"]


@pytest.mark.parametrize("cut", [1, 40])
def test_an_unfinished_last_line_is_cut_off_and_asked_again(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path, cut: int
) -> None:
    first = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    file = tmp_path / "run" / OUTCOMES
    file.write_bytes(file.read_bytes()[:-cut])

    again = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    assert [replace(outcome, elapsed_ms=0.0) for outcome in again] == [replace(o, elapsed_ms=0.0) for o in first]
    assert by_cosine.asked[4:] == ["Wie lange dauert die Untersuchung?"]
    assert len(load_outcomes(tmp_path / "run")) == 4


def test_questions_that_are_training_texts_are_left_out(
    make_suite: MakeSuite, make_question: MakeQuestion, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    suite = make_suite([make_question(1, "Habe ich dabei Schmerzen?"), make_question(2, "Tut die Untersuchung weh?")])

    outcomes = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    assert [outcome.text for outcome in outcomes] == ["Tut die Untersuchung weh?"]
    assert by_cosine.asked == ["Tut die Untersuchung weh?"]
