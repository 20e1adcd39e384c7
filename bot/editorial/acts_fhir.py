"""Acts as FHIR R4: an AuditEvent for each, and a Provenance for each that changed or signed a text."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from bot.editorial.acts import Act

# https://hl7.org/fhir/R4/valueset-audit-event-action.html
_ACTION = {"add": "C", "edit": "U", "change": "U", "reset": "U", "remove": "D", "give up": "D", "read": "R"}
_OF_TEXTS = ("edit", "remove", "add", "sign", "give up")
_NAMESPACE = uuid.UUID("6f2b7c1e-94c0-4f0e-9d0f-2c5e0f3f9a11")  # ours: the same act has the same id in each export
_TYPES = "http://terminology.hl7.org/CodeSystem/audit-event-type"
_PARTICIPATION = "http://terminology.hl7.org/CodeSystem/provenance-participant-type"
_DATA_OPERATION = "http://terminology.hl7.org/CodeSystem/v3-DataOperation"


def audit_bundle(acts: Sequence[Act], *, whole: bool) -> dict[str, Any]:
    """Return a collection of all acts; `whole`: whether the trail is as it was written, which its tag says."""
    entries = [entry for act in acts for entry in _entries(act)]
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "meta": {"tag": [{"system": "urn:klartext:trail", "code": "whole" if whole else "damaged"}]},
        "entry": entries,
    }


def _entries(act: Act) -> Iterable[dict[str, Any]]:
    yield _entry(_audit_event(act))
    if act.action in _OF_TEXTS and act.what:
        yield _entry(_provenance(act))


def _entry(resource: dict[str, Any]) -> dict[str, Any]:
    return {"fullUrl": f"urn:uuid:{resource['id']}", "resource": resource}


def _audit_event(act: Act) -> dict[str, Any]:
    who = act.by or "Klartext"
    event: dict[str, Any] = {
        "resourceType": "AuditEvent",
        "id": _id("event", act),
        "type": {"system": _TYPES, "code": "rest", "display": "RESTful Operation"},
        "subtype": [{"system": "urn:klartext:act", "code": act.action.replace(" ", "-")}],
        "action": _ACTION.get(act.action, "E"),
        "recorded": act.at.isoformat(),
        "outcome": "0",
        "agent": [{"requestor": True, "who": {"display": who}}],
        "source": {"observer": {"display": "Klartext"}},
    }
    if act.what:
        event["entity"] = [{"name": act.what, "description": f"act {act.number}, SHA-256 {act.hash}"}]
    return event


def _provenance(act: Act) -> dict[str, Any]:
    kind = "verifier" if act.action == "sign" else "author"
    code = {"edit": "UPDATE", "add": "CREATE", "remove": "DELETE", "give up": "DELETE"}.get(act.action, "UPDATE")
    return {
        "resourceType": "Provenance",
        "id": _id("provenance", act),
        "target": [{"identifier": {"system": "urn:klartext:text", "value": act.what}, "display": act.what}],
        "recorded": act.at.isoformat(),
        "activity": {"coding": [{"system": _DATA_OPERATION, "code": code}]},
        "agent": [
            {
                "type": {"coding": [{"system": _PARTICIPATION, "code": kind}]},
                "who": {"display": act.by or "Klartext"},
            }
        ],
    }


def _id(kind: str, act: Act) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{kind} {act.number} {act.hash}"))
