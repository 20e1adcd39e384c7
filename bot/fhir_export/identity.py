"""Ids that follow from the conversation's id, and the small pieces that every resource is made of. Pure."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from bot.fhir_export.subject import Export
from bot.interview.answer import JsonValue

BASE = "https://klartext.example/fhir"
RESOURCE_IDS = f"{BASE}/sid/resource"
SOFTWARE_IDS = f"{BASE}/sid/software"
CATALOG_HASHES = f"{BASE}/sid/catalog-hash"
CONVERSATIONS = f"{BASE}/sid/conversation"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, BASE)

Json = dict[str, JsonValue]


def urn(export: Export, *parts: object) -> str:
    """Return the same ``urn:uuid`` for the same part of the same conversation, always."""
    return urn_of(export.conversation, *parts)


def urn_of(conversation: str, *parts: object) -> str:
    return uuid.uuid5(_NAMESPACE, "\0".join([conversation, *map(str, parts)])).urn


def bare(urn_: str) -> str:
    """Return the UUID in a ``urn:uuid``."""
    return urn_.removeprefix("urn:uuid:")


def identifier(urn_: str) -> Json:
    return {"system": RESOURCE_IDS, "value": bare(urn_)}


def tag(urn_: str) -> Json:
    """Return what marks resources of types that have no identifier, so that they can be searched for."""
    return {"system": RESOURCE_IDS, "code": bare(urn_)}


def device(export: Export) -> Json:
    """Return a logical reference to the software."""
    name = f"{export.software.name} {export.software.version}"
    return {"type": "Device", "identifier": {"system": SOFTWARE_IDS, "value": name}, "display": name}


def patient(export: Export) -> Json:
    """Return a reference to the patient: an anonymous one is whoever had this conversation."""
    if export.patient:
        return dict(export.patient)
    return {"type": "Patient", "identifier": {"system": CONVERSATIONS, "value": export.conversation}}


def code_system(name: str) -> str:
    return f"{BASE}/CodeSystem/{name}"


def concept(system: str, code: str, display: str = "", version: str = "") -> Json:
    """Return a CodeableConcept with one coding."""
    coding: Json = {"system": system}
    if version:
        coding["version"] = version
    coding["code"] = code
    if display:
        coding["display"] = display
    return {"coding": [coding]}


def moment(at: datetime) -> str:
    """Return a FHIR instant in UTC; equal moments are written equally."""
    if at.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
