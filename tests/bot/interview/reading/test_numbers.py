"""Whole and decimal numbers, in digits and in words."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import NotUnderstood, Read
from bot.interview.values.answer import Answer
from tests.bot.interview.reading.replies import inferred, literal, reply, understood

_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_TENS = ["-", "-", "zwanzig", "dreissig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_ENGLISH_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ENGLISH_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def german(number: int) -> str:
    """Spell a number below 10,000 as Germans write it, in one word."""
    if number >= 1000:
        rest = number % 1000
        return _first(number // 1000) + "tausend" + (german(rest) if rest else "")
    if number >= 100:
        return _first(number // 100) + "hundert" + (german(number % 100) if number % 100 else "")
    if number < 20:
        return _ONES[number]
    return (_first(number % 10) + "und" if number % 10 else "") + _TENS[number // 10]


def _first(digit: int) -> str:
    return "ein" if digit == 1 else _ONES[digit]


def english(number: int, *, dash: str = "-", joiner: str = " and ") -> str:
    if number >= 1000:
        rest = number % 1000
        between = joiner if 0 < rest < 100 else " "
        return (
            english(number // 1000) + " thousand" + (between + english(rest, dash=dash, joiner=joiner) if rest else "")
        )
    if number >= 100:
        rest = number % 100
        return _ENGLISH_ONES[number // 100] + " hundred" + (joiner + english(rest, dash=dash) if rest else "")
    if number < 20:
        return _ENGLISH_ONES[number]
    return _ENGLISH_TENS[number // 10] + (dash + _ENGLISH_ONES[number % 10] if number % 10 else "")


@given(st.integers(0, 9999))
def test_german_number_words_are_read(number: int) -> None:
    assert understood(reply(german(number), "integer")) == number
    assert (
        understood(reply(german(number).replace("ü", "ue").replace("ö", "oe").replace("ss", "ß"), "integer")) == number
    )
    assert understood(reply(german(number).replace("ü", "u").upper(), "decimal")) == number


@given(st.integers(0, 9999), st.sampled_from(["-", " "]), st.sampled_from([" and ", " "]))
def test_english_number_words_are_read(number: int, dash: str, joiner: str) -> None:
    assert understood(reply(english(number, dash=dash, joiner=joiner), "integer", language="en")) == number


def _grouped(number: int, mark: str) -> str:
    return f"{number:,}".replace(",", mark)


@given(st.integers(0, 2**31 - 1))
def test_thousands_are_read_in_every_notation(number: int) -> None:
    for language, mark in (("de", "'"), ("de", "’"), ("de", "."), ("en", ","), ("en", "'"), ("de", ""), ("en", "")):
        assert literal(reply(_grouped(number, mark), "integer", language=language)) == number


@given(st.integers(-(2**31) + 1, -1))
def test_negative_numbers_are_read(number: int) -> None:
    assert understood(reply(str(number), "integer")) == number
    assert understood(reply(f"minus {-number}", "integer", language="en")) == number


@given(st.decimals(0, 999_999, places=2, allow_nan=False, allow_infinity=False))
def test_decimals_keep_the_digits_that_were_written(number: Decimal) -> None:
    whole, fraction = str(number).split(".")

    for language, text in (
        ("de", f"{whole},{fraction}"),
        ("de", f"{whole}.{fraction}"),  # Swiss
        ("en", f"{whole}.{fraction}"),
        ("de", f"{_grouped(int(whole), '.')},{fraction}"),
        ("de-CH", f"{_grouped(int(whole), chr(39))}.{fraction}"),
        ("en", f"{_grouped(int(whole), ',')}.{fraction}"),
    ):
        value = literal(reply(text, "decimal", language=language))
        assert str(value) == str(number)


@pytest.mark.parametrize(
    ("language", "kind", "text", "value"),
    [
        ("de", "integer", "5.000", 5000),
        ("de", "integer", "zwoi", 2),
        ("de", "integer", "drü", 3),
        ("de", "integer", "drei und siebzig", 73),
        ("de", "integer", "drüesibezg", 73),
        ("de", "integer", "neunzehnhundert", 1900),
        ("de", "integer", "dreimal", 3),
        ("de", "integer", "3x", 3),
        ("de", "integer", "3-mal", 3),
        ("de", "integer", "ich habe 3", 3),
        ("de", "integer", "٣", 3),
        ("de", "integer", "007", 7),
        ("de", "decimal", "1½", Decimal("1.5")),
        ("de", "decimal", "½", Decimal("0.5")),
        ("de", "decimal", "1 1/2", Decimal("1.5")),
        ("de", "decimal", "anderthalb", Decimal("1.5")),
        ("de", "decimal", "zweieinhalb", Decimal("2.5")),
        ("en", "decimal", "two and a half", Decimal("2.5")),
        ("en", "integer", "twice", 2),
        ("en", "integer", "I have 2", 2),
    ],
)
def test_numbers_are_read_as_people_write_them(language: str, kind: str, text: str, value: object) -> None:
    assert understood(reply(text, kind, language=language)) == value


@pytest.mark.parametrize(
    ("language", "kind", "text", "value"),
    [
        ("de", "integer", "etwa 70", 70),
        ("de", "integer", "ungefähr siebzig", 70),
        ("de", "integer", "ca. 70", 70),
        ("de", "integer", "so um die 60", 60),
        ("de", "integer", "öppe 60", 60),
        ("de", "integer", "70 glaub", 70),
        ("de", "integer", "weiss nicht genau, 3", 3),
        ("de", "integer", "3?", 3),
        ("de", "integer", "keine", 0),
        ("de", "integer", "keine Kinder", 0),
        ("de", "integer", "die zweite", 2),
        ("de", "integer", "ein Kind", 1),
        ("de", "integer", "12 500", 12500),
        ("de", "integer", "zwanizg", 20),
        ("de", "integer", "2,00 glaube ich", 2),
        ("de", "decimal", "1.200", Decimal(1200)),
        ("en", "decimal", "1,5", Decimal("1.5")),
        ("en", "integer", "about 70", 70),
        ("en", "integer", "I think around 70", 70),
        ("en", "integer", "2 thousand", 2000),
        ("en", "integer", "none", 0),
    ],
)
def test_what_is_approximate_or_unusual_is_read_back(language: str, kind: str, text: str, value: object) -> None:
    assert inferred(reply(text, kind, language=language)) == value


@pytest.mark.parametrize(
    ("language", "text", "why"),
    [
        ("de", "2-3", "range"),
        ("de", "2 – 3", "range"),
        ("de", "2 bis 3", "range"),
        ("de", "zwei oder drei", "range"),
        ("de", "zwischen 2 und 3", "range"),
        ("en", "2 to 3", "range"),
        ("en", "between two and three", "range"),
        ("de", "ein paar", "vague"),
        ("de", "mehrere", "vague"),
        ("en", "a few", "vague"),
        ("en", "a couple", "vague"),
        ("en", "in my 60s", "vague"),
        ("de", "mehr als 5", "limit"),
        ("de", "über 5", "limit"),
        ("de", "mindestens 5", "limit"),
        ("de", "5+", "limit"),
        ("de", "<5", "limit"),
        ("en", "at least 5", "limit"),
        ("en", "5 or more", "limit"),
        ("de", "nicht 5", "negated"),
        ("de", "2,5", "not-whole"),
        ("de", "3 4", "several"),
        ("de", "3, 4", "several"),
        ("de", "5xyz", "notation"),
        ("de", "1e5", "several"),
        ("de", "5/10", "notation"),
        ("de", "10^3", "notation"),
        ("de", "3.3.75", "notation"),
        ("en", "a dozen", "notation"),
        ("de", "3 Millionen", "notation"),
        ("de", "9999999999", "too-big"),
        ("de", "9" * 400, "too-big"),
        ("de", "viel Spass", "vague"),
        ("de", "Hund", "nothing"),
    ],
)
def test_what_is_no_single_number_is_not_understood(language: str, text: str, why: str) -> None:
    reading = reply(text, "integer", language=language)

    assert isinstance(reading, NotUnderstood)
    assert (reading.why, bool(reading.reason)) == (why, True)


def test_words_that_are_no_number_become_a_comment() -> None:
    assert reply("3 Kinder", "integer") == Read((Answer("integer", 3),), literal=False, remainder="Kinder")


def test_words_of_the_question_are_no_comment() -> None:
    assert understood(reply("3 Kinder", "integer", prompt="Wie viele Kinder haben Sie?")) == 3
    assert understood(reply("49 Jahre", "integer", prompt="Wie alt sind Sie?")) == 49
    assert inferred(reply("49 Jahre", "integer", prompt="Wie viele Monate?")) == 588


def test_hints_decide_between_readings_but_never_make_them_literal() -> None:
    assert inferred(reply("1.200", "decimal", maximum=Decimal(10))) == Decimal("1.200")
    assert inferred(reply("200", "integer", maximum=120)) == 200


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("10, 12 und 15", [10, 12, 15], True),
        ("10 12 15", [10, 12, 15], False),
        ("ja, zwei: 12 und 15", [12, 15], False),
        ("zwölf und fünfzehn", [12, 15], False),
    ],
)
def test_several_numbers_are_several_answers_where_a_question_repeats(text: str, values: list[int], said: bool) -> None:
    answers = tuple(Answer("integer", value) for value in values)

    assert reply(text, "integer", repeats=True) == Read(answers, literal=said)


def test_the_same_number_twice_is_one_answer() -> None:
    assert understood(reply("70 (siebzig)", "integer")) == 70


@pytest.mark.parametrize("said", ["2018 ein Herzinfarkt, dazu 3 Stents", "wurde 2015 operiert", "Allergie seit 2011"])
def test_years_and_counts_of_an_illness_are_no_age(said: str) -> None:
    reading = reply(said, "integer", prompt="Wie alt sind Sie?")

    assert isinstance(reading, NotUnderstood)
