"""What an item demands of its answers: number, length, pattern, range, decimals, unit, file, reference. Pure.

A rule takes an item, compiled or as it is written, and yields violations: neutral facts, which the interview maps to
problems (`rules/answers.py`) and the validator words as findings (`validate/wording.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from bot.interview.form.form import Item, Units
from bot.interview.form.indexed import IndexedItem
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.codes import code_key
from bot.interview.values.comparing import Relation, relate, relate_quantities
from bot.interview.values.fhir_json import JsonObject, as_object, number, string, translations
from bot.interview.values.fhir_names import RESOURCE_TYPES
from bot.interview.values.finding import Severity
from bot.interview.values.patterns import fits_pattern
from bot.interview.values.primitives import base64_size
from bot.interview.values.terminology import Member, Terminology
from bot.interview.values.units import UCUM, known

AnyItem = Item | IndexedItem


@dataclass(frozen=True, slots=True)
class Violation:
    """A demand that is not met, or of which it cannot be told whether it is.

    Attributes:
        rule: As findings name it: maxLength, regex, unitOption.
        severity: error: not met. warning: it cannot be told, or is doubtful. information: not looked at.
        how: In which way, where there are several.
        values: What a message needs, such as ``limit``, ``given`` and ``allowed``.
    """

    rule: str
    severity: Severity = "error"
    how: str = ""
    values: Mapping[str, JsonValue | Answer] = field(default_factory=dict)


def broken(rule: str, how: str = "", **values: JsonValue | Answer) -> Violation:
    """Return the violation of a demand that is not met."""
    return Violation(rule, "error", how, values)


def doubtful(rule: str, how: str = "", **values: JsonValue | Answer) -> Violation:
    """Return the violation of a demand of which it cannot be told whether it is met."""
    return Violation(rule, "warning", how, values)


def check_number(item: AnyItem, given: int) -> Iterator[Violation]:
    """Check how many answers there are, or instances of a group."""
    least, most = item.limits.min_occurs, item.limits.max_occurs
    if given == 0 and item.required:
        yield broken("required")
    if given > 1 and not item.repeats:
        yield broken("repeats", limit=1, given=given)
    if least is not None and given < least:
        yield broken("minOccurs", limit=least, given=given)
    if most is not None and given > most:
        yield broken("maxOccurs", limit=most, given=given)


def check_text(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check how long a text is, and that a one-line question gets one line."""
    limits, text = item.limits, answer.value
    if answer.type not in {"string", "uri"} or not isinstance(text, str):
        return
    if limits.max_length is not None and len(text) > limits.max_length:
        yield broken("maxLength", limit=limits.max_length, given=len(text))
    if limits.one_line and ("\n" in text or "\r" in text):
        yield doubtful("line-break")
    if limits.min_length is not None and len(text) < limits.min_length:
        yield broken("minLength", limit=limits.min_length, given=len(text))


def check_pattern(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check the form of an answer."""
    if item.limits.pattern is None:
        return
    fits = fits_pattern(item.limits.pattern, answer, item.raw)
    if fits is None:
        yield doubtful("regex", "not checked")
    elif not fits:
        yield broken("regex")


def check_bound(answer: Answer, bound: Answer, *, least: bool) -> Iterator[Violation]:
    """Check an answer against a least (or greatest) value."""
    rule = ("min" if least else "max") + ("Quantity" if answer.type == "quantity" else "Value")
    beyond: Relation = "before" if least else "after"
    if answer.type == "quantity":
        how = _stands(answer, bound, beyond)
    else:
        relation = relate(answer, bound)
        # A date known in part may lie on either side of the limit: nobody can ask for more than is known.
        how = "beyond" if relation == beyond else "unknown" if relation in {"different", "unknown"} else ""
    if how in {"beyond", "no code", "other kind"}:
        yield broken(rule, how, limit=bound, answer=answer)
    elif how:
        yield doubtful(rule, how, limit=bound, answer=answer)


def _stands(answer: Answer, bound: Answer, beyond: Relation) -> str:
    """Say why a quantity is not within a limit, or cannot be compared with it; empty when it is within."""
    given, limit = as_object(answer.value), as_object(bound.value)
    if bound.type != "quantity":
        return "no unit"
    if not all(string(side, "system") and string(side, "code") for side in (given, limit)):
        return "no code"
    relation = relate_quantities(answer, bound)
    if relation == beyond:
        return "beyond"
    if relation != "unknown" or number(given.get("value")) is None:
        return ""
    # Of codes outside UCUM it is only known that they differ.
    readable = all(string(side, "system") != UCUM or known(string(side, "code")) for side in (given, limit))
    return "other kind" if readable else "unknown unit"


def check_decimal_places(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check how many decimal places a number has as it is written."""
    most = item.limits.decimal_places
    value = number(as_object(answer.value).get("value") if answer.type == "quantity" else answer.value)
    if most is None or value is None or answer.type not in {"decimal", "quantity"}:
        return
    exponent = value.as_tuple().exponent
    given = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if given > most:
        yield broken("maxDecimalPlaces", limit=most, given=given, answer=Answer("decimal", value))


def check_unit(units: Units, quantity: JsonObject, known_codes: Terminology) -> Iterator[Violation]:
    """Check that the unit is one to choose from, or in the value set: where a form states both, either will do."""
    if units.open or any(unit_fits(quantity, each) for each in units.choices):
        return
    unit = string(quantity, "code") or "without code"
    if units.value_set:
        if known_codes.value_set(units.value_set) is None:
            yield doubtful("unitValueSet", "not at hand", value_set=units.value_set)
            return
        system, code = string(quantity, "system"), string(quantity, "code")
        member = known_codes.member(units.value_set, system=system, code=code) if system and code else Member.NO
        if member is Member.NO:
            yield broken("unitValueSet", unit=unit, value_set=units.value_set)
        elif member is Member.UNKNOWN:
            yield doubtful("unitValueSet", "unknown", value_set=units.value_set)
    elif units.choices:
        allowed: list[JsonValue] = [string(each, "display") or string(each, "code") for each in units.choices]
        yield broken("unitOption", unit=unit, allowed=allowed)


def unit_fits(quantity: JsonObject, option: JsonObject) -> bool:
    """Compare what the option states; its display, or a translation of it, is the unit as people read it."""
    if any(string(option, name) not in {"", string(quantity, name)} for name in ("system", "code")):
        return False
    names = {string(option, "display"), *translations(option, "display").values()}
    return names == {""} or string(quantity, "unit") in names


def in_listed_unit(quantity: JsonObject, options: Sequence[JsonObject]) -> dict[str, JsonValue]:
    """Return a quantity with its unit as the form writes it, where the form lists the same code under another text."""
    same = [option for option in options if string(option, "code") and code_key(option) == code_key(quantity)]
    if not same or any(unit_fits(quantity, option) for option in options):
        return dict(quantity)
    return {**quantity, "unit": string(same[0], "display")}


def check_attachment(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check content type and size. The actual size counts where the data are there, else the stated one."""
    if answer.type != "attachment":
        return
    limits, value = item.limits, as_object(answer.value)
    kind, content = string(value, "contentType"), value.get("data")
    if limits.mime_types and not any(_mime_fits(kind, pattern) for pattern in limits.mime_types if kind):
        yield broken("mimeType", "" if kind else "missing", given=kind, allowed=list(limits.mime_types))
    size: int | Decimal | None = base64_size(content) if isinstance(content, str) else number(value.get("size"))
    if limits.max_bytes is not None and size is not None and size > limits.max_bytes:
        yield broken("maxSize", limit=limits.max_bytes, given=size)


def _mime_fits(kind: str, pattern: str) -> bool:
    """Compare media types: ``image/*`` fits any image; parameters such as a character set are left out."""
    plain, wanted = (text.partition(";")[0].strip().lower() for text in (kind, pattern))
    return wanted in {plain, "*/*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


_ID = r"[A-Za-z0-9\-.]{1,64}"
_ENDS_WITH_TYPE_AND_ID = re.compile(rf"(?:^|/)([A-Za-z]+)/{_ID}(?:/_history/{_ID})?$")
_RELATIVE = re.compile(rf"[A-Za-z]+/{_ID}(?:/_history/{_ID})?")


def check_reference(item: AnyItem, answer: Answer) -> Iterator[Violation]:
    """Check the type of what is referred to, as far as the reference shows it: in its address, or else by name."""
    if answer.type != "reference":
        return
    reference, allowed = as_object(answer.value), item.limits.reference_types
    target = string(reference, "reference")
    match = _ENDS_WITH_TYPE_AND_ID.search(target)
    kind = match[1] if match else string(reference, "type")
    if _RELATIVE.fullmatch(target) and kind not in RESOURCE_TYPES:
        yield broken("reference-type", given=kind)
    elif allowed and kind in RESOURCE_TYPES and kind not in allowed:
        yield broken("referenceResource", given=kind, allowed=list(allowed))
