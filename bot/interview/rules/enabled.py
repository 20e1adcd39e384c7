"""Which items of a response may have answers: enableWhen over the answers given. Pure.

An item is asked when its own conditions hold and all items around it are asked. Answers of items that are themselves
not asked count as none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from bot.interview.form.indexed import GivenItem, IndexedForm, IndexedItem
from bot.interview.values.answer import Answer
from bot.interview.values.comparing import Truth, all_of, any_of, holds
from bot.interview.values.fhir_json import JsonObject, objects, string, value_of

_LONGEST_CHAIN = 80
ByExpression = Callable[[IndexedItem, GivenItem | None], Truth | None]


class Enablement:
    """Answers whether an item is enabled, for one response."""

    def __init__(self, form: IndexedForm, given: Sequence[GivenItem], by_expression: ByExpression) -> None:
        """Take what the response holds. `by_expression` decides items with an enableWhenExpression, None otherwise."""
        self._form = form
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
        own = self.of_asked(given.asked, given.parent)
        self._running.discard(id(given))
        given.enabled = own
        return own

    def of_asked(self, asked: IndexedItem, parent: GivenItem | None) -> Truth:
        """Say whether an item, answered or not, is enabled below `parent` (None: at the top of the response)."""
        around = Truth.YES if parent is None else self.of_given(parent)
        if around is Truth.NO:
            return around
        decided = self._by_expression(asked, parent)
        if decided is None:
            conditions = objects(asked.raw, "enableWhen") if "enableWhen" in asked.raw else []
            decided = self._conditions(asked, conditions, parent) if conditions else Truth.YES
        return all_of({around, decided})

    def _conditions(self, asked: IndexedItem, conditions: list[JsonObject], parent: GivenItem | None) -> Truth:
        outcomes = [self._condition(asked, condition, parent) for condition in conditions]
        behaviour = string(asked.raw, "enableBehavior")
        if behaviour == "all" or len(outcomes) == 1:
            return all_of(set(outcomes))
        if behaviour == "any":
            return any_of(set(outcomes))
        # Several conditions and no word on how they go together (que-12): clear only where both ways agree.
        return outcomes[0] if len(set(outcomes)) == 1 else Truth.UNCLEAR

    def _condition(self, asked: IndexedItem, condition: JsonObject, parent: GivenItem | None) -> Truth:
        target = self._form.by_id.get(string(condition, "question"))
        if target is None:
            return Truth.UNCLEAR
        answers, unsure = self._answers(target, self._scope(target, parent))
        expected = value_of(condition, "answer")
        sure = holds(string(condition, "operator"), expected, answers)
        if not unsure:
            return sure
        # Some answers may not count: only what holds with and without them is sure.
        return sure if sure is holds(string(condition, "operator"), expected, answers + unsure) else Truth.UNCLEAR

    def _scope(self, target: IndexedItem, parent: GivenItem | None) -> GivenItem | None:
        """Return the nearest item from `parent` outwards that holds the target: repetitions are kept apart."""
        while parent is not None and not parent.asked.holds(target):
            parent = parent.parent
        return parent

    def _answers(self, target: IndexedItem, scope: GivenItem | None) -> tuple[list[Answer], list[Answer]]:
        """Return the answers of the target within `scope`: those that count, and those that may."""
        found: dict[Truth, list[Answer]] = {Truth.YES: [], Truth.UNCLEAR: [], Truth.NO: []}
        for given in self._by_id.get(target.link_id, ()):
            if given.within(scope):
                found[self.of_given(given)].extend(given.values())
        return found[Truth.YES], found[Truth.UNCLEAR]
