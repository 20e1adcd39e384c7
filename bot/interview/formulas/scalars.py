"""Functions of FHIRPath on one value: conversions, texts, numbers, precision. Pure.

Each takes the value and its parameters, none of them missing, and returns None where FHIRPath says "empty".
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from time import monotonic
from typing import Any

import regex

from bot.interview.formulas.formula import FormulaFailed
from bot.interview.formulas.measures import MOST_DIGITS, Moment, Quantity, is_integer, read, round_to
from bot.interview.formulas.nodes import MOST_CHARACTERS, Node, Work
from bot.interview.formulas.operators import calculated

_TRUE = frozenset({"true", "t", "yes", "y", "1", "1.0"})
_FALSE = frozenset({"false", "f", "no", "n", "0", "0.0"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """A function on one value.

    Attributes:
        run: What works it out.
        of: The kinds that it takes; empty for any.
        parameters: The kinds of its parameters.
        least: How many of them there must be; None for all.
        searching: Whether it takes the remaining work too, as its first parameter.
        empty_last: Whether an empty last parameter counts as not given.
    """

    run: Callable[..., Any]
    of: tuple[type, ...] = ()
    parameters: tuple[tuple[type, ...], ...] = ()
    least: int | None = None
    searching: bool = False
    empty_last: bool = False


def _to_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = _to_string(value) if isinstance(value, str | int | Decimal) else None
    return None if word is None else True if word.lower() in _TRUE else False if word.lower() in _FALSE else None


def _to_integer(value: Any) -> int | None:
    if isinstance(value, str):
        value = int(value) if re.fullmatch(r"[+-]?[0-9]{1,10}", value) else None
    if not isinstance(value, int):
        return None
    return int(value) if is_integer(value) else None


def _to_decimal(value: Any) -> Decimal | None:
    if isinstance(value, str):
        return Decimal(value) if re.fullmatch(r"[+-]?[0-9]{1,99}(\.[0-9]{1,99})?", value) else None
    return Decimal(value) if isinstance(value, int | Decimal) else None


def _to_string(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}" if abs(value.adjusted()) < 99 else str(value)
    return None if isinstance(value, Node) else str(value)


def _to_date(value: Any) -> Moment | None:
    if isinstance(value, str):
        value = read("Date", value) or read("DateTime", value)
    return value.date() if isinstance(value, Moment) and value.kind != "Time" else None


def _to_date_time(value: Any) -> Moment | None:
    if isinstance(value, str):
        value = read("DateTime", value)
    if not isinstance(value, Moment) or value.kind == "Time":
        return None
    return replace(value, kind="DateTime")


def _to_time(value: Any) -> Moment | None:
    if isinstance(value, str):
        value = read("Time", value.removeprefix("T"))
    return value if isinstance(value, Moment) and value.kind == "Time" else None


def _to_quantity(value: Any, unit: str = "") -> Quantity | None:
    if isinstance(value, str):
        value = Quantity.read(value)
    elif isinstance(value, int | Decimal):
        value = Quantity(Decimal(value), "1")
    if not isinstance(value, Quantity):
        return None
    return value.into(unit) if unit else value


def _converts(convert_it: Callable[..., Any]) -> Callable[..., bool]:
    return lambda *given: convert_it(*given) is not None


_CONVERSIONS: Mapping[str, Callable[..., Any]] = {
    "Boolean": _to_boolean,
    "Integer": _to_integer,
    "Decimal": _to_decimal,
    "String": _to_string,
    "Date": _to_date,
    "DateTime": _to_date_time,
    "Time": _to_time,
    "Quantity": _to_quantity,
}


def _substring(text: str, start: int, length: int | None = None) -> str | None:
    if not 0 <= start < len(text):
        return None
    return text[start:] if length is None else text[start : start + max(length, 0)]


def _replace(text: str, pattern: str, substitution: str) -> str:
    found = len(text) + 1 if not pattern else text.count(pattern)
    if found * len(substitution) > MOST_CHARACTERS:
        raise FormulaFailed(f"a text of more than {MOST_CHARACTERS} characters")
    return text.replace(pattern, substitution)


# What XML Schema reads as one class less another, and all other dialects as something else.
_LESS = regex.compile(r"(?<!\\)(?:\\\\)*\[(?:\\.|[^\]\\])*-\[(?!:)", regex.DOTALL)


def _searched(work: Work, pattern: str, search: Callable[[float], Any]) -> Any:
    """Search with a pattern in the time that is left for that.

    Raises:
        FormulaFailed: It takes too long, or the pattern cannot be read.
    """
    started = monotonic()
    try:
        # The library takes zero for "no limit".
        if _LESS.search(pattern, timeout=max(work.patience_s, 0.001)):
            raise FormulaFailed("a pattern takes one class of characters from another")
        return search(max(work.patience_s, 0.001))
    except TimeoutError:
        raise FormulaFailed("a pattern takes too long") from None
    except (regex.error, IndexError, RecursionError):
        raise FormulaFailed("a pattern cannot be read") from None
    finally:
        work.patience_s -= monotonic() - started


def _matches(work: Work, text: str, pattern: str) -> bool:
    return bool(_searched(work, pattern, lambda limit: regex.search(pattern, text, regex.DOTALL, timeout=limit)))


def _matches_full(work: Work, text: str, pattern: str) -> bool:
    return bool(_searched(work, pattern, lambda limit: regex.fullmatch(pattern, text, regex.DOTALL, timeout=limit)))


def _replace_matches(work: Work, text: str, pattern: str, substitution: str) -> str:
    if not pattern:
        return text
    if (len(text) + 1) * len(substitution) > MOST_CHARACTERS * 100:
        raise FormulaFailed(f"a text of more than {MOST_CHARACTERS} characters")
    # A group is written as $1, and as ${name}.
    python = re.sub(r"\\(?![0-9g])", r"\\\\", substitution)
    python = re.sub(r"\$(?:([0-9]+)|\{(\w+)\})", lambda match: rf"\g<{match[1] or match[2]}>", python)
    return str(_searched(work, pattern, lambda limit: regex.sub(pattern, python, text, timeout=limit)))


_TO_BYTES: Mapping[str, Callable[[str], bytes]] = {
    "hex": binascii.unhexlify,
    "base64": base64.b64decode,
    "urlbase64": base64.urlsafe_b64decode,
}


def _encode(text: str, how: str) -> str | None:
    raw = text.encode("utf-8", "surrogatepass")
    if how == "hex":
        return raw.hex()
    return (
        {"base64": base64.b64encode, "urlbase64": base64.urlsafe_b64encode}[how](raw).decode()
        if how in _TO_BYTES
        else None
    )


def _decode(text: str, how: str) -> str | None:
    try:
        return _TO_BYTES[how](text).decode() if how in _TO_BYTES else None
    except ValueError:
        return None


def _escape(text: str, how: str) -> str | None:
    if how == "html":
        return html.escape(text)
    return json.dumps(text, ensure_ascii=False)[1:-1] if how == "json" else None


def _unescape(text: str, how: str) -> str | None:
    if how == "html":
        return html.unescape(text)
    try:
        return str(json.loads('"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', text) + '"')) if how == "json" else None
    except ValueError:
        return None


def _abs(value: Any) -> Any:
    return replace(value, value=abs(value.value)) if isinstance(value, Quantity) else abs(value)


def _integral(value: int | Decimal, rounding: str | None = None) -> Any:
    """Return a whole number; None where FHIRPath has none that large."""
    whole = Decimal(value)
    if whole.adjusted() > 12:
        return None
    return calculated(lambda: int(whole.to_integral_value(rounding=rounding) if rounding else whole))


def _round(value: Any, places: int = 0) -> Any:
    if isinstance(value, Quantity):
        amount = _round(value.value, places)
        return None if amount is None else replace(value, value=amount)
    if places < 0:
        raise FormulaFailed("no number of decimal places where one is due")
    if places > MOST_DIGITS:
        return Decimal(value)
    return calculated(lambda: round_to(Decimal(value), places))


def _power(value: int | Decimal, exponent: int | Decimal) -> Any:
    whole = isinstance(value, int) and isinstance(exponent, int) and exponent >= 0
    # Python has none for zero to the power of zero.
    found = calculated(lambda: Decimal(value) ** Decimal(exponent) if exponent else Decimal(1))
    return _integral(found) if whole and found is not None else found


def _log(value: int | Decimal, base: int | Decimal) -> Any:
    found = calculated(lambda: Decimal(value).ln() / Decimal(base).ln()) if base > 0 else None
    # Both logarithms are rounded: what is off by that is a whole number.
    return None if found is None else calculated(lambda: round_to(found, 20))


def _bound(value: Any, digits: int | None = None, *, high: bool) -> Any:
    if isinstance(value, Moment):
        return value.bound(digits, high=high)
    if isinstance(value, Quantity):
        amount = _bound(value.value, digits, high=high)
        return None if amount is None else replace(value, value=amount)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise FormulaFailed("no number or date where one is due")
    places = 8 if digits is None else digits
    number = Decimal(value)
    exponent = number.as_tuple().exponent
    if not 0 <= places <= MOST_DIGITS or not isinstance(exponent, int):
        return None
    half = Decimal(5).scaleb(min(exponent, 0) - 1)
    rounding = ROUND_CEILING if high else ROUND_FLOOR
    return calculated(lambda: round_to(number + half if high else number - half, places, rounding))


def _precision(value: Any) -> int | None:
    if isinstance(value, Moment):
        return value.digits
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        exponent = Decimal(value).as_tuple().exponent
        return max(-exponent, 0) if isinstance(exponent, int) else None
    return None


_TEXT, _NUMBER, _WHOLE, _AMOUNT = (str,), (int, Decimal), (int,), (int, Decimal, Quantity)


def _on_text(run: Callable[..., Any], *parameters: tuple[type, ...], least: int | None = None) -> Scalar:
    return Scalar(run, _TEXT, parameters, least)


def _on_number(run: Callable[..., Any], *parameters: tuple[type, ...], least: int | None = None) -> Scalar:
    return Scalar(run, _NUMBER, parameters, least)


SCALARS: Mapping[str, Scalar] = {
    **{f"to{kind}": Scalar(run) for kind, run in _CONVERSIONS.items() if kind != "Quantity"},
    **{f"convertsTo{kind}": Scalar(_converts(run)) for kind, run in _CONVERSIONS.items() if kind != "Quantity"},
    "toQuantity": Scalar(_to_quantity, (), (_TEXT,), 0),
    "convertsToQuantity": Scalar(_converts(_to_quantity), (), (_TEXT,), 0),
    "indexOf": _on_text(str.find, _TEXT),
    "lastIndexOf": _on_text(str.rfind, _TEXT),
    "substring": Scalar(_substring, _TEXT, (_WHOLE, _WHOLE), 1, empty_last=True),
    "startsWith": _on_text(str.startswith, _TEXT),
    "endsWith": _on_text(str.endswith, _TEXT),
    "contains": _on_text(str.__contains__, _TEXT),
    "upper": _on_text(str.upper),
    "lower": _on_text(str.lower),
    "trim": _on_text(str.strip),
    "length": _on_text(len),
    "toChars": _on_text(list),
    "replace": _on_text(_replace, _TEXT, _TEXT),
    "split": _on_text(lambda text, between: text.split(between) if between else list(text), _TEXT),
    "matches": Scalar(_matches, _TEXT, (_TEXT,), searching=True),
    "matchesFull": Scalar(_matches_full, _TEXT, (_TEXT,), searching=True),
    "replaceMatches": Scalar(_replace_matches, _TEXT, (_TEXT, _TEXT), searching=True),
    "encode": _on_text(_encode, _TEXT),
    "decode": _on_text(_decode, _TEXT),
    "escape": _on_text(_escape, _TEXT),
    "unescape": _on_text(_unescape, _TEXT),
    "abs": Scalar(_abs, _AMOUNT),
    "ceiling": _on_number(lambda number: _integral(number, ROUND_CEILING)),
    "floor": _on_number(lambda number: _integral(number, ROUND_FLOOR)),
    "truncate": _on_number(_integral),
    "round": Scalar(_round, _AMOUNT, (_WHOLE,), 0),
    "exp": _on_number(lambda number: calculated(Decimal(number).exp)),
    "ln": _on_number(lambda number: calculated(Decimal(number).ln)),
    "log": _on_number(_log, _NUMBER),
    "power": _on_number(_power, _NUMBER),
    "sqrt": _on_number(lambda number: calculated(Decimal(number).sqrt)),
    "lowBoundary": Scalar(lambda value, digits=None: _bound(value, digits, high=False), (), (_WHOLE,), 0),
    "highBoundary": Scalar(lambda value, digits=None: _bound(value, digits, high=True), (), (_WHOLE,), 0),
    "precision": Scalar(_precision),
    "comparable": Scalar(Quantity.comparable, (Quantity,), ((Quantity,),)),
}
