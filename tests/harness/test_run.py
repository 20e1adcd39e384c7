"""A run asks every question once, keeps every answer, and belongs to one suite and one system."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot import Assistant, BadData
from harness.questions import Question
from harness.run import OUTCOMES, Outcome, accepted_pairs, load_outcomes, run_suite
from harness.suite import Suite
from harness.systems import InProcess, require_known
from tests.harness.conftest import ByCosine

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


@pytest.fixture
def suite(make_suite: MakeSuite, make_question: MakeQuestion) -> Suite:
    """Answered rightly, answered with another pair, declined for its two words, novel."""
    return make_suite(
        [
            make_question(1, "Tut die Untersuchung weh?", "pain"),
            make_question(2, "Was kostet die Untersuchung?", "duration"),
            make_question(3, "wie teuer?", "costs"),
            make_question(4, "Wie lange dauert die Untersuchung?", None),
        ]
    )


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


@pytest.mark.parametrize("broken", ["{}", "nonsense", '{"id": "x"}', "[]"])
def test_a_broken_line_in_the_middle_is_named(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path, broken: str
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    file = tmp_path / "run" / OUTCOMES
    file.write_text(broken + "\n" + file.read_text(encoding="utf-8"), encoding="utf-8")

    with pytest.raises(BadData, match=r"outcomes\.jsonl:1 is no outcome"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


@pytest.mark.parametrize(("key", "other"), [("method", "hybrid"), ("encoder", "use-4"), ("catalog_hash", "abc")])
def test_another_system_may_not_go_on_in_the_same_folder(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path, key: str, other: str
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    by_cosine.identity[key] = other

    with pytest.raises(BadData, match=rf"holds a run with {key} .*{other!r}\. Choose another folder with `--out`"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


def test_another_suite_may_not_go_on_in_the_same_folder(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")
    other = Suite(suite.meta.model_copy(update={"sha256": "0" * 64}), suite.questions)

    with pytest.raises(BadData, match="holds a run with suite_hash"):
        run_suite(other, by_cosine, small.catalog("de"), tmp_path / "run")


def test_a_folder_that_does_not_say_what_it_holds_is_refused(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text("{", encoding="utf-8")

    with pytest.raises(BadData, match=r"run\.json does not say which run this is"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path)


def test_a_folder_that_cannot_be_written_is_one_clear_line(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadData, match=r"cannot be written \(.+\)\. Choose another folder with `--out`"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "file" / "run")


def test_a_suite_for_another_catalog_is_refused(
    suite: Suite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    other = Suite(suite.meta.model_copy(update={"catalog": "mri"}), suite.questions)

    with pytest.raises(BadData, match=r"asks about 'mri', but the catalog is 'small'\. Run it with `--catalog mri`"):
        run_suite(other, by_cosine, small.catalog("de"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_pairs_that_the_catalog_does_not_have_are_refused(
    make_suite: MakeSuite, make_question: MakeQuestion, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    suite = make_suite([make_question(1, "Und nun?", "zebra"), make_question(2, "Und nun?", "ape")])

    with pytest.raises(BadData, match=r"asks for 2 pairs that small@1 does not have, for example 'ape'"):
        run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")


def test_an_empty_suite_is_refused(
    make_suite: MakeSuite, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=r"'suite' has no questions"):
        run_suite(make_suite([]), by_cosine, small.catalog("de"), tmp_path / "run")


def test_questions_that_are_training_texts_are_left_out(
    make_suite: MakeSuite, make_question: MakeQuestion, by_cosine: ByCosine, small: Assistant, tmp_path: Path
) -> None:
    suite = make_suite([make_question(1, "Habe ich dabei Schmerzen?"), make_question(2, "Tut die Untersuchung weh?")])

    outcomes = run_suite(suite, by_cosine, small.catalog("de"), tmp_path / "run")

    assert [outcome.text for outcome in outcomes] == ["Tut die Untersuchung weh?"]
    assert by_cosine.asked == ["Tut die Untersuchung weh?"]


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


def test_a_folder_without_a_run_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"holds no complete run\. Run `klartext harness run"):
        load_outcomes(tmp_path)


def test_systems_that_cannot_be_tested_yet_are_refused() -> None:
    require_known("klartext")

    with pytest.raises(BadData, match=r"no system 'rasa'\. This version tests one: `--system klartext`"):
        require_known("rasa")


def test_in_process_asks_the_assistant_by_the_method_it_was_opened_with(small: Assistant) -> None:
    texts = ["Tut die Untersuchung weh?", "wie teuer?"]

    responses = InProcess(small, "cosine", {}).ask(texts, "de")

    expected = small.answer_all(texts, "de", method="cosine")
    assert [replace(r, elapsed_ms=0.0) for r in responses] == [replace(r, elapsed_ms=0.0) for r in expected]
