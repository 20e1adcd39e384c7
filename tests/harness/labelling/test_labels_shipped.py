"""The shipped labels are by models, say so, and speak of questions and pairs that exist."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot import Catalog
from harness.commands.options import read_list
from harness.labelling.labels import ANY_OTHER, Label, load_labels, shipped_labels
from harness.patients.suites import load_suite


@pytest.fixture(params=["de", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def labels(language: str) -> list[Label]:
    return load_labels([shipped_labels(f"mammography-{language}")])


def test_every_shipped_label_is_by_a_model(labels: list[Label]) -> None:
    assert {label.rater.kind for label in labels} == {"model"}
    assert len({label.rater.name for label in labels}) >= 2


def test_shipped_labels_speak_of_existing_questions_and_pairs(
    labels: list[Label], language: str, shipped_catalogs: Mapping[str, Catalog]
) -> None:
    novel = {q.id for q in load_suite(f"mammography-{language}").questions if q.kind == "novel"}

    assert {label.question_id for label in labels} <= novel
    assert {label.pair_id for label in labels} - {ANY_OTHER} <= set(shipped_catalogs[language].by_id)


def test_each_shipped_rater_labels_an_item_once(labels: list[Label]) -> None:
    items = [(label.rater.name, label.question_id, label.pair_id) for label in labels]

    assert len(items) == len(set(items))


def test_two_raters_labelled_every_question_and_two_what_a_later_pair_answers(
    labels: list[Label], language: str
) -> None:
    novel = {q.id for q in load_suite(f"mammography-{language}").questions if q.kind == "novel"}
    labelled = {
        rater: [label for label in labels if label.rater.name == rater]
        for rater in ("model-a", "model-b", "model-c", "model-d")
    }

    assert sum(map(len, labelled.values())) == len(labels)
    assert {label.question_id for label in labelled["model-a"]} == novel
    assert {label.question_id for label in labelled["model-b"]} == novel
    later = [(label.question_id, label.pair_id, label.label) for label in labelled["model-c"]]
    assert later == [(label.question_id, label.pair_id, label.label) for label in labelled["model-d"]]
    assert {pair_id for _, pair_id, _ in later}.isdisjoint(read_list("published-33"))


def test_a_suite_without_shipped_labels_has_none() -> None:
    assert load_labels([shipped_labels("nope")]) == []
