"""R4's primitive types: what JSON may hold for each, and how answers compare, also dates known in part. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Literal

from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import as_object, code_key, number, string
from bot.interview.values.references import uri_problem
from bot.interview.values.units import UCUM, convert

_YEAR = r"[0-9]{4}"
_DATE = rf"(?P<year>{_YEAR})(-(?P<month>0[1-9]|1[0-2])(-(?P<day>0[1-9]|[12][0-9]|3[01]))?)?"
_CLOCK = r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)(\.(?P<fraction>[0-9]+))?"
_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"

_DATE_RE = re.compile(_DATE)
_DATETIME_RE = re.compile(rf"{_DATE}(T{_CLOCK}{_ZONE})?")
_INSTANT_RE = re.compile(rf"(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])T{_CLOCK}{_ZONE}")
_TIME_RE = re.compile(_CLOCK)
_PATTERNS = {
    "code": re.compile(r"[^\s]+( [^\s]+)*"),
    "id": re.compile(r"[A-Za-z0-9\-.]{1,64}"),
    "oid": re.compile(r"urn:oid:[0-2](\.(0|[1-9][0-9]*))+"),
    "uuid": re.compile(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    "uri": re.compile(r"\S+"),
    "url": re.compile(r"\S+"),
    "canonical": re.compile(r"[^\s|]\S*"),
}
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_DATED = {"date": _DATE_RE, "dateTime": _DATETIME_RE, "instant": _INSTANT_RE}
_WHOLE = {"integer": (-(2**31), 2**31 - 1), "unsignedInt": (0, 2**31 - 1), "positiveInt": (1, 2**31 - 1)}
MAX_STRING_BYTES = 1024 * 1024
# Beyond this no measure makes sense, and comparing such numbers would cost memory.
_MAX_EXPONENT = 400

PRIMITIVES = frozenset(
    {"boolean", "decimal", "string", "markdown", "xhtml", "time", "base64Binary"}
    | _PATTERNS.keys()
    | _DATED.keys()
    | _WHOLE.keys()
)


def problem_with(kind: str, value: JsonValue) -> str:
    """Say why `value` is not a primitive of the type `kind`; empty when it is one. Never quotes the value."""
    if kind == "boolean":
        return "" if isinstance(value, bool) else f"{shape(value)} where true or false is due"
    if kind == "decimal":
        return _decimal_problem(value)
    if kind in _WHOLE:
        return _whole_problem(kind, value)
    if not isinstance(value, str):
        return f"{shape(value)} where a string is due"
    return _text_problem(kind, value)


def shape(value: JsonValue) -> str:
    """Name the JSON type of a value."""
    if isinstance(value, bool):
        return "a boolean"
    if value is None:
        return "null"
    if isinstance(value, int | Decimal):
        return "a number"
    return "a string" if isinstance(value, str) else "an object" if isinstance(value, dict) else "a list"


def _decimal_problem(value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return f"{shape(value)} where a number is due"
    digits = Decimal(value)
    return "" if digits.is_finite() and abs(digits.adjusted()) <= _MAX_EXPONENT else "a number out of range"


def _whole_problem(kind: str, value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return f"{shape(value)} where a whole number is due"
    if isinstance(value, Decimal):
        return "not a whole number of 32 bits"
    low, high = _WHOLE[kind]
    return "" if low <= value <= high else f"not from {low} to {high}"


def _text_problem(kind: str, value: str) -> str:
    if value == "":
        return "empty"
    if has_bad_characters(value):
        return "has control characters, or half a character"
    if kind in _DATED:
        match = _DATED[kind].fullmatch(value)
        return "" if match and _exists(match) else f"not a {kind}"
    if kind == "time":
        return "" if _TIME_RE.fullmatch(value) else "not a time (hh:mm:ss)"
    if kind == "base64Binary":
        return "" if base64_size(value) is not None else "not base64"
    if kind in _PATTERNS:
        fits = _PATTERNS[kind].fullmatch(value)
        return uri_problem(value.partition("|")[0]) if fits and value[:4] == "urn:" else "" if fits else f"not a {kind}"
    return _string_problem(value)


def _string_problem(value: str) -> str:
    # Four bytes at most a character: short texts need not be encoded to know that they fit.
    if len(value) > MAX_STRING_BYTES // 4 and len(value.encode("utf-8", "replace")) > MAX_STRING_BYTES:
        return "longer than 1 MB"
    return ""


_BAD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def has_bad_characters(text: str) -> bool:
    """Say whether a text holds characters that FHIR allows nowhere: control characters, or half of a surrogate pair."""
    return not text.isprintable() and _BAD.search(text) is not None


def base64_size(text: str) -> int | None:
    """Return how many bytes base64 `text` stands for (white space is skipped), or None if it is not base64."""
    packed = "".join(text.split())
    if not _BASE64.fullmatch(packed):
        return None
    return len(packed) // 4 * 3 - packed[-2:].count("=")


def _exists(match: re.Match[str]) -> bool:
    """Say whether a date is on the calendar."""
    year, month, day = match["year"], match["month"], match["day"]
    if int(year) == 0:
        return False
    return day is None or int(day) <= monthrange(int(year), int(month))[1]


@dataclass(frozen=True, slots=True)
class Span:
    """The moments that a date known in part may mean: from the first to just before the second.

    A date without a time zone is local; such a moment is compared as if all were in one zone.
    """

    start: datetime
    end: datetime


Order = Literal["before", "same", "after", "unknown"]


def span(text: str) -> Span | None:
    """Return the span of a FHIR date, dateTime or instant; None when it is none."""
    match = _DATETIME_RE.fullmatch(text)
    if not match or not _exists(match):
        return None
    year, month, day = int(match["year"]), match["month"], match["day"]
    start = datetime(year, int(month or 1), int(day or 1), tzinfo=UTC)
    try:
        if match["hour"]:
            start = _at(match, start)
            return Span(start, start + timedelta(microseconds=1 if match["fraction"] else 1_000_000))
        return Span(start, _next(start, month, day))
    except OverflowError:
        # The first and the last hours that can be held, in another zone.
        return None


def _at(match: re.Match[str], day: datetime) -> datetime:
    micro = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    # A leap second counts as the last one that computers know.
    clock = day.replace(hour=int(match["hour"]), minute=int(match["minute"]), second=min(int(match["second"]), 59))
    zone = match["zone"]
    if zone == "Z":
        return clock.replace(microsecond=micro)
    away = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
    return clock.replace(microsecond=micro, tzinfo=timezone(away)).astimezone(UTC)


def _next(start: datetime, month: str | None, day: str | None) -> datetime:
    try:
        if day:
            return start + timedelta(days=1)
        if month and start.month < 12:
            return start.replace(month=start.month + 1)
        return start.replace(year=start.year + 1, month=1)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC)


def compare_dates(one: str, other: str) -> Order:
    """Compare dates as FHIRPath does: unknown when one is too coarse to tell (``2020`` and ``2020-05``)."""
    first, second = span(one), span(other)
    if first is None or second is None:
        return "unknown"
    if first == second:
        return "same"
    if first.end <= second.start:
        return "before"
    return "after" if second.end <= first.start else "unknown"


def compare_times(one: str, other: str) -> Order:
    """Compare two FHIR times; a fraction of a second counts."""
    first, second = _TIME_RE.fullmatch(one), _TIME_RE.fullmatch(other)
    if not first or not second:
        return "unknown"
    left, right = ((m["hour"], m["minute"], m["second"], (m["fraction"] or "").rstrip("0")) for m in (first, second))
    return "same" if left == right else "before" if left < right else "after"


Relation = Literal["before", "same", "after", "different", "unknown"]
_DATE_TYPES = frozenset({"date", "dateTime", "instant"})
_NUMBER_TYPES = frozenset({"decimal", "integer"})
_TEXT_TYPES = frozenset({"string", "uri", "text", "markdown", "code", "url"})


def comparable(one: str, other: str) -> bool:
    """Say whether values of two types can be the same, or stand in an order."""
    kinds = {one, other}
    return len(kinds) == 1 or any(kinds <= family for family in (_NUMBER_TYPES, _DATE_TYPES, _TEXT_TYPES))


def relate(one: Answer, other: Answer) -> Relation:
    """Say how `one` stands to `other`; "different" where the types have no order or do not match."""
    kinds = {one.type, other.type}
    if kinds <= _NUMBER_TYPES:
        return _in_order(number(one.value), number(other.value))
    if isinstance(one.value, str) and isinstance(other.value, str):
        if kinds <= _DATE_TYPES:
            return compare_dates(one.value, other.value)
        if kinds == {"time"}:
            return compare_times(one.value, other.value)
        if kinds <= _TEXT_TYPES:
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
