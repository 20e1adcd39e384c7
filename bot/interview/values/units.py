"""Convert between the UCUM units that forms use: mass, length, time, volume, pressure, temperature and more. Pure.

A part of UCUM (prefixes, atoms, products, quotients, integer exponents, annotations), not all of it: a unit that is
not known here is said to be unknown.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from decimal import Decimal, localcontext
from functools import lru_cache
from pathlib import Path

import yaml

UCUM = "http://unitsofmeasure.org"

# Base units with their exponents, and the factor to them.
Dimension = dict[str, int]
Scale = tuple[Decimal, Dimension]

_TABLE = yaml.load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _read(line: str) -> Scale:
    factor, *bases = line.split()
    powers = (re.fullmatch(r"([A-Za-z]+)(-?[0-9]*)", base) for base in bases)
    return Decimal(factor), {each[1]: int(each[2] or 1) for each in powers if each}


_METRIC = {code: _read(line) for code, line in _TABLE["metric"].items()}
_PREFIXES: dict[str, int] = _TABLE["prefixes"]
_ATOMS = {code: _read(line) for code, line in _TABLE["others"].items()} | _METRIC
_ANNOTATION = re.compile(r"\{[^{}]*\}")
_TERM = re.compile(r"([./]?)((?:\[[^\]]*\]|10[*^]|%|[A-Za-z])+(?:\[[^\]]*\])?|[0-9]+)?(?:\^?([+-]?[0-9]+))?")
# Degrees have another zero point: kelvin = (degrees + shift) * factor.
_DEGREES = {"Cel": (Decimal("273.15"), Decimal(1)), "[degF]": (Decimal("459.67"), Decimal(5) / Decimal(9))}


def convert(value: Decimal, unit: str, into: str) -> Decimal | None:
    """Return `value` in the unit `into`; None when the units are not known here or measure different things."""
    if unit == into:
        return value
    source, target = _scale(unit), _scale(into)
    if source is None or target is None or source[2] != target[2]:
        return None
    try:
        with localcontext() as context:
            context.prec = 40
            converted = (value + source[1]) * source[0] / target[0] - target[1]
        with localcontext() as context:
            # What is left of a division that does not come out must not make equal things differ.
            context.prec = 20
            return +converted
    except ArithmeticError:
        return None


def canonical(value: Decimal, unit: str) -> Hashable | None:
    """Return what is the same for equal amounts in whatever unit; None when the unit is not known here."""
    scale = _scale(unit)
    if scale is None:
        return None
    try:
        with localcontext() as context:
            context.prec = 40
            amount = (value + scale[1]) * scale[0]
        with localcontext() as context:
            context.prec = 20
            return +amount, frozenset(scale[2].items())
    except ArithmeticError:
        return None


def known(unit: str) -> bool:
    """Say whether a UCUM code can be read here."""
    return _scale(unit) is not None


@lru_cache(maxsize=256)
def _scale(unit: str) -> tuple[Decimal, Decimal, Dimension] | None:
    """Return factor, shift of the zero point, and dimension of a unit."""
    plain = _ANNOTATION.sub("", unit)
    if plain in _DEGREES:
        shift, factor = _DEGREES[plain]
        return factor, shift, {"K": 1}
    if len(unit) > 60:
        return None
    factor, dimension = Decimal(1), Dimension()
    for term in _terms(plain) if plain not in {"", "1"} else ():
        if term is None:
            return None
        factor *= term[0]
        for base, power in term[1].items():
            dimension[base] = dimension.get(base, 0) + power
    return factor, Decimal(0), {base: power for base, power in dimension.items() if power}


def _terms(unit: str) -> Iterator[Scale | None]:
    """Yield what stands between a unit's operators; None where that is not known."""
    position = 0
    while position < len(unit):
        match = _TERM.match(unit, position)
        # A unit may begin with "/"; every further term needs an operator before it.
        if match is None or not match[2] or match[1] == ("" if position else "."):
            yield None
            return
        yield _term(match[2], int(match[3] or 1) * (-1 if match[1] == "/" else 1))
        position = match.end()


def _term(code: str, power: int) -> Scale | None:
    if abs(power) > 30:
        return None
    factor, dimension = Decimal(code) if code.isdigit() else None, Dimension()
    for length in range(3):  # of the prefix
        prefix, atom = code[:length], code[length:]
        found = _METRIC.get(atom) if prefix in _PREFIXES else None if prefix else _ATOMS.get(atom)
        if factor is None and found is not None:
            factor, dimension = found[0].scaleb(_PREFIXES.get(prefix, 0)), found[1]
    return None if factor is None else (factor**power, {base: each * power for base, each in dimension.items()})
