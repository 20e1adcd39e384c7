"""Convert between the UCUM units that forms use: mass, length, time, volume, pressure, temperature and more. Pure.

A part of UCUM (prefixes, atoms, products, quotients, integer exponents, annotations), not all of it: a unit that is
not known here is said to be unknown.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from functools import lru_cache

UCUM = "http://unitsofmeasure.org"

# Exponents of gram, metre, second, mole, kelvin, coulomb, arbitrary unit, bit.
Dimension = tuple[int, ...]
_NONE: Dimension = (0, 0, 0, 0, 0, 0, 0, 0)


def _base(index: int, power: int = 1) -> Dimension:
    return tuple(power if position == index else 0 for position in range(8))


_PREFIXES = {
    "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18,
}  # fmt: skip
_PASCAL = (1, -1, -2, 0, 0, 0, 0, 0)
_JOULE = (1, 2, -2, 0, 0, 0, 0, 0)
_GRAY = (0, 2, -2, 0, 0, 0, 0, 0)
# Code: factor to base units, dimension, and whether it takes prefixes.
_ATOMS: dict[str, tuple[str, Dimension, bool]] = {
    "g": ("1", _base(0), True),
    "t": ("1000000", _base(0), True),
    "[lb_av]": ("453.59237", _base(0), False),
    "[oz_av]": ("28.349523125", _base(0), False),
    "[stone_av]": ("6350.29318", _base(0), False),
    "m": ("1", _base(1), True),
    "[in_i]": ("0.0254", _base(1), False),
    "[ft_i]": ("0.3048", _base(1), False),
    "[yd_i]": ("0.9144", _base(1), False),
    "[mi_i]": ("1609.344", _base(1), False),
    "s": ("1", _base(2), True),
    "min": ("60", _base(2), False),
    "h": ("3600", _base(2), False),
    "d": ("86400", _base(2), False),
    "wk": ("604800", _base(2), False),
    "mo": ("2629800", _base(2), False),
    "a": ("31557600", _base(2), False),
    "mol": ("1", _base(3), True),
    "K": ("1", _base(4), True),
    "C": ("1", _base(5), True),
    "A": ("1", (0, 0, -1, 0, 0, 1, 0, 0), True),
    "[iU]": ("1", _base(6), True),
    "[IU]": ("1", _base(6), True),
    "U": ("1", _base(6), True),
    "bit": ("1", _base(7), True),
    "By": ("8", _base(7), True),
    "L": ("0.001", _base(1, 3), True),
    "l": ("0.001", _base(1, 3), True),
    "Hz": ("1", _base(2, -1), True),
    "Bq": ("1", _base(2, -1), True),
    "Ci": ("37000000000", _base(2, -1), True),
    "N": ("1000", (1, 1, -2, 0, 0, 0, 0, 0), True),
    "Pa": ("1000", _PASCAL, True),
    "bar": ("100000000", _PASCAL, True),
    "m[Hg]": ("133322000", _PASCAL, True),
    "m[H2O]": ("9806650", _PASCAL, True),
    "J": ("1000", _JOULE, True),
    "cal": ("4184", _JOULE, True),
    "[Cal]": ("4184000", _JOULE, False),
    "W": ("1000", (1, 2, -3, 0, 0, 0, 0, 0), True),
    "V": ("1000", (1, 2, -2, 0, 0, -1, 0, 0), True),
    "Gy": ("1", _GRAY, True),
    "Sv": ("1", _GRAY, True),
    "T": ("1000", (1, 0, -1, 0, 0, -1, 0, 0), True),
    "%": ("0.01", _NONE, False),
    "[ppth]": ("0.001", _NONE, False),
    "[ppm]": ("0.000001", _NONE, False),
    "10*": ("10", _NONE, False),
    "10^": ("10", _NONE, False),
}
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


def known(unit: str) -> bool:
    """Say whether a UCUM code can be read here."""
    return _scale(unit) is not None


@lru_cache(maxsize=256)
def _scale(unit: str) -> tuple[Decimal, Decimal, Dimension] | None:
    """Return factor, shift of the zero point, and dimension of a unit."""
    plain = _ANNOTATION.sub("", unit)
    if plain in _DEGREES:
        shift, factor = _DEGREES[plain]
        return factor, shift, _base(4)
    if len(unit) > 60:
        return None
    if plain in {"", "1"}:
        return Decimal(1), Decimal(0), _NONE
    terms = _terms(plain)
    if terms is None:
        return None
    factor, dimension = Decimal(1), _NONE
    for scale, powers in terms:
        factor *= scale
        dimension = tuple(one + other for one, other in zip(dimension, powers, strict=True))
    return factor, Decimal(0), dimension


def _terms(unit: str) -> list[tuple[Decimal, Dimension]] | None:
    """Split a unit at its operators; None where a part of it is not known."""
    found: list[tuple[Decimal, Dimension]] = []
    position = 0
    while position < len(unit):
        match = _TERM.match(unit, position)
        if match is None or not match[2]:
            return None
        # A unit may begin with "/"; every further term needs an operator before it.
        if match[1] == ("" if position else "."):
            return None
        term = _term(match[2], int(match[3] or 1) * (-1 if match[1] == "/" else 1))
        if term is None:
            return None
        found.append(term)
        position = match.end()
    return found


def _term(code: str, power: int) -> tuple[Decimal, Dimension] | None:
    if abs(power) > 30:
        return None
    if code.isdigit():
        return Decimal(code) ** power, _NONE
    found = _atom(code)
    return None if found is None else (found[0] ** power, tuple(each * power for each in found[1]))


def _atom(code: str) -> tuple[Decimal, Dimension] | None:
    if code in _ATOMS:
        factor, dimension, _ = _ATOMS[code]
        return Decimal(factor), dimension
    for length in (1, 2):
        prefix, rest = code[:length], code[length:]
        if prefix in _PREFIXES and rest in _ATOMS and _ATOMS[rest][2]:
            return Decimal(_ATOMS[rest][0]).scaleb(_PREFIXES[prefix]), _ATOMS[rest][1]
    return None
