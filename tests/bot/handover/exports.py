"""Conversations to export: forms, responses and questions, small and general."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.handover.bundle import make_bundle
from bot.handover.subject import Exchange, Export, Interview, Made, Software
from bot.interview.values.fhir_json import dump
from bot.outbox_ports import Outgoing

Json = dict[str, Any]
NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"
EXTRACT = SDC + "sdc-questionnaire-observationExtract"
LOINC = "http://loinc.org"
PATIENT = {"type": "Patient", "identifier": {"system": "https://clinic.example/patients", "value": "4711"}}


def exchange(number: int, decision: str = "answered", pair_id: str | None = None, **further: Any) -> Exchange:
    """Return a question asked `number` minutes after noon."""
    base = Exchange(number, NOW + timedelta(minutes=number), "de", f"Frage {number}?", decision, pair_id, "small@1")
    return replace(base, **further)


def extracting(item: Json, value: bool | str = True) -> Json:
    """Mark an item for observation-based extraction."""
    said = {"valueBoolean": value} if isinstance(value, bool) else {"valueCode": value}
    return {**item, "extension": [*item.get("extension", []), {"url": EXTRACT, **said}]}


def coded(link_id: str, kind: str, code: str = "", **further: Any) -> Json:
    """Return an item with a code."""
    return {"linkId": link_id, "type": kind, "code": [{"system": LOINC, "code": code or f"{link_id}-1"}], **further}


def form(*items: Json, **head: Any) -> Json:
    return {
        "resourceType": "Questionnaire",
        "url": "https://clinic.example/q",
        "version": "3",
        "status": "active",
        **head,
        "item": list(items),
    }


def answered(link_id: str, *answers: Json, **further: Any) -> Json:
    return {"linkId": link_id, "answer": list(answers), **further}


def response(*items: Json, status: str = "completed", **head: Any) -> Json:
    return {
        "resourceType": "QuestionnaireResponse",
        "questionnaire": "https://clinic.example/q|3",
        "status": status,
        "authored": "2026-11-01T12:30:00+01:00",
        **head,
        "item": list(items),
    }


def export(*exchanges: Exchange, asked: Json | None = None, given: Json | None = None, **further: Any) -> Export:
    interview = Interview(asked or form(), given) if given is not None else None
    base = Export("c1", NOW, Software("Klartext", "0.1.0"), exchanges, interview, catalogs={"small@1 (de)": "ab" * 32})
    return replace(base, **further)


def resources(made: Made, kind: str) -> list[Json]:
    """Return the resources of a type in a Bundle."""
    found = [entry["resource"] for entry in entries(made)]
    return [resource for resource in found if resource["resourceType"] == kind]


def entries(made: Made) -> list[Json]:
    found: Any = made.bundle["entry"]
    return list(found)


def observations(asked: Json, given: Json) -> list[Json]:
    return resources(make_bundle(export(asked=asked, given=given)), "Observation")


def mixed_export(conversation: str = "c1", **further: Any) -> Export:
    """Return a conversation with all that can be in one."""
    asked = form(
        {"linkId": "consent", "type": "boolean"},
        extracting(coded("weight", "decimal")),
        {"linkId": "note", "type": "text"},
    )
    given = response(
        answered("consent", {"valueBoolean": True}),
        answered("weight", {"valueDecimal": Decimal("70.50")}),
        answered("note", {"valueString": "Narbe links"}),
    )
    exchanges = (
        exchange(1, pair_id="pain", answer="Es drückt kurz.", flags=("wrong",)),
        exchange(2, "declined"),
        exchange(3, "urgent"),
    )
    return export(*exchanges, asked=asked, given=given, conversation=conversation, **further)


def outgoing(exported: Export, before: Export | None = None) -> Outgoing:
    """Return a conversation as it goes into the outbox."""
    return Outgoing(exported.conversation, dump(make_bundle(exported, before).bundle), exported.at)
