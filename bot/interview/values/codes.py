"""A listed option as an answer repeats it, and what tells one code from another. Pure.

Interview and validator both read options by this: many published forms have codes as numbers, empty displays, or spaces
around a code, none of which an answer may repeat.
"""

from __future__ import annotations

import re

from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, as_object

_CODING = ("system", "version", "code", "display")
_REFERENCE = ("reference", "type", "identifier", "display")
_WHOLE = re.compile(r"-?[0-9]{1,10}")


def repeatable(option: Answer, kind: str) -> Answer:
    """Return the answer that chooses an option of an item of type `kind`.

    What belongs to the form (translations, scores) is left out, and so is what no answer may hold.
    """
    value = option.value
    if option.type == "coding":
        return Answer("coding", _coding(as_object(value)))
    if isinstance(value, dict):
        kept = {name: child for name, child in value.items() if name != "extension" and not name.startswith("_")}
        if option.type == "reference":
            kept = {name: kept[name] for name in _REFERENCE if kept.get(name)}
        return Answer(option.type, kept)
    if option.type == "integer" and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value)
    # R4 has no decimal and no dateTime options: items of these types list integers and dates.
    retyped = {("integer", "decimal"): "decimal", ("date", "dateTime"): "dateTime"}.get((option.type, kind))
    return Answer(retyped or option.type, value)


def _coding(value: JsonObject) -> dict[str, JsonValue]:
    said = {"system": code_key(value)[0], "version": _text(value, "version"), "code": code_key(value)[1]}
    display = _text(value, "display")
    made: dict[str, JsonValue] = {name: said.get(name, display) for name in _CODING if said.get(name, display)}
    if isinstance(value.get("userSelected"), bool):
        made["userSelected"] = value["userSelected"]
    return made


def code_key(coding: JsonObject) -> tuple[str, str]:
    """Return system and code, without the spaces that FHIR does not allow in them."""
    return "".join(_text(coding, "system").split()), " ".join(_text(coding, "code").split())


def _text(value: JsonObject, name: str) -> str:
    found = value.get(name)
    if isinstance(found, bool) or found is None or isinstance(found, dict | list):
        return ""
    return str(found).strip()
