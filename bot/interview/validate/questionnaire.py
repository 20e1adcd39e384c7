"""Validate a Questionnaire. Pure.

Findings about options, initial values and conditions whose types cannot fit are errors, for such a form can never be
filled as it means to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bot.interview.form.indexed import is_true, read_stated
from bot.interview.rules.answers import is_option, measures_else, stated_errors
from bot.interview.validate.structure import check_structure, contained_at, contained_types
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
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
    ENABLE_WHEN_EXPRESSION,
    EXTENSION_ITEMS,
    EXTENSION_TYPES,
    MAX_DECIMAL_PLACES,
    MAX_OCCURS,
    MAX_QUANTITY,
    MAX_SIZE,
    MAX_VALUE,
    MIN_LENGTH,
    MIN_OCCURS,
    MIN_QUANTITY,
    MIN_VALUE,
    ORDERED,
    REGEX,
    RESOURCE_TYPES,
    SLIDER_STEP,
    UNIT,
)
from bot.interview.values.finding import Finding, Findings, Place, Severity
from bot.interview.values.patterns import matcher
from bot.interview.values.primitives import (
    PRIMITIVES,
    comparable,
    compare_dates,
    compare_times,
    problem_with,
    relate,
    relate_quantities,
)
from bot.interview.values.terminology import Member, Terminology, could_be_code

_SIMPLE = ("boolean", "decimal", "integer", "string", "text", "url", "open-choice")
_WITH_OPTIONS = (*CHOICES, "decimal", "integer", "date", "dateTime", "time", "string", "quantity")
_NAME = re.compile("[A-Z][A-Za-z0-9_]{0,254}")


def check_questionnaire(resource: JsonObject) -> list[Finding]:
    """Return everything that is wrong with a Questionnaire; an empty list when it is fine."""
    findings = Findings(resource)
    root = check_structure(resource, findings)
    _check_form(resource, root, resource, findings)
    check_contained_forms(resource, root, findings)
    return findings.all()


def check_contained_forms(resource: JsonObject, root: Place, findings: Findings) -> None:
    """Check the Questionnaires that a resource contains; their structure has been checked with that of the resource."""
    for place, inner in contained_at(resource, root, "Questionnaire"):
        _check_form(inner, place, resource, findings)


def _check_form(resource: JsonObject, root: Place, container: JsonObject, findings: Findings) -> None:
    """Check a form whose contained value sets and systems are those of `container`: itself, or what it is in."""
    items = list(_placed_items(resource, root))
    contained, known = contained_types(container), Terminology().within(container)
    _check_head(resource, root, findings)
    for link_id, count in Counter(string(item, "linkId") for item, _ in items).items():
        if link_id and count > 1:
            text = f"The linkId {link_id[:120]!r} is used {count} times"
            findings.error(root.about(link_id), text, code="invariant", rule="que-2")
    for item, place in items:
        if item.get("type") == "question":
            text = "The type question is abstract: nothing can be answered"
            findings.warning(place.child("type"), text, code="code-invalid", rule="abstract-type")
        known_type = string(item, "type") in ANSWER_TYPES
        for rule, is_broken, text in _invariants(item, string(item, "type")):
            if is_broken and (known_type or rule not in _OF_TYPES):
                findings.error(place, text, code="invariant", rule=rule)
        _check_options(item, place, contained, findings)
        _check_codes(item, place, findings)
        _check_limits(item, place, findings)
        _check_extensions(item, place, findings)
        _check_initial(item, place, known, findings)
    _check_conditions(items, known, findings)


# Invariants that ask for certain types: where the type is none, that is said.
_OF_TYPES = frozenset({"que-5", "que-10"})


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
    _check_codes(resource, root, findings)
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


_LISTABLE = frozenset({"integer", "date", "time", "string", "coding", "reference"})


def _check_options(item: JsonObject, place: Place, contained: Mapping[str, str], findings: Findings) -> None:
    kind = string(item, "type")
    fitting = ANSWER_TYPES.get(kind)
    if fitting is None:
        return
    for name in ("answerOption", "initial"):
        for index, each in enumerate(objects(item, name)):
            value = value_of(each)
            allowed = fitting if name == "initial" or kind in _WITH_OPTIONS else ()
            # Of the types that R4 does not have there, it has been said so.
            listable = name == "initial" or value is None or value.type in _LISTABLE
            if value is not None and listable and allowed and value.type not in allowed:
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
        nothing = what == "occurrence" and high is not None and high.value == 0  # which is said below
        if low is not None and high is not None and not nothing and _above(low.value, high.value):
            findings.warning(place, f"The least {what} is above the greatest", code="value", rule="limits")
    for text in (*_senseless_numbers(item), *_senseless_quantities(item)):
        findings.warning(place, text, code="value", rule="limits")


# What a limit must be above to allow, or to forbid, anything.
_ABOVE = (
    (MIN_LENGTH, -1),
    (MAX_DECIMAL_PLACES, -1),
    (MIN_OCCURS, -1),
    (MAX_OCCURS, 0),
    (MAX_SIZE, 0),
    (SLIDER_STEP, 0),
)


def _senseless_numbers(item: JsonObject) -> Iterator[str]:
    """Yield what is wrong with the numbers that limits hold; R4's context invariants say what occurrences need."""
    found = {urls: number(value.value) for urls, _ in _ABOVE if (value := extension_value(item, *urls)) is not None}
    for urls, floor in _ABOVE:
        limit = found.get(urls)
        if limit is not None and limit <= floor:
            yield f"{_short(urls[0])} is {limit}: it must be above {floor}"
    least, most = found.get(MIN_OCCURS), found.get(MAX_OCCURS)
    repeats = is_true(item.get("repeats"))
    if most is not None and most > 1 and not repeats:
        yield f"maxOccurs is {most}, but the item does not repeat"
    elif least is not None and least > 1 and not repeats:
        yield f"minOccurs is {least}, but the item does not repeat"
    elif least is not None and least > 0 and not is_true(item.get("required")):
        yield f"minOccurs is {least}, but the item is not required"


def _senseless_quantities(item: JsonObject) -> Iterator[str]:
    """Yield what is wrong with the least and the greatest quantity."""
    bounds = [extension_value(item, *urls) for urls in (MIN_QUANTITY, MAX_QUANTITY)]
    limits = [bound for bound in bounds if bound is not None and bound.type == "quantity"]
    amounts = [as_object(limit.value) for limit in limits]
    if any("value" not in amount for amount in amounts):
        yield "A limit without a value limits nothing"
    elif len(limits) == 2 and measures_else(*amounts):
        yield "The least and the greatest quantity measure different things"
    elif len(limits) == 2 and relate_quantities(limits[0], limits[1]) == "after":
        yield "The least quantity is above the greatest"
    else:
        choices = read_stated(item).units.choices if amounts else ()
        if choices and any(all(measures_else(amount, unit) for unit in choices) for amount in amounts):
            yield "A limit measures something else than all units that can be chosen"


def _short(url: str) -> str:
    return url.rpartition("/")[2].removeprefix("questionnaire-")


def _check_extensions(item: JsonObject, place: Place, findings: Findings) -> None:
    """Check that extensions say something of items of this type."""
    kind = string(item, "type")
    for index, extension in enumerate(objects(item, "extension") if kind in ANSWER_TYPES else ()):
        url, value = string(extension, "url"), value_of(extension)
        kinds = EXTENSION_ITEMS.get(url)
        if kinds is not None and kind not in kinds:
            text = f"The extension {_short(url)} is for items of type {' or '.join(kinds)}, not {kind}"
            # Many forms say so what unit a quantity has, and it can be meant.
            severity: Severity = "information" if url in UNIT and kind == "quantity" else "warning"
            if value is not None and value.type in EXTENSION_TYPES[url]:
                here = place.child("extension", index)
                findings.add(severity, here, text, code="business-rule", rule="extension-item")
        if url in ENABLE_WHEN_EXPRESSION and "enableWhen" in item:
            text = "An item has conditions or a formula that enables it, not both: the formula decides"
            findings.warning(place.child("extension", index), text, code="business-rule", rule="enableWhen-twice")
        bound = value if url in (*MIN_VALUE, *MAX_VALUE) else None
        if bound is None or bound.type not in EXTENSION_TYPES[url]:
            continue
        if not any(comparable(bound.type, each) for each in _possible_answers(item)):
            text = f"A limit of type {bound.type} does not fit an item of type {kind}: both must be of one type"
            findings.warning(place.child("extension", index), text, code="value", rule="limits")


def _check_codes(element: JsonObject, place: Place, findings: Findings) -> None:
    """Check the form of the codes that a form, or an item, has and offers."""
    codes = [(each, place.child("code", index)) for index, each in enumerate(objects(element, "code"))]
    for index, option in enumerate(objects(element, "answerOption")):
        here = place.child("answerOption", index).child("value.ofType(Coding)")
        codes.append((as_object(option.get("valueCoding")), here))
    for coding, here in codes:
        system, code = string(coding, "system"), string(coding, "code")
        if code and not problem_with("code", code) and not could_be_code(system, code):
            text = f"The code {code[:60]!r} cannot be one of {system}: its form or its check digit is wrong"
            findings.warning(here, text, code="code-invalid", rule="code")


_OF_VALUES = frozenset(
    {"maxLength", "minLength", "regex", "minValue", "maxValue", "minQuantity", "maxQuantity", "maxDecimalPlaces"}
    | {"unitOption", "unitValueSet", "answerValueSet", "mimeType", "maxSize", "referenceResource"}
)


def _check_initial(item: JsonObject, place: Place, known: Terminology, findings: Findings) -> None:
    """Check initial values against what their item allows: nobody could leave them as they are."""
    if "initial" not in item or "answerOption" in item:
        return
    stated = read_stated(item)
    for index, each in enumerate(objects(item, "initial")):
        value = value_of(each)
        if value is None or value.type not in ANSWER_TYPES.get(stated.type, ()) or not _well_formed(value):
            continue
        broken = [rule for rule in stated_errors(stated, value, known) if rule in _OF_VALUES]
        if broken:
            text = f"The initial value breaks the item's own {', '.join(dict.fromkeys(broken))}"
            findings.warning(place.child("initial", index), text, code="business-rule", rule="initial-value")


def _well_formed(value: Answer) -> bool:
    return value.type not in PRIMITIVES or not problem_with(value.type, value.value)


def _above(low: JsonValue, high: JsonValue) -> bool:
    if isinstance(low, str) and isinstance(high, str):
        return "after" in {compare_dates(low, high), compare_times(low, high)}
    one, other = number(low), number(high)
    return one is not None and other is not None and one > other


def _check_conditions(items: Sequence[tuple[JsonObject, Place]], known: Terminology, findings: Findings) -> None:
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
                _check_fit(condition, target, here, known, findings)


def _check_position(item: JsonObject, target: JsonObject, place: Place, findings: Findings, *, later: bool) -> None:
    if target is item:
        findings.error(place, "An item cannot depend on itself", code="business-rule", rule="enableWhen-self")
    elif any(inner is target for inner in walk(objects(item, "item"))):
        text = "An item cannot depend on an item inside it"
        findings.error(place, text, code="business-rule", rule="enableWhen-inner")
    elif later:
        text = "The item that this one depends on comes later"
        findings.warning(place, text, code="business-rule", rule="enableWhen-after")


def _check_fit(condition: JsonObject, target: JsonObject, place: Place, known: Terminology, findings: Findings) -> None:
    """Check that an answer of the target can be compared with the condition's."""
    kind, operator, answer = string(target, "type"), string(condition, "operator"), value_of(condition, "answer")
    possible = set(_possible_answers(target))
    if kind in {"group", "display", "question"}:
        findings.warning(place, f"An item of type {kind} has no answers", code="business-rule", rule="enableWhen-type")
        return
    if answer is None or operator == "exists" or not possible:
        return
    if answer.type not in possible:
        name, alike = value_name(answer.type, "answer"), any(comparable(answer.type, each) for each in possible)
        often = "is not compared by all programs with" if alike else "can never match"
        text = f"{name} {often} an answer of an item of type {kind}"
        findings.add("warning" if alike else "error", place, text, code="value", rule="enableWhen-type")
    elif operator == "=" and kind == "choice" and _is_no_option(answer, target, known):
        text = "The answer that this waits for is none of the options of its item"
        findings.warning(place, text, code="business-rule", rule="enableWhen-option")
    elif operator in {">", "<", ">=", "<="} and answer.type not in ORDERED:
        text = f"The operator {operator} does not fit values of type {answer.type}"
        findings.error(place, text, code="value", rule="enableWhen-operator")


def _is_no_option(answer: Answer, target: JsonObject, known: Terminology) -> bool:
    """Say whether an answer cannot be chosen from what a choice offers; computed options may hold anything."""
    if any(extensions(target, *ANSWER_EXPRESSION)):
        return False
    if value_set := string(target, "answerValueSet"):
        system, code = code_key(as_object(answer.value))
        at_hand = known.value_set(value_set) is not None and system and code
        return bool(at_hand) and known.member(value_set, system=system, code=code) is Member.NO
    listed = read_stated(target).options if "answerOption" in target else ()
    return bool(listed) and all(relate(answer, option) != "same" for _, option in listed)


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
