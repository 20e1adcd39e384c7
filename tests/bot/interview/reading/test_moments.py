"""Times of day, and dates with a time."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import NotUnderstood, Read
from bot.interview.values.answer import Answer
from tests.bot.interview.reading.replies import inferred, literal, reply, understood

ZURICH = ZoneInfo("Europe/Zurich")


@given(st.times(), st.booleans())
def test_times_in_digits_are_read(time: object, seconds: bool) -> None:
    written = f"{time:%H:%M:%S}" if seconds else f"{time:%H:%M}"
    value = f"{time:%H:%M:%S}" if seconds else f"{time:%H:%M}:00"

    assert understood(reply(written, "time")) == value
    assert understood(reply(f"um {written} Uhr", "time")) == value
    if not seconds:
        assert understood(reply(f"{time:%H.%M} Uhr", "time")) == value


@given(st.times())
def test_twelve_hour_times_are_read(time: object) -> None:
    for text in (
        f"{time:%I:%M %p}",
        f"{time:%I.%M%p}".lower(),
        f"at {time:%I:%M} {'a.m.' if f'{time:%p}' == 'AM' else 'p.m.'}",
    ):
        assert understood(reply(text, "time", language="en")) == f"{time:%H:%M}:00"


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "14 Uhr 30", "14:30:00"),
        ("de", "14 Uhr", "14:00:00"),
        ("de", "14h30", "14:30:00"),
        ("de", "14.30", "14:30:00"),
        ("de", "dreizehn Uhr fünfzehn", "13:15:00"),
        ("de", "um 8 Uhr abends", "20:00:00"),
        ("de", "halb drei nachmittags", "14:30:00"),
        ("de", "8:00", "08:00:00"),
        ("de", "Mitternacht", "00:00:00"),
        ("de", "mittags", "12:00:00"),
        ("en", "2 pm", "14:00:00"),
        ("en", "12 am", "00:00:00"),
        ("en", "12 p.m.", "12:00:00"),
        ("en", "noon", "12:00:00"),
        ("en", "eight o'clock in the morning", "08:00:00"),
    ],
)
def test_times_that_can_only_be_meant_one_way_are_read(language: str, text: str, value: str) -> None:
    assert understood(reply(text, "time", language=language)) == value


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "um halb drei", "14:30:00"),
        ("de", "halbi drü", "14:30:00"),
        ("de", "halb eins", "12:30:00"),
        ("de", "viertel nach acht", "08:15:00"),
        ("de", "viertel ab achti", "08:15:00"),
        ("de", "viertel vor acht", "07:45:00"),
        ("de", "viertel acht", "07:15:00"),
        ("de", "dreiviertel acht", "07:45:00"),
        ("de", "fünf vor halb drei", "14:25:00"),
        ("de", "zwanzig nach drei", "15:20:00"),
        ("de", "8", "08:00:00"),
        ("de", "3 Uhr", "15:00:00"),
        ("de", "abends um 8", "20:00:00"),
        ("de", "mittags um 12", "12:00:00"),
        ("de", "1430", "14:30:00"),
        ("de", "24:00", "00:00:00"),
        ("de", "gegen 14 Uhr", "14:00:00"),
        ("en", "half past two", "14:30:00"),
        ("en", "half two", "14:30:00"),
        ("en", "quarter past eight", "08:15:00"),
        ("en", "a quarter to three", "14:45:00"),
        ("en", "ten to three", "14:50:00"),
        ("en", "2:30", "14:30:00"),
        ("en", "14:30 pm", "14:30:00"),
    ],
)
def test_times_that_could_be_morning_or_evening_are_read_back(language: str, text: str, value: str) -> None:
    assert inferred(reply(text, "time", language=language)) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("25:00", "impossible"),
        ("14:75", "impossible"),
        ("8 bis 9 Uhr", "range"),
        ("8 oder 9 Uhr", "range"),
        ("um 8 Uhr und um 9 Uhr", "several"),
        ("nach dem Essen", "nothing"),
        ("zwischen 8 und 9", "nothing"),
    ],
)
def test_what_is_no_single_time_is_not_understood(text: str, why: str) -> None:
    reading = reply(text, "time")

    assert isinstance(reading, NotUnderstood)
    assert reading.why == why


@given(st.datetimes(datetime(1950, 1, 1), datetime(2026, 11, 17)), st.integers(-14 * 60, 14 * 60))
def test_a_date_with_a_time_gets_the_offset_of_its_zone(moment: datetime, offset: int) -> None:
    zone = timezone(timedelta(minutes=offset))
    stamp = moment.replace(second=0, microsecond=0, tzinfo=zone).isoformat()

    assert understood(reply(f"{moment:%d.%m.%Y %H:%M}", "dateTime", zone=zone)) == stamp
    assert understood(reply(f"am {moment:%d.%m.%Y} um {moment:%H.%M} Uhr", "dateTime", zone=zone)) == stamp
    assert understood(reply(stamp, "dateTime")) == stamp


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "am 3. März 2024 um halb drei", "2024-03-03T14:30:00+01:00"),
        ("de", "am 3. Juli um 14 Uhr", "2026-07-03T14:00:00+02:00"),
        ("de", "gestern um 8 Uhr abends", "2026-11-17T20:00:00+01:00"),
        ("de", "gestern Abend um 8", "2026-11-17T20:00:00+01:00"),
        ("de", "heute Morgen um 7", "2026-11-18T07:00:00+01:00"),
        ("en", "yesterday at 3", "2026-11-17T15:00:00+01:00"),
        ("en", "two weeks ago", "2026-11-04"),
        ("de", "letztes Jahr", "2025"),
    ],
)
def test_moments_that_were_counted_are_read_back(language: str, text: str, value: str) -> None:
    assert inferred(reply(text, "dateTime", language=language, zone=ZURICH)) == value


def test_a_time_before_the_date_is_read() -> None:
    assert literal(reply("14.30 3.3.2024", "dateTime", zone=ZURICH)) == "2024-03-03T14:30:00+01:00"


def test_a_moment_may_be_a_partial_date() -> None:
    assert literal(reply("März 2015", "dateTime", zone=ZURICH)) == "2015-03"


def test_without_a_zone_the_time_becomes_a_comment() -> None:
    reading = reply("3.3.2024 14:30", "dateTime")

    assert reading == Read((Answer("dateTime", "2024-03-03"),), literal=False, remainder="14:30")


def test_a_time_without_a_date_is_no_moment() -> None:
    assert reply("14:30", "dateTime", zone=ZURICH) == NotUnderstood("a time of day without its date", "incomplete")
