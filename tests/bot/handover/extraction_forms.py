"""Forms with extraction, small ones in the manner of SDC's examples and of forms in use, each with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.bot.handover.exports import Json, coded, extracting, form
from tests.bot.handover.sdc_marks import (
    allocate,
    at,
    code,
    computed,
    context,
    entry,
    filled,
    fixed,
    given,
    group,
    item,
    makes,
    text,
    use,
    use_bundle,
    variable,
)

# Beside the Task that the conversation itself makes there is one for staff: answers that did not become a clinical record.
TOLD = {"Task": 2}


@dataclass(frozen=True)
class Case:
    """A form, its answers and what comes of them.

    Attributes:
        makes: How many resources of each type are extracted.
        notes: How many notes say what is not.
    """

    asked: Json
    answers: tuple[Json, ...] = ()
    makes: Mapping[str, int] = field(default_factory=dict)
    notes: int = 0
    launch: Mapping[str, Json] = field(default_factory=dict)


def _unit(unit: str) -> Json:
    coding = {"system": "http://unitsofmeasure.org", "code": unit, "display": unit}
    return {"url": "http://hl7.org/fhir/StructureDefinition/questionnaire-unit", "valueCoding": coding}


def _observation(loinc: str) -> tuple[Json, ...]:
    """Return the marks of an item that becomes an Observation by definition."""
    coding = {"system": "http://loinc.org", "code": loinc}
    return (
        makes("Observation"),
        fixed("Observation.status", valueCode="final"),
        fixed("Observation.code.coding", valueCoding=coding),
        computed("Observation.subject", "%resource.subject"),
        computed("Observation.effective", "(%resource.authored | now()).first()"),
        computed("Observation.issued", "%resource.authored"),
        computed("Observation.derivedFrom.reference", "'QuestionnaireResponse/' + %resource.id"),
    )


SUBJECT = filled("%resource.subject")
ACTIVE = {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical", "code": "active"}]}


def _template(kind: str, **body: Any) -> Json:
    return {"resourceType": kind, "id": kind.lower(), **body}


def _by_definition() -> dict[str, Case]:
    name = item("name", "group", "Patient.name", inner=[
        item("given", "string", "Patient.name.given", repeats=True),
        item("family", "string", "Patient.name.family"),
    ], repeats=True)  # fmt: skip
    phone = item("phone", "string", "Patient.telecom.value", fixed("Patient.telecom.system", valueCode="phone"))
    ahv = item(
        "ahv",
        "string",
        "Patient.identifier.value",
        fixed("Patient.identifier.system", valueUri="https://clinic.example/ahv"),
        fixed("Patient.identifier.type", valueCodeableConcept={"text": "AHV"}),
    )
    patient = item("p", "group", "", makes("Patient", fullUrl="%who"), inner=[
        name, item("born", "date", "Patient.birthDate"), item("sex", "choice", "Patient.gender"), ahv, phone,
    ])  # fmt: skip
    related = item("c", "group", "", makes("RelatedPerson"), computed("RelatedPerson.patient.reference", "%who"), inner=[
        item("c-name", "string", "RelatedPerson.name.text"),
        item("c-kind", "choice", "RelatedPerson.relationship.coding"),
    ], repeats=True)  # fmt: skip
    person = group(
        "p",
        group("name", text("given", "Anna", "Eva"), text("family", "Muster")),
        group("name", text("family", "Alt")),
        given("born", valueDate="1970-05-01"),
        code("sex", "female", system="http://hl7.org/fhir/administrative-gender"),
        text("ahv", "756.1"),
        text("phone", "044 1"),
    )
    contacts = (group("c", text("c-name", "B"), code("c-kind", "N")), group("c", text("c-name", "C")))
    height = item(
        "h", "decimal", "", *_observation("8302-2"), definition=at("Observation.value[x]:valueQuantity.value")
    )
    height["extension"].append(fixed("Observation.value[x]:valueQuantity.unit", valueString="m"))
    weight = item("w", "decimal", "Observation.value[x]", *_observation("29463-7"), _unit("kg"))
    smoker = item("s", "boolean", "Observation.value[x]", *_observation("72166-2"))
    pressure = item("bp", "group", "", *_observation("85354-9"), inner=[
        item("sys", "integer", "", _unit("mm[Hg]"), fixed("Observation.component:sys.code.coding", valueCoding={"code": "8480-6"}),
             definition=at("Observation.component:sys.value[x]")),
        item("dia", "integer", "", _unit("mm[Hg]"), fixed("Observation.component:dia.code.coding", valueCoding={"code": "8462-4"}),
             definition=at("Observation.component:dia.value[x]")),
    ])  # fmt: skip
    conditions = item(
        "cond", "open-choice", "Condition.code", makes("Condition"), computed("Condition.subject", "%resource.subject"),
        repeats=True,
    )  # fmt: skip
    relatives = item("rel", "group", "", makes("FamilyMemberHistory"),
        fixed("FamilyMemberHistory.status", valueCode="completed"),
        computed("FamilyMemberHistory.patient", "%resource.subject"),
        inner=[
            item("who", "choice", "FamilyMemberHistory.relationship"),
            item("age", "integer", "FamilyMemberHistory.age[x]", _unit("a")),
            item("ill", "open-choice", "FamilyMemberHistory.condition.code", repeats=True),
        ], repeats=True)  # fmt: skip
    vaccine = item("v", "group", "", makes("Immunization"), fixed("Immunization.status", valueCode="completed"),
        computed("Immunization.patient", "%resource.subject"),
        inner=[item("what", "choice", "Immunization.vaccineCode"), item("when", "date", "Immunization.occurrence[x]")],
        repeats=True)  # fmt: skip
    update = item("p", "group", "", makes("Patient"), inner=[
        item("id", "string", "Patient.id"), item("mail", "string", "Patient.telecom.value")
    ])  # fmt: skip
    older = {
        "url": "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-itemExtractionContext",
        "valueCode": "Patient",
    }
    report = [
        makes("DiagnosticReport"), fixed("DiagnosticReport.status", valueCode="final"),
        fixed("DiagnosticReport.code", valueCodeableConcept={"text": "Jahresbericht"}),
        computed("DiagnosticReport.subject", "%resource.subject"),
    ]  # fmt: skip
    result = extracting(coded("hh", "decimal"))
    result["extension"] += [
        allocate("height"), entry(fullUrl="%height"), computed("DiagnosticReport.result.reference", "%height"),
    ]  # fmt: skip
    profiled = "https://clinic.example/StructureDefinition/our-patient"
    own = item("p", "group", "", makes(profiled), inner=[
        item("n", "string", "", definition=at("Patient.name:official.family", profiled)),
        item("n2", "string", "", definition=at("Patient.name:nickname.given", profiled)),
    ])  # fmt: skip
    medication = item("m", "group", "", makes("MedicationStatement"),
        fixed("MedicationStatement.status", valueCode="active"),
        computed("MedicationStatement.subject", "%resource.subject"),
        inner=[
            item("drug", "open-choice", "MedicationStatement.medication[x]"),
            item("how", "string", "MedicationStatement.dosage.text"),
            item("since", "dateTime", "MedicationStatement.effective[x]"),
        ], repeats=True)  # fmt: skip
    photo = item("pic", "attachment", "DocumentReference.content.attachment", makes("DocumentReference"),
        fixed("DocumentReference.status", valueCode="current"))  # fmt: skip
    appointment = item("a", "group", "", makes("Appointment"), fixed("Appointment.status", valueCode="proposed"), inner=[
        item("note", "text", "Appointment.comment"),
        item("with", "reference", "Appointment.participant.actor",
             fixed("Appointment.participant.status", valueCode="needs-action")),
    ])  # fmt: skip
    anna = (text("n", "Muster"), text("n2", "Anni"))
    return {
        "registration of a patient with contacts": Case(
            form(patient, related, extension=[allocate("who")]), (person, *contacts), {"Patient": 1, "RelatedPerson": 2}
        ),
        "registration without answers to the contacts": Case(
            form(patient, related, extension=[allocate("who")]), (person,), {"Patient": 1}
        ),
        "contacts whose patient was not asked": Case(
            form(patient, related, extension=[allocate("who")]), contacts, {}, notes=1
        ),
        "height and weight": Case(
            form(item("g", "group", inner=[height, weight, smoker])),
            (group("g", given("h", valueDecimal=Decimal("1.68")), given("w", valueDecimal=70), given("s", valueBoolean=False)),),
            {"Observation": 3},
        ),
        "blood pressure with components": Case(
            form(pressure), (group("bp", given("sys", valueInteger=120), given("dia", valueInteger=80)),), {"Observation": 1}
        ),
        "a condition for each answer": Case(
            form(conditions),
            ({"linkId": "cond", "answer": [{"valueCoding": {"code": "a"}}, {"valueString": "Heuschnupfen"}]},),
            {"Condition": 2},
        ),
        "family history": Case(
            form(relatives),
            (group("rel", code("who", "MTH"), given("age", valueInteger=70), code("ill", "a", "b")),
             group("rel", code("who", "FTH"))),
            {"FamilyMemberHistory": 2},
        ),
        "family history without the relationship that is required": Case(
            form(relatives), (group("rel", given("age", valueInteger=70)), group("rel", code("who", "FTH"))),
            {"FamilyMemberHistory": 1, **TOLD}, notes=1,
        ),
        "immunisations": Case(
            form(vaccine), (group("v", code("what", "tetanus"), given("when", valueDate="2020-05")),), {"Immunization": 1}
        ),
        "an immunisation without the date that is required": Case(
            form(vaccine), (group("v", code("what", "tetanus")),), TOLD, notes=1
        ),
        "update of a known patient": Case(form(update), (group("p", text("id", "p-1"), text("mail", "a@b.example")),), {"Patient": 1}),
        "update with an id that is none": Case(form(update), (group("p", text("id", "a b/c"), text("mail", "a")),), {}, notes=1),
        "the older mark": Case(
            form(item("p", "group", "", older, inner=[item("n", "string", "Patient.name.family")])),
            (group("p", text("n", "Muster")),), {"Patient": 1},
        ),
        "a report of Observations": Case(
            form(result, extension=report), (given("hh", valueDecimal=Decimal("1.7")),), {"DiagnosticReport": 1, "Observation": 1}
        ),
        "a report without answers": Case(form(result, extension=report), (), {"DiagnosticReport": 1}),
        "slices of a profile": Case(form(own), (group("p", *anna),), {"Patient": 1}),
        "medication with a choice of types": Case(
            form(medication),
            (group("m", text("drug", "Aspirin"), text("how", "1x"), given("since", valueDateTime="2020-01-01T10:00:00Z")),
             group("m", code("drug", "B01AC06"))),
            {"MedicationStatement": 2},
        ),
        "a photo": Case(form(photo), (given("pic", valueAttachment={"url": "https://a.example/b", "contentType": "image/png"}),), {"DocumentReference": 1}),
        "an appointment": Case(
            form(appointment),
            (group("a", text("note", "bald"), given("with", valueReference={"reference": "https://a.example/fhir/Practitioner/1"})),),
            {"Appointment": 1},
        ),
        "an unknown type": Case(form(item("x", "group", "", makes("Chicken"), inner=[item("y", "string")])), (group("x", text("y", "a")),), {}, notes=1),
        "40 conditions": Case(
            form(conditions), ({"linkId": "cond", "answer": [{"valueString": f"Beschwerde {n}"} for n in range(40)]},),
            {"Condition": 40},
        ),
    }  # fmt: skip


def _by_template() -> dict[str, Case]:
    allergy = _template(
        "AllergyIntolerance",
        clinicalStatus=ACTIVE,
        patient=SUBJECT,
        code={"extension": [context("item.where(linkId='what').answer.value")], "coding": [filled("ofType(Coding)")],
              "_text": filled("ofType(string)")},
        reaction=[{"extension": [context("item.where(linkId='how').answer")],
                   "manifestation": [{"coding": [filled("value")]}]}],
        note=[{"_text": filled("item.where(linkId='note').answer.value")}],
    )  # fmt: skip
    allergies = form(
        item("a", "group", "", use("allergyintolerance"), inner=[
            item("what", "open-choice"), item("how", "choice", repeats=True), item("note", "text")
        ], repeats=True),
        contained=[allergy],
    )  # fmt: skip
    statement = _template(
        "MedicationStatement", status="active", subject=SUBJECT,
        medicationReference={"_reference": filled("%drug")}, dosage=[{"_text": filled("item.where(linkId='how').answer.value")}],
    )  # fmt: skip
    drug = _template("Medication", code={"_text": filled("item.where(linkId='drug').answer.value")})
    medications = form(
        item("m", "group", "", allocate("drug"), use("medication", fullUrl="%drug"), use("medicationstatement"),
             inner=[item("drug", "string"), item("how", "string")], repeats=True),
        contained=[statement, drug],
    )  # fmt: skip
    vitals = _template(
        "Observation", status="final", code={"text": "Gewicht"}, subject=filled("%who"),
        _effectiveDateTime=filled("%resource.authored"), _issued=filled("%resource.authored"), performer=[filled("%resource.source")],
        valueQuantity={"_value": filled("answer.value"), "unit": "kg"},
        derivedFrom=[{"extension": [context("%resource.id")], "_reference": filled("'QuestionnaireResponse/' + %resource.id")}],
    )  # fmt: skip
    patient = _template("Patient", name=[{"_text": filled("item.where(linkId='n').answer.value.join(' ')")}],
                        gender="unknown", _gender=filled("item.where(linkId='s').answer.value.first().code"))  # fmt: skip
    linked = form(
        item("p", "group", "", use("patient", fullUrl="%who"), inner=[item("n", "string", repeats=True), item("s", "choice")]),
        item("w", "decimal", "", use("observation")),
        contained=[patient, vitals], extension=[allocate("who")],
    )  # fmt: skip
    fixed_url = "urn:uuid:6f6177d2-13ee-4d27-b0e8-3eaf663dd031"
    bundle = {
        "resourceType": "Bundle", "id": "all", "type": "transaction",
        "entry": [
            {"extension": [context("item.where(linkId='p')")], "fullUrl": fixed_url,
             "resource": {"resourceType": "Patient", "name": [{"_text": filled("item.where(linkId='n').answer.value")}]},
             "request": {"method": "POST", "url": "Patient", "ifMatch": f"Patient?_name={fixed_url}"}},
            {"extension": [context("item.where(linkId='c')")], "fullUrl": "urn:uuid:6f6177d2-13ee-4d27-b0e8-3eaf663dd032",
             "resource": {"resourceType": "RelatedPerson", "patient": {"reference": fixed_url},
                          "name": [{"_text": filled("item.answer.value")}]},
             "request": {"method": "POST", "url": "RelatedPerson"}},
        ],
    }  # fmt: skip
    bundled = form(
        item("p", "group", inner=[item("n", "string")]), item("c", "group", inner=[item("cn", "string")], repeats=True),
        contained=[bundle], extension=[use_bundle("all")],
    )  # fmt: skip
    people = (group("p", text("n", "A")), group("c", text("cn", "B")), group("c", text("cn", "C")))
    updates = {"resourceType": "Bundle", "id": "all", "type": "transaction", "entry": [
        {"resource": {"resourceType": "Patient", "id": "p-9", "active": True}, "request": {"method": "PUT", "url": "Patient/p-9"}},
        {"request": {"method": "DELETE", "url": "Patient/p-8"}},
        {"resource": {"resourceType": "Basic", "code": {"coding": [{"system": "https://a.example", "code": "b"}]}}, "request": {"method": "POST", "url": "Basic", "ifNoneExist": "code=https://a.example|b"}},
    ]}  # fmt: skip
    root = _template("Basic", code={"_text": filled("$this.item.where(linkId='x').answer.value.first()")})
    lines = _template("Basic", code={"_text": filled("item.where(linkId='x').answer.value")})
    many = _template("Basic", code={"_text": filled("answer.value")})
    launched = _template(
        "Basic", code={"_text": filled("%total")}, subject={"_reference": filled("'Patient/' + %patient.id")}
    )
    late = _template("Condition", subject=SUBJECT, code={"_text": filled("item.where(linkId='x').answer.value")},
                     onsetDateTime="1900-01-01", _onsetDateTime=filled("item.where(linkId='when').answer.value"))  # fmt: skip
    question = item("x", "string", repeats=True)
    return {
        "allergies": Case(
            allergies, (group("a", code("what", "nuts"), code("how", "hives", "cough"), text("note", "selten")),
                        group("a", text("what", "Quark"))), {"AllergyIntolerance": 2},
        ),
        "no allergies": Case(allergies, (), {}),
        "an allergy without anything": Case(allergies, (group("a", text("note", "weiss nicht")),), {"AllergyIntolerance": 1}),
        "medications with cross references": Case(
            medications, (group("m", text("drug", "A"), text("how", "1x")), group("m", text("drug", "B"))),
            {"Medication": 2, "MedicationStatement": 2},
        ),
        "an Observation about a patient of the same form": Case(
            linked, (group("p", text("n", "Anna", "Muster"), code("s", "female")), given("w", valueDecimal=70)),
            {"Patient": 1, "Observation": 1},
        ),
        "the patient is bad and takes what is about it along": Case(
            linked, (group("p", text("n", "Anna"), code("s", "weiblich")), given("w", valueDecimal=70)), TOLD, notes=2,
        ),
        "a Bundle with fixed URLs": Case(bundled, people, {"Patient": 1, "RelatedPerson": 2}, notes=1),
        "a Bundle whose contexts are empty": Case(bundled, (), {}),
        "a Bundle with updates and a deletion": Case(form(contained=[updates], extension=[use_bundle("all")]), (), {"Patient": 1, "Basic": 1}, notes=1),
        "$this at the root": Case(form(question, contained=[root], extension=[use("basic")]), (text("x", "a"),), {"Basic": 1}),
        "several values for one place": Case(form(question, contained=[lines], extension=[use("basic")]), (text("x", "a", "b"),), {}, notes=1),
        "a formula that is none": Case(
            form(question, contained=[_template("Basic", code={"_text": filled("item.where(")})], extension=[use("basic")]), (), {}, notes=1
        ),
        "40 answers": Case(
            form(item("x", "string", "", use("basic"), repeats=True), contained=[many]),
            (text("x", *(f"a{n}" for n in range(40))),), {"Basic": 40},
        ),
        "variables and launch context": Case(
            form(question, contained=[launched], extension=[variable("total", "item.answer.count().toString()"), use("basic")]),
            (text("x", "a", "b"),), {"Basic": 1}, launch={"patient": {"resourceType": "Patient", "id": "p-1"}},
        ),
        "launch context that was not handed in": Case(
            form(question, contained=[launched], extension=[variable("total", "'a'"), use("basic")]), (), {"Basic": 1}
        ),
        "a template that is not there": Case(form(question, extension=[use("nowhere")]), (), {}, notes=2),
        "a template of no known type": Case(form(contained=[_template("Chicken")], extension=[use("chicken")]), (), {}, notes=1),
        "a date that is none": Case(
            form(item("g", "group", "", use("condition"), inner=[item("x", "string"), item("when", "string")]), contained=[late]),
            (group("g", text("x", "a"), text("when", "letztes Jahr")),), TOLD, notes=1,
        ),
        "a date known in part": Case(
            form(item("g", "group", "", use("condition"), inner=[item("x", "string"), item("when", "date")]), contained=[late]),
            (group("g", text("x", "a"), given("when", valueDate="2019")),), {"Condition": 1},
        ),
        "an id by the patient": Case(
            form(item("x", "string", "", use("basic", resourceId="answer.value")), contained=[many]), (text("x", "Frau Müller"),), {}, notes=1
        ),
        "an id of our own for an update": Case(
            form(item("x", "string", "", allocate("own"), use("basic", resourceId="%own", fullUrl="%own")), contained=[many]),
            (text("x", "a"),), {"Basic": 1},
        ),
        "create only what is not there": Case(
            form(item("x", "string", "", use("patient", ifNoneExist="'identifier=https://clinic.example/ids|' + answer.value")),
                 contained=[_template("Patient", identifier=[{"system": "https://clinic.example/ids", "_value": filled("answer.value")}])]),
            (text("x", "4711"),), {"Patient": 1},
        ),
    }  # fmt: skip


def _by_observation() -> dict[str, Case]:
    panel = extracting(coded("bp", "group", item=[
        extracting(coded("sys", "integer", extension=[_unit("mm[Hg]")]), "component"),
        extracting(coded("dia", "integer", extension=[_unit("mm[Hg]")]), "component"),
    ]))  # fmt: skip
    bmi = extracting(coded("w", "decimal", extension=[_unit("kg")], item=[
        extracting(coded("bmi", "decimal", extension=[_unit("kg/m2")]), "derived")
    ]))  # fmt: skip
    members = extracting(coded("g", "group", item=[extracting(coded(name, "boolean"), "member") for name in "ab"]))
    off = extracting(coded("g", "group", item=[coded("a", "boolean"), extracting(coded("b", "boolean"))]), False)
    yes = {"valueBoolean": True}
    mark = {"extension": [{"url": members["extension"][0]["url"], "valueBoolean": True}]}
    both = group("g", given("a", **yes), given("b", **yes))
    known = extracting(coded("h", "decimal"))
    known["extension"].append(entry(resourceId="'obs-1'"))
    return {
        "blood pressure": Case(form(panel), (group("bp", given("sys", valueInteger=120), given("dia", valueInteger=80)),), {"Observation": 1}),
        "weight and what derives from it": Case(
            form(bmi), ({"linkId": "w", "answer": [{"valueDecimal": 70, "item": [given("bmi", valueDecimal=Decimal("22.5"))]}]},), {"Observation": 2}
        ),
        "a panel of members": Case(form(members), (both,), {"Observation": 3}),
        "switched off for a group": Case(form(off, **mark), (both,)),
        "an Observation that is known": Case(form(known), (given("h", valueDecimal=Decimal("1.7")),), {"Observation": 1}),
        "an attachment is no value": Case(form(extracting(coded("x", "attachment"))), (given("x", valueAttachment={"url": "https://a.example"}),), {}, notes=1),
    }  # fmt: skip


CASES: dict[str, Case] = _by_definition() | _by_template() | _by_observation()
