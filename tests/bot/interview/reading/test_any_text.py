"""Whatever is typed, reading it ends at once and never raises."""

import re
from datetime import date, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reader import read, read_command
from bot.interview.reading.reading import Ambiguous, Asked, DontKnow, NotUnderstood, Read, Reading, Refused
from bot.interview.reading.yesno import read_yes_no
from bot.sentences.spoken import format_answer
from bot.testing import HOSTILE_TEXTS
from tests.bot.interview.reading.replies import CM, FOOT, INCH, KG, TODAY, G, M, options

TYPES = (
    "boolean", "decimal", "integer", "date", "dateTime", "time", "string", "text", "url", "choice", "open-choice",
    "quantity", "attachment", "reference", "display", "group", "unheard-of",
)  # fmt: skip
LISTED = options(
    "Ja", "Nein, nie", "1-2 mal", ("Linke Brust", "L-1"), "", "Weiß ich nicht", "...", "alle", exclusive=(2,)
)
UNITS = [{"value"}, {"value", "unit", "system", "code"}]  # without a unit, where the question knows of none
QUESTIONS = [
    Asked(kind, repeats=repeats, options=LISTED, unit=unit, units=units, zone=zone, max_length=20, prompt="Wie alt?")
    for kind in TYPES
    for repeats in (False, True)
    for unit, units, zone in ((None, (), None), (KG, (G, CM, M, INCH, FOOT), timezone(timedelta(hours=1))))
]
# Pieces that readers look for, in any order: far likelier to find a fault than letters at random.
PIECES = [
    "ja",
    "nein",
    "nicht",
    "keine",
    "1",
    "2,5",
    "1'200",
    "1.200",
    "3.3.75",
    "31.",
    "Feb",
    "März",
    "1975",
    "vor",
    "letzten",
    "Montag",
    "halb",
    "viertel",
    "Uhr",
    "14:30",
    "am",
    "um",
    "und",
    "oder",
    "bis",
    "-",
    "/",
    ".",
    ",",
    ":",
    ";",
    "?",
    "%",
    "kg",
    "Meter",
    "5'6\"",
    "½",
    "²",
    "٣",
    "ein",
    "eine",
    "paar",
    "etwa",
    "weiss",
    "glaube",
    "drei",
    "und",
    "siebzig",
    "tausend",
    "hundert",
    "der",
    "zweite",
    "alle",
    "yes",
    "no",
    "not",
    "never",
    "a",
    "few",
    "ago",
    "last",
    "week",
    "march",
    "3rd",
    "of",
    "nineteen",
    "seventy",
    "pm",
    "a.m.",
    "foot",
    "half",
    "past",
    "quarter",
    "to",
    "twenty",
    "the",
    "first",
    "\u200b",
    "�",
    "ß",
    "İ",
    "ﷺ",
    "🤷",
    "ʰ",
    "Ⅷ",
    "99999999999999999999",
    "0",
    "00",
    "(",
    ")",
    "'",
    "’",
    "–",
    "<",
    ">",
    "+",
    "=",
    "^",
    "*",
    "@",
    "#",
    "https://a.b",
    "urn:a:b",
    "http://[",
    "T",
    "Z",
    "+01:00",
]
ANY_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)


def _is_date(value: object) -> bool:
    text = str(value)
    date.fromisoformat(text + "-01-01"[len(text) - 4 :] if len(text) < 10 else text)
    return len(text) in (4, 7, 10)


def _is_moment(value: object) -> bool:
    day, mark, rest = str(value).partition("T")
    zoned = re.fullmatch(r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", rest) is not None
    return _is_date(day) and (zoned if mark else True)


_VALUES = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**31,
    "decimal": lambda value: isinstance(value, Decimal) and value.is_finite(),
    "date": _is_date,
    "dateTime": _is_moment,
    "time": lambda value: re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d", value) is not None,
    "string": lambda value: isinstance(value, str) and 0 < len(value) <= 20,
    "uri": lambda value: re.fullmatch(r"\S+:\S+", value) is not None,
    "attachment": lambda value: "url" in value and set(value) <= {"url", "contentType"},
    "reference": lambda value: set(value) <= {"reference", "display"} and all(value.values()),
    "coding": lambda value: value in [option.answer.value for option in LISTED],
    "quantity": lambda value: isinstance(value["value"], Decimal) and value.keys() in UNITS,
}


def _check(reading: Reading, question: Asked, language: str) -> None:
    if isinstance(reading, Read):
        for answer in reading.answers:
            assert _VALUES[answer.type](answer.value), answer
            assert format_answer(answer, language=language) is not None
        none = not reading.answers and question.type in ("string", "text")
        assert reading.answers or not reading.literal or question.type == "text"
        assert len(reading.answers) == 1 or question.repeats or none
        assert not (reading.literal and reading.remainder)
    elif isinstance(reading, Ambiguous):
        assert len(reading.options) > 1
        assert set(map(id, reading.options)) <= set(map(id, question.options))
    elif isinstance(reading, NotUnderstood):
        assert reading.reason
    else:
        assert reading in (DontKnow(), Refused())


@pytest.mark.parametrize("language", ["de", "en", "de-CH", "en-US", "fr", ""])
@given(text=ANY_TEXT)
def test_any_text_is_read_into_valid_answers_or_none(language: str, text: str) -> None:
    for question in QUESTIONS:
        _check(read(text, question, language=language, today=TODAY), question, language)
    read_command(text, language=language)
    read_yes_no(text, language=language)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_are_read(text: str) -> None:
    for question in QUESTIONS:
        _check(read(text, question, language="de", today=TODAY), question, "de")


@pytest.mark.proof
@pytest.mark.parametrize(
    "piece",
    ["1", "1.", "1'", "((", "ja ", "nicht ", "3 3 75 ", "zwei", "hundert", "xq", "a und ", "vor 3 Wochen ", "-"],
)
def test_long_nonsense_is_read_without_delay(piece: str) -> None:
    """Its work is bounded: patterns match a few tokens, and texts are cut at a thousand characters."""
    for text in (piece * (900 // len(piece)), piece * 2000):
        for question in QUESTIONS:
            for language in ("de", "en"):
                assert read(text, question, language=language, today=TODAY) is not None


@given(
    st.dates(date(1, 1, 1), date(9999, 12, 31)),
    st.sampled_from(
        [
            "letzte Woche",
            "gestern",
            "übermorgen",
            "letzten Montag",
            "vor 140 Jahren",
            "in 3 Jahren",
            "3.3.75",
            "nächstes Jahr",
        ]
    ),
)
def test_any_day_can_be_today(today: date, text: str) -> None:
    reading = read(text, Asked("date"), language="de", today=today)

    assert reading is not None
