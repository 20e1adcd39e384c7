"""The shipped suites of the six further patients, and the meaning labels: what they say of themselves is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from bot import Catalog, data_folder
from harness.commands.options import read_list
from harness.judging.meaning import load_meaning_labels
from harness.patients.fidelity import FidelityJudge
from harness.patients.prompts import SuiteSize, build_prompts
from harness.patients.suites import Suite, load_suite
from harness.patients.vignettes import ALL, load_vignettes


@pytest.fixture(params=["de", "en"])
def suite(request: pytest.FixtureRequest) -> Suite:
    return load_suite(f"mammography-six-{request.param}")


def test_every_further_patient_asks_for_every_published_pair_once(suite: Suite) -> None:
    further = [v.id for v in load_vignettes(suite.meta.language, names=[ALL]) if not v.by_default]

    assert Counter(question.vignette for question in suite.questions) == dict.fromkeys(further, 33)
    assert {question.pair_id for question in suite.questions} == set(read_list("published-33"))


def test_the_questions_answer_the_prompts_of_today(suite: Suite, shipped_catalogs: Mapping[str, Catalog]) -> None:
    vignettes = load_vignettes(suite.meta.language, names=[ALL])
    prompts = {p.id: p.hash for p in build_prompts(shipped_catalogs[suite.meta.language], vignettes, SuiteSize(1, 0))}

    for question in suite.questions:
        assert question.source.prompt == prompts[question.id.rpartition("/")[0]]


def test_nobody_is_called_a_person(suite: Suite) -> None:
    assert {(q.source.kind, q.source.answered) for q in suite.questions} == {("model", "offline")}
    assert "The same model wrote the vignettes and their ranges" in suite.meta.note


def test_the_questions_look_like_their_patients(suite: Suite) -> None:
    judge = FidelityJudge.open(suite.meta.language)

    drifts = judge.drift(judge.judge_all(suite.questions))

    assert len(drifts) == 6
    assert all(drift.fits for drift in drifts)


def test_shipped_meaning_labels_are_a_models_and_speak_of_existing_questions(
    shipped_catalogs: Mapping[str, Catalog],
) -> None:
    files = sorted((data_folder("vignettes") / "labels" / "meaning").glob("*.jsonl"))

    names = [file.stem for file in files]
    assert names == ["mammography-blind-de", "mammography-blind-en", "mammography-de", "mammography-en"]
    for file in files:
        suite = load_suite(file.stem)
        labels = load_meaning_labels([file], pairs=shipped_catalogs[suite.meta.language].by_id)
        assert {label.rater.kind for label in labels} == {"model"}
        assert {label.question_id for label in labels} <= {question.id for question in suite.paraphrases}
