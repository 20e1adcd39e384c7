"""A Questionnaire's items at hand by linkId, and the items of a response matched to them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, objects, string, value_of
from bot.interview.values.finding import Place


class Asked:
    """One item of a Questionnaire, with what every check needs of it.

    Attributes:
        raw: The item as JSON.
        parent: The item it is nested in; None at the top.
        children: The items nested in it, in order, by linkId (the first of each linkId counts).
    """

    __slots__ = ("children", "link_id", "parent", "raw", "repeats", "required", "type")

    def __init__(self, raw: JsonObject, parent: Asked | None) -> None:
        self.raw = raw
        self.parent = parent
        self.link_id = string(raw, "linkId")
        self.type = string(raw, "type")
        # Forms that have flags as text mean them all the same.
        self.required = raw.get("required") in (True, "true")
        self.repeats = raw.get("repeats") in (True, "true")
        self.children: dict[str, Asked] = {}

    def holds(self, other: Asked | None) -> bool:
        """Say whether `other` is this item or nested in it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent
        return False


@dataclass(frozen=True, slots=True)
class Form:
    """A Questionnaire indexed.

    Attributes:
        raw: The Questionnaire.
        container: Where ``#id`` leads: the Questionnaire itself, or the response that contains it.
        top: The outermost items by linkId.
        by_id: All items.
    """

    raw: JsonObject
    container: JsonObject = field(repr=False)
    top: Mapping[str, Asked] = field(repr=False)
    by_id: Mapping[str, Asked] = field(repr=False)


def index_questionnaire(questionnaire: JsonObject, *, container: JsonObject | None = None) -> Form:
    """Index a Questionnaire. Where a linkId occurs twice, the first item has it."""
    top: dict[str, Asked] = {}
    by_id: dict[str, Asked] = {}
    pending: list[tuple[JsonObject, Asked | None]] = [(raw, None) for raw in reversed(objects(questionnaire, "item"))]
    while pending:
        raw, parent = pending.pop()
        asked = Asked(raw, parent)
        siblings = parent.children if parent is not None else top
        siblings.setdefault(asked.link_id, asked)
        by_id.setdefault(asked.link_id, asked)
        if "item" in raw:
            pending.extend((child, asked) for child in reversed(objects(raw, "item")))
    return Form(questionnaire, questionnaire if container is None else container, top, by_id)


class Given:
    """One item of a response, matched to the item of the Questionnaire that it answers."""

    __slots__ = ("answers", "asked", "enabled", "parent", "place", "raw")

    def __init__(self, raw: JsonObject, asked: Asked, parent: Given | None, place: Place) -> None:
        self.raw = raw
        self.asked = asked
        self.parent = parent
        self.place = place
        self.answers = objects(raw, "answer") if "answer" in raw else []
        self.enabled: object = None  # remembered by the evaluation of conditions

    def within(self, scope: Given | None) -> bool:
        """Say whether this item is `scope` or nested in it; None stands for the whole response."""
        if scope is None:
            return True
        node: Given | None = self
        while node is not None:
            if node is scope:
                return True
            node = node.parent
        return False

    def values(self) -> Iterator[Answer]:
        """Yield the values of the answers."""
        for answer in self.answers:
            value = value_of(answer)
            if value is not None:
                yield value
