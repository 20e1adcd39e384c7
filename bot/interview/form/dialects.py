"""A Questionnaire in the words of R4, where it has those of STU3, of R5 or of a careless editor. Pure.

Only what can mean but one thing is read so: a type in capitals, a linkId as a number, R5's `coding`, STU3's `option`.
Interview and validator read a form alike (`in_r4`); `differences` names to its author what was read otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    objects,
    plain,
    string,
    value_name,
    value_of,
    values_of,
    walk,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES

_TYPES = {**{kind.lower(): kind for kind in ANSWER_TYPES}, "open_choice": "open-choice", "openchoice": "open-choice"}
_PROPERTIES = frozenset(
    [
        "id",
        "extension",
        "modifierExtension",
        "linkId",
        "definition",
        "code",
        "prefix",
        "_prefix",
        "text",
        "_text",
        "type",
        "enableWhen",
        "enableBehavior",
        "required",
        "repeats",
        "readOnly",
        "maxLength",
        "_maxLength",
        "answerValueSet",
        "answerOption",
        "initial",
        "item",
    ]
)
# R5: what may be answered beside the options. Without it, only they may.
_OPEN = frozenset({"optionsOrType", "optionsOrString"})


def in_r4(raw: JsonObject) -> JsonObject:
    """Return a Questionnaire as R4 has it; the same object where nothing differs."""
    if _is_plain_r4(raw.get("item")):
        return raw
    older = _is_older(raw)
    if not any(_own(item, older) != item for item in walk(objects(raw, "item"))):
        return raw
    return {**raw, "item": [_item(each, older) for each in objects(raw, "item")]}


def differences(raw: JsonObject) -> Iterator[tuple[str, str, str]]:
    """Yield what of a Questionnaire is read otherwise than written: linkId, property, and how it is read."""
    older = _is_older(raw)
    numbers = sum(_own(item, older).get("linkId") != item.get("linkId") for item in walk(objects(raw, "item")))
    if numbers:
        yield "", "linkId", f"those that are no texts are read as such: {numbers}"
    for item in walk(objects(raw, "item")):
        made = _own(item, older)
        link_id = plain(item, "linkId")
        if made.get("type") != item.get("type"):
            written = repr(string(item, "type")) + " is none of R4" if item.get("type") else "it is missing"
            yield link_id, "type", f"{written}; read as {string(made, 'type')!r}"
        for name, meant in (("option", "answerOption"), ("options", "answerValueSet")):
            if name in item and meant in made and meant not in item:
                yield link_id, name, f"R4 has no such property; read as {meant}"
        if "initial" in made and "initial" not in item:
            yield link_id, "initial", "it is written as in STU3; read as R4 has it"
        if made.get("enableWhen") != item.get("enableWhen"):
            yield link_id, "enableWhen", "a condition is not written as R4 has it; read as it is meant"


def why_empty(raw: JsonObject) -> str:
    """Say why a Questionnaire without items has none."""
    if isinstance(raw.get("group"), dict | list) or "question" in raw:
        return "it has no items, but group and question as in DSTU2; convert it to R4"
    return "it has no items, so there is nothing to ask"


def _is_plain_r4(items: JsonValue) -> bool:
    """Say whether items, and all inside them, are such that nothing need be looked at: nearly all are."""
    pending = [items]
    while pending:
        listed = pending.pop()
        for item in listed if isinstance(listed, list) else ():
            if not isinstance(item, dict):
                continue
            kind, conditions = item.get("type"), item.get("enableWhen")
            known = isinstance(kind, str) and kind in ANSWER_TYPES and isinstance(item.get("linkId"), str)
            if not (known and item.keys() <= _PROPERTIES):
                return False
            for each in conditions if isinstance(conditions, list) else ():
                if isinstance(each, dict) and not ("operator" in each and isinstance(each.get("question"), str)):
                    return False
            if "item" in item:
                pending.append(item["item"])
    return True


def _is_older(raw: JsonObject) -> bool:
    """Say whether no condition of a form has an operator: it is of STU3, where that meant "equals"."""
    return not any("operator" in each for item in walk(objects(raw, "item")) for each in objects(item, "enableWhen"))


def _item(item: JsonObject, older: bool) -> JsonValue:
    made = dict(_own(item, older))
    if "item" in made:
        made["item"] = [_item(each, older) for each in objects(item, "item")]
    return made


def _own(item: JsonObject, older: bool) -> JsonObject:
    """Return an item as R4 has it, but for the items inside; `older`: see `_is_older`."""
    changed: dict[str, JsonValue] = {}
    if not isinstance(item.get("linkId"), str) and plain(item, "linkId"):
        changed["linkId"] = plain(item, "linkId")
    kind = _type_of(item)
    if kind != string(item, "type"):
        changed["type"] = kind
    if kind in CHOICES and "answerOption" not in item and objects(item, "option"):
        changed["answerOption"] = item["option"]
    named = item.get("options")
    value_set = named if isinstance(named, str) else string(as_object(named), "reference")
    if kind in CHOICES and "answerValueSet" not in item and value_set:
        changed["answerValueSet"] = value_set
    if "initial" not in item and (initial := next(values_of(item, "initial"), None)) is not None:
        changed["initial"] = [{value_name(initial.type): initial.value}]
    conditions = objects(item, "enableWhen")
    meant: list[JsonValue] = [dict(_condition(each, older)) for each in conditions]
    if meant != conditions:
        changed["enableWhen"] = meant
    return {**item, **changed} if changed else item


def _type_of(item: JsonObject) -> str:
    kind = string(item, "type")
    if kind in ANSWER_TYPES:
        return kind
    written = kind.strip().lower()
    if not written and (objects(item, "answerOption") or string(item, "answerValueSet")):
        return "choice"
    if written == "coding":
        return "open-choice" if item.get("answerConstraint") in _OPEN else "choice"
    return str(_TYPES.get(written, kind))


def _condition(condition: JsonObject, older: bool) -> JsonObject:
    changed: dict[str, JsonValue] = {}
    if not isinstance(condition.get("question"), str) and plain(condition, "question"):
        changed["question"] = plain(condition, "question")
    if "operator" not in condition and isinstance(condition.get("hasAnswer"), bool):
        changed |= {"operator": "exists", "answerBoolean": condition["hasAnswer"]}
    elif older and value_of(condition, "answer") is not None:
        changed["operator"] = "="
    return {**condition, **changed} if changed else condition
