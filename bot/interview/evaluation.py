"""Evaluate the formulas of a form on the answers so far. Pure: surroundings and clock are handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.interview.answer import Answer, JsonValue
from bot.interview.assemble import Assembly, canonical_of
from bot.interview.definition_formulas import CONSTANTS, STANDARD_LAUNCH
from bot.interview.fhir_json import JsonObject
from bot.interview.filling import Filling
from bot.interview.form import Form, Item, Path
from bot.interview.formula import FormulaFailed
from bot.interview.places import first
from bot.interview.plan import Placed

_ITEM = "QuestionnaireResponse.item"
Values = Sequence[JsonValue]


class _Scoring(Assembly):
    """Answers as formulas see them: codes that count something carry it."""

    def value(self, item: Item, answer: Answer) -> JsonValue:
        made = super().value(item, answer)
        score = next(
            (each.ordinal for each in item.options if each.answer == answer and each.ordinal is not None), None
        )
        if score is None or not isinstance(made, dict):
            return made
        from bot.interview.fhirpath_functions import Scored

        return Scored(made, score)


@dataclass(slots=True)
class Surroundings:
    """What formulas see besides the answers.

    Attributes:
        launch: Resources by name: patient, encounter, user.
        now: The moment of ``now()``.
        constants: Values that no answer changes, as they are worked out.
    """

    form: Form
    launch: Mapping[str, JsonObject]
    now: str
    constants: dict[tuple[str, str], Values] = field(default_factory=dict)

    @classmethod
    def of(cls, form: Form, launch: Mapping[str, JsonObject], now: datetime) -> Surroundings:
        """Return the surroundings; `now` needs a time zone."""
        if now.tzinfo is None:
            raise ValueError("now needs a time zone")
        return cls(form, dict(launch), now.isoformat(timespec="seconds"))


@dataclass(slots=True)
class Sight:
    """Evaluates formulas on one state of the answers. Call `changed` when the state was changed underneath."""

    around: Surroundings
    filling: Filling
    _response: dict[str, JsonValue] | None = None
    _nodes: dict[Path, dict[str, JsonValue]] = field(default_factory=dict)
    _variables: dict[tuple[str, str, Path], list[object]] = field(default_factory=dict)

    def changed(self) -> None:
        self._response = None
        self._variables.clear()

    def values(self, placed: Placed, path: Path, *, without_own: bool = False) -> Values:
        """Return what a formula gives at `path`; nothing where it cannot be evaluated.

        Args:
            placed: The formula.
            path: Where its item stands; empty for a formula of the whole form.
            without_own: Whether the answers of that item are left out of what it sees.
        """
        from bot.interview.fhirpath import plain

        key = (placed.owner.link_id if placed.owner else "", placed.formula.source)
        if placed.is_constant and key in self.around.constants:
            return self.around.constants[key]
        try:
            found = plain(self._without_own(placed, path) if without_own else self._evaluate(placed, path))
        except FormulaFailed:
            found = []
        if placed.is_constant:
            self.around.constants[key] = found
        return found

    def truth(self, placed: Placed, path: Path) -> bool | None:
        """Return what a condition gives; None when it gives nothing, or something that is neither true nor false."""
        found = self.values(placed, path)
        return found[0] if found and isinstance(found[0], bool) else None

    def _without_own(self, placed: Placed, path: Path) -> list[object]:
        self._build()
        node = self._nodes.get(path, {})
        kept = {name: node.pop(name) for name in ("answer",) if name in node}
        try:
            return self._evaluate(placed, path)
        finally:
            node.update(kept)

    def _evaluate(self, placed: Placed, path: Path) -> list[object]:
        from bot.interview.fhirpath import node, run

        names: dict[str, object] = {**dict.fromkeys(STANDARD_LAUNCH | self.around.form.launch), **CONSTANTS}
        names.update(self.around.launch)
        names["questionnaire"] = self.around.form.raw
        names["qitem"] = node(placed.owner.raw, "Questionnaire.item") if placed.owner else None
        if not placed.is_constant:
            self._build()
        names["resource"] = names["rootResource"] = self._response
        for name, inner in placed.variables:
            names[name] = self._variable(name, inner, path) if inner is not None else None
        focus = self._focus(placed, path)
        return run(placed.formula.tree, focus, names, self.around.now)

    def _variable(self, name: str, placed: Placed, path: Path) -> list[object]:
        where = _place_of(placed.owner, path)
        key = (name, placed.formula.source, where)
        if key not in self._variables:
            try:
                self._variables[key] = self._evaluate(placed, where)
            except FormulaFailed:
                self._variables[key] = []
        return self._variables[key]

    def _focus(self, placed: Placed, path: Path) -> object:
        from bot.interview.fhirpath import node

        if placed.at_parent:
            path = path[:-1]
        if placed.owner is None or not path:
            return self._response
        link_id = path[-1][0]
        around = path if self.around.form.by_link_id[link_id].type == "group" else first(path)
        return node(self._nodes.get(around, {"linkId": link_id}), _ITEM)

    def _build(self) -> None:
        if self._response is not None:
            return
        assembly = _Scoring(self.around.form, self.filling)
        items = assembly.items(self.around.form.items, ())
        self._response = {"resourceType": "QuestionnaireResponse", "status": "in-progress", "item": items}
        if canonical := canonical_of(self.around.form):
            self._response["questionnaire"] = canonical
        self._nodes = assembly.nodes


def _place_of(owner: Item | None, path: Path) -> Path:
    """Return where the owner of a variable stands, seen from something inside it."""
    if owner is None:
        return ()
    own = path[: len(owner.line)]
    return own if owner.type == "group" else first(own)
