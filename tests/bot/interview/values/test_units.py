"""Units convert exactly where they measure the same thing, and not at all where they do not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bot.interview.values import units
from bot.interview.values.units import canonical, convert, known, product


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
        ("90", "mL/min/{1.73_m2}", "L/h", "5.4"),
        ("1", "(kg.m)/s2", "N", "1"),
        ("1", "kg/(m.s2)", "Pa", "1"),
        ("3", "10^9/L", "10*3/uL", "3"),
        ("140", "meq/L", "mmol/L", "140"),
        ("290", "mosm/kg", "mmol/kg", "290"),
        ("20", "[drp]", "mL", "1"),
        ("1", "[foz_us]", "[tsp_us]", "6"),
        ("1", "[lb_ap]", "[gr]", "5760"),
        ("3937", "[ft_us]", "m", "1200"),
        ("1", "[mi_us]", "[ft_us]", "5280"),
        ("60", "umol/min", "ukat", "1"),
        ("1", "U", "umol/min", "1"),
        ("60", "'", "deg", "1"),
        ("60", "''", "'", "1"),
        ("9", "gon", "deg", "8.1"),
        ("1", "lm/m2", "lx", "1"),
        ("1", "V/A", "Ohm", "1"),
        ("1", "eV", "J", "1.602176634E-19"),
        ("1", "cal", "J", "4.184"),
        ("1", "[Cal]", "kcal", "1"),
        ("80", "[degRe]", "Cel", "100"),
        ("1", "g%", "g/dL", "1"),
        ("1", "KiBy", "By", "1024"),
        ("1000", "m[IU]/mL", "[iU]/mL", "1"),
        ("30", "dB", "B", "3"),
        ("7.4", "[pH]{arterial}", "[pH]", "7.4"),
        ("1", "B[10.nV]", "dB[10.nV]", "10"),
        ("37000", "mCel", "Cel", "37"),
        ("37000", "mCel{core}", "K", "310.15"),
    ],
)
def test_units_of_one_dimension_convert(value: str, unit: str, into: str, expected: str) -> None:
    assert convert(Decimal(value), unit, into) == Decimal(expected)


@pytest.mark.parametrize(
    ("unit", "into"),
    [
        ("kg", "[mi_i]"),
        ("kg", "nonsense"),
        ("m.", "m"),
        (".m", "m"),
        ("mm", "m2"),
        ("[IU]", "U"),
        ("[IU]", "[CFU]"),
        ("[pH]", "mol/L"),
        ("dB", "1"),
        ("mol", "1"),
    ],
)
def test_units_of_different_dimensions_do_not_convert(unit: str, into: str) -> None:
    assert convert(Decimal(1), unit, into) is None


def test_a_value_too_large_to_convert_is_not_converted() -> None:
    assert convert(Decimal("1E+999999"), "kg", "g") is None


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        *dict.fromkeys(
            (
                "mg/dL",
                "{score}",
                "{Stueck}/d",
                "mCel",
                "[m/s2/Hz^0.5]",
                "{!|~}",
                "/min",
                "10*-6",
                "[m/s2/Hz^(1/2)]",
                "%[slope]",
                "ug/(kg.min)",
            ),
            True,
        ).items(),
        *dict.fromkeys(
            (
                "Miles",
                "g" * 99,
                "m//s",
                "(m",
                "m)",
                "{x",
                "m2x",
                "kkg",
                "k%",
                "min/",
                "1/0",
                "(" * 50,
                "m^2",
                "kg/m^2",
                "s^-1",
                "{a b}",
                "{a\nb}",
                "{Stück}/d",
                "m{ä}",
                "mCel{a b}",
            ),
            False,
        ).items(),
    ],
)
def test_known_units_are_told_from_others(unit: str, expected: bool) -> None:
    assert known(unit) is expected


def test_units_that_are_equal_share_a_key_and_others_do_not() -> None:
    assert canonical(Decimal(1), "kg") == canonical(Decimal("1000.0"), "g") == canonical(Decimal("0.001"), "t")
    assert canonical(Decimal(3937), "[ft_us]") == canonical(Decimal(1200), "m")
    assert canonical(Decimal(1), "kg") not in (canonical(Decimal(1), "g"), canonical(Decimal(1000), "m"))
    assert canonical(Decimal(1), "nonsense") is None


@pytest.mark.parametrize("kind", ["metric", "others", "alone", "alone_metric", "base", "degrees"])
def test_every_code_of_the_table_is_read_and_equals_itself_to_the_last_digit(kind: str) -> None:
    table = yaml.safe_load(Path(units.__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    codes = list(table[kind])

    wrong = [code for code in codes if convert(Decimal("1.25"), code + "{x}", code) != Decimal("1.25")]

    assert codes
    assert wrong == []


@pytest.mark.parametrize(
    ("unit", "takes"),
    [("m", True), ("[IU]", True), ("B", True), ("Cel", True), ("[in_i]", False), ("[pH]", False), ("[degF]", False)],
)
def test_only_metric_units_take_prefixes(unit: str, takes: bool) -> None:
    assert known("m" + unit) is takes


@pytest.mark.parametrize(
    ("one", "sign", "other", "expected"),
    [
        ("cm", ".", "cm", "cm2"),
        ("cm2", ".", "cm", "cm3"),
        ("cm2", "/", "cm", "cm"),
        ("m", "/", "m", "1"),
        ("m", ".", "m-1", "1"),
        ("mg/dL", ".", "dL", "mg"),
        ("kg", "/", "m2", "kg/m2"),
        ("mg", "/", "kg.d", "mg/kg/d"),
        ("1", "/", "min", "/min"),
        ("1", ".", "min", "min"),
        ("ug/(kg.min)", ".", "kg", "ug/min"),
        ("mg", "/", "g", "mg/g"),
        ("{tbl}", "/", "d", "{tbl}/d"),
        ("{tbl}", ".", "{tbl}", "{tbl}.{tbl}"),
        ("mL{total}", ".", "mL", "mL{total}.mL"),
        ("10*9/L", ".", "L", "10*9"),
        ("mL/min/{1.73_m2}", "/", "B[10.nV]", "mL/min/{1.73_m2}/B[10.nV]"),
        ("mg/{a.b}", "/", "{a.b}", "mg/{a.b}/{a.b}"),
        ("mm[Hg]", ".", "mm[Hg]", "mm[Hg]2"),
        ("100.m", "/", "s/m", "100.m/(s/m)"),
        ("not a unit", ".", "kg", "not a unit.kg"),
        ("m30", ".", "m", "m30.m"),
    ],
)
def test_units_multiplied_and_divided_are_put_together(one: str, sign: str, other: str, expected: str) -> None:
    assert product(one, other, over=sign == "/") == expected
