"""Dates: whole and partial, in every notation, and counted from today."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import NotUnderstood, Read
from bot.interview.values.answer import Answer
from tests.bot.interview.reading.replies import TODAY, inferred, literal, reply, understood

GERMAN = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember",
)  # fmt: skip
ENGLISH = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = st.dates(date(1900, 1, 1), TODAY)


@given(DAYS)
def test_a_german_date_is_read_in_any_notation(day: date) -> None:
    name = GERMAN[day.month - 1]
    for text in (
        f"{day.day}.{day.month}.{day.year}",
        f"{day:%d.%m.%Y}",
        f"{day.day}. {day.month}. {day.year}",
        f"{day:%d/%m/%Y}",
        f"{day:%d-%m-%Y}",
        f"{day:%Y-%m-%d}",
        f"{day.day} {day.month} {day.year}",
        f"{day.day}. {name} {day.year}",
        f"am {day.day}.{name.upper()} {day.year}",
        f"{day.day} {name[:3]}. {day.year}",
        f"ich bin am {day.day}. {name.replace('ä', 'ae')} {day.year} geboren",
    ):
        assert understood(reply(text, "date")) == day.isoformat(), text


@given(DAYS)
def test_an_english_date_is_read_in_any_notation(day: date) -> None:
    name, end = ENGLISH[day.month - 1], {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    end = "th" if 10 < day.day < 20 else end
    for text in (
        f"{day:%Y-%m-%d}",
        f"{day:%d.%m.%Y}",
        f"{day.day} {name} {day.year}",
        f"{day.day}{end} of {name} {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{name[:3]} {day.day}{end} {day.year}",
        f"I was born on the {day.day}{end} {name}, {day.year}",
    ):
        assert understood(reply(text, "date", language="en")) == day.isoformat(), text


@given(st.dates(date(1927, 1, 1), TODAY))
def test_two_digits_of_a_year_are_never_in_the_future_and_never_literal(day: date) -> None:
    for language, text in (
        ("de", f"{day:%d.%m.%y}"),
        ("de", f"{day.day}. {GERMAN[day.month - 1]} {day:%y}"),
        ("en", f"{day:%d/%m/%y}"),
    ):
        assert inferred(reply(text, "date", language=language)) == day.isoformat()


@given(st.integers(1900, TODAY.year), st.integers(1, 12))
def test_partial_dates_stay_partial(year: int, month: int) -> None:
    assert understood(reply(f"{year}", "date")) == f"{year}"
    assert understood(reply(f"im Jahr {year}", "date")) == f"{year}"
    assert understood(reply(f"since {year}", "date", language="en")) == f"{year}"
    for language, text in (
        ("de", f"{GERMAN[month - 1]} {year}"),
        ("de", f"{month}/{year}"),
        ("de", f"{month:02d}.{year}"),
        ("en", f"{ENGLISH[month - 1]} {year}"),
        ("en", f"in {ENGLISH[month - 1]} of {year}"),
    ):
        assert understood(reply(text, "date", language=language)) == f"{year}-{month:02d}"


@given(st.integers(0, 1000))
def test_days_and_weeks_ago_are_days(number: int) -> None:
    day = TODAY - timedelta(days=number)

    assert inferred(reply(f"vor {number} Tagen", "date")) == day.isoformat()
    assert inferred(reply(f"{number} days ago", "date", language="en")) == day.isoformat()
    if number % 7 == 0:
        assert inferred(reply(f"vor {number // 7} Wochen", "date")) == day.isoformat()


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "am dritten März 75", "1975-03-03"),
        ("de", "3.3.75", "1975-03-03"),
        ("de", "dritter dritter fünfundsiebzig", "1975-03-03"),
        ("de", "Mäzr 2015", "2015-03"),
        ("de", "3. Setpember 2015", "2015-09-03"),
        ("de", "März '15", "2015-03"),
        ("de", "75", "1975"),
        ("de", "Jahrgang 75", "1975"),
        ("de", "'75", "1975"),
        ("de", "03031975", "1975-03-03"),
        ("de", "Montag, 4. März 1975", "1975-03-04"),  # it was a Tuesday
        ("de", "heute", "2026-11-18"),
        ("de", "gestern", "2026-11-17"),
        ("de", "geschter", "2026-11-17"),
        ("de", "vorgestern", "2026-11-16"),
        ("de", "vor zwei Wochen", "2026-11-04"),
        ("de", "vor etwa zwei Wochen", "2026-11"),
        ("de", "vor 2 Monaten", "2026-09"),
        ("de", "vor einem halben Jahr", "2026-05"),
        ("de", "vor 3 Jahren", "2023"),
        ("de", "vor drü Johr", "2023"),
        ("de", "vor anderthalb Jahren", "2025-05"),
        ("de", "seit drei Monaten", "2026-08"),
        ("de", "letzten Montag", "2026-11-16"),
        ("de", "am Mittwoch", "2026-11-11"),
        ("de", "letzten Monat", "2026-10"),
        ("de", "letztes Jahr", "2025"),
        ("de", "letzte Woche", "2026-11"),
        ("de", "letzte Woche Montag", "2026-11-09"),
        ("de", "vor 2 J.", "2024"),
        ("de", "vor 1 1/2 Jahren", "2025-05"),
        ("de", "letztes Jahr im März", "2025-03"),
        ("de", "vorletztes Jahr", "2024"),
        ("de", "heuer", "2026"),
        ("de", "im März", "2026-03"),
        ("de", "im Dezember", "2025-12"),
        ("de", "3.3.", "2026-03-03"),
        ("de", "3. Dezember", "2025-12-03"),
        ("de", "etwa 2015", "2015"),
        ("de", "2015 glaube ich", "2015"),
        ("de", "weiss nicht genau, 2015 oder so", "2015"),
        ("de", "1890", "1890"),
        ("en", "March 3, 75", "1975-03-03"),
        ("en", "3/4/1975", "1975-04-03"),
        ("en", "4/13/1975", "1975-04-13"),
        ("en", "yesterday", "2026-11-17"),
        ("en", "two weeks ago", "2026-11-04"),
        ("en", "a year ago", "2025"),
        ("en", "a year and a half ago", "2025-05"),
        ("en", "half a year ago", "2026-05"),
        ("en", "last month", "2026-10"),
        ("en", "last Monday", "2026-11-16"),
        ("en", "in March last year", "2025-03"),
        ("en", "since May", "2026-05"),
        ("en", "around 2010, I think", "2010"),
        ("en", "twenty-third of May '80", "1980-05-23"),
    ],
)
def test_what_is_counted_corrected_or_shortened_is_read_back(language: str, text: str, value: str) -> None:
    assert inferred(reply(text, "date", language=language)) == value


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "dritter März 1975", "1975-03-03"),
        ("de", "neunzehnhundertfünfundsiebzig", "1975"),
        ("de", "zweitausendfünfzehn", "2015"),
        ("de", "Jänner 2020", "2020-01"),
        ("de", "Feber 2020", "2020-02"),
        ("de", "Dienstag, 4. März 1975", "1975-03-04"),
        ("de", "Mi 12.5.2021", "2021-05-12"),
        ("en", "3/3/1975", "1975-03-03"),
        ("en", "13/4/1975", "1975-04-13"),
        ("en", "the third of March 1975", "1975-03-03"),
        ("en", "nineteen seventy-five", "1975"),
        ("en", "twenty fifteen", "2015"),
    ],
)
def test_dates_in_words_are_read(language: str, text: str, value: str) -> None:
    assert understood(reply(text, "date", language=language)) == value


@pytest.mark.parametrize(
    ("language", "text", "value", "remainder"),
    [
        ("de", "Frühling 2019", "2019", "Frühling"),
        ("de", "Ende 2018", "2018", "Ende"),
        ("de", "Ende letzten Jahres", "2025", "Ende"),
        ("de", "Anfang März 2015", "2015-03", "Anfang"),
        ("de", "Anfang September", "2026-09", "Anfang"),
        ("de", "letzten Sommer", "2026", "Sommer"),
        ("de", "2015 bei Dr. Müller in Bern", "2015", "bei Dr. Müller in Bern"),
        ("en", "late 2018", "2018", "late"),
        ("en", "autumn last year", "2025", "autumn"),
    ],
)
def test_what_a_date_cannot_hold_is_left_as_a_comment(language: str, text: str, value: str, remainder: str) -> None:
    reading = reply(text, "date", language=language)

    assert reading == Read((Answer("date", value),), literal=False, remainder=remainder)


@pytest.mark.parametrize(
    ("language", "text", "why"),
    [
        ("de", "30.2.1975", "impossible"),
        ("de", "29.2.2023", "impossible"),
        ("de", "31. April 1975", "impossible"),
        ("de", "32.1.1975", "impossible"),
        ("de", "1.13.1975", "impossible"),
        ("de", "0.3.1975", "impossible"),
        ("de", "30.2.", "impossible"),
        ("de", "März 15", "two-readings"),
        ("en", "March 15", "two-readings"),
        ("de", "vor 2015", "limit"),
        ("de", "bis 2015", "limit"),
        ("en", "before 2015", "limit"),
        ("de", "2010-2015", "range"),
        ("de", "2018/19", "range"),
        ("de", "Montag vor einer Woche", "two-readings"),
        ("de", "2010 bis 2015", "range"),
        ("de", "2014 oder 2015", "range"),
        ("de", "3.-5. März 2015", "range"),
        ("de", "2010 und 2015", "several"),
        ("de", "1990er", "decade"),
        ("en", "in the 1990s", "decade"),
        ("en", "the '90s", "decade"),
        ("de", "nicht 2015", "negated"),
        ("de", "vor ein paar Jahren", "vague"),
        ("de", "mit 45", "nothing"),
        ("de", "in den Neunzigern", "decade"),
        ("en", "it may be", "nothing"),
        ("de", "0075", "nothing"),
        ("de", "im Jahr 3000", "impossible"),
        ("de", "vor 5000 Jahren", "limit"),
    ],
)
def test_what_is_no_single_date_is_not_understood(language: str, text: str, why: str) -> None:
    reading = reply(text, "date", language=language)

    assert isinstance(reading, NotUnderstood)
    assert (reading.why, bool(reading.reason)) == (why, True)


def test_the_reason_names_the_date_that_does_not_exist() -> None:
    assert reply("30.2.1975", "date") == NotUnderstood("there is no date 1975-02-30", "impossible")


def test_several_dates_are_several_answers_where_a_question_repeats() -> None:
    answers = (Answer("date", "2010"), Answer("date", "2015"))

    assert reply("ja, zwei: 2010 und 2015", "date", repeats=True) == Read(answers, literal=False)
    assert reply("2010, 2015", "date", repeats=True) == Read(answers, literal=True)


def test_the_entry_format_says_which_comes_first() -> None:
    assert literal(reply("3/4/1975", "date", language="en", entry_format="MM/DD/YYYY")) == "1975-03-04"
    assert literal(reply("3/4/1975", "date", language="en", entry_format="DD/MM/YYYY")) == "1975-04-03"
    assert inferred(reply("3/4/1975", "date", language="en-US")) == "1975-03-04"


def test_hints_settle_the_century_and_make_dates_outside_unsure() -> None:
    assert inferred(reply("1.2.30", "date", minimum="2026-11-18", maximum="2031")) == "2030-02-01"
    assert inferred(reply("1.2.2001", "date", maximum="1999-12-31")) == "2001-02-01"
    assert literal(reply("2015", "date", minimum="2015-03", maximum="2016")) == "2015"
