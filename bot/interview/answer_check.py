"""One answer under check: what the rules of limits, options, quantities and attachments all need. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.interview.answer import Answer
from bot.interview.fhir_json import JsonObject, as_object, companion, extensions, string, value_of
from bot.interview.outcome import Findings, Place
from bot.interview.terminology import Terminology


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """An answer whose type fits its item.

    Attributes:
        item: The item of the Questionnaire.
        answer: The value.
        place: Where in the response it stands.
        findings: Where findings go.
        known: Value sets and code systems at hand.
    """

    item: JsonObject
    answer: Answer
    place: Place
    findings: Findings
    known: Terminology

    def error(self, text: str, rule: str, code: str = "invariant") -> None:
        self.findings.error(self.place, text, code=code, rule=rule)

    def warning(self, text: str, rule: str, code: str = "incomplete") -> None:
        self.findings.warning(self.place, text, code=code, rule=rule)

    def information(self, text: str, rule: str, code: str = "incomplete") -> None:
        self.findings.information(self.place, text, code=code, rule=rule)


def stated_limits(check: AnswerCheck, urls: tuple[str, ...]) -> list[Answer]:
    """Return the limits that an item states; one that is computed is not known here, which is said."""
    found: list[Answer] = []
    for extension in extensions(check.item, *urls):
        value = value_of(extension)
        if value is not None:
            found.append(value)
        elif any(companion(extension, name[1:]) for name in extension if name.startswith("_value")):
            check.information("A computed limit was not checked", "computed-limit")
    return found


def say(answer: Answer) -> str:
    """Name a number, limit, code or quantity for people; callers keep free text and dates of patients out."""
    value = as_object(answer.value)
    if answer.type == "quantity":
        unit = string(value, "unit") or string(value, "code")
        return f"{value.get('value')} {unit}".strip()[:60]
    if answer.type == "coding":
        return f"{string(value, 'system')[:120]}#{string(value, 'code')[:60]}"
    return str(answer.value)[:60]


def bound_rule(least: bool, what: str) -> str:
    """Name the rule of a lower or upper limit, such as ``minValue``."""
    return ("min" if least else "max") + what


def beyond(least: bool) -> str:
    """Say how an answer misses a lower or upper limit."""
    return "less than the least" if least else "greater than the greatest"
