"""Re-evaluate conditions, calculations and options where answers changed. Pure.

Every step is a function of the state before it, so replaying events settles to the same state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import heapify, heappop, heappush

from bot.interview.form.form import Form, Item, Note, Option, Path, label_of, named_option
from bot.interview.form.options import as_answers, as_candidates, kinds_of
from bot.interview.formulas.evaluator import STANDARD_LAUNCH, Evaluator, as_json
from bot.interview.formulas.formula import FormulaFailed, Scored
from bot.interview.rules.enabled import is_switched_on
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject
from bot.interview.walk.assemble import Assembly, canonical_of
from bot.interview.walk.filling import NO_ANSWERS, Filling, first
from bot.interview.walk.plan import Cell, Placed, Plan

Values = Sequence[JsonValue]
_SHOWN_SOURCE = 80  # characters of a formula in a note about it


class _Scoring(Assembly):
    """Answers as formulas see them: codes that count something carry it."""

    def value(self, item: Item, answer: Answer) -> JsonValue:
        made = super().value(item, answer)
        option = next((each for each in item.options if each.answer == answer and each.ordinal is not None), None)
        if option is None or option.ordinal is None or not isinstance(made, dict):
            return made
        return Scored(made, option.ordinal, option.marks)


@dataclass(slots=True)
class Surroundings:
    """What formulas see besides the answers.

    Attributes:
        launch: Resources by name: patient, encounter, user.
        now: The moment of ``now()``.
        constants: Values that no answer changes, as they are worked out.
        losses: What formulas gave so far and could not be used, without the values; for staff.
    """

    form: Form
    launch: Mapping[str, JsonObject]
    now: str
    constants: dict[tuple[str, str], Values] = field(default_factory=dict)
    losses: dict[Note, None] = field(default_factory=dict)

    @classmethod
    def of(cls, form: Form, launch: Mapping[str, JsonObject], now: datetime) -> Surroundings:
        """Return the surroundings; `now` needs a time zone."""
        if now.tzinfo is None:
            raise ValueError("now needs a time zone")
        return cls(form, dict(launch), now.isoformat(timespec="seconds"))

    def lose(self, item: Item, feature: str, values: Values, text: str) -> None:
        """Note that what a formula gave is not used, where it gave anything."""
        if values:
            self.losses[Note(item.link_id, feature, f"{text}: it gave {kinds_of(values)}")] = None


@dataclass(slots=True)
class Sight:
    """Evaluates formulas on one state of the answers. Call `forget` when the state was changed underneath."""

    around: Surroundings
    filling: Filling
    _evaluator: Evaluator | None = None
    _nodes: dict[Path, dict[str, JsonValue]] = field(default_factory=dict)
    _variables: dict[tuple[str, str, Path], list[object]] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget what was worked out: an answer has changed."""
        self._evaluator = None
        self._variables.clear()

    def values(self, placed: Placed, path: Path, *, without_own: bool = False) -> Values:
        """Return what a formula gives at `path`; nothing where it cannot be evaluated.

        Args:
            placed: The formula.
            path: Where its item stands; empty for a formula of the whole form.
            without_own: Whether the answers of that item are left out of what it sees.
        """
        key = (placed.owner.link_id if placed.owner else "", placed.formula.source)
        if placed.is_constant and key in self.around.constants:
            return self.around.constants[key]
        self._current(placed)
        own = self._nodes.get(path, {}) if without_own else {}
        left_out = own.pop("answer", None)
        try:
            found = as_json(self._evaluate(placed, path), now=self.around.now)
        finally:
            if left_out is not None:
                own["answer"] = left_out
        if placed.is_constant:
            self.around.constants[key] = found
        return found

    def truth(self, placed: Placed, path: Path) -> bool | None:
        """Return what a condition gives; None when it gives nothing, or something that is neither true nor false."""
        found = self.values(placed, path)
        told = found[0] if found and isinstance(found[0], bool) else None
        if told is None and placed.owner is not None:
            self.around.lose(placed.owner, "expression", found, "neither true nor false where a condition is due")
        return told

    def _evaluate(self, placed: Placed, path: Path) -> list[object]:
        variables: dict[str, object] = {}
        for name, inner in placed.variables:
            variables[name] = None
            if inner is not None:
                where = _place_of(inner.owner, path)
                key = (name, inner.formula.source, where)
                if key not in self._variables:
                    self._variables[key] = self._evaluate(inner, where)
                variables[name] = self._variables[key]
        item = placed.owner.raw if placed.owner else None
        try:
            return self._current(placed).values(placed.formula, variables, item, self._focus(placed, path))
        except FormulaFailed:
            owner = placed.owner.link_id if placed.owner is not None else ""
            source = " ".join(placed.formula.source.split())[:_SHOWN_SOURCE]
            text = f"it could not be evaluated with these answers, and counts as empty: {source}"
            self.around.losses[Note(owner, "expression", text)] = None
            return []

    def _focus(self, placed: Placed, path: Path) -> JsonObject | None:
        """Return the item of the response that a formula stands at; None for the response itself."""
        if placed.at_parent:
            path = path[:-1]
        if placed.owner is None or not path:
            return None
        link_id = path[-1][0]
        around = path if self.around.form.by_link_id[link_id].type == "group" else first(path)
        return self._nodes.get(around, {"linkId": link_id})

    def _current(self, placed: Placed) -> Evaluator:
        """Return the evaluator for the answers as they are; a constant needs none of them."""
        if self._evaluator is not None:
            return self._evaluator
        form = self.around.form
        given = {**dict.fromkeys(STANDARD_LAUNCH | form.launch), **self.around.launch}
        if placed.is_constant:
            return Evaluator(form.raw, None, given, self.around.now)
        assembly = _Scoring(form, self.filling)
        items = assembly.items(form.items, ())
        response: dict[str, JsonValue] = {
            "resourceType": "QuestionnaireResponse", "status": "in-progress", "item": items
        }  # fmt: skip
        if canonical := canonical_of(form):
            response["questionnaire"] = canonical
        self._nodes = assembly.nodes
        self._evaluator = Evaluator(form.raw, response, given, self.around.now)
        return self._evaluator


def _place_of(owner: Item | None, path: Path) -> Path:
    """Return where the owner of a variable stands, seen from something inside it."""
    if owner is None:
        return ()
    own = path[: len(owner.line)]
    return own if owner.type == "group" else first(own)


def conditions_hold(form: Form, filling: Filling, item: Item, path: Path) -> bool:
    """Say whether the conditions of an item that stands at `path` switch it on."""

    def answers_to(link_id: str) -> list[Answer]:
        target = form.by_link_id.get(link_id)
        if target is None or not target.is_question:
            return []
        places = filling.instances(form, target, _shared(path, item, target))
        return [answer for place in places if filling.is_enabled(form, place) for answer in filling.at(place)]

    return is_switched_on(item, answers_to)


def _shared(path: Path, item: Item, target: Item) -> Path:
    """Return the part of `path` whose items stand around the target too."""
    depth = 0
    for own, other in zip(item.line[:-1], target.line[:-1], strict=False):
        if own != other:
            break
        depth += 1
    return path[:depth]


def options_at(plan: Plan, sight: Sight, item: Item, path: Path) -> tuple[Option, ...]:
    """Return the answers that can be chosen now: those listed, or those that a formula finds, without those off."""
    options = item.options
    if item.formulas.options is not None:
        values = sight.values(plan.placed[item.link_id, item.formulas.options.source], path)
        found = as_candidates(item, values)
        if not found:
            sight.around.lose(item, "answerExpression", values, "nothing of it is offered")
        options = tuple(Option(answer, label_of(answer)) for answer in found) or options
    off = _switched_off(plan, sight, item, path)
    return tuple(option for option in options if named_option(option.answer, off) is None) if off else options


def _switched_off(plan: Plan, sight: Sight, item: Item, path: Path) -> list[Option]:
    """Return options that stand under formulas none of which is true."""
    on: list[Answer] = []
    off: list[Answer] = []
    for toggle in item.formulas.toggles:
        holds = sight.truth(plan.placed[item.link_id, toggle.formula.source], path) is True
        (on if holds else off).extend(toggle.options)
    kept = [Option(answer, label_of(answer)) for answer in on]
    return [Option(answer, label_of(answer)) for answer in off if named_option(answer, kept) is None]


def proposal_at(plan: Plan, sight: Sight, item: Item, path: Path) -> tuple[Answer, ...]:
    """Return the answers to propose: what a formula finds, else what the form says. They are asked, not assumed."""
    found: tuple[Answer, ...] = ()
    if item.formulas.initial is not None:
        values = sight.values(plan.placed[item.link_id, item.formulas.initial.source], path)
        found = as_answers(item, values)
        if not found:
            sight.around.lose(item, "initialExpression", values, "nothing is proposed")
    return found or item.initial[: item.most]


# Formulas that feed each other in a circle are evaluated this often, then left as they are.
MAX_ROUNDS = 6


def settle(plan: Plan, around: Surroundings, filling: Filling, dirty: Iterable[int]) -> tuple[Filling, set[Path]]:
    """Evaluate the cells `dirty` and all that depend on what changes; return the new state and the changed places."""
    waiting = sorted(set(dirty))
    if not waiting:
        return filling, set()
    draft = replace(filling, computed=dict(filling.computed), disabled=set(filling.disabled))
    run = _Run(plan, Sight(around, draft), draft)
    run.work_off(waiting)
    return replace(draft, disabled=frozenset(draft.disabled)), run.changed


@dataclass(slots=True)
class _Run:
    plan: Plan
    sight: Sight
    draft: Filling
    changed: set[Path] = field(default_factory=set)

    def work_off(self, waiting: list[int]) -> None:
        heapify(waiting)
        queued, rounds = set(waiting), Counter[int]()
        while waiting:
            rank = heappop(waiting)
            queued.discard(rank)
            rounds[rank] += 1
            cell = self.plan.cells[rank]
            if not self._decide(cell):
                continue
            self.sight.forget()
            for other in self._following(cell):
                if other not in queued and rounds[other] < MAX_ROUNDS:
                    heappush(waiting, other)
                    queued.add(other)

    def _following(self, cell: Cell) -> set[int]:
        link_id, dependents = cell.item.link_id, self.plan.dependents
        if cell.kind == "enabled":
            return {rank for inner in self.plan.insides[link_id] for rank in dependents.get(inner, ())}
        # A question with its first answer opens what is asked about that answer.
        return {*dependents.get(link_id, ()), *self.plan.inner.get(link_id, ())}

    def _decide(self, cell: Cell) -> bool:
        """Evaluate a cell wherever its item stands; say whether anything changed."""
        moved = False
        # Whether a repeating group is asked for at all is decided for its first instance, there or not.
        for path in list(self.draft.instances(self.sight.around.form, cell.item, least=1)):
            if self._enable(cell, path) if cell.kind == "enabled" else self._compute(cell, path):
                self.changed.add(path)
                moved = True
        return moved

    def _enable(self, cell: Cell, path: Path) -> bool:
        if cell.formula is not None:
            enabled = self.sight.truth(cell.formula, path) is True
        else:
            enabled = conditions_hold(self.sight.around.form, self.draft, cell.item, path)
        disabled = self.draft.disabled
        if enabled is (path not in disabled) or not isinstance(disabled, set):
            return False
        (disabled.discard if enabled else disabled.add)(path)
        return True

    def _compute(self, cell: Cell, path: Path) -> bool:
        computed = self.draft.computed
        before = computed.get(path, NO_ANSWERS)
        # A fixed value is set once; what a patient edited stays as it is.
        if (cell.kind == "fixed" and before) or path in self.draft.edited or not isinstance(computed, dict):
            return False
        found = self._value(cell, path)
        if found == before:
            return False
        computed[path] = found
        if not found:
            del computed[path]
        return True

    def _value(self, cell: Cell, path: Path) -> tuple[Answer, ...]:
        if cell.formula is None:
            return cell.item.initial[: cell.item.most]
        values = self.sight.values(cell.formula, path, without_own=cell.kind == "calculated")
        found = as_answers(cell.item, values)
        if not found:
            feature = "calculatedExpression" if cell.kind == "calculated" else "initialExpression"
            self.sight.around.lose(cell.item, feature, values, "it stays empty")
        return found or (cell.item.initial[: cell.item.most] if cell.kind == "fixed" else NO_ANSWERS)
