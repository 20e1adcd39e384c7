"""Observation-based extraction, as SDC 4.0 describes it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from fhir.resources.R4B.observation import Observation

from bot.handover.bundle import make_bundle
from bot.interview.values.fhir_json import dump
from tests.bot.handover.exports import (
    EXTRACT,
    LOINC,
    PATIENT,
    SDC,
    Json,
    answered,
    coded,
    entries,
    export,
    extracting,
    form,
    observations,
    resources,
    response,
)
from tests.bot.handover.sdc_marks import allocate, entry, filled, use

KG = {
    "url": "http://hl7.org/fhir/StructureDefinition/questionnaire-unit",
    "valueCoding": {"system": "http://unitsofmeasure.org", "code": "kg", "display": "Kilogramm"},
}


def _value(observation: Json) -> tuple[str, Any]:
    (name,) = (name for name in observation if name.startswith("value"))
    return name, observation[name]


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("boolean", {"valueBoolean": False}, ("valueBoolean", False)),
        ("integer", {"valueInteger": 3}, ("valueInteger", 3)),
        ("decimal", {"valueDecimal": Decimal("1.50")}, ("valueQuantity", {"value": Decimal("1.50")})),
        ("date", {"valueDate": "2020-05"}, ("valueDateTime", "2020-05")),
        ("dateTime", {"valueDateTime": "2020-05-01T10:00:00Z"}, ("valueDateTime", "2020-05-01T10:00:00Z")),
        ("time", {"valueTime": "10:00:00"}, ("valueTime", "10:00:00")),
        ("string", {"valueString": "links"}, ("valueString", "links")),
        ("text", {"valueString": "links"}, ("valueString", "links")),
        ("url", {"valueUri": "https://a.example"}, ("valueString", "https://a.example")),
        ("choice", {"valueCoding": {"code": "a"}}, ("valueCodeableConcept", {"coding": [{"code": "a"}]})),
        ("quantity", {"valueQuantity": {"value": 2, "unit": "a"}}, ("valueQuantity", {"value": 2, "unit": "a"})),
    ],
)
def test_an_answer_of_each_type_becomes_a_value(kind: str, answer: Json, expected: tuple[str, Any]) -> None:
    (made,) = observations(form(extracting(coded("x", kind))), response(answered("x", answer)))

    assert _value(made) == expected
    Observation.model_validate_json(dump(made))


@pytest.mark.parametrize(("kind", "name"), [("integer", "valueInteger"), ("decimal", "valueDecimal")])
def test_a_number_with_a_unit_becomes_a_quantity(kind: str, name: str) -> None:
    item = extracting(coded("weight", kind, extension=[KG]))

    (made,) = observations(form(item), response(answered("weight", {name: 70})))

    expected = {"value": 70, "unit": "Kilogramm", "system": "http://unitsofmeasure.org", "code": "kg"}
    assert _value(made) == ("valueQuantity", expected)


def test_what_no_observation_can_hold_is_told() -> None:
    asked = form(extracting(coded("photo", "attachment")))
    given = response(answered("photo", {"valueAttachment": {"url": "https://a.example/b"}}))

    made = make_bundle(export(asked=asked, given=given))

    assert resources(made, "Observation") == []
    assert made.notes == ("photo: not extracted: no Observation can hold a value of type attachment",)


def test_subject_time_performer_and_source_come_from_the_response() -> None:
    asked = form(extracting(coded("x", "boolean")))
    given = response(answered("x", {"valueBoolean": True}), encounter={"reference": "Encounter/1"})
    made = make_bundle(export(asked=asked, given=given, patient=PATIENT))

    (observation,) = resources(made, "Observation")

    assert observation["subject"] == PATIENT
    assert observation["performer"] == [PATIENT]
    assert observation["encounter"] == {"reference": "Encounter/1"}
    assert observation["effectiveDateTime"] == observation["issued"] == given["authored"]
    assert observation["derivedFrom"] == [{"reference": entries(made)[0]["fullUrl"]}]
    assert observation["status"] == "final"


def test_every_answer_to_a_repeating_question_is_an_observation_of_its_own() -> None:
    asked = form(extracting(coded("x", "string", repeats=True)))
    given = response(answered("x", {"valueString": "a"}, {"valueString": "b"}))

    made = observations(asked, given)

    assert [observation["valueString"] for observation in made] == ["a", "b"]
    assert made[0]["identifier"] != made[1]["identifier"]


def test_every_instance_of_a_repeating_group_has_observations_of_its_own() -> None:
    asked = form({"linkId": "g", "type": "group", "repeats": True, "item": [extracting(coded("x", "string"))]})
    group = [{"linkId": "g", "item": [answered("x", {"valueString": text})]} for text in "ab"]

    made = observations(asked, response(*group))

    assert [observation["valueString"] for observation in made] == ["a", "b"]
    assert made[0]["identifier"] != made[1]["identifier"]


def test_questions_inside_answers_are_found() -> None:
    asked = form(coded("x", "boolean", item=[extracting(coded("y", "string"))]))
    given = response(answered("x", {"valueBoolean": True, "item": [answered("y", {"valueString": "a"})]}))

    assert [made["valueString"] for made in observations(asked, given)] == ["a"]


def _panel(relation: str | bool) -> list[Json]:
    inner = extracting(coded("systolic", "integer"), relation)
    asked = form(extracting(coded("pressure", "group", item=[inner])))
    return observations(asked, response({"linkId": "pressure", "item": [answered("systolic", {"valueInteger": 120})]}))


def test_components_are_part_of_the_observation_of_their_group() -> None:
    (made,) = _panel("component")

    (component,) = made["component"]
    assert component["valueInteger"] == 120
    assert component["code"]["coding"][0]["code"] == "systolic-1"
    assert _no_value(made)


def test_members_are_named_by_the_observation_of_their_group() -> None:
    panel, member = _panel("member")

    assert [each["reference"] for each in panel["hasMember"]] == [f"urn:uuid:{member['identifier'][0]['value']}"]
    assert member["valueInteger"] == 120
    assert _no_value(panel)


def _no_value(observation: Json) -> bool:
    return not [name for name in observation if name.startswith("value")]


def test_derived_observations_name_what_they_come_from() -> None:
    inner = extracting(coded("bmi", "decimal"), "derived")
    asked = form(extracting(coded("weight", "decimal", item=[inner])))
    nested = answered("weight", {"valueDecimal": 70, "item": [answered("bmi", {"valueDecimal": 22})]})

    weight, bmi = observations(asked, response(nested))

    assert {"reference": f"urn:uuid:{weight['identifier'][0]['value']}"} in bmi["derivedFrom"]


@pytest.mark.parametrize("relation", ["independent", True])
def test_a_panel_of_nothing_is_no_observation(relation: str | bool) -> None:
    (made,) = _panel(relation)

    assert made["valueInteger"] == 120


def test_at_the_root_it_holds_for_all_coded_items_but_those_that_say_no() -> None:
    asked = form(
        coded("yes", "boolean"),
        extracting(coded("no", "boolean"), False),
        {"linkId": "uncoded", "type": "boolean"},
        extension=[{"url": EXTRACT, "valueBoolean": True}],
    )
    given = response(*(answered(name, {"valueBoolean": True}) for name in ("yes", "no", "uncoded")))

    made = observations(asked, given)

    assert [observation["code"]["coding"][0]["code"] for observation in made] == ["yes-1"]


def test_codes_that_are_marked_are_the_only_ones() -> None:
    marked = {"system": "http://loinc.org", "code": "b", "extension": [{"url": EXTRACT, "valueBoolean": True}]}
    item = extracting(coded("x", "boolean"))
    asked = form({**item, "code": [*item["code"], marked]})

    (made,) = observations(asked, response(answered("x", {"valueBoolean": True})))

    assert made["code"]["coding"] == [{"system": "http://loinc.org", "code": "b"}]


def test_the_nearest_category_holds() -> None:
    def category(code: str) -> Json:
        concept = {"coding": [{"code": code}]}
        return {"url": SDC + "sdc-questionnaire-observation-extract-category", "valueCodeableConcept": concept}

    own = extracting(coded("own", "boolean", extension=[category("exam")]))
    asked = form(own, extracting(coded("other", "boolean")), extension=[category("survey")])
    given = response(answered("own", {"valueBoolean": True}), answered("other", {"valueBoolean": True}))

    made = observations(asked, given)

    assert [observation["category"][0]["coding"][0]["code"] for observation in made] == ["exam", "survey"]


@pytest.mark.parametrize(
    ("extensions", "text"),
    [
        ([{"valueBoolean": True}, {"valueCode": "member"}], "says both true or false and a relation"),
        ([{"valueCode": "cousin"}], "names an unknown relation"),
    ],
)
def test_marks_that_make_no_sense_are_told(extensions: list[Json], text: str) -> None:
    item = coded("x", "boolean", extension=[{"url": EXTRACT, **each} for each in extensions])

    made = make_bundle(export(asked=form(item), given=response(answered("x", {"valueBoolean": True}))))

    assert made.notes == (f"x: not extracted: observationExtract {text}",)


def test_without_a_code_nothing_is_extracted() -> None:
    asked = form(extracting({"linkId": "x", "type": "boolean"}))

    made = make_bundle(export(asked=asked, given=response(answered("x", {"valueBoolean": True}))))

    assert made.notes == ("x: not extracted: there is no code to extract it with",)
    assert resources(made, "Observation") == []


def test_a_hidden_calculated_answer_is_extracted_like_any_other() -> None:
    hidden = {"url": "http://hl7.org/fhir/StructureDefinition/questionnaire-hidden", "valueBoolean": True}
    asked = form(extracting(coded("score", "integer", extension=[hidden], readOnly=True)))

    assert len(observations(asked, response(answered("score", {"valueInteger": 5})))) == 1


@pytest.mark.parametrize("where", ["form", "group"])
@pytest.mark.parametrize("mark", [True, "independent", "code"])
def test_what_is_switched_off_for_a_group_is_off_for_all_inside(where: str, mark: bool | str) -> None:
    inner = coded("in", "boolean")
    if mark == "code":
        inner["code"][0]["extension"] = [{"url": EXTRACT, "valueBoolean": True}]
    else:
        inner = extracting(inner, mark)
    nested = {"linkId": "deep", "type": "group", "item": [inner]}
    off = extracting(coded("g", "group", item=[coded("off", "boolean"), nested]), False)
    around: Json = {"extension": [{"url": EXTRACT, "valueBoolean": True}]}
    beside = coded("on", "boolean")
    asked = (
        form(off, beside, **around) if where == "form" else form(extracting(coded("all", "group", item=[off, beside])))
    )
    yes = {"valueBoolean": True}
    given: Json = {"linkId": "g", "item": [answered("off", yes), {"linkId": "deep", "item": [answered("in", yes)]}]}
    answers = [given, answered("on", yes)]

    made = observations(asked, response(*(answers if where == "form" else [{"linkId": "all", "item": answers}])))

    assert [observation["code"]["coding"][0]["code"] for observation in made] == ["on-1"]


def test_a_mark_at_a_group_holds_for_the_coded_items_inside() -> None:
    asked = form(extracting({"linkId": "g", "type": "group", "item": [coded("x", "boolean")]}))

    made = make_bundle(
        export(asked=asked, given=response({"linkId": "g", "item": [answered("x", {"valueBoolean": True})]}))
    )

    assert len(resources(made, "Observation")) == 1
    assert made.notes == ()


def test_a_mark_at_a_code_alone_is_enough() -> None:
    marked = {"system": LOINC, "code": "b", "extension": [{"url": EXTRACT, "valueBoolean": True}]}
    item = {"linkId": "x", "type": "boolean", "code": [{"system": LOINC, "code": "a"}, marked]}

    (made,) = observations(form(item), response(answered("x", {"valueBoolean": True})))

    assert made["code"]["coding"] == [{"system": LOINC, "code": "b"}]


def test_what_derives_from_a_group_names_its_observation() -> None:
    inner = extracting(coded("bmi", "decimal"), "derived")
    asked = form(extracting(coded("body", "group", item=[inner])))

    group, bmi = observations(asked, response({"linkId": "body", "item": [answered("bmi", {"valueDecimal": 22})]}))

    assert {"reference": f"urn:uuid:{group['identifier'][0]['value']}"} in bmi["derivedFrom"]
    assert len(bmi["derivedFrom"]) == 2


def test_an_entry_may_be_given_its_url_id_and_conditions() -> None:
    weight = extracting(coded("w", "decimal", extension=[allocate("own"), entry(fullUrl="%own")]))
    height = extracting(coded("h", "decimal", extension=[entry(resourceId="'obs-1'", ifMatch="'W/\"2\"'")]))
    pulse = extracting(coded("p", "decimal", extension=[entry(ifNoneExist="'code=p-1&date=2026'")]))
    report = {
        "resourceType": "DiagnosticReport",
        "id": "r",
        "status": "final",
        "code": {"text": "a"},
        "result": [{"_reference": filled("%own")}],
    }
    weight["extension"].append(use("r"))
    asked = form(weight, height, pulse, contained=[report])
    given = response(*(answered(name, {"valueDecimal": 1}) for name in "whp"))

    made = make_bundle(export(asked=asked, given=given))

    first, second, third = (each for each in entries(made) if each["resource"]["resourceType"] == "Observation")
    assert resources(made, "DiagnosticReport")[0]["result"] == [{"reference": first["fullUrl"]}]
    assert second["request"] == {"method": "PUT", "url": "Observation/obs-1", "ifMatch": 'W/"2"'}
    assert second["resource"]["id"] == "obs-1"
    assert third["request"] == {"method": "POST", "url": "Observation", "ifNoneExist": "code=p-1&date=2026"}
    assert made.notes == ()
