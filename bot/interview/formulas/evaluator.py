"""Evaluate FHIRPath formulas: the face of this room, and the walk over a syntax tree. Pure.

The clock and the names are handed in, and nothing stays behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from bot.interview.formulas.formula import (
    FAMILIES,
    BadFormula,
    Call,
    Formula,
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
    calls,
    quick,
    reads_of,
)
from bot.interview.formulas.functions import KNOWN, as_type, call, is_of
from bot.interview.formulas.measures import Quantity
from bot.interview.formulas.nodes import Node, Scope, Surroundings, Values, Work, nodes, of_kind, one, truth, whole
from bot.interview.formulas.nodes import as_json as _as_json
from bot.interview.formulas.operators import LOGIC, OPERATORS, decided
from bot.interview.formulas.parser import parse
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import JsonObject

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
    found: Values = []
    for value in values:
        if isinstance(value, Node):
            found.extend(value.child(name))
        elif isinstance(value, Quantity) and name in {"value", "unit"}:
            found.append(value.value if name == "value" else value.word or value.unit)
    return found


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


MAX_CHARACTERS = 20_000
# What SDC's launch context may hand in without being declared.
STANDARD_LAUNCH = frozenset({"patient", "encounter", "location", "user", "study", "clinical", "practitioner"})

__all__ = ["CONSTANTS", "STANDARD_LAUNCH", "Evaluator", "as_json", "compile_formula", "evaluate", "typed"]


@lru_cache(maxsize=4096)
def compile_formula(source: str) -> Formula:
    """Parse a FHIRPath expression.

    Raises:
        BadFormula: It cannot be parsed to its end, or calls an unknown function or one with too few parameters.
    """
    if len(source) > MAX_CHARACTERS:
        raise BadFormula(f"longer than {MAX_CHARACTERS} characters")
    tree = parse(source)
    try:
        for call in calls(tree):
            function = KNOWN.get(call.name)
            if function is None:
                raise BadFormula(f"the function {call.name[:80]}() is not known here")
            if not function.least <= len(call.parameters) <= function.most:
                raise BadFormula(f"the function {call.name}() does not take {len(call.parameters)} parameters")
        return Formula(source, reads_of(tree), quick(tree))
    except RecursionError:
        raise BadFormula("nested too deep") from None


def evaluate(formula: Formula, focus: object, names: Mapping[str, object], *, now: str) -> list[object]:
    """Evaluate a formula to typed values, which other formulas can go on from; see `Evaluator` for those of a form.

    Args:
        formula: What to evaluate.
        focus: What the formula stands at: JSON, or a value that knows its type (`typed`).
        names: Values after ``%``.
        now: The moment of ``now()`` and ``today()``, as a FHIR dateTime with time zone.

    Raises:
        FormulaFailed: FHIRPath has no result (several values where one is due, values of different kinds are
            compared, ...), or it takes too much work.
    """
    return run(formula.tree, focus, names, now)


def typed(value: object, kind: str) -> object:
    """Give JSON the type that FHIRPath needs to resolve ``value`` to ``valueCoding``: an R4 path."""
    return Node.of(value, kind)


def as_json(values: Sequence[object], *, now: str = "") -> list[JsonValue]:
    """Return typed values as JSON; with the moment of `now`, times that were worked out stand as R4 has them."""
    return _as_json(values, now)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates the formulas of one Questionnaire on one response, for the interview and for the validator.

    Attributes:
        questionnaire: As JSON.
        response: As JSON; None where only formulas that read no answers are evaluated.
        given: Values after ``%`` that neither of them holds.
        now: As for `evaluate`.
    """

    questionnaire: JsonObject
    response: JsonObject | None
    given: Mapping[str, object]
    now: str

    def values(
        self, formula: Formula, variables: Mapping[str, object], item: JsonObject | None, focus: JsonObject | None
    ) -> list[object]:
        """Evaluate a formula to typed values.

        Args:
            formula: What to evaluate.
            variables: The values of the variables that it reads.
            item: The item of the Questionnaire that it belongs to; None for the form itself.
            focus: The item of the response that it stands at; None for the response itself.

        Raises:
            FormulaFailed: As for `evaluate`.
        """
        whole = self.response and typed(self.response, "QuestionnaireResponse")
        names = {
            **self.given,
            "questionnaire": self.questionnaire,
            "qitem": item and typed(item, "Questionnaire.item"),
            "resource": whole,
            "rootResource": whole,
            **variables,
        }
        at = whole if focus is None else typed(focus, "QuestionnaireResponse.item")
        return evaluate(formula, at, names, now=self.now)
