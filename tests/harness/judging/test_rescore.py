"""Labels change scores, with who said it and the hash of where; people's and models' are never mixed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.judging.rescore import Rescored, rescore
from harness.labelling.labels import Label, Rater, Verdict, label_files
from harness.labelling.rater_files import open_rater_file
from harness.running.outcomes import Outcome


@pytest.fixture
def outcomes(make_outcome: Callable[..., Outcome]) -> list[Outcome]:
    return [
        make_outcome("right"),
        make_outcome("wrong", answered_with="costs"),
        make_outcome("also-wrong", answered_with="costs"),
        make_outcome("declined", answered_with=None),
        make_outcome("novel", pair_id=None),
    ]


def give(run: Path, name: str, *, adjudicator: bool = False, **verdicts: Verdict) -> None:
    rater = Rater(kind="model" if name.startswith("gpt") else "person", name=name)
    with open_rater_file(run, rater, adjudicator=adjudicator) as own:
        for question, verdict in verdicts.items():
            own.append(
                Label(
                    question_id=question.replace("_", "-"),
                    pair_id="costs" if "wrong" in question else "pain",
                    label=verdict,
                    rater=rater,
                    role="adjudication" if adjudicator else "rating",
                )
            )


def scores(found: Rescored) -> tuple[float, float]:
    assert found.raw is not None
    assert found.after is not None
    return found.raw.accuracy, found.after.accuracy


def test_an_answer_that_people_call_correct_is_right_and_one_that_they_do_not_is_wrong(
    outcomes: list[Outcome], tmp_path: Path
) -> None:
    give(tmp_path, "anna", right="partial", wrong="correct", also_wrong="incorrect", novel="correct")
    give(tmp_path, "ben", wrong="correct")

    found = rescore(outcomes, label_files(tmp_path), kind="person")

    assert scores(found) == (0.25, 0.25)
    assert [(c.question_id, c.before, c.after, c.label, c.by) for c in found.changes] == [
        ("right", True, False, "partial", ("person:anna",)),
        ("wrong", False, True, "correct", ("person:anna", "person:ben")),
    ]
    assert found.looked_at == 3
    assert (found.novel.correct, found.novel.open) == (1, 0)
    assert found.after is not None
    assert (found.after.precision, found.after.top1) == (1 / 3, 0.25)


def test_what_raters_differ_on_stays_until_a_third_person_decides(outcomes: list[Outcome], tmp_path: Path) -> None:
    give(tmp_path, "anna", wrong="correct")
    give(tmp_path, "ben", wrong="partial")
    before = rescore(outcomes, label_files(tmp_path), kind="person")
    give(tmp_path, "carla", adjudicator=True, wrong="correct")

    after = rescore(outcomes, label_files(tmp_path), kind="person")

    assert (before.disputed, before.changes) == (1, ())
    assert after.disputed == 0
    assert [change.by for change in after.changes] == [("adjudicator:carla",)]
    assert scores(after) == (0.25, 0.5)


def test_models_and_people_are_not_mixed(outcomes: list[Outcome], tmp_path: Path) -> None:
    give(tmp_path, "anna", right="incorrect")
    give(tmp_path, "gpt-x", right="correct", wrong="correct")

    people, models = (rescore(outcomes, label_files(tmp_path), kind=kind) for kind in ("person", "model"))

    assert scores(people)[1] == 0.0
    assert scores(models)[1] == 0.5
    assert [item.raters for item in people.labels] == [("person:anna",)]
    assert [item.raters for item in models.labels] == [("model:gpt-x",)]


def test_the_files_are_named_with_their_hashes(outcomes: list[Outcome], tmp_path: Path) -> None:
    give(tmp_path, "anna", right="correct")

    (item,) = rescore(outcomes, label_files(tmp_path), kind="person").labels

    raw = (tmp_path / "labels" / "person-anna.jsonl").read_bytes()
    assert (item.file, item.sha256, item.labels) == ("person-anna.jsonl", hashlib.sha256(raw).hexdigest(), 1)


def test_a_run_of_novel_questions_alone_has_no_accuracy(make_outcome: Callable[..., Outcome], tmp_path: Path) -> None:
    give(tmp_path, "anna", novel="partial")

    found = rescore([make_outcome("novel", pair_id=None)], label_files(tmp_path), kind="person")

    assert (found.raw, found.after, found.novel.partial) == (None, None, 1)


def test_the_outcomes_themselves_are_not_changed(outcomes: list[Outcome], tmp_path: Path) -> None:
    give(tmp_path, "anna", right="incorrect")
    before = list(outcomes)

    rescore(outcomes, label_files(tmp_path), kind="person")

    assert outcomes == before
