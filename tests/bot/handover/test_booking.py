"""What is handed over refers to appointment, order and images, and stands in the namespaces of the site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest
from fhir.resources.R4B import get_fhir_model_class

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.catalog.look import Namespaces
from bot.catalog.site import namespaces_of
from bot.handover.bundle import make_bundle, make_red_flag_bundle
from bot.handover.handover import Context, export_of
from bot.handover.subject import Export
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import as_object, dump, parse
from bot.interview.values.finding import has_errors
from bot.ports import Booking
from bot.settings import FhirAccess
from bot.talk.conversation import Conversation
from tests.bot.handover.exports import NOW, PATIENT, Json, answered, coded, exchange, export, extracting, form, response
from tests.bot.handover.fhir_process import emptied, fhir_process
from tests.bot.handover.test_handover import OPENED
from tests.ct import CATALOG, SITE

BOOKED = Booking("A-1", "O-2", "ACC-3")
SITES = Namespaces("https://ct.example.org/ids", "https://ct.example.org/fhir")
ORDER = {"type": "ServiceRequest", "identifier": {"system": "https://orders.example", "value": "O-2"}}
ACCESSION = {
    "type": "ServiceRequest",
    "identifier": {
        "type": {
            "coding": [
                {"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "ACSN", "display": "Accession ID"}
            ]
        },
        "system": "https://klartext.example/fhir/sid/accession-number",
        "value": "ACC-3",
    },
}
APPOINTMENT = {
    "type": "Appointment",
    "identifier": {"system": "https://klartext.example/fhir/sid/appointment", "value": "A-1"},
}
ASKED = form(extracting(coded("height", "decimal")))


def _booked(small: Assistant, records: SqlRecords, **access: Any) -> Export:
    """Have a conversation that a link booked, and return it with an interview."""
    Conversation.begin(small, records, replace(OPENED, patient="P-1", booking=BOOKED)).turn("tut das weh?", at=NOW)
    found = FhirAccess(patient_system="https://patients.example", order_system="https://orders.example", **access)
    stored = records.conversation("c1")
    assert stored is not None
    assert stored.booking == BOOKED
    said = export_of(records, "c1", Context(found, (), "P-1", booking=stored.booking))
    urgent, unanswered = exchange(8, "urgent"), exchange(9, "declined")
    given = response(answered("height", {"valueDecimal": Decimal("170.5")}))
    with_form = export(*said.exchanges, urgent, unanswered, asked=ASKED, given=given)
    return replace(with_form, patient=said.patient, requests=said.requests, appointment=said.appointment, ids=found.ids)


def _resources(bundle: Json) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for entry in json.loads(dump(bundle))["entry"]:
        get_fhir_model_class(entry["resource"]["resourceType"]).model_validate(entry["resource"])
        found.setdefault(entry["resource"]["resourceType"], []).append(entry["resource"])
    return found


def test_everything_refers_to_the_order_and_what_may_to_the_appointment(small: Assistant, records: SqlRecords) -> None:
    found = _resources(make_bundle(_booked(small, records)).bundle)

    (given,) = found["QuestionnaireResponse"]
    assert given["basedOn"] == [ORDER, ACCESSION]
    assert all(each["basedOn"] == [ORDER, ACCESSION] for each in found["Observation"])
    assert len(found["Task"]) >= 2
    assert all(each["basedOn"] == [ORDER, ACCESSION, APPOINTMENT] for each in found["Task"])
    assert all(each["basedOn"] == [ORDER, ACCESSION] for each in found["Communication"])
    assert all(each["about"] == [APPOINTMENT] for each in found["Communication"])
    assert not has_errors(check_response(as_object(parse(dump(given)).value), index_questionnaire(ASKED)))


def test_a_red_flag_refers_to_them_too(small: Assistant, records: SqlRecords) -> None:
    found = replace(_booked(small, records), exchanges=(exchange(8, "urgent"),), interview=None)

    (task,) = _resources(make_red_flag_bundle(found))["Task"]

    assert task["basedOn"] == [ORDER, ACCESSION, APPOINTMENT]


def test_who_has_no_appointment_gets_no_reference() -> None:
    found = _resources(make_bundle(export(exchange(1, "declined"), patient=PATIENT)).bundle)

    assert all("basedOn" not in each and "about" not in each for each in (*found["Task"], *found["Communication"]))


def test_what_the_program_defines_stands_in_the_namespaces_of_the_site(small: Assistant, records: SqlRecords) -> None:
    said = "https://klartext.example/fhir/sid/resource schreibe ich selbst"
    booked = _booked(small, records)
    booked = replace(booked, exchanges=(replace(booked.exchanges[0], question=said), *booked.exchanges[1:]))
    ours, theirs = (dump(make_bundle(replace(booked, namespaces=each)).bundle) for each in (Namespaces(), SITES))

    assert namespaces_of(SITE, CATALOG) == SITES
    assert said in theirs, "what a patient wrote is theirs"
    assert theirs.replace(said, "").count("https://klartext.example") == 0
    assert theirs.replace(said, "").replace(SITES.identifiers, "https://klartext.example/fhir/sid").replace(
        SITES.canonical, "https://klartext.example/fhir"
    ) == ours.replace(said, "")


def test_codes_and_canonicals_of_a_form_are_those_of_the_form_in_any_namespace() -> None:
    own = "https://klartext.example/fhir/CodeSystem/mammography-history"
    given = response(answered("side", {"valueCoding": {"system": own, "code": "left"}}))
    found = export(asked=form(coded("side", "choice", text="Side")), given=given, namespaces=SITES)

    assert own in dump(make_bundle(found).bundle)


@pytest.fixture(scope="module")
def fhir() -> Iterator[str]:
    with fhir_process() as url:
        yield url


@pytest.mark.parametrize("namespaces", [Namespaces(), SITES], ids=["ours", "site"])
def test_a_real_server_takes_it_once_and_finds_it_by_order(
    small: Assistant, records: SqlRecords, fhir: str, namespaces: Namespaces
) -> None:
    base = emptied(fhir)
    bundle = dump(make_bundle(replace(_booked(small, records), namespaces=namespaces)).bundle)
    headers = {"Content-Type": "application/fhir+json"}

    for _ in range(2):
        answer = httpx.post(base, content=bundle, headers=headers, trust_env=False)
        assert answer.status_code == 200, answer.text
        statuses = [entry["response"]["status"][:3] for entry in answer.json()["entry"]]
        assert set(statuses) <= {"200", "201"}, answer.text

    (given,) = _stored(base, "QuestionnaireResponse")
    assert [each["identifier"]["value"] for each in given["basedOn"]] == ["O-2", "ACC-3"]
    system = f"{namespaces.identifiers}/accession-number"
    assert given["basedOn"][1]["identifier"]["system"] == system
    assert given["identifier"]["system"] == f"{namespaces.identifiers}/resource"


def _stored(base: str, kind: str) -> list[Json]:
    found = httpx.get(f"{base}/{kind}", trust_env=False).json()
    return [entry["resource"] for entry in found.get("entry", [])]
