"""Compare answers as conditions and limits do: numbers, dates known in part, codes, quantities with units. Pure."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Literal

from bot.interview.values.answer import Answer
from bot.interview.values.codes import code_key
from bot.interview.values.fhir_json import as_object, number, string
from bot.interview.values.primitives import compare_dates, compare_times
from bot.interview.values.units import UCUM, convert

Relation = Literal["before", "same", "after", "different", "unknown"]


class Truth(Enum):
    """Yes, no, or not to be told from what is at hand."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"

    @staticmethod
    def of(value: bool) -> Truth:
        return Truth.YES if value else Truth.NO


_DATES = frozenset({"date", "dateTime", "instant"})
_NUMBERS = frozenset({"decimal", "integer"})
_TEXTS = frozenset({"string", "uri", "text", "markdown", "code", "url"})


def relate(one: Answer, other: Answer) -> Relation:
    """Say how `one` stands to `other`; "different" where the types have no order or do not match."""
    kinds = {one.type, other.type}
    if kinds <= _NUMBERS:
        return _relate_numbers(number(one.value), number(other.value))
    if isinstance(one.value, str) and isinstance(other.value, str):
        if kinds <= _DATES:
            return compare_dates(one.value, other.value)
        if kinds == {"time"}:
            return compare_times(one.value, other.value)
        if kinds <= _TEXTS:
            return _relate_plain(one.value, other.value)
    if len(kinds) == 1:
        return _relate_same_type(one, other)
    return "different"


def _relate_same_type(one: Answer, other: Answer) -> Relation:
    left, right = as_object(one.value), as_object(other.value)
    match one.type:
        case "coding":
            return _same(same_coding(one, other))
        case "quantity":
            return relate_quantities(one, other)
        case "reference":
            return _same(bool(string(left, "reference")) and string(left, "reference") == string(right, "reference"))
        case _:
            return _same(one.value == other.value)


def _same(equal: bool) -> Relation:
    return "same" if equal else "different"


def same_coding(one: Answer, other: Answer) -> bool:
    """Compare codes; a coding without system (in a condition) means the code in any system."""
    left, right = code_key(as_object(one.value)), code_key(as_object(other.value))
    return len({left[0], right[0]} - {""}) <= 1 and left[1] == right[1]


def relate_quantities(one: Answer, other: Answer) -> Relation:
    """Compare quantities of one unit, or of UCUM units of one dimension; "unknown" when the units do not allow it."""
    left, right = as_object(one.value), as_object(other.value)
    first, second = number(left.get("value")), number(right.get("value"))
    if first is None or second is None:
        return "unknown"
    units = [(string(side, "system"), string(side, "code") or string(side, "unit")) for side in (left, right)]
    if units[0] == units[1]:
        return _relate_numbers(first, second)
    if units[0][0] == units[1][0] == UCUM:
        return _relate_numbers(convert(first, units[0][1], units[1][1]), second)
    return "unknown"


def _relate_numbers(one: Decimal | None, other: Decimal | None) -> Relation:
    if one is None or other is None:
        return "unknown"
    return "same" if one == other else "before" if one < other else "after"


def _relate_plain(one: str, other: str) -> Relation:
    return "same" if one == other else "before" if one < other else "after"
