"""Read what an answer must keep to: lengths, bounds, number of answers, units. Pure."""

from __future__ import annotations

import re
from decimal import Decimal

from bot.interview import sdc
from bot.interview.answer import Answer, JsonValue
from bot.interview.definition_formulas import Scope, read_bound
from bot.interview.definition_texts import unit_label
from bot.interview.fhir_json import JsonObject, as_object, extension_value, extension_values, number, string
from bot.interview.form import Bound, Limits, Units
from bot.interview.patterns import bare, is_fhirpath, matcher
from bot.interview.terminology import Terminology
from bot.interview.unsupported import Notes

UCUM = "http://unitsofmeasure.org"


def whole(value: JsonValue) -> int | None:
    """Return a whole number, also where the form has it as text."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    found = number(value)
    return int(found) if found is not None and found == found.to_integral_value() and found >= 0 else None


def read_limits(raw: JsonObject, link_id: str, scope: Scope, notes: Notes) -> Limits:
    """Read the limits of an item."""

    def count(urls: tuple[str, ...]) -> int | None:
        found = extension_value(raw, *urls)
        return whole(found.value) if found else None

    def bound(*urls: str) -> Bound | None:
        return read_bound(raw, urls, link_id, scope, notes)

    return Limits(
        minimum=bound(*sdc.MIN_QUANTITY, *sdc.MIN_VALUE),
        maximum=bound(*sdc.MAX_QUANTITY, *sdc.MAX_VALUE),
        min_length=count(sdc.MIN_LENGTH),
        max_length=whole(raw.get("maxLength")),
        pattern=_pattern(raw, link_id, notes),
        decimal_places=count(sdc.MAX_DECIMAL_PLACES),
        min_occurs=count(sdc.MIN_OCCURS),
        max_occurs=count(sdc.MAX_OCCURS),
        mime_types=tuple(_codes(raw, sdc.MIME_TYPE)),
        max_bytes=_size(raw),
        reference_types=tuple(_codes(raw, sdc.REFERENCE_RESOURCE)),
    )


def _codes(raw: JsonObject, urls: tuple[str, ...]) -> list[str]:
    return [value.value for value in extension_values(raw, *urls) if isinstance(value.value, str)]


def _size(raw: JsonObject) -> int | None:
    found = extension_value(raw, *sdc.MAX_SIZE)
    exact = number(found.value) if found else None
    return int(exact) if exact is not None else None


def _pattern(raw: JsonObject, link_id: str, notes: Notes) -> str | None:
    found = extension_value(raw, *sdc.REGEX)
    if found is None or not isinstance(found.value, str):
        return None
    if is_fhirpath(found.value):
        notes.warn(link_id, "regex", "the pattern is FHIRPath; what matches() holds is used")
    pattern = bare(found.value)
    if matcher(pattern) is None:
        notes.refuse(link_id, "regex", "the pattern cannot be read as a regular expression")
        return None
    return pattern


def read_units(raw: JsonObject, terminology: Terminology, link_id: str, notes: Notes) -> Units:
    """Read the units of a number: the usual one and those to choose from."""
    usual = extension_value(raw, *sdc.UNIT)
    choices = [as_object(value.value) for value in extension_values(raw, *sdc.UNIT_OPTION)]
    value_set = extension_value(raw, *sdc.UNIT_VALUE_SET)
    if value_set is not None and isinstance(value_set.value, str):
        choices += _from_value_set(value_set.value, terminology, link_id, notes)
    openness = extension_value(raw, *sdc.UNIT_OPEN)
    return Units(
        usual=as_object(usual.value) if usual else choices[0] if len(choices) == 1 else None,
        choices=tuple(choices),
        open=not choices or (openness is not None and openness.value in sdc.OPEN_UNITS),
        label=unit_label(raw),
    )


def _from_value_set(canonical: str, terminology: Terminology, link_id: str, notes: Notes) -> list[JsonObject]:
    expansion = terminology.expand(canonical)
    if expansion.missing:
        notes.refuse(link_id, "unitValueSet", "; ".join(expansion.missing))
    return [
        {"system": concept.system, "code": concept.code, "display": concept.display or concept.code}
        for concept in expansion.concepts
    ]


def with_unit(value: int | Decimal, unit: JsonObject | None) -> Answer:
    """Return a number as a quantity in `unit`."""
    made: dict[str, JsonValue] = {"value": value}
    if unit:
        made["unit"] = string(unit, "display") or string(unit, "code")
        made |= {name: unit[name] for name in ("system", "code") if unit.get(name)}
    return Answer("quantity", made)
