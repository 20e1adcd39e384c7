"""Read what an item demands of its answers: limits, units, kinds of files and references. Pure.

Two readings of the same item. The validator takes it as it is written: what FHIR does not know, such as a number as
text, says nothing. The interview takes it as it is meant: a length of "5" is five, and a limit may be a formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from bot.interview.form.form import Bound, Limits, Units
from bot.interview.form.formulas import Scope, read_bound
from bot.interview.form.support import Notes
from bot.interview.form.texts import label_beside
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
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
from bot.interview.values.patterns import bare, is_fhirpath, matcher
from bot.interview.values.terminology import Terminology

_BOUNDED = frozenset({"integer", "decimal", "date", "dateTime", "time", "quantity"})


def read_limits(raw: JsonObject, *, as_meant: bool = False) -> Limits:
    """Read the limits of an item, but for its least and greatest value."""

    def limit(urls: tuple[str, ...]) -> JsonValue:
        found = extension_value(raw, *urls)
        return found.value if found is not None else None

    def codes(urls: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value.value for value in extension_values(raw, *urls) if isinstance(value.value, str))

    count = _whole if as_meant else _integer
    longest = count(raw.get("maxLength"))
    plain = Limits(
        max_length=longest if longest is not None and longest >= 0 else None, one_line=string(raw, "type") == "string"
    )
    if "extension" not in raw:
        return plain
    pattern, size = limit(fhir_names.REGEX), number(limit(fhir_names.MAX_SIZE))
    return replace(
        plain,
        min_length=count(limit(fhir_names.MIN_LENGTH)),
        pattern=pattern if isinstance(pattern, str) else None,
        decimal_places=count(limit(fhir_names.MAX_DECIMAL_PLACES)),
        min_occurs=count(limit(fhir_names.MIN_OCCURS)),
        max_occurs=count(limit(fhir_names.MAX_OCCURS)),
        mime_types=codes(fhir_names.MIME_TYPE),
        max_bytes=int(size) if as_meant and size is not None else size,
        reference_types=codes(fhir_names.REFERENCE_RESOURCE),
    )


def _integer(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _whole(value: JsonValue) -> int | None:
    """Return a whole number, also where the form has it as text."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    found = number(value)
    return int(found) if found is not None and found == found.to_integral_value() and found >= 0 else None


def stated_bounds(raw: JsonObject, kind: str, *, least: bool) -> Iterator[Bound]:
    """Yield the least (or greatest) values that an item states for answers of type `kind`; computed ones are empty."""
    urls = fhir_names.MIN_VALUE if least else fhir_names.MAX_VALUE
    quantities = fhir_names.MIN_QUANTITY if least else fhir_names.MAX_QUANTITY
    found = extensions(raw, *urls, *quantities) if kind == "quantity" else extensions(raw, *urls)
    for extension in found if kind in _BOUNDED else ():
        value = value_of(extension)
        if value is not None:
            yield Bound(fixed=value)
        elif any(companion(extension, name[1:]) for name in extension if name.startswith("_value")):
            yield Bound()


def compile_limits(raw: JsonObject, link_id: str, scope: Scope, notes: Notes) -> Limits:
    """Read the limits of an item as they are meant, and refuse those that cannot be held to."""
    limits = read_limits(raw, as_meant=True)
    if limits.pattern is not None and is_fhirpath(limits.pattern):
        notes.warn(link_id, "regex", "the pattern is FHIRPath; what matches() holds is used")
    if limits.pattern is not None and matcher(bare(limits.pattern)) is None:
        notes.refuse(link_id, "regex", "the pattern cannot be read as a regular expression")
    return replace(
        limits,
        minimum=read_bound(raw, fhir_names.MIN_QUANTITY + fhir_names.MIN_VALUE, link_id, scope, notes),
        maximum=read_bound(raw, fhir_names.MAX_QUANTITY + fhir_names.MAX_VALUE, link_id, scope, notes),
    )


def read_units(raw: JsonObject) -> Units:
    """Read the units of a number: the usual one, those to choose from, and the value set that holds more of them."""
    usual = extension_value(raw, *fhir_names.UNIT)
    value_set, openness = extension_value(raw, *fhir_names.UNIT_VALUE_SET), extension_value(raw, *fhir_names.UNIT_OPEN)
    return Units(
        usual=as_object(usual.value) if usual else None,
        choices=tuple(as_object(value.value) for value in extension_values(raw, *fhir_names.UNIT_OPTION)),
        value_set=value_set.value if value_set is not None and isinstance(value_set.value, str) else "",
        open=openness is not None and openness.value in fhir_names.OPEN_UNITS,
    )


def compile_units(raw: JsonObject, terminology: Terminology, link_id: str, notes: Notes) -> Units:
    """Read the units of a number, those of a value set listed one by one, for people choose from them."""
    stated = read_units(raw)
    choices = stated.choices
    if stated.value_set:
        expansion = terminology.expand(stated.value_set)
        if expansion.missing:
            notes.refuse(link_id, "unitValueSet", "; ".join(expansion.missing))
        choices += tuple(
            {"system": each.system, "code": each.code, "display": each.display or each.code}
            for each in expansion.concepts
        )
    return Units(
        usual=choices[0] if stated.usual is None and len(choices) == 1 else stated.usual,
        choices=choices,
        open=stated.open or not choices,
        label=label_beside(raw, "unit"),
    )


def with_unit(value: int | Decimal, unit: JsonObject | None) -> Answer:
    """Return a number as a quantity in `unit`."""
    made: dict[str, JsonValue] = {"value": value}
    if unit:
        made["unit"] = string(unit, "display") or string(unit, "code")
        made |= {name: unit[name] for name in ("system", "code") if unit.get(name)}
    return Answer("quantity", made)
