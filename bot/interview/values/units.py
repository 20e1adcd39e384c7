"""Read UCUM's units and convert between them, exactly. Pure.

All of UCUM's grammar and atoms (units.yaml). Units that only their own procedure defines ([IU], [CFU]) and logarithms
([pH], dB) are known, and compare with themselves alone. A unit that UCUM does not have is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache, reduce
from pathlib import Path
from typing import Any

import yaml

UCUM = "http://unitsofmeasure.org"

_MOST_CHARACTERS = 120
_MOST_EXPONENT = 30
# What stands in braces: visible ASCII.
_NOTE = r"(\{[!-z|~]*\})?"
# A simple unit with its exponent (before which UCUM has no "^"), a number, or what stands in braces.
_PART = re.compile(r"(?:(10[*^]|(?:\[[^\]\s]*\]|[A-Za-z%'_])+)(?:([+-]?[0-9]{1,3})(?![0-9]))?|([0-9]{1,20}))?" + _NOTE)
_ANNOTATED = re.compile("([^{}]*)" + _NOTE)


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


def canonical(value: Decimal, unit: str) -> tuple[Fraction, frozenset[tuple[str, int]]] | None:
    """Return an amount in base units, and their exponents: the same for equal amounts. None for an unknown unit."""
    scale = _scale(unit)
    measure = scale.measure(value) if scale is not None else None
    return None if scale is None or measure is None else (measure, frozenset(scale.powers.items()))


def known(unit: str) -> bool:
    """Say whether a UCUM code can be read here."""
    return _scale(unit) is not None


def product(one: str, other: str, *, over: bool = False) -> str:
    """Return the code of two units multiplied, or of `one` over `other`; what is in it twice is put together.

    ``cm`` by ``cm`` is ``cm2``, ``mg/dL`` by ``dL`` is ``mg``. Nothing is converted: ``mg`` over ``g`` stays ``mg/g``.
    """
    try:
        left, right = _parts(one), _parts(other)
    except (_Unreadable, RecursionError):
        return _side_by_side(one, other, over=over)
    powers: dict[tuple[str, str], int] = {}
    for part, sign in (*((part, 1) for part in left), *((part, -1 if over else 1) for part in right)):
        if part.number > 1:
            return _side_by_side(one, other, over=over)
        if part.code or part.note:
            powers[part.code, part.note] = powers.get((part.code, part.note), 0) + part.power * sign
    if any(abs(power) > _MOST_EXPONENT for power in powers.values()):
        return _side_by_side(one, other, over=over)
    above = [each for unit, power in powers.items() for each in _written(*unit, power)]
    below = ["/" + each for unit, power in powers.items() for each in _written(*unit, -power)]
    return ".".join(above) + "".join(below) or "1"


def _written(code: str, note: str, power: int) -> list[str]:
    """Write a unit with its exponent, where that is above zero; what stands in braces alone takes none."""
    return [note] * power if not code else [f"{code}{power if power > 1 else ''}{note}"] if power > 0 else []


def _side_by_side(one: str, other: str, *, over: bool) -> str:
    if other == "1":
        return one
    other = f"({other})" if "/" in other or "." in other else other
    return other if one == "1" and not over else f"{one}{'/' if over else '.'}{other}"


@lru_cache(maxsize=1024)
def _scale(unit: str) -> _Scale | None:
    if (degrees := _degrees(unit)) is not None:
        return degrees
    try:
        return reduce(lambda found, part: found.times(_of_part(part), part.power), _parts(unit), _ONE)
    except (_Unreadable, RecursionError):
        return None


def _degrees(unit: str) -> _Scale | None:
    """Read a temperature with a zero point of its own; of those, only degrees Celsius take prefixes."""
    match = _ANNOTATED.fullmatch(unit)
    bare, table = match[1] if match is not None else unit, _table()
    prefix = bare.removesuffix("Cel")
    step = Fraction(10) ** table["prefixes"].get(prefix, 0)
    zero_and_size = table["degrees"].get(bare if step == 1 else bare.removeprefix(prefix))
    if zero_and_size is None:
        return None
    zero, size = (Fraction(number) for number in zero_and_size)
    return _Scale(size * step, {"K": 1}, zero / step)


@dataclass(frozen=True, slots=True)
class _Part:
    """One factor of a unit: a simple unit, a number or, where neither is there, only a note in braces."""

    power: int
    code: str = ""
    number: int = 1
    note: str = ""


def _parts(unit: str) -> list[_Part]:
    """Read a unit by UCUM's grammar; whether there are such simple units is another question."""
    if len(unit) > _MOST_CHARACTERS:
        raise _Unreadable
    found, position = _term(unit, 0, 1) if unit else ([], 0)
    if position != len(unit):
        raise _Unreadable
    return found


def _term(unit: str, position: int, power: int) -> tuple[list[_Part], int]:
    """Read units with "." and "/" between them, and "/" before the first; return where that ends."""
    found: list[_Part] = []
    sign = power
    if unit.startswith("/", position):
        sign, position = -power, position + 1
    while True:
        if unit.startswith("(", position):
            inner, position = _term(unit, position + 1, sign)
            if not unit.startswith(")", position):
                raise _Unreadable
            found, position = found + inner, position + 1
        else:
            part, position = _factor(unit, position, sign)
            found.append(part)
        if unit[position : position + 1] not in {".", "/"}:
            return found, position
        sign, position = (-power if unit[position] == "/" else power), position + 1


def _factor(unit: str, position: int, sign: int) -> tuple[_Part, int]:
    match = _PART.match(unit, position)
    if match is None or not match[0]:
        raise _Unreadable
    code, exponent, number, note = match.groups()
    power = int(exponent or 1)
    if abs(power) > _MOST_EXPONENT or (number and int(number) == 0):
        raise _Unreadable
    return _Part(power * sign, code or "", int(number or 1), note or ""), match.end()


def _of_part(part: _Part) -> _Scale:
    return _simple(part.code) if part.code else _Scale(Fraction(part.number), {})


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
    found = _scale(unit)
    if found is None:
        raise _Unreadable
    return _Scale(found.factor * Fraction(number), found.powers)
