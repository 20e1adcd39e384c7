"""What a server would refuse is left out of the transaction, with what cannot be without it, and noted."""

from __future__ import annotations

from typing import Any

import pytest

from bot.handover.bundle import make_bundle
from bot.handover.flaws import flaws
from bot.handover.subject import Made
from bot.interview.values.fhir_json import dump
from tests.bot.handover.exports import (
    Json,
    answered,
    coded,
    entries,
    exchange,
    export,
    extracting,
    form,
    resources,
    response,
)
from tests.bot.handover.sdc_marks import allocate, context, filled, group, item, text, use

OBSERVATION: Json = {"resourceType": "Observation", "status": "final", "code": {"text": "a"}}


def _made(*templates: tuple[str, Json, Json], answer: str = "Geheim", **further: Any) -> Made:
    """Extract templates, each with its name and the formulas for its entry; all are given the ids one, two and three."""
    contained = [{**body, "id": name} for name, body, _ in templates]
    marks = [*map(allocate, ("one", "two", "three")), *(use(name, **control) for name, _, control in templates)]
    asked = form({"linkId": "x", "type": "string"}, contained=contained, extension=marks)
    given = response(answered("x", {"valueString": answer}))
    return make_bundle(export(exchange(1, "urgent"), asked=asked, given=given, **further))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"resourceType": "Chicken"}, "Chicken: not a resource type of R4 that can be checked here"),
        ({"resourceType": "Evidence", "status": "draft"}, "Evidence: not a resource type of R4 that can be checked here"),
        ({"resourceType": "Observation", "status": "final"}, "Observation.code: missing, but R4 requires it"),
        ({"resourceType": "Observation", "code": {"text": "a"}}, "Observation.status: missing, but R4 requires it"),
        ({**OBSERVATION, "status": "done"}, "Observation.status: a code that is none of amended, cancelled, corrected, "),
        ({**OBSERVATION, "valueBoolean": "true"}, "Observation.valueBoolean: a string where true or false is due"),
        ({**OBSERVATION, "valueInteger": "1"}, "Observation.valueInteger: a string where a whole number is due"),
        ({**OBSERVATION, "valueInteger": 1, "valueString": "a"}, "Observation.value[x]: 2 types where one is due"),
        ({**OBSERVATION, "issued": "2020-01-01"}, "Observation.issued: not a instant"),
        ({**OBSERVATION, "effectiveDateTime": "2020-02-31"}, "Observation.effectiveDateTime: not a dateTime"),
        ({**OBSERVATION, "category": {"text": "a"}}, "Observation.category: one value where R4 has a list"),
        ({**OBSERVATION, "method": [{"text": "a"}]}, "Observation.method: a list where R4 has one"),
        ({**OBSERVATION, "shoeSize": 1}, "Observation.shoeSize: R4 has no such element"),
        ({**OBSERVATION, "method": "a"}, "Observation.method: a string where CodeableConcept is due"),
        ({**OBSERVATION, "note": []}, "Observation.note: empty"),
        ({**OBSERVATION, "note": [{}]}, "Observation.note: empty"),
        ({**OBSERVATION, "component": [{"valueInteger": 1}]}, "Observation.component.code: missing, but R4 requires it"),
        ({**OBSERVATION, "subject": {"reference": "Patient/1 2"}}, "Observation.subject.reference: neither a URL nor Type/id"),
        ({**OBSERVATION, "subject": {"reference": "Chicken/1"}}, "Observation.subject.reference: leads to no resource type of R4"),
        ({**OBSERVATION, "performer": [{"reference": "Medication/1"}]}, "Observation.performer.reference: leads to a Medication, which may not stand there"),
        ({**OBSERVATION, "subject": {"reference": "#p"}}, "Observation.subject.reference: nothing contained has this id"),
        ({**OBSERVATION, "extension": [{"valueString": "a"}]}, "Observation.extension.url: missing, but R4 requires it"),
        ({**OBSERVATION, "contained": [{"resourceType": "Patient", "gender": "f"}]}, "Patient.gender: a code that is none of female, male, other, unknown"),
        ({"resourceType": "Immunization", "status": "completed", "vaccineCode": {"text": "a"}, "patient": {"display": "a"}}, "Immunization.occurrence[x]: missing, but R4 requires it"),
    ],
)  # fmt: skip
def test_what_r4_does_not_allow_is_named_by_place_and_rule(body: Json, problem: str) -> None:
    assert str(next(flaws(body, body["resourceType"]))).startswith(problem)


@pytest.mark.parametrize(
    "further",
    [
        {"subject": {"reference": "Patient/1"}},
        {"subject": {"reference": "Patient/1/_history/2"}},
        {"subject": {"reference": "Patient?identifier=a|b"}},
        {"subject": {"reference": "https://a.example/fhir/Patient/1"}},
        {"subject": {"reference": "#p"}, "contained": [{"resourceType": "Patient", "id": "p"}]},
        {"_issued": {"extension": [{"url": "https://a.example/why", "valueString": "a"}]}},
        {"text": {"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">a</div>'}},
        {"status": "cancelled", "valueQuantity": {"value": 1, "unit": "a", "comparator": "<"}},
    ],
)
def test_what_r4_allows_is_found_sound(further: Json) -> None:
    assert list(flaws({**OBSERVATION, **further}, "Observation")) == []


@pytest.mark.parametrize("ids", ["server", "client"])
def test_what_is_bad_is_left_out_and_told_and_holds_nothing_else_back(ids: Any) -> None:
    bad = {"resourceType": "Patient", "_birthDate": filled("item.answer.value")}

    made = _made(("good", OBSERVATION, {}), ("bad", bad, {}), ids=ids)

    kinds = [each["resource"]["resourceType"] for each in entries(made)]
    assert kinds.count("Observation") == kinds.count("QuestionnaireResponse") == 1
    assert "Patient" not in kinds
    assert kinds.count("Task") == 1
    assert made.notes == ("Questionnaire: not extracted: Patient.birthDate: not a date",)
    (audit,) = resources(made, "AuditEvent")
    (details,) = [each["detail"] for each in audit["entity"] if "detail" in each]
    assert details == [{"type": "not-extracted", "valueString": made.notes[0]}]
    assert audit["outcomeDesc"] == "The response was sent; 1 notes say what was not extracted from it"
    assert "Geheim" not in dump(audit)


def test_what_is_about_a_resource_that_is_left_out_is_left_out_too_and_so_on() -> None:
    patient = {"resourceType": "Patient", "gender": "weiblich"}
    condition = {"resourceType": "Condition", "subject": {"_reference": filled("%one")}}
    plan = {
        "resourceType": "Procedure",
        "status": "completed",
        "subject": {"display": "a"},
        "encounter": {"_reference": filled("%three")},
    }
    encounter = {
        "resourceType": "Encounter",
        "status": "finished",
        "class": {"code": "AMB"},
        "subject": {"_reference": filled("%one")},
    }

    made = _made(
        ("p", patient, {"fullUrl": "%one"}),
        ("c", condition, {}),
        ("e", encounter, {"fullUrl": "%three"}),
        ("d", plan, {}),
    )

    assert not {"Patient", "Condition", "Encounter", "Procedure"} & {
        each["resource"]["resourceType"] for each in entries(made)
    }
    assert [note.partition("extracted: ")[2] for note in made.notes] == [
        "Patient.gender: a code that is none of female, male, other, unknown",
        "Condition.subject: refers to what is left out",
        "Encounter.subject: refers to what is left out",
        "Procedure.encounter: refers to what is left out",
    ]


def test_a_reference_in_a_list_falls_away_alone() -> None:
    report = {
        "resourceType": "DiagnosticReport",
        "status": "final",
        "code": {"text": "a"},
        "result": [{"_reference": filled("%one")}, {"_reference": filled("%two")}],
    }

    made = _made(
        ("bad", {**OBSERVATION, "status": "done"}, {"fullUrl": "%one"}),
        ("good", OBSERVATION, {"fullUrl": "%two"}),
        ("r", report, {}),
    )

    (observation,) = (each for each in entries(made) if each["resource"]["resourceType"] == "Observation")
    assert resources(made, "DiagnosticReport")[0]["result"] == [{"reference": observation["fullUrl"]}]
    assert made.notes[1:] == (
        "Questionnaire: not extracted: DiagnosticReport.result: refers to what is left out; goes out without it",
    )


def test_a_list_that_must_not_be_empty_takes_its_resource_along() -> None:
    team: Json = {"resourceType": "Linkage", "item": [{"type": "source", "resource": {"_reference": filled("%one")}}]}

    made = _made(("bad", {**OBSERVATION, "status": "done"}, {"fullUrl": "%one"}), ("l", team, {}))

    assert resources(made, "Linkage") == []
    assert made.notes[1:] == ("Questionnaire: not extracted: Linkage.item: missing, but R4 requires it",)


def test_a_reference_to_a_resource_of_the_wrong_type_in_the_same_bundle_is_bad() -> None:
    condition = {"resourceType": "Condition", "subject": {"_reference": filled("%one")}}

    made = _made(("o", OBSERVATION, {"fullUrl": "%one"}), ("c", condition, {}))

    assert made.notes == ("Questionnaire: not extracted: Condition.subject: a reference to a Observation",)


def test_of_two_resources_with_one_address_the_second_is_left_out() -> None:
    patient = {"resourceType": "Patient", "active": True}

    made = _made(("p", patient, {"resourceId": "'p-1'"}), ("q", patient, {"resourceId": "'p-1'"}))

    assert len(resources(made, "Patient")) == 1
    assert made.notes == ("Questionnaire: not extracted: Patient: another resource has the same address",)


def test_a_full_url_that_two_resources_share_leads_to_neither() -> None:
    condition = {"resourceType": "Condition", "subject": {"_reference": filled("%one")}}
    patient = {"resourceType": "Patient", "active": True}

    made = _made(("p", patient, {"fullUrl": "%one"}), ("q", patient, {"fullUrl": "%one"}), ("c", condition, {}))

    assert len(resources(made, "Patient")) == 2
    assert made.notes == ("Questionnaire: not extracted: Condition.subject: refers to what is left out",)


def test_the_same_note_on_many_answers_is_told_once_with_their_number() -> None:
    basic: Json = {"resourceType": "Patient", "id": "b", "_gender": filled("answer.value")}
    asked = form({"linkId": "x", "type": "string", "extension": [use("b")]}, contained=[basic])

    made = make_bundle(export(asked=asked, given=response(answered("x", *({"valueString": "a"} for _ in range(500))))))

    text = "x: not extracted: Patient.gender: a code that is none of female, male, other, unknown (500 times)"
    assert made.notes == (text,)


def test_a_member_that_is_left_out_leaves_its_panel() -> None:
    inner = [extracting(coded("a", "string"), "member"), extracting(coded("b", "string"), "member")]
    asked = form(extracting(coded("g", "group", item=inner)))
    answers = [answered("a", {"valueString": "a"}), answered("b", {"valueString": "\u0007"})]

    made = make_bundle(export(asked=asked, given=response({"linkId": "g", "item": answers})))

    panel, member = resources(made, "Observation")
    assert panel["hasMember"] == [{"reference": f"urn:uuid:{member['identifier'][0]['value']}"}]
    assert len(made.notes) == 2


ALLERGY: Json = {
    "resourceType": "AllergyIntolerance",
    "id": "al",
    "patient": {"display": "a"},
    "code": {"_text": filled("item.where(linkId = 'to').answer.value")},
    "reaction": [
        {
            "extension": [context("item.where(linkId = 'r')")],
            "manifestation": [{"_text": filled("item.where(linkId = 'sign').answer.value")}],
            "_severity": filled("item.where(linkId = 'how').answer.value"),
        }
    ],
}


def _allergy(*reactions: Json) -> Made:
    inner = [item("sign", "string"), item("how", "string")]
    asked = form(
        item("g", "group", "", use("al"), inner=[item("to", "string"), item("r", "group", inner=inner)]),
        contained=[ALLERGY],
    )
    return make_bundle(export(asked=asked, given=response(group("g", text("to", "Kiwi"), *reactions))))


def test_an_incomplete_entry_of_an_optional_list_falls_away_alone_and_staff_are_told() -> None:
    whole = group("r", text("sign", "Quaddeln"), text("how", "mild"))
    made = _allergy(whole, group("r", text("how", "severe")), group("r", text("sign", "Luftnot"), text("how", "arg")))

    (allergy,) = resources(made, "AllergyIntolerance")
    assert allergy["code"] == {"text": "Kiwi"}
    assert allergy["reaction"] == [{"manifestation": [{"text": "Quaddeln"}], "severity": "mild"}]
    assert [note.partition("extracted: ")[2] for note in made.notes] == [
        "AllergyIntolerance.reaction.manifestation: missing, but R4 requires it; goes out without it",
        "AllergyIntolerance.reaction.severity: a code that is none of mild, moderate, severe; goes out without it",
    ]
    (task,) = resources(made, "Task")
    assert task["code"]["coding"][0]["code"] == "lost-extraction"
    assert task["reasonCode"]["text"] == "Item g: AllergyIntolerance was extracted incompletely or not at all"
    assert task["focus"] == {"reference": entries(made)[0]["fullUrl"]}
    assert not any(word in dump(task) for word in ("Kiwi", "Luftnot", "arg"))


def test_the_last_entry_takes_its_list_along_and_the_resource_stays() -> None:
    (allergy,) = resources(_allergy(group("r", text("how", "severe"))), "AllergyIntolerance")

    assert "reaction" not in allergy


@pytest.mark.parametrize(("kind", "tasks"), [("Condition", 1), ("Procedure", 1), ("Person", 0), ("Appointment", 0)])
def test_staff_are_told_of_a_clinical_resource_that_is_lost(kind: str, tasks: int) -> None:
    made = _made(("t", {"resourceType": kind, "nonsense": 1}, {}), ("f", OBSERVATION, {"resourceId": "'a b'"}))

    assert resources(made, kind) == []
    told = [each["reasonCode"]["text"] for each in resources(made, "Task") if "reasonCode" in each]
    assert len(told) == 1 + tasks
    assert "The form: Observation was extracted incompletely or not at all" in told


@pytest.mark.parametrize("name", ["modifierExtension"])
def test_what_changes_the_meaning_of_a_resource_never_falls_away(name: str) -> None:
    made = _made(("o", {**OBSERVATION, "valueInteger": 1, name: [{"valueString": "a"}]}, {}))

    assert resources(made, "Observation") == []


def test_an_observation_does_not_go_out_without_all_that_was_observed() -> None:
    made = _made(("o", {**OBSERVATION, "component": [{"valueInteger": 1}]}, {}))

    assert resources(made, "Observation") == []
    assert made.notes == ("Questionnaire: not extracted: Observation.component.code: missing, but R4 requires it",)


OPEN = '<div xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize(
    ("answer", "around", "reason"),
    [
        ("links", ("<p>", "</p>"), ""),
        ("rechts &amp; links", ("", ""), ""),
        ("5 < 7 & mehr", ("", ""), "not well-formed XHTML"),
        ("</p><p>", ("<p>", "</p>"), "markup of an answer in a narrative"),
        ("<a href='https://b.example'>hier</a>", ("", ""), "markup of an answer in a narrative"),
        ("a", ("<script>", "</script>"), "elements that FHIR does not allow in a narrative"),
        ("a", ("<p onclick='b'>", "</p>"), "attributes that FHIR does not allow in a narrative"),
        ("a", ("<a href=' javascript:b'>", "</a>"), "scripts in a narrative"),
        (
            "a",
            ("<svg xmlns='http://www.w3.org/2000/svg'>", "</svg>"),
            "elements that FHIR does not allow in a narrative",
        ),
        ("a", ("<!DOCTYPE a>", ""), "a document type or an instruction in a narrative"),
        (" ", ("", ""), "says nothing"),
    ],
)
@pytest.mark.parametrize("contained", [False, True])
def test_a_narrative_that_fhir_does_not_allow_falls_away_alone(
    answer: str, around: tuple[str, str], reason: str, contained: bool
) -> None:
    before, after = (OPEN + around[0]).replace("'", "\\'"), around[1] + "</div>"
    narrative = {"status": "generated", "_div": filled(f"'{before}' + item.answer.value + '{after}'")}
    body = {**OBSERVATION, "valueInteger": 1, "text": narrative}
    if contained:
        body = {**OBSERVATION, "contained": [{"resourceType": "Patient", "id": "p", "active": True, "text": narrative}]}

    made = _made(("o", body, {}), answer=answer)

    (observation,) = resources(made, "Observation")
    holder = observation["contained"][0] if contained else observation
    assert ("text" in holder) == (not reason)
    place = f"{'Patient' if contained else 'Observation'}.text.div"
    assert made.notes == ((f"Questionnaire: not extracted: {place}: {reason}; goes out without it",) if reason else ())
    assert [each["code"]["coding"][0]["code"] for each in resources(made, "Task")] == ["red-flag"]


@pytest.mark.parametrize(("answer", "kept"), [("a1", True), ("a1&_id=5", False), ("A,b", False)])
def test_an_answer_words_no_search_of_a_reference(answer: str, kept: bool) -> None:
    body = {**OBSERVATION, "subject": {"_reference": filled("'Patient?identifier=' + item.answer.value.lower()")}}

    assert bool(resources(_made(("o", body, {}), answer=answer), "Observation")) == kept
