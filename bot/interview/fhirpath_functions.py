"""FHIRPath functions that fhirpathpy lacks, gets wrong, or must not run (it prints, and reads the clock). Pure.

SDC's ``answers()``, ``ordinal()`` and ``weight()`` are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from fhirpathpy.engine.invocations import equality
from fhirpathpy.engine.nodes import FP_Quantity, ResourceNode

from bot.interview.fhirpath_limits import matches, replace_matches
from bot.interview.formula_rewrite import FIND_ANSWERED, FIND_ASKED, FIND_OUTERMOST, find_items, outermost_items
from bot.interview.units import convert

_SCORES = (
    "http://hl7.org/fhir/StructureDefinition/itemWeight",
    "http://hl7.org/fhir/StructureDefinition/ordinalValue",
)


class Scored(dict[str, Any]):
    """A Coding that remembers what its option counts; otherwise it is the Coding."""

    score: Decimal

    def __init__(self, coding: Mapping[str, Any], score: Decimal) -> None:
        super().__init__(coding)
        self.score = score


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


def _answers(data: Sequence[Any]) -> list[Any]:
    """Return every answer below, as SDC's ``answers()`` does."""
    node: Callable[[Any, str], Any] = ResourceNode
    return [node(answer, "QuestionnaireResponse.item.answer") for part in data for answer in _below(part)]


def _below(part: Any) -> Iterator[Any]:
    if isinstance(part, Mapping):
        for answer in part.get("answer", ()):
            yield answer
            yield from _below(answer)
        for item in part.get("item", ()):
            yield from _below(item)


def _answered(data: Sequence[Any], link_id: str) -> list[Any]:
    node: Callable[[Any, str], Any] = ResourceNode
    return [node(item, "QuestionnaireResponse.item") for item in find_items(data, link_id)]


def _outermost(data: Sequence[Any], link_id: str) -> list[Any]:
    node: Callable[[Any, str], Any] = ResourceNode
    return [node(item, "QuestionnaireResponse.item") for item in outermost_items(data, link_id)]


def _questions(data: Sequence[Any], link_id: str) -> list[Any]:
    node: Callable[[Any, str], Any] = ResourceNode
    return [node(item, "Questionnaire.item") for item in find_items(data, link_id)]


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
    FIND_ANSWERED: _with(_answered, ["String"]),
    FIND_ASKED: _with(_questions, ["String"]),
    FIND_OUTERMOST: _with(_outermost, ["String"]),
    "ordinal": _with(_scores),
    "weight": _with(_scores),
    "trace": _with(lambda data, *_: list(data), ["String"], ["String", "Expr"]),
    "<": _with(_compare(equality.lt, lambda one, other: one < other), _PAIR),
    ">": _with(_compare(equality.gt, lambda one, other: one > other), _PAIR),
    "<=": _with(_compare(equality.lte, lambda one, other: one <= other), _PAIR),
    ">=": _with(_compare(equality.gte, lambda one, other: one >= other), _PAIR),
}
