"""Which items may have answers: enableWhen over the answers given. Pure.

An item is asked when its own conditions hold and all items around it are asked. Answers of items that are themselves
not asked count as none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from enum import Enum

from bot.interview.form.form import Item
from bot.interview.form.indexed import GivenItem, IndexedForm, IndexedItem, never_met, unheeded
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import JsonObject, objects, string, value_of
from bot.interview.values.primitives import Relation, relate


class Truth(Enum):
    """Yes, no, or not to be told from what is at hand."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"

    @staticmethod
    def of(value: bool) -> Truth:
        return Truth.YES if value else Truth.NO


_LONGEST_CHAIN = 80
_HOLDS: dict[str, frozenset[Relation]] = {
    "=": frozenset({"same"}),
    ">": frozenset({"after"}),
    "<": frozenset({"before"}),
    ">=": frozenset({"after", "same"}),
    "<=": frozenset({"before", "same"}),
}


def holds(operator: str, expected: Answer | None, given: Sequence[Answer]) -> Truth:
    """Evaluate one enableWhen over the answers that its target has.

    R4 says of ``!=`` "no answer equals"; HL7's validator says "some answer differs". Where the two part (no answer at
    all, or several of which one equals) the outcome is unclear.
    """
    if expected is None or (operator == "exists" and not isinstance(expected.value, bool)):
        return Truth.UNCLEAR
    if operator == "exists":
        return Truth.of(bool(given) is expected.value)
    relations = {relate(each, expected) for each in given}
    if operator == "!=":
        if not relations or "unknown" in relations:
            return Truth.UNCLEAR
        return Truth.YES if "same" not in relations else Truth.NO if relations == {"same"} else Truth.UNCLEAR
    if operator not in _HOLDS:
        return Truth.UNCLEAR
    if relations & _HOLDS[operator]:
        return Truth.YES
    return Truth.UNCLEAR if "unknown" in relations else Truth.NO


def is_switched_on(item: Item, answers_to: Callable[[str], Sequence[Answer]]) -> bool:
    """Decide, as an interview must, whether the conditions of an item hold, over the `answers_to` a linkId that count.

    What is unclear does not hold, but for two things. Of ``!=`` HL7's validator is followed, for servers run it. And
    where several conditions have no word on how they go together, one is enough (see `Item.any_condition`).
    """

    def holds_here(operator: str, expected: Answer, given: Sequence[Answer]) -> bool:
        if operator == "!=":
            return any(relate(answer, expected) in {"before", "after", "different"} for answer in given)
        return holds(operator, expected, given) is Truth.YES

    outcomes = (holds_here(each.operator, each.answer, answers_to(each.question)) for each in item.conditions)
    return any(outcomes) if item.any_condition else all(outcomes)


def _any_of(outcomes: Collection[Truth]) -> Truth:
    """Return YES when one is YES, else UNCLEAR when one is, else NO."""
    return next((truth for truth in (Truth.YES, Truth.UNCLEAR) if truth in outcomes), Truth.NO)


def _all_of(outcomes: Collection[Truth]) -> Truth:
    """Return NO when one is NO, else UNCLEAR when one is, else YES."""
    return next((truth for truth in (Truth.NO, Truth.UNCLEAR) if truth in outcomes), Truth.YES)


ByExpression = Callable[[IndexedItem, GivenItem | None], Truth | None]


class Enablement:
    """Answers whether an item is enabled, for one response; what cannot be told stays unclear."""

    def __init__(
        self,
        form: IndexedForm,
        given: Sequence[GivenItem],
        by_expression: ByExpression,
        *,
        unreadable: Collection[str] = (),
    ) -> None:
        """Take what the response holds.

        Args:
            form: The Questionnaire.
            given: The items of the response.
            by_expression: Decides items with an enableWhenExpression, None otherwise.
            unreadable: The linkIds of items whose answers cannot be read: conditions on them are unclear.
        """
        self._form = form
        self.unreadable = unreadable
        self._by_expression = by_expression
        self._by_id: dict[str, list[GivenItem]] = defaultdict(list)
        for each in given:
            self._by_id[each.asked.link_id].append(each)
        self._running: set[int] = set()

    def of_given(self, given: GivenItem) -> Truth:
        """Say whether an item of the response is enabled where it stands."""
        if isinstance(given.enabled, Truth):
            return given.enabled
        if id(given) in self._running or len(self._running) > _LONGEST_CHAIN:
            # Conditions that depend on each other in a circle decide nothing; nor do endless chains.
            return Truth.UNCLEAR
        self._running.add(id(given))
        given.enabled = own = self.of_asked(given.asked, given.parent)
        self._running.discard(id(given))
        return own

    def of_asked(self, asked: IndexedItem, parent: GivenItem | None) -> Truth:
        """Say whether an item, answered or not, is enabled below `parent` (None: at the top of the response)."""
        around = Truth.YES if parent is None else self.of_given(parent)
        if around is Truth.NO:
            return around
        decided = self._by_expression(asked, parent)
        if decided is None:
            decided = self._by_conditions(asked, parent) if "enableWhen" in asked.raw else Truth.YES
        return _all_of({around, decided})

    def _by_conditions(self, asked: IndexedItem, parent: GivenItem | None) -> Truth:
        conditions = objects(asked.raw, "enableWhen")
        outcomes = {self._condition(condition, parent) for condition in conditions}
        # That a condition is not met says nothing where no answer could meet it: the interview asks then.
        if Truth.NO in outcomes and unheeded(asked.raw, sum(map(self._is_idle, conditions))):
            outcomes = {self._unless_idle(condition, parent) for condition in conditions}
        match string(asked.raw, "enableBehavior"):
            case "any" if outcomes:
                return _any_of(outcomes)
            case "all" | "any":
                return _all_of(outcomes)
            case _:
                # Several conditions and no word on how they go together (que-12): clear only where both ways agree.
                return _all_of(outcomes) if len(outcomes) < 2 else Truth.UNCLEAR

    def _is_idle(self, condition: JsonObject) -> bool:
        target = self._form.by_id.get(string(condition, "question"))
        return target is not None and bool(never_met(condition, target.stated))

    def _unless_idle(self, condition: JsonObject, parent: GivenItem | None) -> Truth:
        return Truth.UNCLEAR if self._is_idle(condition) else self._condition(condition, parent)

    def _condition(self, condition: JsonObject, parent: GivenItem | None) -> Truth:
        target = self._form.by_id.get(string(condition, "question"))
        if target is None or target.link_id in self.unreadable:
            return Truth.UNCLEAR
        # Repetitions are kept apart: what counts is the nearest item from `parent` outwards that holds the target.
        while parent is not None and not parent.asked.holds(target):
            parent = parent.parent
        counting: list[Answer] = []
        unsure: list[Answer] = []
        for given in self._by_id.get(target.link_id, ()):
            if given.within(parent) and (enabled := self.of_given(given)) is not Truth.NO:
                (counting if enabled is Truth.YES else unsure).extend(given.values())
        operator, expected = string(condition, "operator"), value_of(condition, "answer")
        sure = holds(operator, expected, counting)
        # Some answers may not count: only what holds with and without them is sure.
        return sure if not unsure or sure is holds(operator, expected, counting + unsure) else Truth.UNCLEAR
