"""What has to be worked out anew when an answer changes, found once per form. Pure.

A *cell* is something that formulas or conditions decide: whether an item is enabled, or its calculated value. Cells are
in an order in which each comes after those it needs; where they need each other in a circle, the form's order counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.interview.form.form import Constraint, Form, Item
from bot.interview.form.indexed import IndexedForm, index_questionnaire
from bot.interview.formulas.formula import Formula


@dataclass(frozen=True, slots=True)
class Placed:
    """A formula where it stands.

    Attributes:
        owner: The item it belongs to; None for the whole form.
        variables: Its variables in the order to evaluate them; without a formula, they have no value.
        reads: Items whose answers it looks at; None for all.
        at_parent: Whether it is evaluated at what is around its item: the item itself may not be there.
        is_constant: Whether no answer can change its value.
    """

    formula: Formula
    owner: Item | None
    variables: tuple[tuple[str, Placed | None], ...]
    reads: frozenset[str] | None
    at_parent: bool
    is_constant: bool


CellKind = Literal["enabled", "calculated", "fixed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Something to decide at every place where `item` stands."""

    item: Item
    kind: CellKind
    formula: Placed | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What depends on what in a form: which cells an answer changes, and in which order they are evaluated.

    Attributes:
        cells: In the order to evaluate them.
        dependents: By linkId, the cells to evaluate when its answers, or whether it is enabled, changed.
        inner: By linkId, the cells of what stands inside it.
        insides: By linkId, itself and all linkIds inside it.
        placed: Formulas by the item that they belong to (empty: the form) and their text, with what they need.
        constraints: All of them, in the form's order.
        stated: The form as it is written, for the validator.
    """

    cells: tuple[Cell, ...]
    dependents: Mapping[str, tuple[int, ...]]
    inner: Mapping[str, tuple[int, ...]]
    insides: Mapping[str, frozenset[str]]
    placed: Mapping[tuple[str, str], Placed]
    constraints: tuple[tuple[Constraint, Placed], ...]
    stated: IndexedForm


def make_plan(form: Form) -> Plan:
    """Work out which cells depend on which answers."""
    insides = {item.link_id: frozenset(each.link_id for each in item.walk()) for item in form.walk()}
    placing = _Placing(form, insides)
    placed = {(owner, formula.source): placing.place(owner, formula) for owner, formula in _formulas(form)}
    unsorted = list(_cells(form, placing))
    needs = [_needs(cell, insides, form) for cell in unsorted]
    order = _sorted(unsorted, needs, insides)
    cells = tuple(unsorted[index] for index in order)
    dependents: dict[str, list[int]] = defaultdict(list)
    inner: dict[str, list[int]] = defaultdict(list)
    for rank, index in enumerate(order):
        for link_id in needs[index]:
            dependents[link_id].append(rank)
        for link_id in unsorted[index].item.line[:-1]:
            inner[link_id].append(rank)
    return Plan(
        cells,
        {link_id: tuple(ranks) for link_id, ranks in dependents.items()},
        {link_id: tuple(ranks) for link_id, ranks in inner.items()},
        insides,
        placed,
        tuple((each, placed[each.owner, each.formula.source]) for each in _constraints(form)),
        index_questionnaire(form.raw),
    )


def _constraints(form: Form) -> Iterator[Constraint]:
    yield from form.constraints
    for item in form.walk():
        yield from item.constraints


def _formulas(form: Form) -> Iterator[tuple[str, Formula]]:
    for constraint in _constraints(form):
        yield constraint.owner, constraint.formula
    for item in form.walk():
        own = item.formulas
        bounds = [bound.formula for bound in (item.limits.minimum, item.limits.maximum) if bound]
        parts = [own.initial, own.options, own.text, *bounds]
        parts += [toggle.formula for toggle in own.toggles]
        yield from ((item.link_id, formula) for formula in parts if formula is not None)


@dataclass(frozen=True, slots=True)
class _Placing:
    """Finds the variables of formulas, and through them all that a formula reads."""

    form: Form
    insides: Mapping[str, frozenset[str]]

    def place(self, owner: str, formula: Formula, before: int | None = None, *, at_parent: bool = False) -> Placed:
        """Return `formula` of `owner` with its variables; those from number `before` on are not yet defined."""
        variables: list[tuple[str, Placed | None]] = []
        reads: set[str] = set()
        everything = False
        for name in sorted(formula.reads.variables):
            found = self._variable(owner, name, before)
            if found is None:
                continue
            where, index, inner = found
            placed = self.place(where, inner, index) if inner is not None else None
            variables.append((name, placed))
            if placed is not None:
                reads |= placed.reads or set()
                everything = everything or placed.reads is None
        item = self.form.by_link_id.get(owner)
        own = self._own_reads(item.parent if item and at_parent else owner, formula)
        seen = None if everything or own is None else frozenset(reads | own)
        return Placed(formula, item, tuple(variables), seen, at_parent, is_constant=seen is not None and not seen)

    def _variable(self, owner: str, name: str, before: int | None) -> tuple[str, int, Formula | None] | None:
        """Find the nearest definition of a variable: its owner, its number there, its formula."""
        item = self.form.by_link_id.get(owner)
        for where in (*reversed(item.line if item else ()), ""):
            own = self.form.by_link_id[where].formulas.variables if where else self.form.variables
            limit = before if where == owner and before is not None else len(own)
            for index in range(limit - 1, -1, -1):
                if own[index][0] == name:
                    return where, index, own[index][1]
        return None

    def _own_reads(self, owner: str, formula: Formula) -> set[str] | None:
        reads = formula.reads
        if reads.everything or (not owner and (reads.own or reads.inside)):
            return None
        found: set[str] = set()
        for link_id in reads.link_ids & self.insides.keys():
            found |= self.insides[link_id]
        if reads.own:
            found.add(owner)
        if reads.inside:
            found |= self.insides[owner]
        return found


def _cells(form: Form, placing: _Placing) -> Iterator[Cell]:
    def place(item: Item, formula: Formula | None, *, at_parent: bool = False) -> Placed | None:
        return placing.place(item.link_id, formula, at_parent=at_parent) if formula else None

    for item in form.walk():
        own = item.formulas
        if item.has_rule:
            yield Cell(item, "enabled", place(item, own.enabled, at_parent=True))
        if own.calculated is not None:
            yield Cell(item, "calculated", place(item, own.calculated))
        elif item.is_question and not item.asked and (item.initial or own.initial):
            yield Cell(item, "fixed", place(item, own.initial))


def _needs(cell: Cell, insides: Mapping[str, frozenset[str]], form: Form) -> frozenset[str]:
    """Return the items whose change may change the cell."""
    if cell.kind == "fixed":
        return frozenset()
    if cell.formula is None:
        return frozenset(condition.question for condition in cell.item.conditions)
    reads = cell.formula.reads
    found = frozenset(insides) if reads is None else reads
    # What is calculated from all answers does not include its own last value.
    return found - {cell.item.link_id} if cell.kind == "calculated" else found


def _sorted(cells: list[Cell], needs: list[frozenset[str]], insides: Mapping[str, frozenset[str]]) -> list[int]:
    """Return the cells' numbers so that each comes after those it needs, as far as there are no circles."""
    deciding: dict[str, set[int]] = defaultdict(set)
    for index, cell in enumerate(cells):
        for link_id in insides[cell.item.link_id] if cell.kind == "enabled" else (cell.item.link_id,):
            deciding[link_id].add(index)
    waiting = {
        index: {other for link_id in needs[index] for other in deciding[link_id]} - {index}
        for index in range(len(cells))
    }
    order: list[int] = []
    while waiting:
        ready = [index for index, others in waiting.items() if not others] or [next(iter(waiting))]
        order += ready
        for index in ready:
            del waiting[index]
        for others in waiting.values():
            others.difference_update(ready)
    return order
