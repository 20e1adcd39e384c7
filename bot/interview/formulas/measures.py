"""Dates, times and quantities of FHIRPath: moments known as far as they were said, and numbers with a unit. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Literal

from bot.interview.values.units import UCUM, canonical, convert, known, product

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
# Systems whose units are read as those of UCUM: many forms leave it out.
_READABLE = frozenset({UCUM, ""})
_TIME_ITSELF = frozenset({("s", 1)})
_WRITTEN = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*(?:'([^']+)'|([A-Za-z]+))?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount.

    Attributes:
        unit: A code of UCUM, or what stands in its place.
        word: The word of the calendar that it was written with; "" for UCUM. A year of the calendar is no fixed time.
        either: Whether a year may be of the calendar or of UCUM: FHIR writes both as ``a``.
        system: That of the unit; "" where FHIR has only a text for it, which is taken for a code of UCUM.
        label: What FHIR calls the unit; "" where it has only a code.
    """

    value: Decimal
    unit: str
    word: str = ""
    either: bool = False
    system: str = UCUM
    label: str = ""

    @classmethod
    def written(cls, value: Decimal, unit: str) -> Quantity:
        """Return a quantity of a formula: ``4 days``, ``4 'd'``, and ``4 'days'``, which many write."""
        return cls(value, CALENDAR[unit], unit) if unit in CALENDAR else cls(value, unit)

    @classmethod
    def read(cls, text: str) -> Quantity | None:
        """Read ``4``, ``4 days`` or ``4 'mg'``; None for anything else."""
        found = _WRITTEN.fullmatch(text)
        if found is None or (found[3] and found[3] not in CALENDAR):
            return None
        return cls.written(Decimal(found[1]), found[2] or found[3] or "1")

    def __str__(self) -> str:
        return f"{self.value:f} {self.name if self.word else repr(self.unit)}"

    @property
    def name(self) -> str:
        """The unit in words, as far as there are any: ``day`` or ``days``, what FHIR calls it, else the code."""
        if self.word:
            return self.word.removesuffix("s") + ("" if abs(self.value) == 1 else "s")
        return self.label or self.unit

    @property
    def is_of_calendar(self) -> bool:
        """Whether a year of it may be one of the calendar."""
        return bool(self.word) or self.either

    def key(self) -> Hashable | None:
        """Return what is the same for equal quantities; None for times: a month equals 30 days, and no 30 'd'."""
        found = canonical(self.value, self.unit) if self.system in _READABLE else None
        if found is None:
            return self.system, self.unit, self.value
        return None if found[1] == _TIME_ITSELF else found

    def comparable(self, other: Quantity) -> bool:
        """Say whether both measure the same thing."""
        return self.beside(other, roughly=True) is not None

    def in_days(self) -> Quantity:
        """Return a year or a month as FHIRPath counts its days; any other quantity as it is."""
        if self.unit not in _DAYS:
            return self
        return replace(self, value=self.value * _DAYS[self.unit], unit="d", word="days", label="")

    def into(self, unit: str) -> Quantity | None:
        """Return it in another unit, of UCUM or of the calendar; None where it does not measure that."""
        target = Quantity.written(Decimal(1), unit)
        source, step = self, target
        if (self.unit in _ABOUT) is not (target.unit in _ABOUT):
            source = self.in_days() if self.is_of_calendar else self
            step = target.in_days() if target.word else target
        amount = convert(source.value, source.unit, step.unit) if self.system in _READABLE else None
        return None if amount is None else replace(target, value=amount / step.value)

    def beside(self, other: Quantity, *, roughly: bool = False) -> tuple[Quantity, Quantity] | None:
        """Return both amounts in the smaller of the two units; None where they do not compare.

        Args:
            other: The other quantity.
            roughly: Whether a year of the calendar is as long as that of UCUM, and the larger unit is taken.
        """
        of_calendar = self.is_of_calendar and other.is_of_calendar
        if of_calendar and (self.unit in _ABOUT) is not (other.unit in _ABOUT):
            return self.in_days().beside(other.in_days())
        fixed = bool(self.word) == bool(other.word) or self.either or other.either or roughly
        if not fixed and (self.unit in _ABOUT or other.unit in _ABOUT):
            return None
        if self.system != other.system and not _READABLE.issuperset({self.system, other.system}):
            return None
        readable = self.unit == other.unit or self.system in _READABLE
        step = convert(Decimal(1), other.unit, self.unit) if readable else None
        if step is None:
            return None
        if (step <= 1) is roughly:
            converted = convert(other.value, other.unit, self.unit)
            return None if converted is None else (self, replace(self, value=converted))
        converted = convert(self.value, self.unit, other.unit)
        return None if converted is None else (replace(other, value=converted), other)


# FHIRPath asks for 28 digits; what has more before the point is too large.
MOST_DIGITS = 28


def is_integer(number: int | Decimal) -> bool:
    """Say whether a whole number is within the range of FHIRPath's Integer."""
    return -(2**31) <= number < 2**31


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
    if one.unit == "1" and other.unit != "1":
        one, other = other, one
    return _combined(one, other, one.value * other.value, over=False)


def divided(one: Quantity, other: Quantity) -> Quantity:
    """Divide quantities, and their units; by zero raises decimal.DivisionByZero or InvalidOperation."""
    if one.word and other.word and (one.unit in _ABOUT) is not (other.unit in _ABOUT):
        one, other = one.in_days(), other.in_days()
    return _combined(one, other, one.value / other.value, over=True)


def _combined(one: Quantity, other: Quantity, value: Decimal, *, over: bool) -> Quantity:
    if other.unit == "1":
        # So many times three months are months of the calendar still.
        return replace(one, value=value)
    unit = product(one.unit, other.unit, over=over)
    of_ucum = one.system == other.system == UCUM or (_READABLE.issuperset({one.system, other.system}) and known(unit))
    return Quantity(value, unit, system=UCUM if of_ucum or unit == "1" else "")


Kind = Literal["Date", "DateTime", "Time"]

_CLOCK = r"([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?)?"
_DATE_TIME = re.compile(
    rf"([0-9]{{4}})(?:-([0-9]{{2}})(?:-([0-9]{{2}}))?)?(T)?(?:(?<=T){_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?"
)
_TIME = re.compile(_CLOCK)
# A time without zone may be of any: as early as in Kiribati, as late as on the Howland island.
_EARLIEST, _LATEST = 14 * 60, -12 * 60
_UNITS = ("a", "mo", "d", "h", "min", "s")
# The next larger unit and how many make it; a month has about 30 days where only months are known.
_ABOVE = {"mo": ("a", 12), "d": ("mo", 30), "h": ("d", 24), "min": ("h", 60), "s": ("min", 60)}
_HOW_LONG = {"wk": ("d", Decimal(7)), "ms": ("s", Decimal("0.001"))}


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a date with time, or a time of day.

    Attributes:
        parts: Year, month, day, hour, minute and second as far as known; of a time of day, only the last three.
        fraction: The digits after the seconds.
        zone: Minutes east of Greenwich; None where that is not said.
        text: As FHIR writes it.
    """

    kind: Kind
    parts: tuple[int, ...]
    fraction: str = ""
    zone: int | None = None
    text: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def digits(self) -> int:
        """How many digits say when it is: 4 for a year, 17 for milliseconds."""
        known = sum(2 for _ in self.parts) + len(self.fraction)
        return known if self.kind == "Time" else known + 2

    def date(self) -> Moment:
        """Return the date of it."""
        return _made("Date", self.parts[:3], "", None)

    def in_full(self, clock: Moment) -> Moment:
        """Return it as FHIR has to write it: a time of day to the second, beside a date with the zone of the clock."""
        if self.kind == "Time":
            return _made("Time", (*self.parts, 0, 0)[:3], self.fraction, None)
        zone = clock.zone if self.zone is None else self.zone
        if len(self.parts) < 4 or (zone == self.zone and len(self.parts) == 6):
            return self
        return _made(self.kind, (*self.parts, 0, 0)[:6], self.fraction, zone)

    def key(self) -> Hashable:
        """Return what is the same for moments that are equal for certain."""
        moment = self._at_greenwich() if self.zone is not None else self
        return self.kind == "Time", moment.parts, moment.fraction.rstrip("0"), self.zone is None

    def compare(self, other: Moment) -> int | None:
        """Return -1, 0 or 1 as this is before, at or after `other`; None where their precision leaves that open."""
        if (self.kind == "Time") is not (other.kind == "Time"):
            return None
        one, two = self, other
        if min(len(one.parts), len(two.parts)) > 3 or self.kind == "Time":
            if one.zone is not None and two.zone is not None:
                one, two = one._at_greenwich(), two._at_greenwich()
            elif one.zone != two.zone:
                return _far_apart(one, two)
        for left, right in zip(one.parts, two.parts, strict=False):
            if left != right:
                return -1 if left < right else 1
        if len(one.parts) != len(two.parts):
            return None
        # Seconds and their fractions are one precision.
        seconds, others = Decimal(f"0.{one.fraction}0"), Decimal(f"0.{two.fraction}0")
        return (seconds > others) - (seconds < others)

    def _at_greenwich(self) -> Moment:
        """Return it as it is called where the zone is zero."""
        if not self.zone:
            return self
        try:
            shifted = self._earliest() - timedelta(minutes=self.zone)
        except OverflowError:
            return self
        return replace(self, parts=_parts(shifted)[: len(self.parts)], zone=0)

    def _earliest(self) -> datetime:
        year, month, day, hour, minute, second = (*self.parts, *(1, 1, 1, 0, 0, 0)[len(self.parts) :])
        return datetime(year, month, day, hour, minute, second)

    def plus(self, amount: Quantity, sign: int = 1) -> Moment | None:
        """Return the moment an amount of time later or, with the sign -1, earlier; None where there is none.

        Raises:
            ValueError: The amount is not a time, or a year or month of UCUM, which the calendar does not know.
        """
        unit, value = amount.unit, amount.value * sign
        if unit in _ABOUT and not amount.is_of_calendar:
            raise ValueError("a year of UCUM is no year of the calendar")
        if unit in _HOW_LONG:
            value, unit = value * _HOW_LONG[unit][1], _HOW_LONG[unit][0]
        if unit not in _UNITS or (self.kind == "Time" and unit in {"a", "mo", "d"}):
            raise ValueError("no time that can be added")
        # Parts of a second count; of anything else only whole ones do.
        value = value.quantize(Decimal("0.001") if unit == "s" else Decimal(1), rounding=ROUND_DOWN)
        known = _UNITS[3 if self.kind == "Time" else 0 :][: len(self.parts)]
        while unit not in known:
            above, many = _ABOVE[unit] if unit != "d" or "mo" in known else ("a", 365)
            value, unit = (value / many).to_integral_value(ROUND_DOWN), above
        try:
            return self._later(value, unit)
        except (OverflowError, ValueError):
            return None

    def _later(self, value: Decimal, unit: str) -> Moment:
        if self.kind == "Time":
            parts = (2000, 1, 1, *self.parts)
            moment = replace(self, kind="DateTime", parts=parts)._later(value, unit)
            return _made("Time", moment.parts[3:], moment.fraction, None)
        if unit in {"a", "mo"}:
            months = self.parts[0] * 12 + (self.parts[1] - 1 if len(self.parts) > 1 else 0)
            months += int(value) * (12 if unit == "a" else 1)
            year, month = divmod(months, 12)
            if not 1 <= year <= 9999:
                raise OverflowError
            last = calendar.monthrange(year, month + 1)[1]
            day = tuple(min(each, last) for each in self.parts[2:3])
            parts = ((year, month + 1)[: len(self.parts)]) + day + self.parts[3:]
            return _made(self.kind, parts, self.fraction, self.zone)
        seconds = value * {"d": 86400, "h": 3600, "min": 60, "s": 1}[unit]
        micro = int(Decimal(f"0.{self.fraction[:6]}0") * 1000000)
        later = self._earliest() + timedelta(microseconds=micro + int(seconds * 1000000))
        digits = max(len(self.fraction[:6]), 3 if later.microsecond != micro else 0)
        return _made(self.kind, _parts(later)[: len(self.parts)], f"{later.microsecond:06}"[:digits], self.zone)

    def bound(self, digits: int | None, *, high: bool) -> Moment | None:
        """Return the earliest (or latest) moment it may be, to so many digits; None where it has no such."""
        first = 3 if self.kind == "Time" else 0
        most = {"Date": 8, "DateTime": 17, "Time": 9}[self.kind]
        digits = most if digits is None else digits
        counts = {4: 1, 6: 2, 8: 3, 10: 4, 12: 5, 14: 6, 17: 6} if not first else {2: 1, 4: 2, 6: 3, 9: 3}
        if digits not in counts or (self.kind == "Date" and digits > 8):
            return None
        parts = list(self.parts)
        while len(parts) < 6 - first:
            parts.append(_edge(parts, first + len(parts), high=high))
        fraction = (self.fraction.ljust(3, "9" if high and not self.fraction else "0"))[:3]
        zone = self.zone
        if zone is None and self.kind == "DateTime" and digits > 8:
            zone = _LATEST if high else _EARLIEST
        cut = tuple(parts[: counts[digits]])
        kind: Kind = "Date" if not first and digits <= 8 else self.kind
        return _made(kind, cut, fraction if digits in {9, 17} else "", zone if kind == "DateTime" else None)


def _edge(parts: list[int], place: int, *, high: bool) -> int:
    """Return the lowest or highest value of the part at `place`, which is the next."""
    if not high:
        return (1, 1, 1, 0, 0, 0)[place]
    return calendar.monthrange(parts[0], parts[1])[1] if place == 2 else (9999, 12, 31, 23, 59, 59)[place]


def _far_apart(one: Moment, other: Moment) -> int | None:
    """Compare two moments one of which has no zone: only where no zone would change the outcome."""
    found = set()
    for zone in (_EARLIEST, _LATEST):
        left = replace(one, zone=zone) if one.zone is None else one
        right = replace(other, zone=zone) if other.zone is None else other
        found.add(left.compare(right))
    return found.pop() if len(found) == 1 else None


def _parts(moment: datetime) -> tuple[int, ...]:
    return (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def _made(kind: Kind, parts: tuple[int, ...], fraction: str, zone: int | None) -> Moment:
    day, clock = ((), parts) if kind == "Time" else (parts[:3], parts[3:])
    text = "-".join(f"{part:0{4 if place == 0 else 2}}" for place, part in enumerate(day))
    if clock:
        text += ("T" if day else "") + ":".join(f"{part:02}" for part in clock) + ("." + fraction if fraction else "")
    if zone is not None:
        hours, minutes = divmod(abs(zone), 60)
        text += f"{'-' if zone < 0 else '+'}{hours:02}:{minutes:02}" if zone else "Z"
    return Moment(kind, parts, fraction, zone, text)


def read_literal(text: str) -> Moment | None:
    """Read what stands after ``@`` in a formula."""
    if text.startswith("T"):
        return read("Time", text[1:])
    return read("DateTime" if "T" in text else "Date", text)


@lru_cache(maxsize=1024)
def read(kind: Kind, text: str) -> Moment | None:
    """Read a date, a date with time, or a time, as FHIR writes it; None where it is none."""
    match = (_TIME if kind == "Time" else _DATE_TIME).fullmatch(text)
    if match is None:
        return None
    if kind == "Time":
        *numbers, fraction = match.groups()
        parts = tuple(int(number) for number in numbers if number)
        fits = parts[0] < 24 and all(part < 60 for part in parts[1:])
        return Moment(kind, parts, fraction or "", None, text) if fits else None
    year, month, day, clock, hour, minute, second, fraction, zone = match.groups()
    if (clock and kind == "Date") or (hour and not day):
        return None
    parts = tuple(int(number) for number in (year, month, day, hour, minute, second) if number)
    moment = Moment(kind, parts, fraction or "", _offset(zone), text.removesuffix("T"))
    try:
        moment._earliest()
    except ValueError:
        return None
    return moment


def _offset(zone: str | None) -> int | None:
    if zone is None or zone == "Z":
        return 0 if zone else None
    return (-1 if zone[0] == "-" else 1) * (int(zone[1:3]) * 60 + int(zone[4:6]))
