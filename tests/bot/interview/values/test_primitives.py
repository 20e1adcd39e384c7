"""What JSON may hold for R4's primitive types, and how dates known in part compare."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.interview.values.answer import JsonValue
from bot.interview.values.primitives import base64_size, compare_dates, compare_times, problem_with

GOOD: list[tuple[str, JsonValue]] = [
    ("boolean", True),
    ("integer", -(2**31)),
    ("decimal", 3),
    ("decimal", Decimal("1.50")),
    ("date", "2020"),
    ("date", "2020-02-29"),
    ("dateTime", "2020-02"),
    ("dateTime", "2020-02-29T23:59:60+14:00"),
    ("instant", "2020-02-29T12:00:00.123Z"),
    ("time", "23:59:59.5"),
    ("string", " leading and\ntrailing "),
    ("code", "a b"),
    ("id", "A-1."),
    ("uri", "urn:oid:1.2"),
    ("base64Binary", "YQ=="),
    ("positiveInt", 1),
]
BAD: list[tuple[str, JsonValue]] = [
    ("boolean", "true"),
    ("integer", "2"),
    ("integer", 2**31),
    ("integer", Decimal("2.0")),
    ("integer", True),
    ("decimal", "1.5"),
    ("decimal", Decimal("1E+999")),
    ("date", "2021-02-29"),
    ("date", "20200229"),
    ("date", "2020-02-29T00:00:00Z"),
    ("date", "0000"),
    ("dateTime", "2020-02-29T12:00"),
    ("dateTime", "2020-02-29T12:00:00"),
    ("instant", "2020-02-29"),
    ("time", "24:00:00"),
    ("time", "12:00"),
    ("string", ""),
    ("string", "\x00"),
    ("string", 3),
    ("code", " a"),
    ("code", "a  b"),
    ("id", "a_b"),
    ("uri", "has space"),
    ("base64Binary", "YQ="),
    ("positiveInt", 0),
]


@pytest.mark.parametrize(("kind", "value"), GOOD)
def test_values_of_the_type_are_accepted(kind: str, value: JsonValue) -> None:
    assert problem_with(kind, value) == ""


@pytest.mark.parametrize(("kind", "value"), BAD)
def test_values_of_another_type_or_form_are_refused(kind: str, value: JsonValue) -> None:
    assert problem_with(kind, value) != ""


def test_a_refusal_does_not_quote_the_value() -> None:
    assert "geheim" not in problem_with("date", "geheim")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("2020", "2021", "before"),
        ("2020-05", "2020-04-30", "after"),
        ("2020-05-01", "2020-05-01", "same"),
        ("2020", "2020-05", "unknown"),
        ("2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z", "same"),
        ("2020-01-01T12:00:00Z", "2020-01-01", "unknown"),
        ("9999-12-31", "2020", "after"),
        ("9999-12-31T23:00:00-10:00", "2020", "unknown"),
        ("no date", "2020", "unknown"),
    ],
)
def test_dates_compare_as_far_as_they_are_known(one: str, other: str, expected: str) -> None:
    assert compare_dates(one, other) == expected


def test_times_compare_with_their_fractions() -> None:
    assert compare_times("12:00:00.10", "12:00:00.1") == "same"
    assert compare_times("12:00:00", "12:00:00.1") == "before"


@pytest.mark.parametrize(
    ("text", "size"), [("", 0), ("YQ==", 1), ("YWI=", 2), ("YW Jj\n", 3), ("Y", None), ("Y*==", None)]
)
def test_base64_has_a_size_or_is_none(text: str, size: int | None) -> None:
    assert base64_size(text) == size
