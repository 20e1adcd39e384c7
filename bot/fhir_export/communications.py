"""What the patient asked and what was answered, as Communications. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.fhir_export.identity import Json, code_system, concept, device, identifier, moment, patient, urn
from bot.fhir_export.subject import Exchange, Export, Resource

TASKS = code_system("staff-task")
PAIRS = code_system("pairs")
KINDS = code_system("message")


def question_urn(export: Export, exchange: Exchange) -> str:
    return urn(export, "question", exchange.number)


def answer_urn(export: Export, exchange: Exchange) -> str:
    return urn(export, "answer", exchange.number)


def communications(export: Export) -> Iterator[Resource]:
    """Yield a Communication for every question, and one for every answer that was shown."""
    for exchange in export.exchanges:
        yield _question(export, exchange)
        if exchange.decision == "urgent" or exchange.pair_id is not None:
            yield _answer(export, exchange)


def topic(exchange: Exchange) -> Json:
    """Return which pair of which version an answer came from; an alarm came from none."""
    if exchange.pair_id is None:
        return concept(KINDS, "red-flag", "Emergency advice")
    name, _, version = exchange.catalog.partition("@")
    return concept(f"{PAIRS}/{name}", exchange.pair_id, version=version)


def _question(export: Export, exchange: Exchange) -> Resource:
    made = _message(export, question_urn(export, exchange), exchange, "question", "Question of a patient")
    made |= {"sender": patient(export), "recipient": [device(export)]}
    made["payload"] = [{"contentString": exchange.question}]
    return Resource(question_urn(export, exchange), made)


def _answer(export: Export, exchange: Exchange) -> Resource:
    made = _message(export, answer_urn(export, exchange), exchange, "answer", "Curated answer")
    made["inResponseTo"] = [{"reference": question_urn(export, exchange)}]
    made["topic"] = topic(exchange)
    made |= {"sender": device(export), "recipient": [patient(export)]}
    if exchange.answer:
        made["payload"] = [{"contentString": exchange.answer}]
    return Resource(answer_urn(export, exchange), made)


def _message(export: Export, own: str, exchange: Exchange, kind: str, display: str) -> Json:
    return {
        "resourceType": "Communication",
        "language": exchange.language,
        "identifier": [identifier(own)],
        "status": "completed",
        "category": [concept(KINDS, kind, display)],
        "subject": patient(export),
        "sent": moment(exchange.at),
        "received": moment(exchange.at),
    }
