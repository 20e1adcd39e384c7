"""Fifteen published Questionnaires: each is asked to its end as it comes, and in full with the value sets it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import as_object, parse, string, walk
from bot.interview.values.terminology import Terminology
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import Engine
from tests.bot.interview.random_forms import NOW
from tests.bot.interview.resources import Json, corpus, value_set
from tests.bot.interview.walk.engine_steps import Interview, at, decimal, text, yes
from tests.bot.interview.walk.test_engine_properties import interview

# Questions whose value sets are those of others and do not come with the form: left out, or (required) asked in own
# words; with the value sets at hand, they are asked too.
LEFT_OUT = {
    "ch-rad-order": (9, 13, "requested-service is not at hand"),
    "hl7-sdc-profile-example-render": (1, 0, "LL715-4 is not at hand"),
    "hl7-sdc-test-enableWhen": (1, 0, "a015b6a1ac024dc19baec940be2c1695 is not at hand"),
    "hl7-sdc-test-nested-groups": (1, 0, "866d7924e20711d48c540020182939f7 is not at hand"),
}
NAMES = (
    "android-behavior_skip_logic", "android-new-patient-registration-translations", "ch-rad-order",
    "hl7-sdc-profile-example-PHQ9", "hl7-sdc-profile-example-hunger-vital-signs", "hl7-sdc-profile-example-render",
    "hl7-sdc-profile-example-weight-height-tracking-panel", "hl7-sdc-test-enableWhen", "hl7-sdc-test-nested-groups",
    "lhncbc-hidden-item-questionnaire.R4", "lhncbc-questionnaire-calculatedExpression", "lhncbc-questionnaire-initialx",
    "smartforms-qEnableBehaviorAll", "smartforms-qMinQuantity", "smartforms-qRegex",
)  # fmt: skip


def published(name: str) -> Json:
    return dict(as_object(parse((corpus() / "questionnaires" / f"{name}.json").read_bytes()).value))


def missing_value_sets(questionnaire: Json) -> Iterator[Json]:
    """Yield a stand-in for every value set that a form names and does not hold."""
    items = questionnaire["item"]
    for canonical in sorted({string(each, "answerValueSet") for each in walk(items)} - {""}):
        if not canonical.startswith("#"):
            concepts = [{"code": code, "display": code.upper()} for code in ("a", "b")]
            yield value_set({"system": "http://example.org/codes", "concept": concepts}, url=canonical)


def test_the_corpus_is_what_is_tested_here() -> None:
    found: list[Path] = sorted((corpus() / "questionnaires").glob("*.json"))

    assert [path.stem for path in found] == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_published_form_loads_with_a_reason_for_all_that_is_left_out(name: str) -> None:
    loaded = load_form(published(name), known=shipped_terminology())
    left_out = [item for item in loaded.walk() if item.left_out]
    in_words = [item for item in loaded.walk() if item.asked and item.type == "choice" and not item.options]

    expected = LEFT_OUT.get(name, (0, 0, ""))
    assert (len(left_out), len(in_words)) == expected[:2]
    why = [note for note in loaded.warnings if note.link_id in {item.link_id for item in (*left_out, *in_words)}]
    assert {note.feature for note in why} <= {"answerValueSet"}
    assert any(expected[2] in note.text for note in why) or not expected[2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("whole", [False, True], ids=["as it comes", "with its value sets"])
def test_a_published_form_is_asked_to_its_end_and_the_response_is_valid(name: str, seed: int, whole: bool) -> None:
    questionnaire = published(name)
    resources = list(missing_value_sets(questionnaire)) if whole else []
    engine = Engine(load_form(questionnaire, resources=resources), now=NOW)

    events, states = interview(engine, Random(seed), 1, fickle=True)

    assert engine.replay(events) == states[-1]
    assert _unexpected(questionnaire, engine, states[-1], resources) == []


def _unexpected(questionnaire: Json, engine: Engine, filling: Any, resources: list[Json]) -> list[str]:
    """Return errors in the response that the engine did not foresee."""
    foreseen = [problem for problem in engine.open_problems(filling) if problem.severity == "error"]
    response = engine.response(filling, Heading("in-progress" if foreseen else "completed", "2026-11-22T10:31:00Z"))
    findings = check_response(
        response, index_questionnaire(questionnaire), known=Terminology(resources), now=NOW.isoformat()
    )
    return [finding.text for finding in findings if finding.is_error]


def test_the_score_of_the_phq9_is_the_sum_of_its_answers() -> None:
    interview = Interview(published("hl7-sdc-profile-example-PHQ9"))
    options = interview.engine.form.by_link_id["H1/T1/Q1"].options

    for number in range(1, 10):
        interview.give(at("H1/T1", f"H1/T1/Q{number}"), options[number % 4].answer)

    assert interview.value("H1/T1", "H1/TS") == {"value": decimal("13").value}


def test_the_body_mass_index_of_the_tracking_panel_is_calculated() -> None:
    interview = Interview(published("hl7-sdc-profile-example-weight-height-tracking-panel"))

    interview.give("/29463-7", decimal("70")).give("/8302-2", decimal("70"))

    assert interview.value("/39156-5") == decimal("22.1").value


def test_hunger_is_a_risk_when_one_answer_says_so() -> None:
    interview = Interview(published("hl7-sdc-profile-example-hunger-vital-signs"))
    often, _, never, _ = (option.answer for option in interview.engine.form.by_link_id["/88122-7"].options)

    interview.give("/88122-7", never).give("/88123-5", often)
    assert interview.value("/88124-3") == {"system": "http://loinc.org", "code": "LA19952-3", "display": "At risk"}

    interview.give("/88123-5", never)
    assert interview.value("/88124-3") == {"system": "http://loinc.org", "code": "LA19983-8", "display": "No risk"}


def test_lists_are_calculated_and_calculated_again() -> None:
    interview = Interview(published("lhncbc-questionnaire-calculatedExpression"))

    interview.give("string-to-split", text("abc"))

    assert interview.values("repeating-string") == ["a", "b", "c"]
    assert interview.values("repeating-open-choice-from-string") == ["a", "b", "c"]
    assert interview.values("repeating-choice") == [{"display": "Blue", "code": "b"}, {"display": "Green", "code": "g"}]


def test_the_second_condition_of_all_must_hold_too() -> None:
    interview = Interview(published("smartforms-qEnableBehaviorAll"))

    assert interview.give("has-heart-disease", yes()).asks == "ask has-heart-condition"
    assert interview.give("has-heart-condition", yes()).asks == "ask medication-list"


def test_the_swiss_radiology_order_proposes_what_its_patient_record_knows() -> None:
    questionnaire = published("ch-rad-order")
    patient = {"resourceType": "Patient", "gender": "female", "name": [{"use": "official", "family": "Muster"}]}
    interview = Interview(questionnaire, *missing_value_sets(questionnaire), launch={"patient": patient})
    engine, filling = interview.engine, interview.filling

    assert engine.ask(filling, at("patient", "patient.familyName")).proposal == (text("Muster"),)
    gender = engine.ask(filling, at("patient", "patient.gender")).proposal[0].value
    assert as_object(gender)["code"] == "female"
