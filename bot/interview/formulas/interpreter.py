"""Evaluate the syntax tree of a formula. Pure: the clock and the names are handed in, and nothing stays behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from bot.interview.formulas.formula import (
    FAMILIES,
    Call,
    FormulaFailed,
    Index,
    Literal,
    Name,
    Operation,
    Path,
    Sign,
    Special,
    Tree,
    TypeTest,
    Variable,
)
from bot.interview.formulas.functions import as_type, call, is_of
from bot.interview.formulas.measures import Quantity
from bot.interview.formulas.nodes import Node, nodes, whole
from bot.interview.formulas.operators import LOGIC, OPERATORS, decided
from bot.interview.formulas.scope import Scope, Surroundings, Values, Work, of_kind, one, truth

# Names after "%" that every formula has.
CONSTANTS: Mapping[str, str] = {
    "sct": "http://snomed.info/sct",
    "loinc": "http://loinc.org",
    "ucum": "http://unitsofmeasure.org",
}


def run(tree: Tree, focus: object, names: Mapping[str, object], now: str) -> Values:
    """Evaluate a formula.

    Args:
        tree: The formula.
        focus: What it stands at: JSON, a node, or a list of them.
        names: Values after ``%``.
        now: The moment of ``now()``, as a FHIR dateTime with seconds and zone.

    Raises:
        FormulaFailed: FHIRPath has no result for it, or it takes too much work.
    """
    start = nodes(focus)
    around = Surroundings({**CONSTANTS, "context": start, **names}, now, Work(), _evaluate)
    try:
        return _evaluate(tree, Scope(start, around))
    except RecursionError:
        raise FormulaFailed("nested too deep") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        # JSON that is no FHIR (a list where a text is due), and numbers beyond all that is measured.
        raise FormulaFailed(type(error).__name__) from None


def _evaluate(tree: Tree, scope: Scope) -> Values:
    scope.around.work.spend()
    return _EVALUATE[type(tree)](tree, scope)


def _literal(tree: Literal, scope: Scope) -> Values:
    return [] if tree.value is None else [tree.value]


def _name(tree: Name, scope: Scope) -> Values:
    """Evaluate a name at the beginning of a path: a type, or a property of what the formula stands at."""
    if tree.name[:1].isupper():
        resource = next(iter(nodes(scope.around.names.get("resource"))), None)
        meant = [found for focus in scope.this if (found := whole(focus, tree.name, resource)) is not None]
        if meant:
            return meant
    return _children(scope.this, tree.name)


def _children(values: Values, name: str) -> Values:
    return [child for value in values if isinstance(value, Node) for child in value.child(name)]


def _special(tree: Special, scope: Scope) -> Values:
    if tree.name == "$this":
        return scope.this
    found = scope.index if tree.name == "$index" else scope.total
    if found is None:
        raise FormulaFailed(f"{tree.name} where there is none")
    return nodes(found)


def _variable(tree: Variable, scope: Scope) -> Values:
    names = scope.around.names
    if tree.name in names:
        return nodes(names[tree.name])
    for start, url in FAMILIES.items():
        if tree.name.startswith(start):
            return [url + tree.name.removeprefix(start)]
    raise FormulaFailed(f"%{tree.name[:80]} is not defined")


def _call(tree: Call, scope: Scope) -> Values:
    return call(tree, scope, scope.this)


def _path(tree: Path, scope: Scope) -> Values:
    found = _evaluate(tree.root, scope)
    for link in tree.links:
        scope.around.work.spend(1 + len(found))
        if isinstance(link, Name):
            found = _children(found, link.name)
        elif isinstance(link, Call):
            found = call(link, scope, found)
        elif isinstance(link, Index):
            place = of_kind(one(scope.values(link.inner)), int)
            found = found[place : place + 1] if place is not None and place >= 0 else []
        else:
            found = _special(link, scope)
    return found


def _signed(tree: Sign, scope: Scope) -> Values:
    value: Any = of_kind(one(_evaluate(tree.operand, scope)), int, Decimal, Quantity)
    if value is None or tree.sign == "+":
        return nodes(value)
    return [replace(value, value=-value.value) if isinstance(value, Quantity) else -value]


def _operation(tree: Operation, scope: Scope) -> Values:
    found = _evaluate(tree.first, scope)
    for sign, right in tree.rest:
        scope.around.work.spend(1 + len(found))
        if sign in LOGIC:
            outcome = decided(sign, truth(found), lambda right=right: truth(_evaluate(right, scope)))  # type: ignore[misc]
            found = [] if outcome is None else [outcome]
        else:
            found = OPERATORS[sign](found, _evaluate(right, scope), scope.around.work)
    return found


def _type_test(tree: TypeTest, scope: Scope) -> Values:
    return (is_of if tree.sign == "is" else as_type)(_evaluate(tree.operand, scope), tree.type)


_EVALUATE: Mapping[type, Callable[[Any, Scope], Values]] = {
    Literal: _literal,
    Name: _name,
    Special: _special,
    Variable: _variable,
    Call: _call,
    Path: _path,
    Sign: _signed,
    Operation: _operation,
    TypeTest: _type_test,
}
