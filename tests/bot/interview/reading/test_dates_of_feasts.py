"""Feasts of the year, computed."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.vocabulary import easter
from tests.bot.interview.reading.replies import inferred, reply


@pytest.mark.parametrize(
    "day",
    [
        date(1943, 4, 25), date(1954, 4, 18), date(1981, 4, 19), date(2000, 4, 23), date(2008, 3, 23),
        date(2011, 4, 24), date(2019, 4, 21), date(2024, 3, 31), date(2025, 4, 20), date(2026, 4, 5), date(2038, 4, 25),
    ],
)  # fmt: skip
def test_easter_is_as_the_almanacs_say(day: date) -> None:
    assert easter(day.year) == day


@given(st.integers(1900, 2150))
def test_easter_is_a_sunday_between_its_bounds(year: int) -> None:
    assert easter(year).weekday() == 6
    assert date(year, 3, 22) <= easter(year) <= date(year, 4, 25)


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "Ostermontag 2024", "2024-04-01"),
        ("de", "Karfreitag 2024", "2024-03-29"),
        ("de", "Ostern '19", "2019-04"),
        ("de", "Ostern im letzten Jahr", "2025-04"),
        ("de", "letztes Jahr zu Pfingsten", "2025-06"),
        ("en", "Boxing Day 2023", "2023-12-26"),
        ("en", "Easter Monday last year", "2025-04-21"),
        ("en", "New Year's Eve", "2025-12-31"),
    ],
)
def test_a_feast_with_its_year_is_a_date(language: str, text: str, value: str) -> None:
    assert inferred(reply(text, "date", language=language)) == value
