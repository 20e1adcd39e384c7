"""Units that patients write, as UCUM codes, and conversions between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from bot.interview import units as ucum
from bot.interview.parsing.asked import Unit
from bot.interview.parsing.compile_words import unit_key
from bot.interview.parsing.tokens import Token
from bot.interview.parsing.vocabulary import Words

MAX_UNIT_TOKENS = 6
MAX_DIGITS = 15

# How many of the smaller unit make the larger one; only where that is exact.
_STEPS = {
    ("kg", "g"): 1000,
    ("g", "mg"): 1000,
    ("mg", "ug"): 1000,
    ("km", "m"): 1000,
    ("m", "cm"): 100,
    ("cm", "mm"): 10,
    ("L", "dL"): 10,
    ("dL", "cL"): 10,
    ("cL", "mL"): 10,
    ("a", "mo"): 12,
    ("wk", "d"): 7,
    ("d", "h"): 24,
    ("h", "min"): 60,
    ("min", "s"): 60,
    ("{Pfund}", "g"): 500,  # the German and Swiss pound, which has no code
    ("[stone_av]", "[lb_av]"): 14,
    ("[lb_av]", "[oz_av]"): 16,
    ("[ft_i]", "[in_i]"): 12,
}
# What a number after this unit counts, when it stands alone: "1 Meter 68", "5 foot 6", "2 Stunden 30".
SMALLER = {
    "m": "cm",
    "h": "min",
    "[ft_i]": "[in_i]",
    "[stone_av]": "[lb_av]",
    "a": "mo",
    "kg": "g",
    "[lb_av]": "[oz_av]",
}
BARE = frozenset({"m", "h", "[ft_i]", "[stone_av]"})


def factor(larger: str, smaller: str) -> int | None:
    """Return how many of one unit make another, or None when they do not belong together that way."""
    if larger == smaller:
        return 1
    for (big, small), count in _STEPS.items():
        if big == larger:
            rest = factor(small, smaller)
            if rest is not None:
                return count * rest
    return None


def convert(value: Decimal, unit: str, wanted: str) -> Decimal | None:
    """Return a value in another unit, or None where there is no exact conversion."""
    for base in dict.fromkeys([wanted, unit, *(small for _, small in _STEPS)]):
        many, parts = factor(unit, base), factor(wanted, base)
        if many is not None and parts is not None:
            result = value * many / parts
            exact = result * parts == value * many and len(result.as_tuple().digits) <= MAX_DIGITS
            return _plain(result) if exact else None
    return None


# Decimal places that are worth keeping of a converted value.
_PLACES = {
    "m": 2,
    "L": 2,
    "cm": 1,
    "kg": 1,
    "Cel": 1,
    "[degF]": 1,
    "[lb_av]": 1,
    "[in_i]": 1,
    "[ft_i]": 2,
    "[stone_av]": 1,
}
_CALENDAR = frozenset({"a", "mo"})
_CLOCK = frozenset({"wk", "d", "h", "min", "s"})


def convert_roughly(value: Decimal, unit: str, wanted: str, *, places: int | None = None) -> Decimal | None:
    """Return a value in another unit, exact where that is possible, else rounded to what is worth keeping.

    Months are no number of days; and nothing but zero becomes zero.
    """
    exact = convert(value, unit, wanted)
    if exact is None:
        if {unit, wanted} & _CALENDAR and {unit, wanted} & _CLOCK:
            return None
        if unit == "{Pfund}":
            unit, value = "g", value * 500
        exact = ucum.convert(value, unit, wanted)
    if exact is None:
        return None
    most = min(
        _PLACES.get(wanted, 0 if wanted.startswith(("mm", "g", "min", "/")) else 2), 9 if places is None else places
    )
    if -int(exact.as_tuple().exponent) <= most:
        return _plain(exact)
    rounded = exact.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP)
    return None if value and not rounded else _plain(rounded)


def _plain(value: Decimal) -> Decimal:
    """Return a value without zeros at its end that the calculation put there."""
    return value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()


def unit_at(tokens: Sequence[Token], start: int, words: Words, allowed: Sequence[Unit]) -> tuple[int, tuple[str, ...]]:
    """Return where the longest name of a unit at `start` ends, and the codes it may stand for; no codes if none."""
    own = _own_names(allowed, words)
    key, end = "", start
    result: tuple[int, tuple[str, ...]] = start, ()
    while end < len(tokens) and end - start < MAX_UNIT_TOKENS:
        token = tokens[end]
        if token.text not in (".", "^"):
            key += token.text
        end += 1
        codes = own.get(key) or words.units.codes.get(key)
        if codes:
            result = end, codes
    return result


def _own_names(allowed: Sequence[Unit], words: Words) -> dict[str, tuple[str, ...]]:
    """Return the names that the Questionnaire itself gives to its units."""
    names: dict[str, tuple[str, ...]] = {}
    for unit in allowed:
        for name in (unit.display, unit.code):
            key = unit_key(name, words.fold)
            if key and unit.code not in names.get(key, ()):
                names[key] = (*names.get(key, ()), unit.code)
    return names
