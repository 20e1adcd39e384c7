"""Where it all comes from, and that it was sent: Provenance and AuditEvent. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.fhir_export.identity import CATALOG_HASHES, CONVERSATIONS, Json, concept, device, moment, patient, tag, urn
from bot.fhir_export.subject import Export, Resource
from bot.interview.answer import JsonValue

_HL7 = "http://terminology.hl7.org/CodeSystem"


def provenance(export: Export, targets: Sequence[Resource], response: Resource | None) -> Resource:
    """Say which software, from which release, made all the other resources."""
    # A later state of the same conversation gets a record of its own.
    own = urn(export, "provenance", moment(export.at), export.status)
    sources: list[JsonValue] = [
        _source(f"{name} ({digest[:12]})", CATALOG_HASHES, digest) for name, digest in _hashes(export)
    ]
    form = response.body.get("questionnaire") if response else None
    if isinstance(form, str):
        sources.append(_source(form, "urn:ietf:rfc:3986", form))
    made: Json = {
        "resourceType": "Provenance",
        "meta": {"tag": [tag(own)]},
        "target": [target.reference for target in targets],
        "recorded": moment(export.at),
        "activity": concept(f"{_HL7}/v3-DataOperation", "UPDATE" if export.status == "amended" else "CREATE"),
        "agent": [_agent("assembler", "Assembler", device(export)), _agent("informant", "Informant", patient(export))],
    }
    if sources:
        made["entity"] = sources
    return Resource(own, made)


def audit_event(export: Export, about: Sequence[Resource]) -> Resource:
    """Say that the software sent the conversation."""
    own = urn(export, "audit", moment(export.at), export.status)
    interaction = "http://hl7.org/fhir/restful-interaction"
    made: Json = {
        "resourceType": "AuditEvent",
        "meta": {"tag": [tag(own)]},
        "type": {"system": f"{_HL7}/audit-event-type", "code": "rest", "display": "RESTful Operation"},
        "subtype": [{"system": interaction, "code": "transaction", "display": "transaction"}],
        "action": "U" if export.status == "amended" else "C",
        "recorded": moment(export.at),
        "outcome": "0",
        "agent": [{"who": device(export), "requestor": True}],
        "source": {"observer": device(export)},
    }
    conversation: Json = {"what": {"identifier": {"system": CONVERSATIONS, "value": export.conversation}}}
    made["entity"] = [conversation, *[_what(resource) for resource in about]]
    return Resource(own, made)


def _hashes(export: Export) -> list[tuple[str, str]]:
    return sorted(export.catalogs.items())


def _source(display: str, system: str, value: str) -> Json:
    return {"role": "source", "what": {"identifier": {"system": system, "value": value}, "display": display}}


def _agent(code: str, display: str, who: Json) -> Json:
    return {"type": concept(f"{_HL7}/provenance-participant-type", code, display), "who": who}


def _what(resource: Resource) -> Json:
    return {"what": resource.reference}
