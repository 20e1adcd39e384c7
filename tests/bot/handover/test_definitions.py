"""Definition-based extraction, as SDC 4.0 describes it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot.handover.bundle import make_bundle
from bot.handover.subject import Made
from bot.interview.values.fhir_json import dump
from tests.bot.handover.exports import SDC, Json, entries, export, form, resources, response
from tests.bot.handover.sdc_marks import (
    allocate,
    at,
    code,
    computed,
    fixed,
    given,
    group,
    item,
    makes,
    text,
    use,
)

KG = {
    "url": "http://hl7.org/fhir/StructureDefinition/questionnaire-unit",
    "valueCoding": {"system": "http://unitsofmeasure.org", "code": "kg", "display": "kg"},
}
FINAL = fixed("Observation.status", valueCode="final")
WEIGHT = fixed("Observation.code.coding", valueCoding={"system": "http://loinc.org", "code": "29463-7"})


def _make(asked: Json, *items: Json, **further: Any) -> Made:
    made = make_bundle(export(asked=asked, given=response(*items), **further))
    for each in entries(made):
        get_fhir_model_class(each["resource"]["resourceType"]).model_validate_json(dump(each["resource"]))
    return made


def _one(made: Made, kind: str) -> Json:
    (found,) = resources(made, kind)
    assert made.notes == ()
    return {name: value for name, value in found.items() if name not in {"meta", "resourceType"}}


def _patient(*inner: Json, marks: tuple[Json, ...] = ()) -> Json:
    return form(item("p", "group", "", makes("Patient"), *marks, inner=inner))


def test_answers_go_where_the_definitions_of_their_items_say() -> None:
    asked = _patient(
        item("given", "string", "Patient.name.given", repeats=True),
        item("family", "string", "Patient.name.family"),
        item("gender", "choice", "Patient.gender"),
        item("born", "date", "Patient.birthDate"),
        item("status", "choice", "Patient.maritalStatus"),
    )

    made = _make(
        asked,
        group(
            "p",
            text("given", "Anna", "Eva"),
            text("family", "Muster"),
            code("gender", "female", system="http://hl7.org/fhir/administrative-gender"),
            given("born", valueDate="1970-05-01"),
            code("status", "M"),
        ),
    )

    assert _one(made, "Patient") == {
        "name": [{"given": ["Anna", "Eva"], "family": "Muster"}],
        "gender": "female",
        "birthDate": "1970-05-01",
        "maritalStatus": {"coding": [{"system": "https://clinic.example/codes", "code": "M"}]},
    }


def test_each_instance_of_a_repeating_group_is_an_element_of_its_own() -> None:
    asked = _patient(
        item(
            "name",
            "group",
            "Patient.name",
            computed("Patient.name.text", "item.where(linkId='first' or linkId='last').answer.value.join(' ')"),
            inner=[item("first", "string", "Patient.name.given"), item("last", "string", "Patient.name.family")],
            repeats=True,
        )
    )

    made = _make(
        asked,
        group("p", group("name", text("first", "Anna"), text("last", "Muster")), group("name", text("last", "Alt"))),
    )

    assert _one(made, "Patient")["name"] == [
        {"text": "Anna Muster", "given": ["Anna"], "family": "Muster"},
        {"text": "Alt", "family": "Alt"},
    ]


def test_what_one_group_instance_leaves_out_is_not_filled_by_the_next() -> None:
    inner = [
        item("who", "string", "Patient.contact.name.text"),
        item("phone", "string", "Patient.contact.telecom.value"),
    ]
    asked = _patient(item("contact", "group", inner=inner, repeats=True))

    made = _make(asked, group("p", group("contact", text("who", "Mutter")), group("contact", text("phone", "044 1"))))

    assert _one(made, "Patient")["contact"] == [{"name": {"text": "Mutter"}}, {"telecom": [{"value": "044 1"}]}]


def test_items_for_the_same_kind_of_element_keep_their_fixed_parts_apart() -> None:
    def telecom(link_id: str, system: str) -> Json:
        mark = fixed("Patient.telecom.system", valueCode=system)
        return item(link_id, "string", "Patient.telecom.value", mark, repeats=True)

    asked = _patient(telecom("phone", "phone"), telecom("mail", "email"))

    made = _make(asked, group("p", text("phone", "044 1", "044 2"), text("mail", "a@b.example")))

    assert _one(made, "Patient")["telecom"] == [
        {"system": "phone", "value": "044 1"},
        {"system": "phone", "value": "044 2"},
        {"system": "email", "value": "a@b.example"},
    ]


def test_fixed_parts_of_an_unanswered_question_are_left_out() -> None:
    phone = item("phone", "string", "Patient.telecom.value", fixed("Patient.telecom.system", valueCode="phone"))
    asked = _patient(phone, item("family", "string", "Patient.name.family"))

    assert _one(_make(asked, group("p", text("family", "Muster"))), "Patient") == {"name": [{"family": "Muster"}]}


def test_slices_are_told_apart_by_their_names() -> None:
    asked = _patient(
        item("ahv", "string", "", definition=at("Patient.identifier:ahv.value")),
        item("own", "string", "", definition=at("Patient.identifier:own.value")),
        item("since", "date", "", definition=at("Patient.identifier:ahv.period.start")),
    )

    made = _make(asked, group("p", text("ahv", "756"), text("own", "1"), given("since", valueDate="2020-01-01")))

    expected = [{"value": "756", "period": {"start": "2020-01-01"}}, {"value": "1"}]
    assert _one(made, "Patient")["identifier"] == expected


@pytest.mark.parametrize(
    ("kind", "path", "answer", "expected"),
    [
        ("boolean", "value[x]", {"valueBoolean": True}, {"valueBoolean": True}),
        ("decimal", "value[x]", {"valueDecimal": Decimal("70.50")}, {"valueQuantity": {"value": Decimal("70.50")}}),
        ("integer", "value", {"valueInteger": 3}, {"valueInteger": 3}),
        ("string", "valueString", {"valueString": "a"}, {"valueString": "a"}),
        ("choice", "value[x]", {"valueCoding": {"code": "a"}}, {"valueCodeableConcept": {"coding": [{"code": "a"}]}}),
        ("date", "value[x]", {"valueDate": "2020-01-01"}, {"valueDateTime": "2020-01-01"}),
        ("decimal", "value[x]:valueQuantity.value", {"valueDecimal": 7}, {"valueQuantity": {"value": 7}}),
        (
            "quantity",
            "value[x]",
            {"valueQuantity": {"value": 7, "unit": "m"}},
            {"valueQuantity": {"value": 7, "unit": "m"}},
        ),
        ("open-choice", "value[x]:valueCodeableConcept", {"valueString": "a"}, {"valueCodeableConcept": {"text": "a"}}),
    ],
)
def test_a_choice_of_types_takes_the_type_of_the_answer(kind: str, path: str, answer: Json, expected: Json) -> None:
    question = item("x", kind, "", makes("Observation"), FINAL, WEIGHT, definition=at(f"Observation.{path}"))

    found = _one(_make(form(question), given("x", **answer)), "Observation")

    assert {name: value for name, value in found.items() if name.startswith("value")} == expected


@pytest.mark.parametrize(
    "path", ["Observation.value[x]", "Observation.valueQuantity.value", "Observation.valueQuantity"]
)
def test_a_number_of_a_question_with_a_unit_takes_it_along(path: str) -> None:
    question = item("x", "decimal", "", makes("Observation"), FINAL, WEIGHT, KG, definition=at(path))

    found = _one(_make(form(question), given("x", valueDecimal=70)), "Observation")

    expected = {"value": 70, "unit": "kg", "system": "http://unitsofmeasure.org", "code": "kg"}
    assert found["valueQuantity"] == expected


def test_each_answer_of_a_question_that_is_a_resource_becomes_one() -> None:
    subject = computed("Condition.subject", "%resource.subject")
    question = item("x", "open-choice", "Condition.code", makes("Condition"), subject, repeats=True)

    made = _make(form(question), {"linkId": "x", "answer": [{"valueCoding": {"code": "a"}}, {"valueString": "b"}]})

    assert [each["code"] for each in resources(made, "Condition")] == [{"coding": [{"code": "a"}]}, {"text": "b"}]


def test_a_resource_of_the_form_itself_is_made_without_answers_too() -> None:
    marks = [makes("Basic"), fixed("Basic.code", valueCodeableConcept={"text": "a"})]

    assert _one(_make(form(extension=marks)), "Basic")["code"] == {"text": "a"}


def test_an_item_belongs_to_the_resource_that_its_definition_names_not_to_the_nearest() -> None:
    report = [
        makes("DiagnosticReport"),
        fixed("DiagnosticReport.status", valueCode="final"),
        fixed("DiagnosticReport.code", valueCodeableConcept={"text": "a"}),
    ]
    about = item("about", "string", "DiagnosticReport.conclusion")
    weight = item("w", "decimal", "Observation.value[x]", KG)
    asked = form(item("g", "group", "", makes("Observation"), FINAL, WEIGHT, inner=[about, weight]), extension=report)

    made = _make(asked, group("g", text("about", "gut"), given("w", valueDecimal=70)))

    assert resources(made, "DiagnosticReport")[0]["conclusion"] == "gut"
    assert resources(made, "Observation")[0]["valueQuantity"]["value"] == 70
    assert made.notes == ()


def test_allocated_ids_tie_resources_together() -> None:
    asked = form(
        item("p", "group", "", makes("Patient", fullUrl="%who"), inner=[item("n", "string", "Patient.name.text")]),
        item("r", "group", "", makes("RelatedPerson"), computed("RelatedPerson.patient.reference", "%who"), inner=[
            item("rn", "string", "RelatedPerson.name.text")
        ], repeats=True),
        extension=[allocate("who")],
    )  # fmt: skip

    made = _make(asked, group("p", text("n", "A")), group("r", text("rn", "B")), group("r", text("rn", "C")))

    (patient,) = (each for each in entries(made) if each["resource"]["resourceType"] == "Patient")
    found = [each["patient"]["reference"] for each in resources(made, "RelatedPerson")]
    assert found == [patient["fullUrl"]] * 2


@pytest.mark.parametrize("marked", ["definition", "resourceId"])
def test_a_known_id_makes_an_update(marked: str) -> None:
    mark = makes("Patient", ifMatch="'W/\"3\"'", **({"resourceId": "'p-1'"} if marked == "resourceId" else {}))
    hidden = item("id", "string", "Patient.id") if marked == "definition" else item("id", "string")
    asked = form(item("p", "group", "", mark, inner=[hidden, item("n", "string", "Patient.name.text")]))

    made = _make(asked, group("p", text("id", "p-1"), text("n", "A")))

    (found,) = (each for each in entries(made) if each["resource"]["resourceType"] == "Patient")
    assert found["request"] == {"method": "PUT", "url": "Patient/p-1", "ifMatch": 'W/"3"'}
    assert found["resource"]["id"] == "p-1"


def test_a_condition_is_asked_of_the_server() -> None:
    asked = form(item("p", "group", "", makes("Patient", ifNoneExist="'identifier=a|b'"), inner=[
        item("n", "string", "Patient.name.text")
    ]))  # fmt: skip

    made = _make(asked, group("p", text("n", "A")))

    (found,) = (each for each in entries(made) if each["resource"]["resourceType"] == "Patient")
    assert found["request"] == {"method": "POST", "url": "Patient", "ifNoneExist": "identifier=a|b"}


@pytest.mark.parametrize(
    "value",
    [
        {"valueCode": "Patient"},
        {"valueExpression": {"language": "application/x-fhir-query", "expression": "Patient?_id={{%patient.id}}"}},
    ],
)
@pytest.mark.parametrize("base", ["http://hl7.org/fhir/StructureDefinition/Patient", "http://hl7.org/fhir/Patient"])
def test_the_older_mark_is_read_too(value: Json, base: str) -> None:
    mark = {"url": SDC + "sdc-questionnaire-itemExtractionContext", **value}
    asked = form(item("p", "group", "", mark, inner=[
        item("n", "string", "", definition=f"{base}#Patient.name.family"),
        item("i", "string", "", definition=f"{base}#Patient.id"),
    ]))  # fmt: skip

    made = _make(asked, group("p", text("n", "Muster"), text("i", "p-1")))

    assert _one(made, "Patient") == {"id": "p-1", "name": [{"family": "Muster"}]}


def test_a_profile_is_named_in_the_resource_and_its_type_read_from_the_elements() -> None:
    profile = "https://clinic.example/StructureDefinition/our-patient"
    family = item("n", "string", "", definition=at("Patient.name.family", profile))

    made = _make(form(item("p", "group", "", makes(profile), inner=[family])), group("p", text("n", "Muster")))

    (patient,) = resources(made, "Patient")
    assert patient["meta"]["profile"] == [profile]
    assert patient["name"] == [{"family": "Muster"}]


def test_a_definition_outside_of_any_resource_is_only_documentation() -> None:
    asked = form(item("n", "string", "Patient.name.family"))

    made = _make(asked, text("n", "Muster"))

    assert resources(made, "Patient") == []
    assert made.notes == ()


@pytest.mark.parametrize(
    ("inner", "note"),
    [
        (item("n", "string", "Patient.shoeSize"), "n: not extracted: R4 has no element Patient.shoeSize"),
        (item("n", "string", "Patient.name.family.more"), "n: not extracted: Patient.name.family has no parts"),
        (
            item("n", "string", "", definition=at("Patient.extension:size.value[x]")),
            "p: not extracted: Patient.extension: its url stands in a profile that is not at hand",
        ),
    ],
)
def test_a_place_that_is_not_there_is_told_and_the_rest_goes_out(inner: Json, note: str) -> None:
    made = _make(
        _patient(inner, item("f", "string", "Patient.name.family")), group("p", text("n", "Geheim"), text("f", "A"))
    )

    assert made.notes == (note,)
    assert resources(made, "Patient")[0]["name"] == [{"family": "A"}]


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        (_patient(item("n", "string", "Patient.birthDate")), "p: not extracted: Patient.birthDate: not a date"),
        (
            _patient(item("n", "string", "Patient.gender", repeats=True)),
            "p: not extracted: Patient.gender: several values for one place",
        ),
        (form(item("p", "group", "", makes("Chicken"), inner=[item("n", "string")])), "p: not extracted: a definition that names no resource type cannot be made"),
        (form(item("p", "group", "", makes("SubstanceProtein"), inner=[item("n", "string")])), "p: not extracted: a resource of type SubstanceProtein cannot be made"),
        (form(item("p", "group", "", fixed("Patient.gender", valueCode="male"), inner=[item("n", "string")])), "p: not extracted: definitionExtractValue is for no resource that is extracted there"),
        (
            _patient(item("n", "string"), marks=(computed("Patient.active", "nonsense()"),)),
            "p: not extracted: Patient.active: the formula 'nonsense()' cannot be evaluated (the function nonsense() is not known here)",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_told_without_a_word_of_the_patient(asked: Json, note: str) -> None:
    answers = ("Geheim", "Geheimer") if "several" in note else ("Geheim",)
    made = _make(asked, group("p", text("n", *answers)))

    assert made.notes == (note,)
    assert len(resources(made, "QuestionnaireResponse")) == 1
    assert not {each["resource"]["resourceType"] for each in entries(made)} & {"Patient", "SubstanceProtein"}


def test_a_part_may_be_named_by_the_data_type_that_its_group_stands_for() -> None:
    family = item("f", "string", definition="http://hl7.org/fhir/StructureDefinition/datatypes#HumanName.family")
    asked = _patient(item("n", "group", "Patient.name", inner=[family, item("g", "string", "Patient.name.given")]))

    made = _make(asked, group("p", group("n", text("f", "Muster"), text("g", "Anna"))))

    assert _one(made, "Patient") == {"name": [{"family": "Muster", "given": ["Anna"]}]}


@pytest.mark.parametrize("around", ["", "Procedure.performed[x]", "Procedure.performedPeriod"])
def test_parts_of_a_choice_of_types_choose_the_type_that_has_them(around: str) -> None:
    inner = [item("a", "date", "Procedure.performed[x].start"), item("z", "date", "Procedure.performed[x].end")]
    if around.endswith("Period"):
        inner = [item("a", "date", f"{around}.start"), item("z", "date", f"{around}.end")]
    marks = (makes("Procedure"), fixed("Procedure.status", valueCode="completed"))
    subject = computed("Procedure.subject", "%resource.subject")
    asked = form(item("p", "group", "", *marks, subject, inner=[item("g", "group", around, inner=inner)]))
    days = (given("a", valueDate="2020-01-01"), given("z", valueDate="2020-02-01"))

    made = _make(asked, group("p", group("g", *days)))

    assert resources(made, "Procedure")[0]["performedPeriod"] == {"start": "2020-01-01", "end": "2020-02-01"}


def test_definitions_and_templates_of_one_form_share_the_ids() -> None:
    basic = {"resourceType": "Basic", "id": "b", "code": {"text": "a"}, "subject": {"_reference": {"extension": [
        {"url": SDC + "sdc-questionnaire-templateExtractValue", "valueString": "%who"}
    ]}}}  # fmt: skip
    asked = form(
        item("p", "group", "", makes("Patient", fullUrl="%who"), inner=[item("n", "string", "Patient.name.text")]),
        contained=[basic],
        extension=[allocate("who"), use("b")],
    )

    made = _make(asked, group("p", text("n", "A")))

    (patient,) = (each for each in entries(made) if each["resource"]["resourceType"] == "Patient")
    assert resources(made, "Basic")[0]["subject"]["reference"] == patient["fullUrl"]
