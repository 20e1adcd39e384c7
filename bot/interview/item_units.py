"""The unit of a question: from the form, or from the text where it stands only there; and how it is called. Pure."""

from __future__ import annotations

from bot.interview.fhir_json import JsonObject, string, translated
from bot.interview.form import Item
from bot.interview.parsing import Unit as ReadableUnit
from bot.interview.parsing import named_unit, stated_unit, unit_name

NUMBERS = frozenset({"integer", "decimal", "quantity"})
_NO_UNIT = frozenset({"1", "{#}"})


def usual_unit(item: Item) -> JsonObject | None:
    """Return the unit that a number is meant in: as the form says, beside the question or in its text."""
    if item.units.usual or item.units.choices:
        return item.units.usual
    if item.type not in NUMBERS:
        return None
    labels = (item.units.label.base, *item.units.label.translations.values())
    texts = (item.text.base, *item.text.translations.values())
    for language in ("de", "en"):
        named = next((unit for label in labels if (unit := named_unit(label, language))), None)
        if named:
            return {"system": named.system, "code": named.code, "display": named.display}
        stated = next((unit for text in texts if (unit := stated_unit(text, language))), None)
        if stated:
            return {"system": stated.system, "code": stated.code}
    return None


def unit_in_words(unit: JsonObject, language: str) -> str:
    """Return what a unit is called; empty for a plain number."""
    code = string(unit, "code")
    if code in _NO_UNIT:
        return ""
    return translated(unit, "display", language) or unit_name(code, language) or code


def readable_unit(unit: JsonObject | None, language: str) -> ReadableUnit | None:
    """Return a unit as the reader of replies takes it."""
    if not unit or string(unit, "code") in _NO_UNIT:
        return None
    name = string(unit, "display") or unit_in_words(unit, language)
    return ReadableUnit(string(unit, "code"), name, string(unit, "system")) if name else None
