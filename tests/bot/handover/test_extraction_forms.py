"""Forms with extraction, sent to a real FHIR server: twice, in both ways of giving ids, and corrected afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from bot.adapters.fhir_server import HttpFhirServer
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlRecords
from bot.handover.bundle import make_bundle
from bot.handover.outbox import Pushed, push
from bot.handover.reduction import reduced
from bot.handover.subject import Export, Ids
from bot.interview.values.fhir_json import dump
from bot.outbox_ports import Patience
from bot.settings import FhirAccess
from tests.bot.handover.exports import PATIENT, Json, exchange, export, form, mixed_export, outgoing, response
from tests.bot.handover.extraction_forms import CASES, Case
from tests.bot.handover.fhir_process import emptied, fhir_process, stored
from tests.bot.handover.sdc_marks import allocate, filled, use

BOTH: tuple[Ids, ...] = ("server", "client")
OURS = ("QuestionnaireResponse", "Communication", "Task")


@pytest.fixture(scope="module")
def one_server() -> Iterator[str]:
    with fhir_process() as url:
        yield url


@pytest.fixture
def server(one_server: str) -> str:
    """An empty server."""
    return emptied(one_server)


def _told(case: Case, ids: Ids, status: str = "completed") -> Export:
    given = response(*case.answers, status=status)
    return export(exchange(1, "urgent"), asked=case.asked, given=given, ids=ids, patient=PATIENT, launch=case.launch)


def _send(url: str, exported: Export, before: Export | None = None, *, again: bool = False) -> tuple[str, ...]:
    made = make_bundle(exported, before)
    server = HttpFhirServer(FhirAccess(url=url), patience=Patience(attempts=1, first_wait_s=0.01, timeout_s=60))
    try:
        server.send(dump(made.bundle), again=again)
    finally:
        server.close()
    return made.notes


def _held(url: str, case: Case) -> Counter[str]:
    kinds = {*OURS, *case.makes, "Patient", "Observation", "Condition"}
    return Counter({kind: count for kind in kinds if (count := len(stored(url, kind)))})


# One form in eight at every commit, all with make proof: each takes a second or two of a real FHIR server.
@pytest.mark.parametrize("ids", BOTH)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.proof] * bool(number % 8)) for number, name in enumerate(CASES)]
)
def test_what_a_form_becomes_arrives_once(name: str, ids: Ids, server: str) -> None:
    case = CASES[name]
    expected = Counter({"QuestionnaireResponse": 1, "Communication": 2, "Task": 1, **case.makes})

    notes = _send(server, _told(case, ids))

    assert len(notes) == case.notes, notes
    assert _held(server, case) == expected
    # What a repetition doubled would still be there after the correction.
    _send(server, _told(case, ids), again=True)
    _send(server, _told(case, ids, "amended"), _told(case, ids))
    assert _held(server, case) == expected
    (sent,) = stored(server, "QuestionnaireResponse")
    assert sent["status"] == "amended"


@pytest.mark.parametrize("ids", BOTH)
def test_references_between_what_was_extracted_lead_to_it_on_the_server(ids: Ids, server: str) -> None:
    _send(server, _told(CASES["medications with cross references"], ids))

    drugs = {f"Medication/{each['id']}" for each in stored(server, "Medication")}
    statements: Any = stored(server, "MedicationStatement")
    assert {each["medicationReference"]["reference"] for each in statements} == drugs


@pytest.mark.parametrize("ids", BOTH)
def test_an_answer_that_is_corrected_corrects_what_was_extracted(ids: Ids, server: str) -> None:
    case = CASES["height and weight"]
    before = _told(case, ids)
    _send(server, before)
    fewer = Case(case.asked, ({"linkId": "g", "item": case.answers[0]["item"][:1]},))
    fewer.answers[0]["item"][0] = {"linkId": "h", "answer": [{"valueDecimal": Decimal("1.7")}]}

    _send(server, _told(fewer, ids, "amended"), before)

    found: Any = stored(server, "Observation")
    assert Counter(each["status"] for each in found) == {"final": 1, "entered-in-error": 2}
    (height,) = (each for each in found if each["status"] == "final")
    assert height["valueQuantity"] == {"value": 1.7, "unit": "m"}


@pytest.mark.parametrize("ids", BOTH)
def test_a_request_of_the_form_that_the_server_refuses_does_not_hold_back_the_response(
    ids: Ids, server: str, records: SqlRecords, caplog: pytest.LogCaptureFixture
) -> None:
    parts: list[Json] = [
        {"name": "type", "valueCode": "replace"},
        {"name": "path", "valueString": "Condition.code.text"},
    ]
    parts.append({"name": "value", "valueString": "a"})
    # This server knows only another kind of patches.
    patch = {"resourceType": "Parameters", "id": "patch", "parameter": [{"name": "operation", "part": parts}]}
    patient = {"resourceType": "Patient", "id": "p", "active": True}
    condition = {"resourceType": "Condition", "id": "c", "subject": {"_reference": filled("%who")}}
    basic = {"resourceType": "Basic", "id": "b", "code": {"text": "a"}}
    marks = [allocate("who"), use("patch", patchRequestUrl="'Condition/c-1'"), use("b")]
    marks += [use("p", resourceId="'p-1'", fullUrl="%who"), use("c")]
    case = Case(form(contained=[patch, patient, condition, basic], extension=marks), makes={"Basic": 1})
    told = _told(case, ids)
    outbox = SqlOutbox(records.engine)
    outbox.put(outgoing(told))
    http = HttpFhirServer(FhirAccess(url=server), patience=Patience(attempts=1, first_wait_s=0.01, timeout_s=60))

    try:
        pushed = push(outbox, http, clock=lambda: told.at)
    finally:
        http.close()

    assert pushed == Pushed(1, 0, ())
    assert _held(server, case) == Counter({"QuestionnaireResponse": 1, "Communication": 2, "Task": 1, "Basic": 1})
    (provenance,) = stored(server, "Provenance")
    targets: Any = provenance["target"]
    assert {each["reference"].partition("/")[0] for each in targets} == {"QuestionnaireResponse", *OURS, "Basic"}
    (audit,) = stored(server, "AuditEvent")
    entities: Any = audit["entity"]
    assert entities[-1]["detail"] == [
        {"type": "refused", "valueString": "3 entries were left out: the server refused the transaction with them"}
    ]
    assert "taken without 3 entries" in caplog.text


@pytest.mark.parametrize("ids", BOTH)
def test_what_a_withdrawn_observation_is_about_stays_as_it_is(ids: Ids, server: str) -> None:
    case = CASES["an Observation about a patient of the same form"]
    before = _told(case, ids)
    _send(server, before)

    _send(server, _told(Case(case.asked), ids, "amended"), before)

    (patient,) = stored(server, "Patient")
    (observation,) = stored(server, "Observation")
    assert observation["status"] == "entered-in-error"
    assert observation["subject"] == {"reference": f"Patient/{patient['id']}"}


def test_a_transaction_without_requests_of_a_form_is_not_reduced() -> None:
    for ids in BOTH:
        assert reduced(dump(make_bundle(mixed_export(ids=ids)).bundle)) is None
