"""Units convert exactly where they measure the same thing, and not at all where they do not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.interview.values.units import convert, known


@pytest.mark.parametrize(
    ("value", "unit", "into", "expected"),
    [
        ("1", "kg", "g", "1000"),
        ("100", "[lb_av]", "kg", "45.359237"),
        ("98.6", "[degF]", "Cel", "37"),
        ("310.15", "K", "Cel", "37"),
        ("120", "mm[Hg]", "kPa", "15.99864"),
        ("5", "mmol/L", "mol/m3", "5"),
        ("10", "10*3/uL", "10*9/L", "10"),
        ("1", "kg/m2", "g/cm2", "0.1"),
        ("18", "a", "mo", "216"),
        ("2", "{tbl}", "1", "2"),
        ("3", "[in_i]", "cm", "7.62"),
        ("60", "/min", "Hz", "1"),
        ("5", "unknown", "unknown", "5"),
    ],
)
def test_units_of_one_dimension_convert(value: str, unit: str, into: str, expected: str) -> None:
    assert convert(Decimal(value), unit, into) == Decimal(expected)


@pytest.mark.parametrize(
    ("unit", "into"), [("kg", "[mi_i]"), ("kg", "nonsense"), ("m.", "m"), (".m", "m"), ("mm", "m2")]
)
def test_units_of_different_dimensions_do_not_convert(unit: str, into: str) -> None:
    assert convert(Decimal(1), unit, into) is None


def test_a_value_too_large_to_convert_is_not_converted() -> None:
    assert convert(Decimal("1E+999999"), "kg", "g") is None


@pytest.mark.parametrize(
    ("unit", "expected"), [("mg/dL", True), ("{score}", True), ("Miles", False), ("g" * 99, False)]
)
def test_known_units_are_told_from_others(unit: str, expected: bool) -> None:
    assert known(unit) is expected
