"""Validate a Questionnaire. Pure.

Findings about options, initial values and conditions whose types cannot fit are errors, for such a form can never be
filled as it means to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bot.interview.form.indexed import read_stated
from bot.interview.rules.answers import is_option, stated_errors
from bot.interview.validate.structure import check_structure, contained_at, contained_types
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    extension_value,
    extensions,
    number,
    objects,
    string,
    strings,
    value_name,
    value_of,
    walk,
)
from bot.interview.values.fhir_names import (
    ANSWER_EXPRESSION,
    ANSWER_TYPES,
    CHOICES,
    MAX_OCCURS,
    MAX_VALUE,
    MIN_LENGTH,
    MIN_OCCURS,
    MIN_VALUE,
    ORDERED,
    REGEX,
    RESOURCE_TYPES,
)
from bot.interview.values.finding import Finding, Findings, Place
from bot.interview.values.patterns import matcher
from bot.interview.values.primitives import PRIMITIVES, compare_dates, compare_times, problem_with, relate
from bot.interview.values.terminology import Terminology

_SIMPLE = ("boolean", "decimal", "integer", "string", "text", "url", "open-choice")
_WITH_OPTIONS = (*CHOICES, "decimal", "integer", "date", "dateTime", "time", "string", "quantity")
_NAME = re.compile("[A-Z][A-Za-z0-9_]{0,254}")


def check_questionnaire(resource: JsonObject) -> list[Finding]:
    """Return everything that is wrong with a Questionnaire; an empty list when it is fine."""
    findings = Findings(resource)
    root = check_structure(resource, findings)
    _check_form(resource, root, contained_types(resource), findings)
    check_contained_forms(resource, root, findings)
    return findings.all()


def check_contained_forms(resource: JsonObject, root: Place, findings: Findings) -> None:
    """Check the Questionnaires that a resource contains; their structure has been checked with that of the resource."""
    for place, inner in contained_at(resource, root, "Questionnaire"):
        _check_form(inner, place, contained_types(resource), findings)


def _check_form(resource: JsonObject, root: Place, contained: Mapping[str, str], findings: Findings) -> None:
    items = list(_placed_items(resource, root))
    _check_head(resource, root, findings)
    for link_id, count in Counter(string(item, "linkId") for item, _ in items).items():
        if link_id and count > 1:
            text = f"The linkId {link_id[:120]!r} is used {count} times"
            findings.error(root.about(link_id), text, code="invariant", rule="que-2")
    for item, place in items:
        if item.get("type") == "question":
            text = "The type question is abstract: nothing can be answered"
            findings.warning(place.child("type"), text, code="code-invalid", rule="abstract-type")
        for rule, is_broken, text in _invariants(item, string(item, "type")):
            if is_broken:
                findings.error(place, text, code="invariant", rule=rule)
        _check_options(item, place, contained, findings)
        _check_limits(item, place, findings)
        _check_initial(item, place, findings)
    _check_conditions(items, findings)


def _placed_items(resource: JsonObject, root: Place) -> Iterator[tuple[JsonObject, Place]]:
    """Yield every item with its place, in the order of the form."""
    pending = [(resource, root)]
    while pending:
        parent, place = pending.pop()
        if parent is not resource:
            yield parent, place
        found = parent.get("item")
        inside = enumerate(found if isinstance(found, list) else ())
        children = [(child, place.child("item", index)) for index, child in inside if isinstance(child, dict)]
        pending.extend(reversed(children))


def _check_head(resource: JsonObject, root: Place, findings: Findings) -> None:
    name = string(resource, "name")
    if name and not _NAME.fullmatch(name):
        text = "The name should start with a capital letter and hold letters, digits and _ only"
        findings.warning(root.child("name"), text, code="invariant", rule="que-0")
    url = string(resource, "url")
    if url and (":" not in url or "|" in url or "#" in url):
        text = "The url should be absolute, without | and #: others name it with its version after a |"
        findings.warning(root.child("url"), text, code="invariant", rule="canonical")
    for index, kind in enumerate(strings(resource, "subjectType")):
        if kind not in RESOURCE_TYPES:
            text = "A subject type that is no resource type of R4"
            findings.error(root.child("subjectType", index), text, code="code-invalid", rule="binding")


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


def _check_options(item: JsonObject, place: Place, contained: Mapping[str, str], findings: Findings) -> None:
    kind = string(item, "type")
    fitting = ANSWER_TYPES.get(kind)
    if fitting is None:
        return
    for name in ("answerOption", "initial"):
        for index, each in enumerate(objects(item, name)):
            value = value_of(each)
            allowed = fitting if name == "initial" or kind in _WITH_OPTIONS else ()
            if value is not None and allowed and value.type not in allowed:
                text = f"A value of type {value.type} does not fit an item of type {kind}"
                findings.error(place.child(name, index), text, code="value", rule=f"{name}-type")
    value_set = string(item, "answerValueSet")
    if value_set.startswith("#") and contained.get(value_set[1:]) != "ValueSet":
        text = f"The value set {value_set[:80]} is not contained"
        findings.error(place.child("answerValueSet"), text, code="not-found", rule="value-set")
    listed = read_stated(item).options if "answerOption" in item else ()
    for index, (answer, _) in enumerate(listed):
        if any(is_option(answer, earlier) for _, earlier in listed[:index]):
            text = "The same option is there twice"
            findings.warning(place.child("answerOption", index), text, code="business-rule", rule="answerOption-twice")
    chosen = sum(each.get("initialSelected") is True for each in objects(item, "answerOption"))
    if chosen > 1 and item.get("repeats") is not True:
        text = f"{chosen} options are selected at first, but the item does not repeat"
        findings.warning(place, text, code="business-rule", rule="initialSelected")
    if kind == "choice" and not item.keys() & {"answerOption", "answerValueSet", "extension"}:
        findings.information(place, "A choice without options", code="business-rule", rule="no-options")


def _check_limits(item: JsonObject, place: Place, findings: Findings) -> None:
    pattern = extension_value(item, *REGEX)
    if pattern is not None and isinstance(pattern.value, str) and matcher(pattern.value) is None:
        findings.warning(place, "The regex cannot be read", code="value", rule="regex")
    shortest, longest = extension_value(item, *MIN_LENGTH), item.get("maxLength")
    if shortest is not None and _above(shortest.value, longest):
        findings.warning(place, "minLength is above maxLength", code="value", rule="limits")
    if isinstance(longest, int) and not isinstance(longest, bool) and longest <= 0:
        text = "With this maxLength nothing can be answered"
        findings.warning(place.child("maxLength"), text, code="value", rule="limits")
    for low_urls, high_urls, what in ((MIN_VALUE, MAX_VALUE, "value"), (MIN_OCCURS, MAX_OCCURS, "occurrence")):
        low, high = extension_value(item, *low_urls), extension_value(item, *high_urls)
        if low is not None and high is not None and _above(low.value, high.value):
            findings.warning(place, f"The least {what} is above the greatest", code="value", rule="limits")


_OF_VALUES = frozenset(
    {"maxLength", "minLength", "regex", "minValue", "maxValue", "minQuantity", "maxQuantity", "maxDecimalPlaces"}
)


def _check_initial(item: JsonObject, place: Place, findings: Findings) -> None:
    """Check initial values against the limits of their item: nobody could leave them as they are."""
    if "initial" not in item or string(item, "type") in CHOICES:
        return
    stated = read_stated(item)
    for index, each in enumerate(objects(item, "initial")):
        value = value_of(each)
        if value is None or value.type not in ANSWER_TYPES.get(stated.type, ()) or not _well_formed(value):
            continue
        for rule in {rule for rule in stated_errors(stated, value, Terminology()) if rule in _OF_VALUES}:
            text = f"The initial value breaks the item's own {rule}"
            findings.warning(place.child("initial", index), text, code="business-rule", rule="initial-value")


def _well_formed(value: Answer) -> bool:
    return value.type not in PRIMITIVES or not problem_with(value.type, value.value)


def _above(low: JsonValue, high: JsonValue) -> bool:
    if isinstance(low, str) and isinstance(high, str):
        return "after" in {compare_dates(low, high), compare_times(low, high)}
    one, other = number(low), number(high)
    return one is not None and other is not None and one > other


def _check_conditions(items: Sequence[tuple[JsonObject, Place]], findings: Findings) -> None:
    """Check every enableWhen of a Questionnaire whose items are given in the order of the form."""
    first: dict[str, tuple[int, JsonObject]] = {}
    for index, (item, _) in enumerate(items):
        first.setdefault(string(item, "linkId"), (index, item))
    for index, (item, place) in enumerate(items):
        for position, condition in enumerate(objects(item, "enableWhen")):
            here, link_id = place.child("enableWhen", position), string(condition, "question")
            answer = value_of(condition, "answer")
            if string(condition, "operator") == "exists" and answer is not None and answer.type != "boolean":
                findings.error(here, "The operator exists needs answerBoolean", code="invariant", rule="que-7")
            if link_id and link_id not in first:
                findings.error(here, f"There is no item {link_id!r}", code="not-found", rule="enableWhen-target")
            elif link_id:
                number, target = first[link_id]
                _check_position(item, target, here, findings, later=number > index)
                _check_fit(condition, target, here, findings)


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
    possible = set(_possible_answers(target))
    if kind in {"group", "display", "question"}:
        findings.warning(place, f"An item of type {kind} has no answers", code="business-rule", rule="enableWhen-type")
        return
    if answer is None or operator == "exists" or not possible:
        return
    if answer.type not in possible:
        name = value_name(answer.type, "answer")
        text = f"{name} can never match an answer of an item of type {kind}"
        findings.error(place, text, code="value", rule="enableWhen-type")
    elif operator == "=" and kind == "choice" and _is_no_option(answer, target):
        text = "The answer that this waits for is none of the options of its item"
        findings.warning(place, text, code="business-rule", rule="enableWhen-option")
    elif operator in {">", "<", ">=", "<="} and answer.type not in ORDERED:
        text = f"The operator {operator} does not fit values of type {answer.type}"
        findings.error(place, text, code="value", rule="enableWhen-operator")


def _is_no_option(answer: Answer, target: JsonObject) -> bool:
    """Say whether an answer cannot be chosen from the options of a choice; computed options may hold anything."""
    listed = read_stated(target).options if "answerOption" in target else ()
    computed = any(extensions(target, *ANSWER_EXPRESSION))
    return bool(listed) and not computed and all(relate(answer, option) != "same" for _, option in listed)


def _possible_answers(item: JsonObject) -> Iterator[str]:
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
