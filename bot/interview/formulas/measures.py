"""Quantities of FHIRPath: a number with a unit of UCUM or of the calendar. Pure."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from bot.interview.values.units import canonical, convert

# Words of the calendar, and the codes of UCUM that last as long (a year and a month only about).
CALENDAR = {
    word + plural: code
    for word, code in {
        "year": "a", "month": "mo", "week": "wk", "day": "d",
        "hour": "h", "minute": "min", "second": "s", "millisecond": "ms",
    }.items()
    for plural in ("", "s")
}  # fmt: skip
_ABOUT = frozenset({"a", "mo"})
# How many days FHIRPath gives them where they stand beside days.
_DAYS = {"a": 365, "mo": 30}
_WRITTEN = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:'([^']+)'|([A-Za-z]+))?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount.

    Attributes:
        unit: A code of UCUM, or what stands in its place.
        word: The word of the calendar that it was written with; "" for UCUM. A year of the calendar is no fixed time.
        either: Whether a year may be of the calendar or of UCUM: FHIR writes both as ``a``.
    """

    value: Decimal
    unit: str
    word: str = ""
    either: bool = False

    @classmethod
    def written(cls, value: Decimal, unit: str) -> Quantity:
        """Return a quantity of a formula: ``4 days``, ``4 'd'``, and ``4 'days'``, which many write."""
        return cls(value, CALENDAR[unit], unit) if unit in CALENDAR else cls(value, unit)

    @classmethod
    def read(cls, text: str) -> Quantity | None:
        """Read ``4``, ``4 days`` or ``4 'mg'``; None for anything else."""
        found = _WRITTEN.fullmatch(text.strip())
        if found is None or (found[3] and found[3] not in CALENDAR):
            return None
        return cls.written(Decimal(found[1]), found[2] or found[3] or "1")

    def __str__(self) -> str:
        return f"{self.value:f} {self.word or repr(self.unit)}"

    def key(self) -> Hashable:
        """Return what is the same for equal quantities."""
        vague = bool(self.word) and self.unit in _ABOUT
        return canonical(self.value, self.unit) or (self.value, self.unit), vague

    def _in_days(self) -> Quantity:
        return Quantity(self.value * _DAYS[self.unit], "d", "days") if self.unit in _DAYS else self

    def beside(self, other: Quantity, *, roughly: bool = False) -> tuple[Decimal, Decimal, str] | None:
        """Return both amounts in the smaller of the two units, and that unit; None where they do not compare.

        Args:
            other: The other quantity.
            roughly: Whether a year of the calendar is as long as that of UCUM, and the larger unit is taken.
        """
        if self.word and other.word and (self.unit in _ABOUT) is not (other.unit in _ABOUT):
            return self._in_days().beside(other._in_days())
        fixed = bool(self.word) == bool(other.word) or self.either or other.either or roughly
        if not fixed and (self.unit in _ABOUT or other.unit in _ABOUT):
            return None
        step = convert(Decimal(1), other.unit, self.unit)
        if step is None:
            return None
        if (step <= 1) is roughly:
            converted = convert(other.value, other.unit, self.unit)
            return None if converted is None else (self.value, converted, self.unit)
        converted = convert(self.value, self.unit, other.unit)
        return None if converted is None else (converted, other.value, other.unit)


def equivalent(one: Decimal, other: Decimal) -> bool:
    """Say whether numbers are the same to the places of the less precise one."""
    places = min(_places(one), _places(other))
    return _to(one, places) == _to(other, places)


def _places(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _to(number: Decimal, places: int) -> Decimal:
    return round_to(number, places) if number.adjusted() < 20 else number


def round_to(number: Decimal, places: int, how: str = ROUND_HALF_UP) -> Decimal:
    """Round to decimal places; a number too large for that raises decimal.InvalidOperation."""
    return number.quantize(Decimal(1).scaleb(-places), rounding=how)


def times(one: Quantity, other: Quantity) -> Quantity:
    """Multiply quantities, and their units."""
    return Quantity(one.value * other.value, _joined(one.unit, other.unit, "."))


def divided(one: Quantity, other: Quantity) -> Quantity:
    """Divide quantities, and their units; by zero raises decimal.DivisionByZero or InvalidOperation."""
    unit = "1" if one.unit == other.unit else _joined(one.unit, other.unit, "/")
    return Quantity(one.value / other.value, unit)


def _joined(one: str, other: str, sign: str) -> str:
    if other == "1":
        return one
    other = f"({other})" if "/" in other or "." in other else other
    return other if one == "1" and sign == "." else f"{one}{sign}{other}"
