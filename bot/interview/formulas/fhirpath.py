"""Evaluate FHIRPath with the library, plus the functions it lacks and limits on time and size. Pure.

SDC's ``answers()``, ``ordinal()`` and ``weight()`` are here too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

import regex
from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
from antlr4.Token import Token
from antlr4.tree.Tree import ParseTreeWalker
from fhirpathpy import apply_parsed_path
from fhirpathpy.engine.invocations import equality, invocation_registry
from fhirpathpy.engine.nodes import FP_DateTime, FP_Quantity, FP_Type, ResourceNode, TypeInfo
from fhirpathpy.models import models
from fhirpathpy.parser.ASTPathListener import ASTPathListener
from fhirpathpy.parser.generated.FHIRPathLexer import FHIRPathLexer
from fhirpathpy.parser.generated.FHIRPathParser import FHIRPathParser

from bot.interview.formulas.formula import (
    FIND_ANSWERED,
    FIND_ASKED,
    FIND_OUTERMOST,
    BadFormula,
    FormulaFailed,
    Scored,
    find_items,
    outermost_items,
)
from bot.interview.values.answer import JsonValue
from bot.interview.values.patterns import PATIENCE_S
from bot.interview.values.units import convert

# The largest form known to us has 271 items; texts and numbers that grow with each round stop long before memory does.
MOST_REPEATED = 20_000
MOST_GROWN = 100_000


class TooMuch(ValueError):
    """A function that would find more than any form needs."""


def matches(data: Sequence[Any], pattern: Any) -> Any:
    """Say whether a text holds the pattern; a search that takes too long is an error."""
    if not data or not pattern:
        return []
    return regex.search(pattern, _text(data), regex.DOTALL, timeout=PATIENCE_S) is not None


def replace_matches(data: Sequence[Any], pattern: Any, replacement: Any) -> Any:
    """Replace what the pattern finds; ``$1`` stands for its first group. A search that takes too long is an error."""
    if not data or pattern == [] or replacement == []:
        return []
    return regex.sub(pattern, re.sub(r"\$(\d+)", r"\\\1", replacement), _text(data), timeout=PATIENCE_S)


def _text(data: Sequence[Any]) -> str:
    if len(data) != 1 or not isinstance(data[0], str):
        raise TypeError("not a text")
    return data[0]


def repeat(context: Any, data: Any, expression: Callable[[Any], Iterable[Any]]) -> list[Any]:
    """Apply an expression to all elements, to what it gives, and so on, until nothing new comes.

    Raises:
        TooMuch: There seems to be no end to it.
    """
    found: list[Any] = []
    seen: set[Any] = set()
    waiting, grown = deque(data if isinstance(data, list) else ()), 0
    while waiting:
        new = [element for element in expression(waiting.popleft()) if element not in seen]
        seen.update(new)
        found += new
        waiting.extend(new)
        grown += sum(map(_size, new))
        if len(found) > MOST_REPEATED or grown > MOST_GROWN:
            raise TooMuch("repeat() finds too much")
    return found


def _size(element: Any) -> int:
    """Return how much a text or a number takes; what stands in a resource takes nothing, it is there already."""
    if isinstance(element, ResourceNode):
        return 0
    if isinstance(element, str):
        return len(element)
    return element.bit_length() // 8 if isinstance(element, int) else 0


_SCORES = (
    "http://hl7.org/fhir/StructureDefinition/itemWeight",
    "http://hl7.org/fhir/StructureDefinition/ordinalValue",
)


def functions(now: str) -> dict[str, dict[str, Any]]:
    """Return the functions as the library's table; `now` is a FHIR dateTime with seconds and zone."""
    clock: dict[str, Any] = {
        "now": {"fn": lambda data: now},
        "today": {"fn": lambda data: now[:10]},
        "timeOfDay": {"fn": lambda data: now[11:19]},
    }
    return _FIXED | clock


def _data(value: Any) -> Any:
    return value.data if isinstance(value, ResourceNode) else value


def _numbers(data: Sequence[Any]) -> list[Decimal]:
    """Return all as numbers; sums of anything else are an error."""
    if any(isinstance(value, bool) or not isinstance(value, int | Decimal) for value in data):
        raise TypeError("not a number")
    return [Decimal(value) for value in data]


def _sum(data: Sequence[Any]) -> Any:
    return sum(_numbers(data), Decimal(0)) if data else 0


def _average(data: Sequence[Any]) -> Any:
    return _sum(data) / len(data) if data else []


def _least(data: Sequence[Any]) -> Any:
    return min(data) if data else []


def _greatest(data: Sequence[Any]) -> Any:
    return max(data) if data else []


def _round(data: Sequence[Any], digits: Any = 0) -> Any:
    if not data:
        return []
    number = _numbers(data)[0]
    return number.quantize(Decimal(1).scaleb(-int(digits or 0)), rounding=ROUND_HALF_UP)


def _power(data: Sequence[Any], exponent: Any) -> Any:
    if not data or exponent == []:
        return []
    try:
        return _numbers(data)[0] ** Decimal(exponent)
    except InvalidOperation:
        # A root of a negative number: FHIRPath says empty.
        return []


def _to_string(data: Sequence[Any]) -> Any:
    if len(data) != 1 or isinstance(data[0], Mapping | list):
        return []
    return str(data[0]).lower() if isinstance(data[0], bool) else str(data[0])


def _to_boolean(data: Sequence[Any]) -> Any:
    word = _to_string(data)
    if word in ("true", "t", "yes", "y", "1", "1.0"):
        return True
    return False if word in ("false", "f", "no", "n", "0", "0.0") else []


def _has_value(data: Sequence[Any]) -> bool:
    return len(data) == 1 and not isinstance(data[0], Mapping | list)


def _value(data: Sequence[Any]) -> Any:
    return data[0] if _has_value(data) else []


def node(value: object, kind: str) -> object:
    """Give JSON the type that FHIRPath needs to resolve ``value`` to ``valueCoding``: an R4 path."""
    return ResourceNode(value, kind)  # type: ignore[no-untyped-call]


def _answers(data: Sequence[Any]) -> list[Any]:
    """Return every answer below, as SDC's ``answers()`` does."""
    return [node(answer, "QuestionnaireResponse.item.answer") for part in data for answer in _below(part)]


def _below(part: Any) -> Iterator[Any]:
    if isinstance(part, Mapping):
        for answer in part.get("answer", ()):
            yield answer
            yield from _below(answer)
        for item in part.get("item", ()):
            yield from _below(item)


def _search(find: Callable[[Sequence[Any], str], Iterable[Any]], kind: str) -> dict[str, Any]:
    """Return a function that finds items by their linkId."""
    return _with(lambda data, link_id: [node(item, kind) for item in find(data, link_id)], ["String"])


def _scores(data: Sequence[Any]) -> list[Decimal]:
    found = [_score(value) for value in data]
    return [score for score in found if score is not None]


def _score(value: Any) -> Decimal | None:
    if isinstance(value, Scored):
        return value.score
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return Decimal(value)
    extensions = value.get("extension", ()) if isinstance(value, Mapping) else ()
    given = (each.get("valueDecimal") for each in extensions if each.get("url") in _SCORES)
    return next((Decimal(number) for number in given if number is not None), None)


def _measure(value: Any) -> tuple[Decimal, str] | None:
    """Read a quantity, of an answer or written in the formula, as number and unit."""
    value = _data(value)
    if isinstance(value, FP_Quantity):
        return Decimal(value.value), str(value.unit).strip("'")
    if isinstance(value, Mapping) and value.get("value") is not None:
        return Decimal(value["value"]), str(value.get("code") or value.get("unit") or "1")
    return None


def _compare(library: Callable[..., Any], holds: Callable[[Decimal, Decimal], bool]) -> Callable[..., Any]:
    """Compare quantities by their units; leave all else to the library."""

    def compare(left: Sequence[Any], right: Sequence[Any]) -> Any:
        if not left or not right:
            return []
        one, other = _measure(left[0]), _measure(right[0])
        if one is None or other is None or len(left) > 1 or len(right) > 1:
            return library(None, list(left), list(right))
        converted = convert(other[0], other[1], one[1])
        return [] if converted is None else holds(one[0], converted)

    return compare


def _with(fn: Callable[..., Any], *arities: list[str]) -> dict[str, Any]:
    return {"fn": fn, "arity": {len(types): types for types in arities}} if arities else {"fn": fn}


_PAIR = ["Any", "Any"]

_FIXED: dict[str, dict[str, Any]] = {
    "sum": _with(_sum),
    "avg": _with(_average),
    "min": _with(_least),
    "max": _with(_greatest),
    "round": _with(_round, [], ["Number"]),
    "power": _with(_power, ["Number"]),
    "toString": _with(_to_string),
    "toBoolean": _with(_to_boolean),
    "matches": _with(matches, ["String"]),
    "replaceMatches": _with(replace_matches, ["String", "String"]),
    "hasValue": _with(_has_value),
    "getValue": _with(_value),
    "answers": _with(_answers),
    FIND_ANSWERED: _search(find_items, "QuestionnaireResponse.item"),
    FIND_ASKED: _search(find_items, "Questionnaire.item"),
    FIND_OUTERMOST: _search(outermost_items, "QuestionnaireResponse.item"),
    "ordinal": _with(_scores),
    "weight": _with(_scores),
    "trace": _with(lambda data, *_: list(data), ["String"], ["String", "Expr"]),
    "<": _with(_compare(equality.lt, lambda one, other: one < other), _PAIR),
    ">": _with(_compare(equality.gt, lambda one, other: one > other), _PAIR),
    "<=": _with(_compare(equality.lte, lambda one, other: one <= other), _PAIR),
    ">=": _with(_compare(equality.gte, lambda one, other: one >= other), _PAIR),
}


_R4: Any = models["r4"]
# The library sets this on first use of `is`; set from the start, results do not depend on what ran before.
TypeInfo.model = _R4
# The library's own has no end. Functions handed in with a formula get bare JSON, this one has to pass on types too.
_REPEAT: Any = {"fn": repeat, "arity": {1: ["Expr"]}}
invocation_registry["repeat"] = _REPEAT
_KNOWN = frozenset(invocation_registry) | frozenset(functions(""))


def known_functions() -> frozenset[str]:
    """Return the names of all functions that formulas may call."""
    return _KNOWN


class _Strict(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Any) -> None:  # noqa: N802, PLR0913
        raise BadFormula(f"no FHIRPath at line {line}, column {column + 1}")


def parse(source: str) -> Any:
    """Parse all of `source`, or raise `BadFormula`."""
    lexer = FHIRPathLexer(InputStream(source))
    parser = FHIRPathParser(CommonTokenStream(lexer))
    for part in (lexer, parser):
        part.removeErrorListeners()
        part.addErrorListener(_Strict())
    listener: Any = ASTPathListener()  # type: ignore[no-untyped-call]
    try:
        tree = parser.expression()
        if parser.getCurrentToken().type != Token.EOF:
            raise BadFormula(f"no FHIRPath from column {parser.getCurrentToken().column + 1} on")
        ParseTreeWalker().walk(listener, tree)
    except RecursionError:
        raise BadFormula("nested too deep") from None
    return listener.parentStack[0]


def run(tree: Any, focus: object, names: Mapping[str, object], now: str) -> list[object]:
    """Evaluate a parsed formula to typed values, which other formulas can go on from; see `evaluator.evaluate`."""
    options = {"userInvocationTable": functions(now), "returnRawData": True}
    try:
        found = apply_parsed_path(focus, tree, {"context": focus, **names}, _R4, options)  # type: ignore[no-untyped-call]
    except Exception as error:
        # The library raises plain Exception, TypeError, KeyError and more for what FHIRPath calls an error.
        raise FormulaFailed(type(error).__name__) from error
    return [value for value in (found if isinstance(found, list) else [found]) if value is not None]


def plain(value: Any) -> JsonValue:
    """Return a typed value as JSON."""
    if isinstance(value, ResourceNode):
        return plain(value.data)
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, FP_Quantity):
        return {"value": value.value, "code": str(value.unit).strip("'"), "unit": str(value.unit).strip("'")}
    if isinstance(value, FP_DateTime):
        return str(value.asStr)
    if isinstance(value, FP_Type):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return value  # type: ignore[no-any-return]
