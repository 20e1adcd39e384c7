"""Template-based extraction, as SDC 4.0 describes it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot.handover.bundle import make_bundle
from bot.handover.extraction import unsupported_extraction
from bot.handover.subject import Made
from bot.interview.values.fhir_json import dump
from tests.bot.handover.exports import SDC, Json, answered, entries, export, form, resources, response
from tests.bot.handover.sdc_marks import allocate as _allocate
from tests.bot.handover.sdc_marks import context as _context
from tests.bot.handover.sdc_marks import filled as _value
from tests.bot.handover.sdc_marks import use, use_bundle, variable
from tests.bot.handover.sdc_marks import use as _use


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


def test_a_structure_map_is_refused_by_name() -> None:
    extension = [{"url": f"{SDC}sdc-questionnaire-targetStructureMap", "valueCanonical": "http://a.example"}]
    asked = form({"linkId": "x", "type": "string", "extension": extension})

    (note,) = unsupported_extraction(asked)

    assert note.as_line() == "x: extraction: extraction by a StructureMap is not supported"
    assert make_bundle(export(asked=asked, given=response())).notes == (note.as_line(),)


def test_a_template_that_is_not_there_is_told() -> None:
    asked = form(extension=[_use("nowhere")])

    assert [note.text for note in unsupported_extraction(asked)] == ["the template '#nowhere' is not contained"]
    assert len(make_bundle(export(asked=asked, given=response())).notes) == 2


def test_this_at_the_root_is_the_response() -> None:
    basic = {"resourceType": "Basic", "id": "b", "code": {"_text": _value("$this.item.answer.value")}}
    other = {
        "resourceType": "Basic",
        "id": "c",
        "extension": [_context("$this")],
        "code": {"_text": _value("QuestionnaireResponse.item.where($this.linkId = 'x').answer.value.ofType(string)")},
    }
    asked = form({"linkId": "x", "type": "string"}, contained=[basic, other], extension=[_use("b"), _use("c")])

    made = _make(asked, answered("x", {"valueString": "a"}))

    assert [each["code"] for each in resources(made, "Basic")] == [{"text": "a"}, {"text": "a"}]
    assert made.notes == ()


@pytest.mark.parametrize("ids", ["server", "client"])
@pytest.mark.parametrize(
    ("identity", "expected"),
    [("%who", None), ("'Patient/' + 'p-1'", "p-1"), ("'https://a.example/fhir/Patient/p-1'", "p-1"), ("'p-1'", "p-1")],
)
def test_an_update_names_its_resource_by_type_and_bare_id(ids: Any, identity: str, expected: str | None) -> None:
    patient = {"resourceType": "Patient", "id": "p", "active": True}
    condition = {"resourceType": "Condition", "id": "c", "subject": {"_reference": _value("'Patient/' + %who")}}
    marks = [_allocate("who"), _use("p", resourceId=identity, fullUrl="%who"), _use("c")]

    asked = form(contained=[patient, condition], extension=marks)
    made = make_bundle(export(asked=asked, given=response(), ids=ids, base="https://a.example/fhir/"))

    (entry,) = (entry for entry in entries(made) if entry["resource"]["resourceType"] == "Patient")
    kind, _, own = entry["request"]["url"].partition("/")
    assert (entry["request"]["method"], kind) == ("PUT", "Patient")
    assert entry["resource"]["id"] == own
    assert own == expected if expected else re.fullmatch(r"[0-9a-f-]{36}", own)
    assert resources(made, "Condition")[0]["subject"]["reference"] == entry["fullUrl"]
    assert made.notes == ()


def test_an_id_that_fhir_does_not_allow_makes_no_request() -> None:
    patient = {"resourceType": "Patient", "id": "p", "active": True}
    item = {"linkId": "x", "type": "string", "extension": [_use("p", resourceId="answer.value")]}

    made = _make(form(item, contained=[patient]), answered("x", {"valueString": "Frau Müller"}))

    allowed = "Patient.id: an id that FHIR does not allow (letters, digits, '-' and '.', at most 64)"
    assert made.notes == (f"x: not extracted: {allowed}",)
    assert resources(made, "Patient") == []


PATCH: Json = {
    "resourceType": "Parameters",
    "id": "patch",
    "parameter": [
        {
            "name": "operation",
            "part": [
                {"name": "type", "valueCode": "replace"},
                {"name": "path", "valueString": f"Condition.{name}"},
                {"name": "value", "_valueString": _value(f"item.where(linkId = '{name}').answer.value")},
            ],
        }
        for name in ("note", "onset")
    ],
}


def _patched(*marks: Json, answers: tuple[str, ...] = ("note",), template: Json = PATCH) -> Made:
    inner = [{"linkId": name, "type": "string"} for name in ("note", "onset")]
    asked = form({"linkId": "g", "type": "group", "extension": list(marks), "item": inner}, contained=[template])
    given = {"linkId": "g", "item": [answered(name, {"valueString": "a"}) for name in answers]}
    return _make(asked, given)


@pytest.mark.parametrize(
    "further",
    [
        {"type": "Condition", "resourceId": "'c-1'"},
        {"patchRequestUrl": "'Condition/c-1'"},
        {
            "https://smartforms.csiro.au/ig/StructureDefinition/TemplateExtractExtensionPatchRequestUrl": "'Condition/' + 'c-1'"
        },
    ],
)
def test_a_template_of_parameters_patches_what_it_names_with_the_operations_that_have_a_value(further: Json) -> None:
    made = _patched(use("patch", **further))

    (entry,) = (entry for entry in entries(made) if entry["resource"]["resourceType"] == "Parameters")
    assert entry["request"] == {"method": "PATCH", "url": "Condition/c-1"}
    (operation,) = entry["resource"]["parameter"]
    assert operation["part"][1:] == [
        {"name": "path", "valueString": "Condition.note"},
        {"name": "value", "valueString": "a"},
    ]
    (provenance,) = resources(made, "Provenance")
    assert {"reference": "Condition/c-1"} in provenance["target"]
    assert made.notes == ()


def test_a_patch_without_a_value_changes_nothing() -> None:
    made = _patched(use("patch", patchRequestUrl="'Condition/c-1'"), answers=())

    assert resources(made, "Parameters") == []
    assert made.notes == ()


@pytest.mark.parametrize(
    ("template", "further", "note"),
    [
        (PATCH, {}, "Parameters: a FHIRPath Patch without the address (Type/id) of what it changes"),
        (PATCH, {"patchRequestUrl": "'Chicken/1'"}, "Parameters: a FHIRPath Patch without the address (Type/id) of what it changes"),
        (
            {"resourceType": "Parameters", "id": "patch", "parameter": [{"name": "x", "valueString": "a"}]},
            {"patchRequestUrl": "'Condition/c-1'"},
            "Parameters: neither a resource of its own nor a FHIRPath Patch",
        ),
    ],
)  # fmt: skip
def test_parameters_that_patch_nothing_are_told(template: Json, further: Json, note: str) -> None:
    made = _patched(use("patch", **further), template=template)

    assert resources(made, "Parameters") == []
    assert made.notes == (f"g: not extracted: {note}",)


def test_a_patch_that_adds_is_left_out_where_a_repetition_would_add_twice() -> None:
    parts = [{"name": "type", "valueCode": "add"}, {"name": "path", "valueString": "Condition"}]
    parts += [{"name": "name", "valueString": "note"}, {"name": "value", "valueString": "a"}]
    template = {"resourceType": "Parameters", "id": "patch", "parameter": [{"name": "operation", "part": parts}]}
    asked = form(contained=[template], extension=[use("patch", patchRequestUrl="'Condition/c-1'")])

    by_server = make_bundle(export(asked=asked, given=response()))
    by_client = make_bundle(export(asked=asked, given=response(), ids="client"))

    assert resources(by_server, "Parameters") == []
    (note,) = by_server.notes
    assert note.startswith("Questionnaire: not extracted: Parameters: sent again, a patch that adds would add twice")
    assert len(resources(by_client, "Parameters")) == 1


def test_variables_and_what_the_surroundings_hand_in_are_seen_by_templates() -> None:
    basic = {
        "resourceType": "Basic",
        "id": "b",
        "code": {
            "coding": [{"_display": _value("%both"), "_code": _value("%patient.id")}],
            "_text": _value("%user.id"),
        },
        "subject": {"_reference": _value("'Patient/' + %patient.id")},
    }
    inner = {"linkId": "y", "type": "string"}
    marks = [variable("here", "item.answer.value"), variable("both", "%whole & '-' & %here"), _use("b")]
    item = {"linkId": "g", "type": "group", "item": [inner], "extension": marks}
    asked = form(item, contained=[basic], extension=[variable("whole", "item.where(linkId = 'g').linkId")])
    given = response({"linkId": "g", "item": [answered("y", {"valueString": "a"})]})

    made = make_bundle(export(asked=asked, given=given, launch={"patient": {"resourceType": "Patient", "id": "p-1"}}))

    (found,) = resources(made, "Basic")
    assert found["code"] == {"coding": [{"display": "g-a", "code": "p-1"}]}
    assert found["subject"] == {"reference": "Patient/p-1"}
    assert made.notes == ()


def test_a_variable_that_is_no_fhirpath_is_told_where_it_is_read() -> None:
    basic = {"resourceType": "Basic", "id": "b", "code": {"_text": _value("%found.id")}}
    mark = variable("found", "Patient?name=a", "application/x-fhir-query")

    made = _make(form(contained=[basic], extension=[mark, _use("b")]))

    (note,) = made.notes
    assert "Basic.code.text: %found: a variable that is no FHIRPath has no value here" in note


def test_single_values_are_put_as_their_elements_hold_them() -> None:
    observation = {
        "resourceType": "Observation",
        "id": "o",
        "status": "final",
        "code": {"text": "a"},
        "subject": _value("%who"),
        "valueCodeableConcept": _value("item.answer.value"),
        "performer": _value("%resource.source"),
    }
    patient = {"resourceType": "Patient", "id": "p", "_birthDate": _value("%resource.authored")}
    asked = form(
        {"linkId": "x", "type": "choice"},
        contained=[observation, patient],
        extension=[_allocate("who"), _use("p", fullUrl="%who"), _use("o")],
    )

    made = _make(asked, answered("x", {"valueCoding": {"code": "a"}}))

    (found,) = resources(made, "Observation")
    assert found["subject"]["reference"].startswith("urn:uuid:")
    assert found["valueCodeableConcept"] == {"coding": [{"code": "a"}]}
    assert found["performer"][0]["type"] == "Patient"
    assert resources(made, "Patient")[0]["birthDate"] == "2026-11-01"
    assert made.notes == ()


def test_a_full_url_that_is_the_same_in_every_conversation_is_no_id_of_ours() -> None:
    own = "urn:uuid:2f5d1a8e-8f3c-4e55-9b1e-000000000001"
    bundle = {
        "resourceType": "Bundle",
        "id": "all",
        "type": "transaction",
        "entry": [
            {"fullUrl": own, "resource": {"resourceType": "Patient", "active": True}, "request": {"method": "POST"}},
            {
                "resource": {"resourceType": "Basic", "code": {"text": "a"}, "subject": {"reference": own}},
                "request": {"method": "POST", "url": "Basic", "ifMatch": "nonsense"},
            },
        ],
    }
    asked = form(contained=[bundle], extension=[use_bundle("all")])

    one, other = (
        make_bundle(export(asked=asked, given=response(), ids="client", conversation=name)) for name in ("c1", "c2")
    )

    urls = [entry["request"]["url"] for entry in [*entries(one), *entries(other)]]
    assert len(urls) == len(set(urls))
    for made in (one, other):
        (patient,) = (entry for entry in entries(made) if entry["resource"]["resourceType"] == "Patient")
        assert resources(made, "Basic")[0]["subject"]["reference"] == patient["fullUrl"] != own
        assert not [entry for entry in entries(made) if "ifMatch" in entry["request"]]


def test_what_the_form_calls_the_response_leads_to_it() -> None:
    observation = {
        "resourceType": "Observation",
        "id": "o",
        "status": "final",
        "code": {"text": "a"},
        "derivedFrom": [
            {"extension": [_context("%resource.id")], "_reference": _value("'QuestionnaireResponse/' + %resource.id")}
        ],
    }

    made = _make(form(contained=[observation], extension=[_use("o")]))

    assert resources(made, "Observation")[0]["derivedFrom"] == [{"reference": entries(made)[0]["fullUrl"]}]


@pytest.mark.parametrize("ids", ["server", "client"])
def test_a_correction_updates_what_has_an_id_and_leaves_alone_what_has_not_changed(ids: Any) -> None:
    def patient(name: str, link_id: str) -> Json:
        return {
            "resourceType": "Patient",
            "id": name,
            "name": [{"_text": _value(f"item.where(linkId = '{link_id}').answer.value")}],
        }

    asked = form(
        {"linkId": "x", "type": "string"},
        {"linkId": "y", "type": "string"},
        contained=[patient("p", "x"), patient("q", "y")],
        extension=[_use("p", resourceId="'p-1'"), _use("q", resourceId="'q-1'")],
    )

    def told(value: str, status: str) -> Any:
        items = (answered("x", {"valueString": value}), answered("y", {"valueString": "b"}))
        return export(asked=asked, given=response(*items, status=status), ids=ids)

    made = make_bundle(told("c", "amended"), told("a", "completed"))

    (entry,) = (entry for entry in entries(made) if entry["resource"]["resourceType"] == "Patient")
    assert entry["request"] == {"method": "PUT", "url": "Patient/p-1"}
    assert entry["resource"]["name"] == [{"text": "c"}]
