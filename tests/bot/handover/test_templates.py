"""Template-based extraction, as SDC 4.0 describes it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot.handover.bundle import make_bundle
from bot.handover.observations import unsupported_extraction
from bot.handover.subject import Made
from bot.interview.values.fhir_json import dump
from tests.bot.handover.exports import SDC, Json, answered, entries, export, form, resources, response


def _value(formula: str) -> Json:
    return {"extension": [{"url": SDC + "sdc-questionnaire-templateExtractValue", "valueString": formula}]}


def _context(formula: str) -> Json:
    return {"url": SDC + "sdc-questionnaire-templateExtractContext", "valueString": formula}


def _use(template: str, **further: str) -> Json:
    parts = [{"url": "template", "valueReference": {"reference": f"#{template}"}}]
    parts += [{"url": name, "valueString": formula} for name, formula in further.items()]
    return {"url": SDC + "sdc-questionnaire-templateExtract", "extension": parts}


def _allocate(name: str) -> Json:
    return {"url": SDC + "sdc-questionnaire-extractAllocateId", "valueString": name}


def _make(asked: Json, *items: Json) -> Made:
    made = make_bundle(export(asked=asked, given=response(*items)))
    for entry in entries(made):
        kind = get_fhir_model_class(entry["resource"]["resourceType"])
        kind.model_validate_json(dump(entry["resource"]))
    return made


ALLERGY: Json = {
    "resourceType": "AllergyIntolerance",
    "id": "allergy",
    "clinicalStatus": {"coding": [{"code": "active"}]},
    "code": {
        "extension": [_context("item.where(linkId = 'what').answer.value")],
        "coding": [_value("ofType(Coding)")],
        "_text": _value("ofType(string)"),
    },
    "patient": {"identifier": _value("%resource.subject.identifier")},
    "reaction": [
        {
            "extension": [_context("item.where(linkId = 'reaction').answer")],
            "manifestation": [{"coding": [_value("value.ofType(Coding)")]}],
        }
    ],
    "note": [{"_text": _value("item.where(linkId = 'note').answer.value")}],
}
ASKED = form(
    {
        "linkId": "allergies",
        "type": "group",
        "repeats": True,
        "extension": [_use("allergy")],
        "item": [
            {"linkId": "what", "type": "open-choice"},
            {"linkId": "reaction", "type": "choice", "repeats": True},
            {"linkId": "note", "type": "text"},
        ],
    },
    contained=[ALLERGY],
)


def _allergy(*items: Json) -> Json:
    return {"linkId": "allergies", "item": list(items)}


def test_every_instance_of_a_group_becomes_a_resource_and_what_is_missing_falls_away() -> None:
    nuts = _allergy(
        answered("what", {"valueCoding": {"system": "s", "code": "nuts"}}),
        answered("reaction", {"valueCoding": {"code": "hives"}}, {"valueCoding": {"code": "cough"}}),
        answered("note", {"valueString": "selten"}),
    )
    other = _allergy(answered("what", {"valueString": "Quark"}))

    made = _make(ASKED, nuts, other)

    first, second = resources(made, "AllergyIntolerance")
    assert first["code"] == {"coding": [{"system": "s", "code": "nuts"}]}
    assert [each["manifestation"][0]["coding"][0]["code"] for each in first["reaction"]] == ["hives", "cough"]
    assert first["note"] == [{"text": "selten"}]
    assert second["code"] == {"text": "Quark"}
    assert not second.keys() & {"reaction", "note"}
    assert first["patient"] == {"identifier": {"system": first["patient"]["identifier"]["system"], "value": "c1"}}
    assert "extension" not in dump(first)
    assert made.notes == ()


def test_without_answers_an_item_becomes_nothing_and_the_root_something() -> None:
    patient = {"resourceType": "Patient", "id": "p", "active": True, "name": [{"_family": _value("%resource.nothing")}]}
    asked = form(
        {"linkId": "x", "type": "string", "extension": [_use("p")]}, contained=[patient], extension=[_use("p")]
    )

    (made,) = resources(_make(asked), "Patient")

    assert made["active"] is True
    assert "name" not in made


def test_each_answer_of_a_repeating_question_is_a_context_of_its_own() -> None:
    task = {"resourceType": "Basic", "id": "b", "code": {"_text": _value("answer.value")}}
    asked = form({"linkId": "x", "type": "string", "repeats": True, "extension": [_use("b")]}, contained=[task])

    made = resources(_make(asked, answered("x", {"valueString": "a"}, {"valueString": "b"})), "Basic")

    assert [each["code"]["text"] for each in made] == ["a", "b"]


def test_lists_of_primitives_take_all_values_and_decimals_keep_their_digits() -> None:
    patient = {
        "resourceType": "Patient",
        "id": "p",
        "name": [{"given": [""], "_given": [_value("item.where(linkId = 'g').answer.value")]}],
    }
    weight = {
        "resourceType": "Observation",
        "id": "w",
        "status": "final",
        "code": {"text": "Gewicht"},
        "valueQuantity": {"_value": _value("item.where(linkId = 'w').answer.value"), "unit": "kg"},
    }
    asked = form(
        {"linkId": "g", "type": "string", "repeats": True},
        {"linkId": "w", "type": "decimal"},
        contained=[patient, weight],
        extension=[_use("p"), _use("w")],
    )

    made = _make(
        asked,
        answered("g", {"valueString": "Anna"}, {"valueString": "Eva"}),
        answered("w", {"valueDecimal": Decimal("70.50")}),
    )

    assert resources(made, "Patient")[0]["name"] == [{"given": ["Anna", "Eva"]}]
    assert '"valueQuantity":{"value":70.50,"unit":"kg"}' in dump(made.bundle)


def test_allocated_ids_tie_resources_together_and_stay_the_same() -> None:
    mother = {"resourceType": "Patient", "id": "m", "active": True}
    child = {"resourceType": "Condition", "id": "c", "subject": {"_reference": _value("%who")}}
    asked = form(contained=[mother, child], extension=[_allocate("%who"), _use("m", fullUrl="%who"), _use("c")])

    once, again = _make(asked), _make(asked)

    (entry,) = (entry for entry in entries(once) if entry["resource"]["resourceType"] == "Patient")
    assert resources(once, "Condition")[0]["subject"]["reference"] == entry["fullUrl"]
    assert entry["fullUrl"].startswith("urn:uuid:")
    assert dump(once.bundle) == dump(again.bundle)


def test_allocated_ids_are_new_for_each_instance() -> None:
    item = {"resourceType": "Basic", "id": "b", "code": {"_text": _value("%own")}}
    group = {"linkId": "g", "type": "group", "repeats": True, "extension": [_allocate("own"), _use("b")]}
    asked = form({**group, "item": [{"linkId": "x", "type": "boolean"}]}, contained=[item])
    instance = {"linkId": "g", "item": [answered("x", {"valueBoolean": True})]}

    one, other = resources(_make(asked, instance, instance), "Basic")

    assert one["code"] != other["code"]


def test_the_request_is_what_the_template_says() -> None:
    patient = {"resourceType": "Patient", "id": "p", "active": True}
    asked = form(
        contained=[patient],
        extension=[_use("p", resourceId="'known-1'", ifMatch="'W/\"3\"'"), _use("p", ifNoneExist="'identifier=a|b'")],
    )

    first, second = (entry for entry in entries(_make(asked)) if entry["resource"]["resourceType"] == "Patient")

    assert first["request"] == {"method": "PUT", "url": "Patient/known-1", "ifMatch": 'W/"3"'}
    assert first["resource"]["id"] == "known-1"
    assert second["request"] == {"method": "POST", "url": "Patient", "ifNoneExist": "identifier=a|b"}


def test_an_extracted_resource_is_tagged_so_that_it_is_created_once() -> None:
    made = _make(ASKED, _allergy(answered("what", {"valueString": "Quark"})))

    (entry,) = (entry for entry in entries(made) if entry["resource"]["resourceType"] == "AllergyIntolerance")

    (tag,) = entry["resource"]["meta"]["tag"]
    assert entry["request"]["ifNoneExist"] == f"_tag={tag['system']}|{tag['code']}"


def test_a_bundle_may_be_the_template() -> None:
    entry = {
        "fullUrl": "urn:uuid:2f5d1a8e-8f3c-4e55-9b1e-000000000001",
        "resource": {
            "extension": [_context("item.where(linkId = 'x').answer")],
            "resourceType": "Basic",
            "code": {"_text": _value("value")},
        },
        "request": {"method": "POST", "url": "Basic"},
    }
    asked = form(
        {"linkId": "x", "type": "string"},
        contained=[{"resourceType": "Bundle", "id": "all", "type": "transaction", "entry": [entry]}],
        extension=[{"url": SDC + "sdc-questionnaire-templateExtractBundle", "valueReference": {"reference": "#all"}}],
    )

    (made,) = resources(_make(asked, answered("x", {"valueString": "a"})), "Basic")

    assert made["code"] == {"text": "a"}


def test_a_context_may_give_its_value_a_name() -> None:
    context: Any = {
        "url": SDC + "sdc-questionnaire-templateExtractContext",
        "valueExpression": {"name": "it", "language": "text/fhirpath", "expression": "item.answer.value"},
    }
    basic = {
        "resourceType": "Basic",
        "id": "b",
        "code": {"extension": [context], "coding": [{"_display": _value("%it")}]},
    }
    asked = form({"linkId": "x", "type": "string"}, contained=[basic], extension=[_use("b")])

    (made,) = resources(_make(asked, answered("x", {"valueString": "a"})), "Basic")

    assert made["code"] == {"coding": [{"display": "a"}]}


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ({"_text": _value("item.answer.value")}, "Basic.code.text: 2 values for one place"),
        ({"_text": _value("item.(")}, "Basic.code.text: the formula 'item.(' cannot be evaluated"),
        ({"_text": _value("nonsense()")}, "Basic.code.text: the formula 'nonsense()' cannot be evaluated"),
        (
            {
                "_text": {
                    "extension": [
                        {
                            "url": SDC + "sdc-questionnaire-templateExtractValue",
                            "valueExpression": {"language": "text/cql", "expression": "x"},
                        }
                    ]
                }
            },
            "Basic.code.text: an expression in 'text/cql' instead of text/fhirpath",
        ),
    ],
)
def test_a_template_that_cannot_be_filled_is_told_and_the_response_goes_out(code: Json, note: str) -> None:
    basic = {"resourceType": "Basic", "id": "b", "code": code}
    asked = form({"linkId": "x", "type": "string", "repeats": True}, contained=[basic], extension=[_use("b")])

    made = _make(asked, answered("x", {"valueString": "Geheim"}, {"valueString": "Geheimer"}))

    assert resources(made, "Basic") == []
    assert len(resources(made, "QuestionnaireResponse")) == 1
    (found,) = made.notes
    assert found.startswith(f"Questionnaire: not extracted: {note}")
    assert "Geheim" not in found


@pytest.mark.parametrize(
    ("url", "value", "name"),
    [
        ("definitionExtract", {"valueCode": "Patient"}, "definition-based extraction"),
        ("itemExtractionContext", {"valueCode": "Patient"}, "definition-based extraction"),
        ("targetStructureMap", {"valueCanonical": "http://a.example"}, "extraction by a StructureMap"),
        ("observationExtractEntry", {"valueString": "x"}, "sdc-questionnaire-observationExtractEntry"),
    ],
)
def test_other_ways_of_extraction_are_refused_by_name(url: str, value: Json, name: str) -> None:
    extension = [{"url": f"{SDC}sdc-questionnaire-{url}", **value}]
    asked = form({"linkId": "x", "type": "string", "extension": extension})

    (note,) = unsupported_extraction(asked)

    assert note.as_line() == f"x: extraction: {name} is not supported"
    assert make_bundle(export(asked=asked, given=response())).notes == (note.as_line(),)


def test_a_template_that_is_not_there_is_told() -> None:
    asked = form(extension=[_use("nowhere")])

    assert [note.text for note in unsupported_extraction(asked)] == ["the template '#nowhere' is not contained"]
    assert len(make_bundle(export(asked=asked, given=response())).notes) == 2
