"""A Questionnaire as it is written, its items at hand by linkId, and the items of a response matched to them. Pure.

Unlike the compiled `Form` this exists for every Questionnaire, also for one that cannot be asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bot.interview.form.form import Limits, Units
from bot.interview.form.limits import read_limits, read_units
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, objects, string, value_of
from bot.interview.values.finding import Place


class IndexedItem:
    """One item of a Questionnaire, with what every check needs of it.

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
        # Forms that have flags as text mean them all the same.
        self.required = raw.get("required") in (True, "true")
        self.repeats = raw.get("repeats") in (True, "true")
        self.children: dict[str, IndexedItem] = {}

    @cached_property
    def limits(self) -> Limits:
        return read_limits(self.raw)

    @cached_property
    def units(self) -> Units:
        return read_units(self.raw)

    def holds(self, other: IndexedItem | None) -> bool:
        """Say whether `other` is this item or nested in it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent
        return False


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
    """Index a Questionnaire. Where a linkId occurs twice, the first item has it."""
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
