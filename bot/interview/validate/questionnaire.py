"""Validate a Questionnaire. Pure.

Findings about options, initial values and conditions whose types cannot fit are errors, for such a form can never be
filled as it means to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.interview.validate.structure import check_structure
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, extension_value, number, objects, string, strings, value_of, walk
from bot.interview.values.fhir_names import (
    ANSWER_TYPES,
    CHOICES,
    MAX_OCCURS,
    MAX_VALUE,
    MIN_OCCURS,
    MIN_VALUE,
    ORDERED,
    REGEX,
    RESOURCE_TYPES,
)
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.patterns import matcher
from bot.interview.values.primitives import compare_dates, compare_times

PlacedItem = tuple[JsonObject, Place]


def check_conditions(resource: JsonObject, items: Sequence[PlacedItem], findings: Findings) -> None:
    """Check every enableWhen of a Questionnaire whose items are given in the order of the form."""
    order: dict[str, int] = {}
    by_id: dict[str, JsonObject] = {}
    for index, (item, _) in enumerate(items):
        by_id.setdefault(string(item, "linkId"), item)
        order.setdefault(string(item, "linkId"), index)
    for index, (item, place) in enumerate(items):
        for position, condition in enumerate(objects(item, "enableWhen")):
            here = place.child("enableWhen", position)
            _check_answer(condition, here, findings)
            link_id = string(condition, "question")
            target = by_id.get(link_id)
            if not link_id:
                continue
            if target is None:
                findings.error(here, f"There is no item {link_id!r}", code="not-found", rule="enableWhen-target")
                continue
            _check_position(item, target, here, findings, later=order[link_id] > index)
            _check_fit(condition, target, here, findings)


def _check_answer(condition: JsonObject, place: Place, findings: Findings) -> None:
    answer, operator = value_of(condition, "answer"), string(condition, "operator")
    if operator == "exists" and answer is not None and answer.type != "boolean":
        findings.error(place, "The operator exists needs answerBoolean", code="invariant", rule="que-7")


def _check_position(item: JsonObject, target: JsonObject, place: Place, findings: Findings, *, later: bool) -> None:
    if target is item:
        findings.error(place, "An item cannot depend on itself", code="business-rule", rule="enableWhen-self")
    elif any(inner is target for inner in walk(objects(item, "item"))):
        text = "An item cannot depend on an item inside it"
        findings.error(place, text, code="business-rule", rule="enableWhen-inner")
    elif later:
        text = "The item that this one depends on comes later"
        findings.warning(place, text, code="business-rule", rule="enableWhen-after")


def _check_fit(condition: JsonObject, target: JsonObject, place: Place, findings: Findings) -> None:
    """Check that an answer of the target can be compared with the condition's."""
    kind, operator, answer = string(target, "type"), string(condition, "operator"), value_of(condition, "answer")
    possible = set(possible_answers(target))
    if kind in {"group", "display", "question"}:
        findings.warning(place, f"An item of type {kind} has no answers", code="business-rule", rule="enableWhen-type")
        return
    if answer is None or operator == "exists" or not possible:
        return
    if answer.type not in possible:
        text = f"answer{_capital(answer)} can never match an answer of an item of type {kind}"
        findings.error(place, text, code="value", rule="enableWhen-type")
    elif operator in {">", "<", ">=", "<="} and answer.type not in ORDERED:
        text = f"The operator {operator} does not fit values of type {answer.type}"
        findings.error(place, text, code="value", rule="enableWhen-operator")


def _capital(answer: Answer) -> str:
    return answer.type[:1].upper() + answer.type[1:]


def possible_answers(item: JsonObject) -> Iterator[str]:
    """Yield the types of value that answers to an item can have, as far as its options tell."""
    kind = string(item, "type")
    options = [value.type for each in objects(item, "answerOption") if (value := value_of(each)) is not None]
    if kind not in CHOICES:
        # A url is a uri in answers, but conditions have no answerUri: they say it as a string.
        yield from ANSWER_TYPES.get(kind, ())
        yield from ("string",) if kind == "url" else ()
    elif options:
        yield from options
        yield from ("string",) if kind == "open-choice" else ()
    else:
        yield from ("coding", "string") if kind == "open-choice" else ("coding",)


_SIMPLE = ("boolean", "decimal", "integer", "string", "text", "url", "open-choice")
_WITH_OPTIONS = (*CHOICES, "decimal", "integer", "date", "dateTime", "time", "string", "quantity")
_NAME = re.compile("[A-Z][A-Za-z0-9_]{0,254}")


@dataclass(frozen=True, slots=True)
class Placed:
    """An item of the Questionnaire and where it stands."""

    item: JsonObject
    place: Place


def check_questionnaire(resource: JsonObject) -> list[Finding]:
    """Return everything that is wrong with a Questionnaire; an empty list when it is fine."""
    findings = Findings()
    root = check_structure(resource, findings)
    items = list(placed_items(resource, root))
    _check_head(resource, root, findings)
    _check_link_ids(items, root, findings)
    contained = {"#" + string(each, "id") for each in objects(resource, "contained")}
    for placed in items:
        _check_type(placed, findings)
        _check_item(placed, findings)
        _check_options(placed, contained, findings)
        _check_limits(placed, findings)
    check_conditions(resource, [(placed.item, placed.place) for placed in items], findings)
    return findings.all()


def placed_items(resource: JsonObject, root: Place) -> Iterator[Placed]:
    """Yield every item with its place, in the order of the form."""
    pending = [Placed(item, place) for item, place in _children(resource, root)][::-1]
    while pending:
        placed = pending.pop()
        yield placed
        pending.extend([Placed(item, place) for item, place in _children(placed.item, placed.place)][::-1])


def _children(parent: JsonObject, place: Place) -> Iterator[tuple[JsonObject, Place]]:
    found = parent.get("item")
    for index, child in enumerate(found if isinstance(found, list) else ()):
        if isinstance(child, dict):
            yield child, place.child("item", index)


def _check_head(resource: JsonObject, root: Place, findings: Findings) -> None:
    name = string(resource, "name")
    if name and not _NAME.fullmatch(name):
        text = "The name should start with a capital letter and hold letters, digits and _ only"
        findings.warning(root.child("name"), text, code="invariant", rule="que-0")
    for index, kind in enumerate(strings(resource, "subjectType")):
        if kind not in RESOURCE_TYPES:
            text = "A subject type that is no resource type of R4"
            findings.error(root.child("subjectType", index), text, code="code-invalid", rule="binding")


def _check_link_ids(items: list[Placed], root: Place, findings: Findings) -> None:
    counts = Counter(string(placed.item, "linkId") for placed in items)
    for link_id, count in counts.items():
        if link_id and count > 1:
            text = f"The linkId {link_id!r} is used {count} times"
            findings.error(root, text, code="invariant", rule="que-2")


def _check_item(placed: Placed, findings: Findings) -> None:
    """Check the invariants that concern one item alone."""
    item, kind = placed.item, string(placed.item, "type")
    for rule, broken, text in _invariants(item, kind):
        if broken:
            findings.error(placed.place, text, code="invariant", rule=rule)


def _check_type(placed: Placed, findings: Findings) -> None:
    if placed.item.get("type") == "question":
        text = "The type question is abstract: nothing can be answered"
        findings.warning(placed.place.child("type"), text, code="code-invalid", rule="abstract-type")


def _invariants(item: JsonObject, kind: str) -> Iterator[tuple[str, bool, str]]:
    has = item.keys()
    display = kind == "display"
    yield "que-1", kind == "group" and "item" not in has, "A group needs items"
    yield "que-1", display and "item" in has, "A display item must not have items"
    yield "que-3", display and "code" in has, "A display item must not have a code"
    both = "answerOption" in has and "answerValueSet" in has
    yield "que-4", both, "answerOption and answerValueSet exclude each other"
    options = "answerOption" in has or "answerValueSet" in has
    yield "que-5", options and kind not in _WITH_OPTIONS, f"An item of type {kind!r} must not have options"
    yield "que-6", display and bool(has & {"required", "repeats"}), "A display item is neither required nor repeats"
    unasked = kind in {"group", "display"}
    yield "que-8", unasked and "initial" in has, f"An item of type {kind!r} must not have an initial value"
    yield "que-9", display and "readOnly" in has, "A display item must not say readOnly"
    yield "que-10", "maxLength" in has and kind not in _SIMPLE, f"maxLength does not fit the type {kind!r}"
    yield (
        "que-11",
        "answerOption" in has and "initial" in has,
        "With answerOption, initialSelected takes initial's place",
    )
    many = len(objects(item, "enableWhen"))
    yield "que-12", many > 1 and "enableBehavior" not in has, f"{many} enableWhen need an enableBehavior"
    initials = len(objects(item, "initial"))
    yield "que-13", initials > 1 and item.get("repeats") is not True, f"{initials} initial values, but no repeats"


def _check_options(placed: Placed, contained: set[str], findings: Findings) -> None:
    item, kind = placed.item, string(placed.item, "type")
    fitting = ANSWER_TYPES.get(kind)
    if fitting is None:
        return
    for name in ("answerOption", "initial"):
        for index, each in enumerate(objects(item, name)):
            value = value_of(each)
            allowed = fitting if name == "initial" or kind in _WITH_OPTIONS else ()
            if value is not None and allowed and value.type not in allowed:
                text = f"A value of type {value.type} does not fit an item of type {kind}"
                findings.error(placed.place.child(name, index), text, code="value", rule=f"{name}-type")
    value_set = string(item, "answerValueSet")
    if value_set.startswith("#") and value_set not in contained:
        findings.error(placed.place, f"The value set {value_set} is not contained", code="not-found", rule="value-set")
    if kind == "choice" and not item.keys() & {"answerOption", "answerValueSet", "extension"}:
        findings.information(placed.place, "A choice without options", code="business-rule", rule="no-options")


def _check_limits(placed: Placed, findings: Findings) -> None:
    item, place = placed.item, placed.place
    pattern = extension_value(item, *REGEX)
    if pattern is not None and isinstance(pattern.value, str) and matcher(pattern.value) is None:
        findings.warning(place, "The regex cannot be read", code="value", rule="regex")
    for low_urls, high_urls, what in ((MIN_VALUE, MAX_VALUE, "value"), (MIN_OCCURS, MAX_OCCURS, "occurrence")):
        low, high = extension_value(item, *low_urls), extension_value(item, *high_urls)
        if low is not None and high is not None and _above(low.value, high.value):
            findings.warning(place, f"The least {what} is above the greatest", code="value", rule="limits")


def _above(low: JsonValue, high: JsonValue) -> bool:
    if isinstance(low, str) and isinstance(high, str):
        return "after" in {compare_dates(low, high), compare_times(low, high)}
    one, other = number(low), number(high)
    return one is not None and other is not None and one > other
