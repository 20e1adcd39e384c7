"""What staff have to see to, as Tasks. Pure. No Task repeats what a patient wrote: it points to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from bot.fhir_export.communications import TASKS, answer_urn, question_urn, topic
from bot.fhir_export.identity import Json, concept, device, identifier, moment, patient, urn
from bot.fhir_export.subject import Exchange, Export, Resource

FLAG_REASONS = {"wrong": "The patient finds the answer wrong", "complicated": "The patient finds it too complicated"}
RED_FLAG = "red-flag"
UNANSWERED = {"declined": "No checked answer", "clarify": "Not clear which question was meant"}


def tasks(export: Export, response: Resource | None) -> Iterator[Resource]:
    """Yield a Task per red flag, unanswered question, flagged answer and item that was left to staff."""
    for number, exchange in enumerate(export.exchanges):
        following = export.exchanges[number + 1] if number + 1 < len(export.exchanges) else None
        yield from _about_exchange(export, exchange, following)
    if response is not None and export.interview is not None:
        for link_id, reason in dict(export.interview.marked).items():
            made = _task(export, ("item", link_id), "unanswered-item", "Question of the form that was left to staff")
            made["focus"] = response.reference
            made["reasonCode"] = {"text": f"Item {link_id}: {reason}"}
            yield _resource(export, ("item", link_id), made, export.at)


def is_red_flag(task: Resource) -> bool:
    """Say whether a Task is one of those that staff must see at once."""
    return task.body.get("priority") == "stat"


def _about_exchange(export: Export, exchange: Exchange, following: Exchange | None) -> Iterator[Resource]:
    if exchange.decision == "urgent":
        # The moment, too: an alarm must never be taken for an older one, whatever becomes of numbers.
        key = (RED_FLAG, exchange.number, moment(exchange.at))
        made = _task(export, key, RED_FLAG, "Possible emergency", priority="stat")
        made["focus"] = {"reference": question_urn(export, exchange)}
        yield _resource(export, key, made, exchange.at)
    # A question that was asked back and then answered by the patient's choice is no open one.
    chosen = exchange.decision == "clarify" and following is not None and following.decision == "answered"
    if exchange.decision in UNANSWERED and not chosen:
        made = _task(export, ("unanswered", exchange.number), "unanswered-question", "Question without an answer")
        made["focus"] = {"reference": question_urn(export, exchange)}
        made["reasonCode"] = {"text": UNANSWERED[exchange.decision]}
        yield _resource(export, ("unanswered", exchange.number), made, exchange.at)
    for flag in dict.fromkeys(exchange.flags):
        made = _task(export, ("flag", exchange.number, flag), "flagged-answer", "Answer that a patient flagged")
        own = answer_urn if exchange.pair_id is not None or exchange.decision == "urgent" else question_urn
        made["focus"] = {"reference": own(export, exchange)}
        made["reasonCode"] = topic(exchange) | {"text": FLAG_REASONS.get(flag, flag)}
        yield _resource(export, ("flag", exchange.number, flag), made, exchange.at)


def _task(export: Export, key: tuple[object, ...], code: str, display: str, priority: str = "routine") -> Json:
    return {
        "resourceType": "Task",
        "identifier": [identifier(urn(export, "task", *key))],
        "status": "requested",
        "intent": "order",
        "priority": priority,
        "code": concept(TASKS, code, display),
    }


def _resource(export: Export, key: tuple[object, ...], made: Json, at: datetime) -> Resource:
    made["for"] = patient(export)
    made["authoredOn"] = moment(at)
    made["requester"] = device(export)
    return Resource(urn(export, "task", *key), made)
