"""A hospital whose portal and EHR launch Klartext: patients, visits, and what the provider has registered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.oidc_process import OidcServer, client, oidc_process

PSEUDONYMS = "https://hospital.example.org/sid/pseudonym"
APPOINTMENTS = "https://hospital.example.org/sid/appointment"
ORDERS = "https://hospital.example.org/sid/order"
ACCESSIONS = "https://hospital.example.org/sid/accession"
SECRET = "what only the hospital and we know"
SCOPES = ("patient/Patient.rs", "patient/Appointment.rs", "patient/ServiceRequest.rs", "patient/Encounter.rs")


def _patient(id_: str, *numbers: dict[str, str], language: str = "") -> dict[str, object]:
    spoken = [
        {"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": "tr"}]}},
        {"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": language}]}, "preferred": True},
    ]
    other = {"system": "https://insurer.example.org", "value": "A123456789"}
    found = {"resourceType": "Patient", "id": id_, "name": [{"family": "Muster", "given": ["Anna"]}]}
    return found | {"identifier": [other, *numbers]} | ({"communication": spoken} if language else {})


def _visit(kind: str, id_: str, patient: str, *numbers: dict[str, str], **more: object) -> dict[str, object]:
    whose = {"reference": f"Patient/{patient}"}
    about = {"participant": [{"actor": whose}]} if kind == "Appointment" else {"subject": whose}
    return {"resourceType": kind, "id": id_, "identifier": list(numbers), **about, **more}


def _number(system: str, value: str, **more: str) -> dict[str, str]:
    return {"system": system, "value": value, **more}


RESOURCES = [
    _patient("anna", _number(PSEUDONYMS, "OLD-1", use="old"), _number(PSEUDONYMS, "P-4711"), language="en-GB"),
    _patient("berta", _number(PSEUDONYMS, "P-4712")),
    _patient("nameless"),
    _patient("spaces", _number(PSEUDONYMS, "Anna Muster")),
    _visit("Appointment", "a1", "anna", _number(APPOINTMENTS, "A-1"), basedOn=[{"reference": "ServiceRequest/o1"}]),
    _visit("ServiceRequest", "o1", "anna", _number(ORDERS, "O-2"), _number(ACCESSIONS, "ACC-3")),
    _visit("Encounter", "e1", "anna", appointment=[{"reference": "Appointment/a1"}]),
    _visit("Encounter", "e2", "berta", appointment=[{"reference": "Appointment/a1"}]),
    _visit("Encounter", "e3", "anna", basedOn=[{"reference": "ServiceRequest/o1"}], appointment="odd"),
    _visit("Appointment", "a2", "berta", _number(APPOINTMENTS, "A-9")),
    _visit("ServiceRequest", "o2", "anna", _number(ORDERS, "O 2 with spaces"), _number(ACCESSIONS, "ACC-4")),
]
LAUNCHES = {
    "visit": {"patient": "anna", "fhirContext": [{"reference": "Appointment/a1"}]},
    "order": {"patient": "anna", "fhirContext": [{"reference": "ServiceRequest/o2"}]},
    "encounter": {"patient": "anna", "encounter": "e1"},
    "encounter-of-order": {"patient": "anna", "encounter": "e3", "fhirContext": [{"reference": "Location/1"}]},
    "encounter-of-another": {"patient": "anna", "encounter": "e2"},
    "odd-encounter": {
        "patient": "anna",
        "encounter": "../Patient/berta",
        "fhirContext": {"reference": "Appointment/a1"},
    },
    "of-another": {"patient": "anna", "fhirContext": [{"reference": "Appointment/a2"}]},
    "elsewhere": {"patient": "anna", "fhirContext": [{"reference": "http://localhost:1/fhir/Appointment/a1"}, "odd"]},
    "gone": {"patient": "anna", "fhirContext": [{"reference": "Appointment/none"}]},
    "nobody": {},
    "odd": {"patient": "../Patient/berta"},
    "dots": {"patient": ".."},
    "number": {"patient": 7},
    "nameless": {"patient": "nameless"},
    "spaces": {"patient": "spaces"},
}
ACCOUNTS = {
    "anna": {"password": "of anna", "patient": "anna", "claims": {"fhirUser": "Patient/anna", "name": "Anna Muster"}},
    "berta": {"password": "of berta", "patient": "berta", "claims": {"fhirUser": "Patient/berta"}},
    "dr-tal": {"password": "of dr tal", "claims": {"fhirUser": "Practitioner/tal", "roles": ["radiology"]}},
}


@contextmanager
def hospital(redirect: str, *, login: str | None = None) -> Iterator[OidcServer]:
    """Run the provider of a hospital that sends browsers back to `redirect`; `login`: who has signed in already."""
    clients = [
        client("klartext", redirect),
        client("other-app", redirect),
        client("klartext-with-secret", redirect, secret=SECRET),
    ]
    more = {"launches": LAUNCHES, "resources": RESOURCES, "scopes": SCOPES, "login": login}
    with oidc_process(clients, ACCOUNTS, **more) as running:
        yield running
