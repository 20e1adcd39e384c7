"""A Questionnaire as it is written: what its items demand, its items by linkId, and a response matched to them. Pure.

Unlike the compiled `Form` this exists for every Questionnaire, also for one that cannot be asked. What FHIR does not
know, such as a number as text, says nothing here; the interview takes it as it is meant (`read_limits`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from bot.interview.form.dialects import in_r4
from bot.interview.form.form import Limits, Stated, Units
from bot.interview.values import fhir_names
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    as_object,
    code_key,
    extension_table,
    extensions,
    number,
    objects,
    plain,
    split_canonical,
    string,
    value_of,
)
from bot.interview.values.fhir_names import ANSWER_TYPES, CHOICES
from bot.interview.values.finding import Place
from bot.interview.values.primitives import comparable, relate
from bot.interview.values.references import sound_system

_REFERENCE = ("reference", "type", "identifier", "display")
_MOST_DIGITS = 25
_WHOLE = re.compile(r"-?[0-9]{1,10}")


Table = Mapping[str, Sequence[JsonValue]]


def read_stated(raw: JsonObject) -> Stated:
    """Read what an item demands of its answers."""
    kind, said = string(raw, "type"), extension_table(raw)
    options = [
        value for each in objects(raw, "answerOption") if (value := value_of(each)) and can_be_listed(value, kind)
    ]
    return Stated(
        raw=raw,
        type=kind,
        required=is_true(raw.get("required")),
        repeats=is_true(raw.get("repeats")),
        limits=read_limits(raw, said),
        units=_units(said) if said else _NO_UNITS,
        options=tuple((repeatable(option, kind), option) for option in options),
    )


# R4, que-5: of all other types an item lists no answers; what such an item lists says nothing.
LISTING = frozenset({*CHOICES, "decimal", "integer", "date", "dateTime", "time", "string", "quantity"})


def can_be_listed(option: Answer, kind: str) -> bool:
    """Say whether an item of type `kind` can be answered by choosing an option."""
    if kind in CHOICES:
        return option.type != "boolean"
    return kind not in ANSWER_TYPES or (kind in LISTING and repeatable(option, kind).type in ANSWER_TYPES[kind])


def is_true(value: JsonValue) -> bool:
    """Say whether a flag is set, also where the form has it as text."""
    return value is True or value == "true"


def read_limits(raw: JsonObject, said: Table, *, as_meant: bool = False) -> Limits:
    """Read the limits of an item, but for its least and greatest value; `as_meant`, a length of "5" is five."""
    count = _meant_number if as_meant else _integer
    longest, one_line = count(raw.get("maxLength")), raw.get("type") == "string"
    most = longest if longest is not None and longest >= 0 else None
    if not said:
        return Limits(max_length=most, one_line=one_line)
    pattern, size = _first(said, fhir_names.REGEX), number(_first(said, fhir_names.MAX_SIZE))
    return Limits(
        max_length=most,
        one_line=one_line,
        min_length=count(_first(said, fhir_names.MIN_LENGTH)),
        pattern=pattern if isinstance(pattern, str) else None,
        decimal_places=count(_first(said, fhir_names.MAX_DECIMAL_PLACES)),
        min_occurs=count(_first(said, fhir_names.MIN_OCCURS)),
        max_occurs=count(_first(said, fhir_names.MAX_OCCURS)),
        mime_types=_codes(said, fhir_names.MIME_TYPE),
        max_bytes=_whole(size) if as_meant and size is not None else size,
        reference_types=_reference_types(said),
    )


def _first(said: Table, urls: tuple[str, ...]) -> JsonValue:
    return said[urls[0]][0] if urls[0] in said else None


def _codes(said: Table, urls: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in said.get(urls[0], ()) if isinstance(value, str))


def _reference_types(said: Table) -> tuple[str, ...]:
    """Return the resources that may be referred to: as named, or as profiles tell that are R4's own resource types.

    Of other profiles it cannot be told here what they constrain.
    """
    named = _codes(said, fhir_names.REFERENCE_RESOURCE)
    profiles = [split_canonical(each)[0] for each in _codes(said, fhir_names.REFERENCE_PROFILE)]
    kinds = [each.removeprefix(fhir_names.DEFINITIONS) for each in profiles]
    if not kinds or not all(each in fhir_names.INSTANCE_TYPES for each in kinds):
        return named
    return tuple(each for each in kinds if not named or each in named) or named


def _integer(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _meant_number(value: JsonValue) -> int | None:
    """Return a whole number, also where the form has it as text."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    found = number(value)
    whole = found is not None and found == found.to_integral_value() and found >= 0
    return _whole(found) if found is not None and whole else None


def _whole(value: Decimal) -> int | None:
    """Return a number without its fraction; None for one so large that it limits nothing."""
    return int(value) if value.adjusted() < _MOST_DIGITS else None


_NO_UNITS = Units(open=False)


def _units(said: Table) -> Units:
    """Read the units of a number: the usual one, those to choose from, and the value set that holds more of them."""
    usual, value_set = said.get(fhir_names.UNIT[0]), _first(said, fhir_names.UNIT_VALUE_SET)
    return Units(
        usual=as_object(usual[0]) if usual else None,
        choices=tuple(as_object(value) for value in said.get(fhir_names.UNIT_OPTION[0], ())),
        value_set=value_set if isinstance(value_set, str) else "",
        open=_first(said, fhir_names.UNIT_OPEN) in fhir_names.OPEN_UNITS,
    )


def repeatable(option: Answer, kind: str) -> Answer:
    """Return the answer that chooses an option of an item of type `kind`.

    What belongs to the form (translations, scores) is left out, and so is what no answer may hold: many published forms
    have codes as numbers, empty displays, spaces around a code, or a system that is no URI.
    """
    value = option.value
    if option.type == "coding":
        coding = as_object(value)
        system, code = code_key(coding)
        said = {
            "system": sound_system(system),
            "version": plain(coding, "version"),
            "code": code,
            "display": plain(coding, "display"),
        }
        made: dict[str, JsonValue] = {name: text for name, text in said.items() if text}
        if isinstance(coding.get("userSelected"), bool):
            made["userSelected"] = coding["userSelected"]
        return Answer("coding", made)
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


class IndexedItem:
    """One item of a Questionnaire, where it stands.

    Attributes:
        raw: The item as JSON.
        parent: The item it is nested in; None at the top.
        children: The items nested in it, in order, by linkId (the first of each linkId counts).
    """

    def __init__(self, raw: JsonObject, parent: IndexedItem | None = None) -> None:
        self.raw = raw
        self.parent = parent
        self.link_id = string(raw, "linkId")
        self.type = string(raw, "type")
        self.required = is_true(raw.get("required"))
        self.children: dict[str, IndexedItem] = {}

    @cached_property
    def stated(self) -> Stated:
        """What the item demands of its answers."""
        return read_stated(self.raw)

    def holds(self, other: IndexedItem | None) -> bool:
        """Say whether `other` is this item or nested in it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent
        return False


def never_met(condition: JsonObject, target: Stated) -> str:
    """Say why no answer to its question, `target`, can meet an enableWhen; empty when one can."""
    question, operator, kind = string(condition, "question"), string(condition, "operator"), target.type
    answer = value_of(condition, "answer")
    if answer is None or operator == "!=" or (operator == "exists" and answer.value is False):
        return ""
    if kind in {"group", "display"}:
        return f"{question!r} is a {kind} and has no answer"
    if operator == "exists" or any(extensions(target.raw, *fhir_names.ANSWER_EXPRESSION)):
        return ""
    listed = [option for _, option in target.options]
    types = _types_of_answers(kind, listed)
    if types and not any(comparable(each, answer.type) for each in types):
        return f"a {answer.type} is no answer to {question!r}, which is of type {kind}"
    if operator == "=" and kind == "choice" and listed and all(relate(answer, each) != "same" for each in listed):
        return f"it waits for an answer that {question!r} does not list"
    return ""


def _types_of_answers(kind: str, listed: Sequence[Answer]) -> set[str]:
    """Return the types of value that an item can have, as far as its listed answers tell."""
    if kind not in CHOICES:
        # A url is a uri in answers, but conditions have no answerUri: they say it as a string.
        return {*ANSWER_TYPES.get(kind, ()), *(("string",) if kind == "url" else ())}
    return {*([option.type for option in listed] or ["coding"]), *(("string",) if kind == "open-choice" else ())}


def unheeded(item: JsonObject, idle: int) -> bool:
    """Say whether so many `idle` conditions, which are never met, decide nothing about an item.

    Beside one that may hold, where one is enough, such a condition only names an answer that no longer exists.
    """
    return string(item, "enableBehavior") == "all" or idle == len(objects(item, "enableWhen"))


@dataclass(frozen=True, slots=True)
class IndexedForm:
    """A Questionnaire indexed.

    Attributes:
        raw: The Questionnaire.
        container: Where ``#id`` leads: the Questionnaire itself, or the response that contains it.
        top: The outermost items by linkId.
        by_id: All items.
    """

    raw: JsonObject
    container: JsonObject = field(repr=False)
    top: Mapping[str, IndexedItem] = field(repr=False)
    by_id: Mapping[str, IndexedItem] = field(repr=False)


def index_questionnaire(questionnaire: JsonObject, *, container: JsonObject | None = None) -> IndexedForm:
    """Index a Questionnaire, read in the words of R4. Where a linkId occurs twice, the first item has it."""
    questionnaire = in_r4(questionnaire)
    top: dict[str, IndexedItem] = {}
    by_id: dict[str, IndexedItem] = {}
    pending: list[tuple[JsonObject, IndexedItem | None]] = [
        (raw, None) for raw in reversed(objects(questionnaire, "item"))
    ]
    while pending:
        raw, parent = pending.pop()
        item = IndexedItem(raw, parent)
        siblings = parent.children if parent is not None else top
        siblings.setdefault(item.link_id, item)
        by_id.setdefault(item.link_id, item)
        if "item" in raw:
            pending.extend((child, item) for child in reversed(objects(raw, "item")))
    return IndexedForm(questionnaire, questionnaire if container is None else container, top, by_id)


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """Something in a response that holds items: the response itself, an item, or one answer of a question.

    Attributes:
        owner: The item it is, or is in; None for the response.
        asked: What of the Questionnaire belongs here, by linkId.
        items: What is here of it, by linkId.
    """

    raw: JsonObject
    place: Place
    owner: GivenItem | None
    asked: Mapping[str, IndexedItem]
    items: dict[str, list[GivenItem]] = field(default_factory=dict)


class GivenItem:
    """One item of a response, matched to the item of the Questionnaire that it answers."""

    __slots__ = ("answers", "asked", "enabled", "holders", "parent", "place", "raw")

    def __init__(self, raw: JsonObject, asked: IndexedItem, parent: GivenItem | None, place: Place) -> None:
        self.raw = raw
        self.asked = asked
        self.parent = parent
        self.place = place
        self.answers = objects(raw, "answer") if "answer" in raw else []
        self.holders = list(self._holders())
        self.enabled: object = None  # remembered by the evaluation of conditions

    def _holders(self) -> Iterator[Holder]:
        """Yield what in it holds items.

        Items directly in a question are wrong, and said to be so elsewhere; so are answers of a group, left alone here.
        """
        is_group = self.asked.type == "group"
        if is_group or "item" in self.raw:
            yield Holder(self.raw, self.place, self, self.asked.children)
        answers = self.raw.get("answer") if not is_group else None
        for index, answer in enumerate(answers if isinstance(answers, list) else ()):
            if isinstance(answer, dict):
                yield Holder(answer, self.place.child("answer", index), self, self.asked.children)

    def within(self, scope: GivenItem | None) -> bool:
        """Say whether this item is `scope` or nested in it; None stands for the whole response."""
        node: GivenItem | None = self
        while scope is not None and node is not None:
            if node is scope:
                return True
            node = node.parent
        return scope is None

    def values(self) -> Iterator[Answer]:
        """Yield the values of the answers."""
        for answer in self.answers:
            value = value_of(answer)
            if value is not None:
                yield value
