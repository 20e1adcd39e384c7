"""Limits of an answer: length, pattern, range, decimal places, attachments, references. Pure.

Texts and dates of a patient are never quoted; numbers and limits are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from bot.interview.values.answer import Answer
from bot.interview.values.comparing import relate
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    companion,
    extension_value,
    extension_values,
    extensions,
    number,
    string,
    value_of,
)
from bot.interview.values.fhir_names import (
    ENTRY_FORMAT,
    MAX_DECIMAL_PLACES,
    MAX_SIZE,
    MAX_VALUE,
    MIME_TYPE,
    MIN_LENGTH,
    MIN_VALUE,
    REFERENCE_RESOURCE,
    REGEX,
    RESOURCE_TYPES,
)
from bot.interview.values.finding import Findings, Place
from bot.interview.values.patterns import fits_pattern
from bot.interview.values.primitives import base64_size
from bot.interview.values.terminology import Terminology


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


_BOUNDED = frozenset({"integer", "decimal", "date", "dateTime", "time"})


def check_limits(check: AnswerCheck) -> None:
    """Check one answer against the limits of its item."""
    kind = check.answer.type
    if kind in {"string", "uri"} and isinstance(check.answer.value, str):
        _check_text(check, check.answer.value)
    if "extension" not in check.item:
        return
    _check_pattern(check)
    if kind in _BOUNDED:
        _check_bounds(check, MIN_VALUE, least=True)
        _check_bounds(check, MAX_VALUE, least=False)
    if kind in {"decimal", "quantity"}:
        _check_places(check)


def _check_bounds(check: AnswerCheck, urls: tuple[str, ...], *, least: bool) -> None:
    rule = bound_rule(least, "Value")
    for bound in stated_limits(check, urls):
        relation = relate(check.answer, bound)
        if relation == ("before" if least else "after"):
            check.error(f"{_subject(check.answer)} is {beyond(least)} allowed, {say(bound)}", rule)
        elif relation in {"different", "unknown"}:
            check.warning(f"The answer cannot be compared with the limit {say(bound)}", rule)


def _subject(answer: Answer) -> str:
    return f"The value {say(answer)}" if answer.type in {"integer", "decimal"} else "The value"


def _check_text(check: AnswerCheck, text: str) -> None:
    most = check.item.get("maxLength")
    if isinstance(most, int) and not isinstance(most, bool) and 0 <= most < len(text):
        check.error(f"The answer has {len(text)} characters, more than the {most} allowed", "maxLength")
    if check.item.get("type") == "string" and ("\n" in text or "\r" in text):
        check.warning("A line break in the answer to a one-line question", "line-break", "invariant")
    if "extension" not in check.item:
        return
    least = extension_value(check.item, *MIN_LENGTH)
    if least is not None and isinstance(least.value, int) and len(text) < least.value:
        check.error(f"The answer has {len(text)} characters, fewer than the {least.value} required", "minLength")


def _check_pattern(check: AnswerCheck) -> None:
    pattern = extension_value(check.item, *REGEX)
    if pattern is None or not isinstance(pattern.value, str):
        return
    fits = fits_pattern(pattern.value, check.answer, check.item)
    if fits is None:
        check.warning("The item's regex cannot be read, takes too long or fits no date, so it was not checked", "regex")
    elif not fits:
        example = extension_value(check.item, *ENTRY_FORMAT)
        hint = f" (expected: {example.value})" if example is not None and isinstance(example.value, str) else ""
        check.error(f"The answer does not have the required form{hint}", "regex")


def _check_places(check: AnswerCheck) -> None:
    most = extension_value(check.item, *MAX_DECIMAL_PLACES)
    quantity = check.answer.type == "quantity"
    value = number(as_object(check.answer.value).get("value") if quantity else check.answer.value)
    if most is None or value is None or not isinstance(most.value, int) or isinstance(most.value, bool):
        return
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if places > most.value:
        text = f"The value {str(value)[:60]} has {places} decimal places, more than the {most.value} allowed"
        check.error(text, "maxDecimalPlaces")


_ID = r"[A-Za-z0-9\-.]{1,64}"
_ENDS_WITH_TYPE_AND_ID = re.compile(rf"(?:^|/)([A-Za-z]+)/{_ID}(?:/_history/{_ID})?$")
_RELATIVE = re.compile(rf"[A-Za-z]+/{_ID}(?:/_history/{_ID})?")


def check_attachment(check: AnswerCheck) -> None:
    """Check content type and size. The actual size counts where the data are there, else the stated one."""
    attachment = as_object(check.answer.value)
    allowed = [value.value for value in extension_values(check.item, *MIME_TYPE) if isinstance(value.value, str)]
    kind = string(attachment, "contentType")
    if allowed and not kind:
        check.error("The attachment does not say its content type", "mimeType", "required")
    elif allowed and not any(mime_fits(kind, pattern) for pattern in allowed):
        check.error(f"The content type {kind[:60]!r} is none of {', '.join(allowed)}", "mimeType")
    limit = extension_value(check.item, *MAX_SIZE)
    most = number(limit.value) if limit is not None else None
    size = size_of(attachment)
    if most is not None and size is not None and size > most:
        check.error(f"The attachment has {size} bytes, more than the {most} allowed", "maxSize")


def size_of(attachment: JsonObject) -> int | Decimal | None:
    """Return how many bytes an attachment has: its data where they are there, else what it states."""
    content = attachment.get("data")
    return base64_size(content) if isinstance(content, str) else number(attachment.get("size"))


def mime_fits(kind: str, pattern: str) -> bool:
    """Compare media types: ``image/*`` fits any image; parameters such as a character set are left out."""
    plain, wanted = (text.partition(";")[0].strip().lower() for text in (kind, pattern))
    return wanted in {plain, "*/*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


def check_reference(check: AnswerCheck) -> None:
    """Check the type of what is referred to, as far as the reference shows it."""
    reference = as_object(check.answer.value)
    target = string(reference, "reference")
    kind = referred_type(reference)
    if _RELATIVE.fullmatch(target) and kind not in RESOURCE_TYPES:
        check.error(f"{kind[:60]!r} is no resource type of R4", "reference-type")
        return
    allowed = [
        value.value for value in extension_values(check.item, *REFERENCE_RESOURCE) if isinstance(value.value, str)
    ]
    if allowed and kind in RESOURCE_TYPES and kind not in allowed:
        check.error(f"A reference to {kind}, but only {', '.join(allowed)} is allowed", "referenceResource")


def referred_type(reference: JsonObject) -> str:
    """Return the type of resource that a reference shows, in its address or else by name; empty when it shows none."""
    match = _ENDS_WITH_TYPE_AND_ID.search(string(reference, "reference"))
    return match[1] if match else string(reference, "type")
