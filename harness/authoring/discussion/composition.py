"""A summary as a FHIR R4 Composition: `preliminary` until a named person accepts it, checked before it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from pydantic import ValidationError

from bot import BadData
from harness.authoring.discussion.conversation import Conversation
from harness.authoring.discussion.texts import Section, Sections

_LOINC = "http://loinc.org"
_TITLES = {
    "de": "Zusammenfassung des Gesprächs vor der Untersuchung",
    "en": "Summary of the conversation before the exam",
}
_DRAFT = {
    "de": "Entwurf eines Sprachmodells, nicht ärztlich geprüft.",
    "en": "Draft of a language model, not checked by a clinician.",
}
_ACCEPTED = {
    "de": "Entwurf eines Sprachmodells, angenommen von {}.",
    "en": "Draft of a language model, accepted by {}.",
}
_CONVERSATIONS = "https://klartext.example/fhir/sid/conversation"  # as in the Bundle that the assistant hands over


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who wrote a summary, and who answers for it.

    Attributes:
        models: Names of the models that wrote it.
        at: When it was written.
        accepted_by: The person who accepts it; empty: nobody has.
        patients: System of the patients' identifiers at this site; None: it has named none.
    """

    models: Sequence[str]
    at: datetime
    accepted_by: str = ""
    patients: str | None = None


def composition_of(
    conversation: Conversation, sections: Sequence[Section], text: Sections, authorship: Authorship, language: str
) -> dict[str, Any]:
    """Return the summary as a Composition; `final` with an attester only where a person accepts it.

    `language`: of the text, which need not be the conversation's.

    Raises:
        BadData: A model of R4 refuses it.
    """
    draft = _DRAFT.get(language, _DRAFT["en"])
    if authorship.accepted_by:
        draft = _ACCEPTED.get(language, _ACCEPTED["en"]).format(authorship.accepted_by)
    model = ", ".join(sorted(set(authorship.models))) or "?"
    resource: dict[str, Any] = {
        "resourceType": "Composition",
        "meta": {
            # "Artificial Intelligence asserted"
            "security": [{"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "AIAST"}]
        },
        "language": language,
        "identifier": {"system": _CONVERSATIONS, "value": conversation.id},
        "status": "final" if authorship.accepted_by else "preliminary",
        "type": {"coding": [{"system": _LOINC, "code": "34109-9", "display": "Note"}]},
        "date": authorship.at.isoformat(),
        "author": [{"type": "Device", "display": f"Klartext, drafting help ({model})"}],
        "title": _TITLES.get(language, _TITLES["en"]),
        "section": [
            {"title": section.title, "code": {"text": section.key}, "text": _narrative(text[section.key], draft)}
            for section in sections
        ],
    }
    if conversation.patient:
        system = {"system": authorship.patients} if authorship.patients else {}
        subject = {**system, "value": conversation.patient}
    else:
        subject = {"system": _CONVERSATIONS, "value": conversation.id}
    resource["subject"] = {"type": "Patient", "identifier": subject}
    if authorship.accepted_by:
        party = {"display": authorship.accepted_by}
        attester = {"mode": "professional", "time": authorship.at.isoformat(), "party": party}
        resource["attester"] = [attester]
    return _checked(resource)


def _narrative(text: str, draft: str) -> dict[str, str]:
    paragraphs = "".join(f"<p>{escape(line, quote=False)}</p>" for line in text.splitlines() if line.strip())
    return {
        "status": "additional",
        "div": f'<div xmlns="http://www.w3.org/1999/xhtml">{paragraphs}<p><i>{escape(draft)}</i></p></div>',
    }


def _checked(resource: dict[str, Any]) -> dict[str, Any]:
    from fhir.resources.R4B.composition import Composition  # slow to import

    try:
        Composition.model_validate(resource)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadData(
            f"The summary is no valid Composition ({place}). Discuss it again with another `--out`."
        ) from error
    return resource
