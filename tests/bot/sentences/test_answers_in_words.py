"""Answers in words, and back again."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import Asked, Read, Unit
from bot.interview.values.answer import Answer
from bot.sentences.spoken import format_answer
from tests.bot.interview.reading.replies import KG, G, options, reply

LANGUAGES = st.sampled_from(["de", "de-CH", "en"])
ZONE = timezone(timedelta(hours=2))
DECIMALS = st.decimals(-99_999, 99_999, places=3, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("language", "kind", "value", "words"),
    [
        ("de", "boolean", True, "ja"),
        ("de", "boolean", False, "nein"),
        ("en", "boolean", False, "no"),
        ("de", "date", "1975-03-03", "3. März 1975"),
        ("de", "date", "2015-03", "März 2015"),
        ("de", "date", "2015", "2015"),
        ("en", "date", "1975-03-03", "3 March 1975"),
        ("de", "time", "14:30:00", "14:30 Uhr"),
        ("de", "time", "14:30:15", "14:30:15 Uhr"),
        ("en", "time", "14:30:00", "14:30"),
        ("de", "dateTime", "2024-03-03T14:30:00+01:00", "3. März 2024, 14:30 Uhr"),
        ("en", "dateTime", "2024-03-03T14:30:00Z", "3 March 2024, 14:30"),
        ("de", "dateTime", "2024-03", "März 2024"),
        ("de", "decimal", Decimal("1.50"), "1,50"),
        ("en", "decimal", Decimal("1.50"), "1.50"),
        ("de", "integer", 1200, "1200"),
        ("de", "string", "Inselspital", "Inselspital"),
        ("de", "uri", "https://example.org", "https://example.org"),
        ("de", "quantity", {"value": Decimal("70.5"), "unit": "kg", "code": "kg"}, "70,5 kg"),
        ("de", "quantity", {"value": Decimal(3), "code": "wk"}, "3 Wochen"),
        ("de", "quantity", {"value": Decimal(3)}, "3"),
        ("de", "coding", {"code": "x", "display": "Latex"}, "Latex"),
        ("de", "coding", {"code": "x"}, "x"),
        ("de", "reference", {"reference": "Patient/1"}, "Patient/1"),
        ("de", "attachment", {"title": "Bild"}, "Bild"),
        ("de", "attachment", {}, ""),
    ],
)
def test_answers_are_worded_in_the_language_of_the_chat(language: str, kind: str, value: Any, words: str) -> None:
    assert format_answer(Answer(kind, value), language=language) == words


def _round_trip(answer: Answer, question: Asked, language: str) -> None:
    words = format_answer(answer, language=language)
    reading = reply(words, question, language=language)
    assert isinstance(reading, Read), (words, reading)
    assert reading.answers == (answer,)
    assert reading.remainder == ""


@given(st.booleans(), LANGUAGES)
def test_yes_and_no_can_be_read_again(value: bool, language: str) -> None:
    _round_trip(Answer("boolean", value), Asked("boolean"), language)


@given(st.integers(-(2**31) + 1, 2**31 - 1), DECIMALS, LANGUAGES)
def test_numbers_can_be_read_again(whole: int, number: Decimal, language: str) -> None:
    _round_trip(Answer("integer", whole), Asked("integer"), language)
    _round_trip(Answer("decimal", number), Asked("decimal"), language)


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.sampled_from([4, 7, 10]), LANGUAGES)
def test_whole_and_partial_dates_can_be_read_again(day: date, length: int, language: str) -> None:
    value = day.isoformat()[:length]

    _round_trip(Answer("date", value), Asked("date"), language)
    _round_trip(Answer("dateTime", value), Asked("dateTime"), language)


@given(st.times(), LANGUAGES)
def test_times_can_be_read_again(time: Any, language: str) -> None:
    if language == "en" and 1 <= time.hour <= 9:
        assert format_answer(Answer("time", f"{time:%H:%M:%S}"), language=language).startswith("0")
    _round_trip(Answer("time", f"{time:%H:%M:%S}"), Asked("time"), language)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), LANGUAGES)
def test_moments_can_be_read_again(moment: datetime, language: str) -> None:
    value = moment.replace(microsecond=0, tzinfo=ZONE).isoformat()

    _round_trip(Answer("dateTime", value), Asked("dateTime", zone=ZONE), language)


@given(DECIMALS, st.sampled_from([KG, G, Unit("wk", "Wochen"), Unit("{x}", "Packungen")]), LANGUAGES)
def test_amounts_can_be_read_again(number: Decimal, unit: Unit, language: str) -> None:
    value: Any = {"value": number, "unit": unit.display, "system": unit.system, "code": unit.code}

    _round_trip(Answer("quantity", value), Asked("quantity", units=(KG, G, unit)), language)


@given(
    st.lists(
        st.text("abcdeläöüß -,;()", min_size=1, max_size=20).filter(lambda label: label.strip(" -,;()")),
        min_size=1,
        max_size=6,
    ),
    LANGUAGES,
)
def test_options_can_be_read_again(labels: list[str], language: str) -> None:
    question = Asked("choice", options=options(*labels))
    for option in question.options:
        reading = reply(option.labels[0], question, language=language)
        if isinstance(reading, Read):
            assert reading == Read((option.answer,), literal=True)
        else:
            assert option in reading.options  # type: ignore[union-attr]
