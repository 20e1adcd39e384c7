"""The QuestionnaireResponse as it is sent, and the patient's consent to the interview. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.fhir_export.identity import CONVERSATIONS, Json, concept, device, identifier, moment, patient, urn
from bot.fhir_export.subject import Export, Resource
from bot.interview.fhir_json import JsonObject, objects, string, walk

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
