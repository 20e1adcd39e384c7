"""FHIRPath's operators give what the specification (N1, chapter 6) says, also where they must give nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.formulas.evaluator import as_json, compile_formula, evaluate
from bot.interview.formulas.formula import BadFormula, FormulaFailed
from tests.bot.interview.resources import amount

NOW = "2026-11-22T10:30:00+01:00"


def value_of(source: str) -> list[Any]:
    return as_json(evaluate(compile_formula(source), [], {}, now=NOW))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Numbers.
        ("1 + 2 * 3", [7]),
        ("(1 + 2) * 3", [9]),
        ("7 - 2 - 1", [4]),
        ("-2 + 5", [3]),
        ("-7 mod 2", [-1]),
        ("7 mod -2", [1]),
        ("5.5 mod 0.7", [Decimal("0.6")]),
        ("-7 div 2", [-3]),
        ("1 / 2", [Decimal("0.5")]),
        ("0.1 + 0.2 = 0.3", [True]),
        ("1 / 0", []),
        ("5 div 0", []),
        ("5 mod 0", []),
        ("2147483647 + 1 + 1", []),
        ("1 + {}", []),
        # Texts.
        ("'a' + 'b'", ["ab"]),
        ("'a' + {}", []),
        ("'a' & {}", ["a"]),
        ("{} & {}", [""]),
        ("'a\\u0062\\n\\'\\d'", ["ab\n'\\d"]),
        # Quantities.
        ("1 'kg' = 1000 'g'", [True]),
        ("1 'kg' != 1001 'g'", [True]),
        ("1 'kg' = 1 'm'", []),
        ("1 'kg' < 1 'm'", []),
        ("10 'cm' + 1 'm' = 110 'cm'", [True]),
        ("10 'cm' + 1 'm'", [amount(110, "cm")]),
        ("1 'm' - 10 'cm'", [amount(90, "cm")]),
        ("1 'm' + 1 's'", []),
        ("2 'm' * 3 'm' = 6 'm2'", [True]),
        ("70 'kg' / (1.75 'm' * 1.75 'm') > 22.8 'kg/m2'", [True]),
        ("6 'm' / 2 'm' = 3", [True]),
        ("-(3 'mg')", [amount(-3, "mg")]),
        ("37 'Cel' = 98.6 '[degF]'", [True]),
        ("1 year = 12 months", [True]),
        ("7 days = 1 'wk'", [True]),
        ("1 year = 365 days", [True]),
        ("24 hours < 1 month", [True]),
        ("1 year = 1 'a'", []),
        ("1 year > 300 'd'", []),
        ("1 year ~ 1 'a'", [True]),
        ("3 'nonsense' = 3 'nonsense'", [True]),
        # Comparison.
        ("'a' < 'b'", [True]),
        ("1 <= 1.0", [True]),
        ("@2018-03 < @2018-03-01", []),
        ("@2018-03 < @2018-04-01", [True]),
        ("@T10:30 > @T10:29:59", [True]),
        ("now() > today()", []),
        ("now() > today() - 1 day", [True]),
        ("@2020-01-01T10:00:00Z < @2020-01-01T10:30:00+01:00", [False]),
        ("@2020-01-01T10:00:00 < @2020-01-01T11:00:00Z", []),
        ("@2020-01-01T10:00:00 < @2020-01-03T11:00:00Z", [True]),
        ("{} < 1", []),
        # Equality and equivalence.
        ("1 = 1.00", [True]),
        ("true = 1", [False]),
        ("'1' = 1", [False]),
        ("(1 | 2) = (2 | 1)", [False]),
        ("(1 | 2) ~ (2 | 1)", [True]),
        ("(1 | 2) = 1", [False]),
        ("@2012 = @2012-01", []),
        ("@2012 = @2013-01", [False]),
        ("@2012 ~ @2012-01", [False]),
        ("@2012-01-01 = @T10", [False]),
        ("'Ab\\tc' ~ 'aB c'", [True]),
        ("'Ab  c' ~ 'aB c'", [False]),
        ("'a' ~ 'a '", [False]),
        ("'' ~ ' '", [False]),
        ("'a b' ~ 'a\\u00a0b'", [False]),
        # Quantities: the unit of a sum is that of its number, calendar units stay, units are put together.
        ("1 month + 1 week", [amount(37, "d", "days")]),
        ("0 weeks + 1 month", [amount(30, "d", "days")]),
        ("(1 year - 1 week).toString()", ["358 days"]),
        ("1 week - 6 days", [amount(1, "d", "day")]),
        ("1 week + 1 'd'", [amount(8, "d")]),
        ("1 year * 3", [amount(3, "a", "years")]),
        ("3 years / 3 = 1 year", [True]),
        ("2 * 6 months = 12 months", [True]),
        ("30 days / 1 month = 1", [True]),
        ("1 '1' + 2", [amount(3, "1")]),
        ("5 '1' - 2.5", [amount("2.5", "1")]),
        ("1 + 1 'mg'", []),
        ("12 'cm' * 3 'cm'", [amount(36, "cm2")]),
        ("12 'cm2' / 3 'cm'", [amount(4, "cm")]),
        ("6 'mg/dL' * 2 'dL'", [amount(12, "mg")]),
        ("80 'kg' / (2 'm' * 2 'm')", [amount(20, "kg/m2")]),
        ("6 'm' / 2 'cm' = 300", [True]),
        ("(5 'mg').value", [Decimal(5)]),
        ("(5 'mg').unit", ["mg"]),
        ("(5 days).unit", ["days"]),
        # One equality, whichever function asks.
        ("(30 days | 1 month).count()", [1]),
        ("(30 'd' | 1 month | 1 'mo').count()", [3]),
        ("(30 days).combine(1 month).isDistinct()", [False]),
        ("(30 days).subsetOf(1 month)", [True]),
        ("(30 days).intersect(1 month) = 1 month", [True]),
        ("(30 days).exclude(1 month)", []),
        ("30 days in (1 month)", [True]),
        ("(1 | 1 '1' | 100 '%').count()", [1]),
        # Limits of numbers.
        ("-2147483648", [-2147483648]),
        ("-2147483647 - 1", [-2147483648]),
        ("2147483647 + 1", []),
        ("9999999999999999999999999999.0 * 10", []),
        ("(0.0 * -1).toString()", ["0.0"]),
        ("1.26 ~ 1.3", [True]),
        ("1.24 ~ 1.3", [False]),
        ("4 'g' ~ 4040 'mg'", [True]),
        ("4040 'mg' ~ 4 'g'", [True]),
        ("{} ~ {}", [True]),
        ("{} !~ 1", [True]),
        # Collections.
        ("1 | 2 | 1", [1, 2]),
        ("1 'kg' | 1000 'g'", [amount(1, "kg")]),
        ("2 in (1 | 2)", [True]),
        ("{} in (1 | 2)", []),
        ("2 in {}", [False]),
        ("(1 | 2) contains 3", [False]),
        # Logic.
        ("true and {}", []),
        ("false and {}", [False]),
        ("{} and false", [False]),
        ("true or {}", [True]),
        ("{} or false", []),
        ("true xor {}", []),
        ("true xor false", [True]),
        ("{} implies true", [True]),
        ("false implies {}", [True]),
        ("true implies {}", []),
        ("false and (1 | 2)", [False]),
        ("true and 'text'", [True]),
        # Types.
        ("1 is Integer", [True]),
        ("1 is System.Integer", [True]),
        ("1 is FHIR.integer", [False]),
        ("1.0 is Decimal", [True]),
        ("(1.5 as Integer)", []),
        ("(1.5 as Decimal) + 1", [Decimal("2.5")]),
        ("{} is Integer", []),
        ("@2020 is Date", [True]),
        ("@2020T is DateTime", [True]),
        ("1 'kg' is Quantity", [True]),
        # Precedence of the grammar.
        ("(1 | 1 is Integer).count()", [2]),
        ("1 | 2 = 2", [False]),
        ("2 > 1 = true", [True]),
        ("true or true and false", [True]),
        ("-1.abs()", [-1]),
        ("2 // comment\n + /* more\n */ 2", [4]),
    ],
)  # fmt: skip
def test_operators_give_what_the_specification_says(source: str, expected: list[Any]) -> None:
    found = value_of(source)

    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@2020-01-31 + 1 month", ["2020-02-29"]),
        ("@2020-02-29 + 1 year", ["2021-02-28"]),
        ("@2020-02-29 - 4 years", ["2016-02-29"]),
        ("@2019-03-01 - 1 day", ["2019-02-28"]),
        ("@1973-12-25 + 7.7 days", ["1974-01-01"]),
        ("@2019-12 + 2 weeks", ["2019-12"]),
        ("@2019-12 + 31 days", ["2020-01"]),
        ("@2014 + 24 months", ["2016"]),
        ("@2014 + 364 days", ["2014"]),
        ("@2014 + 365 days", ["2015"]),
        ("@2020-01-01 + 36 hours", ["2020-01-02"]),
        ("@2020-01-01T23:30:00+01:00 + 45 minutes", ["2020-01-02T00:15:00+01:00"]),
        ("@2020-01-01T10:00:00.000Z + 1 's'", ["2020-01-01T10:00:01.000Z"]),
        ("@2020-01-01T10:00:00Z + 1500 milliseconds", ["2020-01-01T10:00:01.500Z"]),
        ("@2020-01-01T10 + 90 minutes", ["2020-01-01T11"]),
        ("@T23:30 + 1 hour", ["00:30"]),
        ("@T10:30:00 - 30 seconds", ["10:29:30"]),
        ("@2020-01-01 + 1 'wk'", ["2020-01-08"]),
        ("@2020-03-31 - 1 'month'", ["2020-02-29"]),
        ("@9999-12-31 + 1 day", []),
        ("@0001-01-01 - 1 year", []),
        ("@2020-01-01 + {}", []),
        ("@2020-01-01 + 2 * 1 month", ["2020-03-01"]),
        ("@2020-01-01 + (1 month + 1 week)", ["2020-02-07"]),
    ],
)  # fmt: skip
def test_dates_and_times_are_added_to_as_the_calendar_goes(source: str, expected: list[str]) -> None:
    assert value_of(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "'a' - 'b'",
        "'a' + 1",
        "'a' & 1",
        "1 + true",
        "'a' < 1",
        "@2020 < @T10",
        "@2020-01-01 + 7",
        "@2020-01-01 + 1 'mo'",
        "@2020-01-01 + 1 'cm'",
        "@T10 + 1 day",
        "(1 | 2) + 1",
        "(1 | 2) and true",
        "(1 | 2) in (1 | 2)",
        "-'a'",
        "1 is Nonsense",
        "1 is System.Nonsense",
        "1 is Nonsense.Integer",
        "true + 1 'mg'",
        "(1 | 2) is Integer",
        "-1.convertsToInteger()",
        "1 > 2 is Boolean",
    ],
)
def test_what_the_specification_calls_an_error_fails(source: str) -> None:
    with pytest.raises(FormulaFailed):
        value_of(source)


@pytest.mark.parametrize(
    "source",
    [
        "2 + 2 /",
        "2 + 2 /* not finished",
        "@T14:34:28Z",
        "@2015-13-01",
        "@2020-01-01T25:00",
        "a..b",
        "[1]",
        "$foo",
        "%",
        "'a",
        "1 2",
        "5 ''",
    ],
)
def test_what_is_not_in_the_grammar_is_refused(source: str) -> None:
    with pytest.raises(BadFormula, match="no FHIRPath from"):
        compile_formula(source)


@pytest.mark.parametrize(
    "source", ["2147483648", "1 - 2147483649", "99999999999999999999 > 1", "9" * 5000, "1" * 29 + ".5"]
)
def test_a_number_beyond_the_range_of_fhirpath_is_refused(source: str) -> None:
    with pytest.raises(BadFormula, match="is too large"):
        compile_formula(source)


def test_a_refusal_names_line_and_column() -> None:
    with pytest.raises(BadFormula, match="from line 2, column 3"):
        compile_formula("1 +\n  * 2")


def test_a_long_sum_is_no_deep_one_and_what_is_within_the_limit_can_be_evaluated() -> None:
    assert value_of(" + ".join(["1"] * 4000)) == [4000]
    assert value_of(" and ".join(["true"] * 2000)) == [True]
    nested = "0"
    for number in range(90):
        nested = f"iif(1 > {number + 1}, {number}, {nested})"
    assert value_of(nested) == [0]
    with pytest.raises(BadFormula, match="nested too deep"):
        compile_formula("1" + " is Integer" * 1800)
    assert value_of("(" * 90 + "1" + ")" * 90) == [1]
