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
        return _in_order(number(one.value), number(other.value))
    if isinstance(one.value, str) and isinstance(other.value, str):
        if kinds <= _DATES:
            return compare_dates(one.value, other.value)
        if kinds == {"time"}:
            return compare_times(one.value, other.value)
        if kinds <= _TEXTS:
            return _in_order(one.value, other.value)
    if kinds == {"quantity"}:
        return relate_quantities(one, other)
    left, right = as_object(one.value), as_object(other.value)
    if kinds == {"coding"}:
        # A coding without system (in a condition) means the code in any system.
        systems, codes = zip(code_key(left), code_key(right), strict=True)
        same = len({*systems} - {""}) <= 1 and len({*codes}) == 1
    elif kinds == {"reference"}:
        same = bool(string(left, "reference")) and string(left, "reference") == string(right, "reference")
    else:
        same = len(kinds) == 1 and one.value == other.value
    return "same" if same else "different"


def relate_quantities(one: Answer, other: Answer) -> Relation:
    """Compare quantities of one unit, or of UCUM units of one dimension; "unknown" when the units do not allow it."""
    left, right = as_object(one.value), as_object(other.value)
    first, second = number(left.get("value")), number(right.get("value"))
    units = [(string(side, "system"), string(side, "code") or string(side, "unit")) for side in (left, right)]
    if first is None or second is None or units[0] == units[1]:
        return _in_order(first, second)
    if units[0][0] == units[1][0] == UCUM:
        return _in_order(convert(first, units[0][1], units[1][1]), second)
    return "unknown"


def _in_order(one: Decimal | str | None, other: Decimal | str | None) -> Relation:
    if isinstance(one, str) and isinstance(other, str):
        return "same" if one == other else "before" if one < other else "after"
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return "same" if one == other else "before" if one < other else "after"
    return "unknown"
