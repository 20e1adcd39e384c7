"""The resources of a Bundle: Communications, urgent Tasks, Provenance, responses. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from bot.handover.subject import (
    CATALOG_HASHES,
    CONVERSATIONS,
    RELEASES,
    Exchange,
    Export,
    Json,
    Resource,
    based_on,
    code_system,
    concept,
    device,
    identifier,
    moment,
    patient,
    tag,
    urn,
)
from bot.interview.manners.decisions import Reason
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject, objects, string, walk

TASKS = code_system("staff-task")
PAIRS = code_system("pairs")
KINDS = code_system("message")
REASONS = code_system("decision-reason")
REASON_NAMES: Mapping[str, str] = {
    "answer": "An answer",
    "not-answered": "No answer",
    "words": "The patient's own words",
    "unread": "The patient's own words, which the form cannot read",
}


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
    about: Json = {"basedOn": based_on(export)} if export.requests else {}
    if export.appointment:
        about["about"] = [dict(export.appointment)]
    return {
        "resourceType": "Communication",
        "language": exchange.language,
        "identifier": [identifier(own)],
        **about,
        "status": "completed",
        "category": [concept(KINDS, kind, display)],
        "subject": patient(export),
        "sent": moment(exchange.at),
        "received": moment(exchange.at),
    }


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


def decision_task(export: Export, response: Resource) -> Iterator[Resource]:
    """Yield the Task that says what has to be decided before the exam, each reason as an input; none without any.

    Other reasons, as after a correction, are another Task: staff work with the one that was sent.
    """
    reasons = export.interview.to_decide if export.interview is not None else ()
    if not reasons:
        return
    lines = [reason_line(each) for each in reasons]
    key = ("decision", *lines)
    made = _task(export, key, "decision-before-exam", "Needs a decision before the exam", priority="urgent")
    made["focus"] = response.reference
    made["reasonCode"] = {"text": f"{len(lines)} reasons, each an input"}
    made["input"] = [
        {"type": concept(REASONS, each.kind, REASON_NAMES[each.kind]), "valueString": line}
        for each, line in zip(reasons, lines, strict=True)
    ]
    yield _resource(export, key, made, export.at)


def reason_line(reason: Reason) -> str:
    """Return a reason as staff read it: what was asked, and what was answered or said."""
    if reason.kind == "not-answered":
        return reason.asked or reason.link_id
    said = [f"„{each}“" if reason.kind in ("words", "unread") else each for each in reason.said]
    return f"{reason.asked or reason.link_id} – {'; '.join(said)}"


# What somebody may rely on who treats the patient.
_CLINICAL = (
    "AdverseEvent AllergyIntolerance CarePlan ClinicalImpression Condition DetectedIssue DeviceUseStatement "
    "DiagnosticReport FamilyMemberHistory Flag Goal Immunization MedicationAdministration MedicationRequest "
    "MedicationStatement NutritionOrder Observation Procedure RiskAssessment ServiceRequest"
)


def lost_tasks(export: Export, response: Resource, lost: Sequence[tuple[str, str]]) -> Iterator[Resource]:
    """Yield a Task for each clinical resource that the answers did not become, or not as a whole.

    Args:
        lost: The linkId where it was to be extracted, empty for the form itself, and its type, empty for all.
    """
    for link_id, kind in lost:
        if kind and kind not in _CLINICAL.split():
            continue
        made = _task(export, ("lost", link_id, kind), "lost-extraction", "Answers that did not become records")
        made["focus"] = response.reference
        where = f"Item {link_id}" if link_id else "The form"
        what = f"{kind} was extracted incompletely or not at all" if kind else "nothing could be extracted"
        made["reasonCode"] = {"text": f"{where}: {what}"}
        yield _resource(export, ("lost", link_id, kind), made, export.at)


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
    about = [*based_on(export), *([dict(export.appointment)] if export.appointment else [])]
    if about:
        made["basedOn"] = about
    made["for"] = patient(export)
    made["authoredOn"] = moment(at)
    made["requester"] = device(export)
    return Resource(urn(export, "task", *key), made)


_HL7 = "http://terminology.hl7.org/CodeSystem"


def provenance(export: Export, targets: Sequence[Resource], response: Resource | None) -> Resource:
    """Say which software, from which release, made all the other resources."""
    # A later state of the same conversation gets a record of its own.
    own = urn(export, "provenance", moment(export.at), export.status)
    sources: list[JsonValue] = [
        _source(f"{name} ({digest[:12]})", CATALOG_HASHES, digest) for name, digest in _hashes(export)
    ]
    if export.release:
        sources.append(_source(f"Release {export.release}", RELEASES, export.release))
    form = response.body.get("questionnaire") if response else None
    if isinstance(form, str):
        sources.append(_source(form, "urn:ietf:rfc:3986", form))
    made: Json = {
        "resourceType": "Provenance",
        "meta": {"tag": [tag(own)]},
        "target": [target.reference for target in targets],
        "recorded": moment(export.at),
        "activity": concept(f"{_HL7}/v3-DataOperation", "UPDATE" if export.status == "amended" else "CREATE"),
        "agent": [
            _agent("assembler", "Assembler", device(export)),
            _agent("informant", "Informant", _informant(export)),
        ],
    }
    if sources:
        made["entity"] = sources
    return Resource(own, made)


# So many notes are told one by one in an AuditEvent: a form says the same of many answers.
_MOST_NOTES = 50


def audit_event(export: Export, about: Sequence[Resource], notes: Sequence[str] = ()) -> Resource:
    """Say that the software sent the conversation; `notes`, without patient text, on what was not extracted from it."""
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
    entities: list[Json] = [conversation, *[_what(resource) for resource in about]]
    if notes:
        made["outcomeDesc"] = f"The response was sent; {len(notes)} notes say what was not extracted from it"
        details: list[JsonValue] = [{"type": "not-extracted", "valueString": note} for note in notes[:_MOST_NOTES]]
        entities[-1] = {**entities[-1], "detail": details}
    made["entity"] = [*entities]
    return Resource(own, made)


def _hashes(export: Export) -> list[tuple[str, str]]:
    return sorted(export.catalogs.items())


def _source(display: str, system: str, value: str) -> Json:
    return {"role": "source", "what": {"identifier": {"system": system, "value": value}, "display": display}}


def _informant(export: Export) -> Json:
    """Return who answered: whom the response names, else the patient."""
    source = export.interview.response.get("source") if export.interview is not None else None
    return dict(source) if isinstance(source, dict) else patient(export)


def _agent(code: str, display: str, who: Json) -> Json:
    return {"type": concept(f"{_HL7}/provenance-participant-type", code, display), "who": who}


def _what(resource: Resource) -> Json:
    return {"what": resource.reference}


PROFILE = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaireresponse"
CONSENT_CODE = ("http://loinc.org", "59284-0")  # "Consent Document"
_AFTER_META = ("resourceType", "id", "meta")


def response(export: Export) -> Resource | None:
    """Return the response with profile, identifier, subject, author and source; None without an interview."""
    if export.interview is None:
        return None
    own = urn(export, "response")
    given = export.interview.response
    made: Json = {"resourceType": "QuestionnaireResponse", "meta": _meta(given)}
    made |= {name: value for name, value in given.items() if name not in _AFTER_META}
    made.setdefault("authored", moment(export.at))
    made["identifier"] = identifier(own)
    if export.requests and "basedOn" not in made:
        made["basedOn"] = based_on(export)
    made.setdefault("author", device(export))
    made.setdefault("subject", patient(export))
    made.setdefault("source", patient(export))
    return Resource(own, _in_order(made), replaces=True)


def _meta(given: JsonObject) -> Json:
    meta = given.get("meta")
    found: Json = dict(meta) if isinstance(meta, dict) else {}
    listed = found.get("profile")
    profiles = list(listed) if isinstance(listed, list) else []
    return found | {"profile": profiles if PROFILE in profiles else [*profiles, PROFILE]}


def _in_order(made: Json) -> Json:
    """Put the items last, as people expect them."""
    return {name: value for name, value in made.items() if name != "item"} | (
        {"item": made["item"]} if "item" in made else {}
    )


def consent(export: Export, sent: Resource | None) -> Iterator[Resource]:
    """Yield the Consent that a yes-or-no item of the form asked for: one coded as such, or called ``consent``."""
    if sent is None or export.interview is None or not export.is_final:
        return
    asked = {string(item, "linkId") for item in walk(objects(export.interview.questionnaire, "item")) if _asks(item)}
    for item in walk_answers(sent.body):
        answers = objects(item, "answer")
        given = answers[0].get("valueBoolean") if answers else None
        if string(item, "linkId") in asked and isinstance(given, bool):
            yield _consent(export, sent, string(item, "linkId"), permitted=given)


def walk_answers(response_: JsonObject) -> Iterator[JsonObject]:
    """Yield every item of a response, in order, also those below answers."""
    for item in objects(response_, "item"):
        yield item
        yield from walk_answers(item)
        for answer in objects(item, "answer"):
            yield from walk_answers(answer)


def _asks(item: JsonObject) -> bool:
    coded = any((code.get("system"), code.get("code")) == CONSENT_CODE for code in objects(item, "code"))
    return item.get("type") == "boolean" and (coded or item.get("linkId") == "consent")


def _consent(export: Export, sent: Resource, link_id: str, *, permitted: bool) -> Resource:
    own = urn(export, "consent", link_id)
    made: Json = {
        "resourceType": "Consent",
        "identifier": [identifier(own)],
        "status": "active" if permitted else "rejected",
        "scope": concept("http://terminology.hl7.org/CodeSystem/consentscope", "patient-privacy", "Privacy Consent"),
        "category": [concept(*CONSENT_CODE, display="Consent Document")],
    }
    made["patient"] = patient(export)
    made["dateTime"] = sent.body["authored"]
    made["sourceReference"] = sent.reference
    # What was consented to is the wording of the form, in the version that the response names.
    made["policy"] = [{"uri": str(sent.body.get("questionnaire") or CONVERSATIONS)}]
    made["provision"] = {"type": "permit" if permitted else "deny"}
    return Resource(own, made, replaces=True)
