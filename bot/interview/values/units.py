"""Read UCUM's units and convert between them, exactly. Pure.

All of UCUM's grammar and atoms (units.yaml). Units that only their own procedure defines ([IU], [CFU]) and logarithms
([pH], dB) are known, and compare with themselves alone. A unit that UCUM does not have is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

UCUM = "http://unitsofmeasure.org"

_MOST_CHARACTERS = 120
_MOST_EXPONENT = 30
# A simple unit with its exponent (which UCUM writes without "^"), a number, or what stands in braces.
_PART = re.compile(
    r"(?:(10[*^]|(?:\[[^\]\s]*\]|[A-Za-z%'_])+)(?:\^?([+-]?[0-9]{1,3})(?![0-9]))?|([0-9]{1,20}))?(\{[^{}]*\})?"
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """What a unit is in base units.

    Attributes:
        factor: How many of them it is.
        powers: Their exponents.
        shift: Where its zero stands, in units; not 0 for degrees alone.
    """

    factor: Fraction
    powers: Mapping[str, int]
    shift: Fraction = Fraction(0)

    def times(self, other: _Scale, power: int) -> _Scale:
        """Return it multiplied with another unit to an exponent."""
        powers = dict(self.powers)
        for base, each in other.powers.items():
            powers[base] = powers.get(base, 0) + each * power
        return _Scale(self.factor * other.factor**power, {base: each for base, each in powers.items() if each})

    def measure(self, value: Decimal) -> Fraction | None:
        """Return an amount in base units; None for one far beyond all that is measured."""
        return (
            None
            if not value.is_finite() or abs(value.adjusted()) > 300
            else (Fraction(value) + self.shift) * self.factor
        )


_ONE = _Scale(Fraction(1), {})


class _Unreadable(ValueError):
    """A unit that is none of UCUM."""


def convert(value: Decimal, unit: str, into: str) -> Decimal | None:
    """Return `value` in the unit `into`; None when the units are not known here or measure different things."""
    if unit == into:
        return value
    source, target = _scale(unit), _scale(into)
    if source is None or target is None or source.powers != target.powers:
        return None
    measure = source.measure(value)
    if measure is None:
        return None
    converted = measure / target.factor - target.shift
    with localcontext() as context:
        # Digits of a division that does not come out.
        context.prec = 20
        return Decimal(converted.numerator) / Decimal(converted.denominator)


def canonical(value: Decimal, unit: str) -> Hashable | None:
    """Return what is the same for equal amounts in whatever unit; None when the unit is not known here."""
    scale = _scale(unit)
    measure = scale.measure(value) if scale is not None else None
    return None if scale is None or measure is None else (measure, frozenset(scale.powers.items()))


def known(unit: str) -> bool:
    """Say whether a UCUM code can be read here."""
    return _scale(unit) is not None


@lru_cache(maxsize=1024)
def _scale(unit: str) -> _Scale | None:
    degrees = _table()["degrees"].get(_without_annotation(unit))
    if degrees is not None:
        return _Scale(Fraction(degrees[1]), {"K": 1}, Fraction(degrees[0]))
    try:
        return _read(unit) if unit else _ONE
    except (_Unreadable, RecursionError):
        return None


def _without_annotation(unit: str) -> str:
    return unit.partition("{")[0] if unit.endswith("}") else unit


def _read(unit: str) -> _Scale:
    if len(unit) > _MOST_CHARACTERS:
        raise _Unreadable
    found, position = _term(unit, 0)
    if position != len(unit):
        raise _Unreadable
    return found


def _term(unit: str, position: int) -> tuple[_Scale, int]:
    """Read units with "." and "/" between them, and "/" before the first; return where that ends."""
    found, power = _ONE, 1
    if unit.startswith("/", position):
        power, position = -1, position + 1
    while True:
        part, position = _part(unit, position)
        found = found.times(part, power)
        sign = unit[position : position + 1]
        if sign not in {".", "/"}:
            return found, position
        power, position = (-1 if sign == "/" else 1), position + 1


def _part(unit: str, position: int) -> tuple[_Scale, int]:
    if unit.startswith("(", position):
        found, position = _term(unit, position + 1)
        if not unit.startswith(")", position):
            raise _Unreadable
        return found, position + 1
    match = _PART.match(unit, position)
    if match is None or not match[0]:
        raise _Unreadable
    code, exponent, number, _ = match.groups()
    found = _ONE
    if number:
        if int(number) == 0:
            raise _Unreadable
        found = _Scale(Fraction(int(number)), {})
    elif code:
        power = int(exponent or 1)
        if abs(power) > _MOST_EXPONENT:
            raise _Unreadable
        found = _ONE.times(_simple(code), power)
    return found, match.end()


@cache
def _table() -> Any:
    return yaml.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


@lru_cache(maxsize=1024)
def _simple(code: str) -> _Scale:
    """Read a unit with or without prefix."""
    table = _table()
    if (whole := _atom(code, table["others"], table["alone"])) is not None:
        return whole
    for length in range(3):  # of the prefix
        prefix, atom = code[:length], code[length:]
        if prefix in table["prefixes"]:
            step = Fraction(10) ** table["prefixes"][prefix]
        elif prefix in table["binary"]:
            step = Fraction(2 ** table["binary"][prefix])
        elif prefix:
            continue
        else:
            step = Fraction(1)
        if (found := _atom(atom, table["metric"], (*table["base"], *table["alone_metric"]))) is not None:
            return _Scale(found.factor * step, found.powers)
    raise _Unreadable


def _atom(code: str, defined: Mapping[str, str], bases: tuple[str, ...] | list[str]) -> _Scale | None:
    if code in bases:
        return _Scale(Fraction(1), {code: 1})
    if code not in defined:
        return None
    number, _, unit = defined[code].partition(" ")
    found = _read(unit) if unit else _ONE
    return _Scale(found.factor * Fraction(number), found.powers)
