"""Validate FHIR documents: choose the rules by resource type, and find each response's Questionnaire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.fhir_files import find_by_canonical, resources_in, shipped_questionnaires, shipped_terminology
from bot.interview.check_questionnaire import check_questionnaire
from bot.interview.check_response import check_response, find_questionnaire
from bot.interview.fhir_json import JsonObject, Parsed, as_object, string
from bot.interview.indexed import Form, index_questionnaire
from bot.interview.outcome import Finding, Findings, Place
from bot.interview.terminology import Terminology


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What responses are validated with.

    Attributes:
        preferred: Questionnaires that the user names for these responses.
        others: Further Questionnaires, such as those among the files.
        known: Value sets and code systems at hand.
        now: The moment for formulas, as a FHIR dateTime with zone.
    """

    preferred: Sequence[JsonObject]
    others: Sequence[JsonObject]
    known: Terminology
    now: str


def surroundings(
    given: Iterable[JsonObject], documents: Iterable[Parsed], terminology: Iterable[JsonObject], *, now: str
) -> Surroundings:
    """Gather what is at hand: what the user gave, the documents themselves, and what is shipped."""
    preferred = [resource for document in given for resource in resources_in(document)]
    among = [as_object(document.value) for document in documents]
    local = [*preferred, *(resource for document in terminology for resource in resources_in(document))]
    return Surroundings(
        preferred=[each for each in preferred if each.get("resourceType") == "Questionnaire"],
        others=[*among, *shipped_questionnaires()],
        known=Terminology(local, base=shipped_terminology()),
        now=now,
    )


def validate(document: Parsed, around: Surroundings) -> list[Finding]:
    """Return the findings on one document."""
    resource = as_object(document.value)
    kind = string(resource, "resourceType")
    repeated = _repeated(document, kind)
    if kind == "Questionnaire":
        return repeated + check_questionnaire(resource)
    if kind == "QuestionnaireResponse":
        return repeated + _validate_response(resource, around)
    what = f"{kind[:60]} is neither" if kind else "This is no FHIR resource, neither"
    text = f"{what} a Questionnaire nor a QuestionnaireResponse"
    return [*repeated, Finding("error", "not-supported", kind[:60], text, "resourceType")]


def _repeated(document: Parsed, kind: str) -> list[Finding]:
    findings = Findings()
    for name in dict.fromkeys(document.repeated):
        text = f"The property {name[:60]!r} is there twice in one object"
        findings.error(Place(kind[:60]), text, code="structure", rule="duplicate-property")
    return findings.all()


def _validate_response(response: JsonObject, around: Surroundings) -> list[Finding]:
    form = find_questionnaire(response, lambda canonical: _resolve(canonical, around))
    if form is None and not string(response, "questionnaire") and len(around.preferred) == 1:
        # The response names none: then it is the one that the user named.
        form = index_questionnaire(around.preferred[0])
    findings = check_response(response, form, known=around.known, now=around.now)
    return findings + (_about_questionnaire(form) if form is not None else [])


def _resolve(canonical: str, around: Surroundings) -> JsonObject | None:
    found = find_by_canonical([*around.preferred, *around.others], canonical)
    if found is not None:
        return found
    # Forms without an address of their own can only be meant by being named on the command line, or by their id.
    nameless = [each for each in around.preferred if not string(each, "url")]
    by_id = (each for each in around.preferred if canonical == f"Questionnaire/{string(each, 'id')}")
    return next(by_id, nameless[0] if len(nameless) == 1 else None)


def _about_questionnaire(form: Form) -> list[Finding]:
    """Say that the Questionnaire itself is wrong: this may explain findings, but is none about the response."""
    errors = sum(finding.is_error for finding in check_questionnaire(form.raw))
    if not errors:
        return []
    text = f"The Questionnaire itself is not valid ({errors} errors); `klartext fhir validate` with its file shows them"
    return [Finding("information", "informational", "QuestionnaireResponse.questionnaire", text, "questionnaire")]
