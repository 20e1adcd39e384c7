"""Amounts with units, as UCUM codes."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.reading.reading import UCUM, Asked, NotUnderstood, Read, Reading, Unit
from bot.interview.values.answer import JsonValue
from tests.bot.interview.reading.replies import CM, FOOT, INCH, KG, G, M, inferred, literal, reply, understood

WEIGHT = Asked("quantity", unit=KG)
WEIGHTS = Asked("quantity", unit=KG, units=(KG, G))
HEIGHT = Asked("quantity", unit=CM)
HEIGHTS = Asked("quantity", unit=CM, units=(CM, M))
ENGLISH_HEIGHT = Asked("quantity", units=(CM, INCH, FOOT))
DURATION = Asked("quantity", units=(Unit("wk", "Wochen"), Unit("mo", "Monate")))
ANY = Asked("quantity")


def amount(value: JsonValue) -> tuple[str, JsonValue]:
    assert isinstance(value, dict)
    assert value["system"] == UCUM
    assert value["unit"]
    return str(value["value"]), value["code"]


@given(
    st.decimals(0, 999, places=1, allow_nan=False, allow_infinity=False),
    st.sampled_from(["kg", " kg", " Kilo", " KG."]),
)
def test_amounts_are_read_with_their_digits(number: Decimal, unit: str) -> None:
    text = f"{number}{unit}"

    assert amount(literal(reply(text.replace(".", ",", 1), WEIGHT))) == (str(number), "kg")
    assert amount(literal(reply(text, WEIGHT, language="en"))) == (str(number), "kg")


@pytest.mark.parametrize(
    ("language", "text", "question", "value", "code"),
    [
        ("de", "70", WEIGHT, "70", "kg"),
        ("de", "ich wiege 70,5kg", WEIGHT, "70.5", "kg"),
        ("de", "siebzig Kilo", WEIGHT, "70", "kg"),
        ("de", "1,68 m", HEIGHTS, "1.68", "m"),
        ("de", "168 cm", HEIGHTS, "168", "cm"),
        ("de", "drei Wochen", DURATION, "3", "wk"),
        ("de", "seit 3 Monaten", DURATION, "3", "mo"),
        ("de", "5 kg", ANY, "5", "kg"),
        ("de", "20 mg/Tag", ANY, "20", "mg/d"),
        ("de", "20 mg pro Tag", ANY, "20", "mg/d"),
        ("de", "2 mal pro Tag", ANY, "2", "/d"),
        ("de", "1½ Stunden", ANY, "1.5", "h"),
        ("de", "1 1/2 Stunden", ANY, "1.5", "h"),
        ("de", "30 Min.", ANY, "30", "min"),
        ("de", "22,5 kg/m²", ANY, "22.5", "kg/m2"),
        ("de", "80 %", ANY, "80", "%"),
        ("de", "38,5 °C", ANY, "38.5", "Cel"),
        ("de", "2 Liter", ANY, "2", "L"),
        ("de", "120 mmHg", ANY, "120", "mm[Hg]"),
        ("en", "3 years", ANY, "3", "a"),
        ("en", "2.5 hours", ANY, "2.5", "h"),
        ("en", "150 lbs", ANY, "150", "[lb_av]"),
        ("en", "20 times a day", ANY, "20", "/d"),
        ("en", "70 in", ENGLISH_HEIGHT, "70", "[in_i]"),
    ],
)
def test_amounts_in_an_allowed_unit_are_read(language: str, text: str, question: Asked, value: str, code: str) -> None:
    assert amount(understood(reply(text, question, language=language))) == (value, code)


@pytest.mark.parametrize(
    ("language", "text", "question", "value", "code"),
    [
        ("de", "etwa 70 Kilo", WEIGHT, "70", "kg"),
        ("de", "70", WEIGHTS, "70", "kg"),
        ("de", "70000 g", WEIGHT, "70", "kg"),
        ("de", "140 Pfund", WEIGHT, "70", "kg"),
        ("de", "1 Meter 68", HEIGHT, "168", "cm"),
        ("de", "1m68", HEIGHT, "168", "cm"),
        ("de", "1,68 m", HEIGHT, "168", "cm"),
        ("de", "1 Meter 68", ANY, "1.68", "m"),
        ("de", "168", HEIGHTS, "168", "cm"),
        ("de", "eine Woche", DURATION, "1", "wk"),
        ("de", "ein halbes Jahr", DURATION, "6", "mo"),
        ("de", "anderthalb Jahre", DURATION, "18", "mo"),
        ("de", "2 Stunden 30", ANY, "2.5", "h"),
        ("en", "5 foot 6", ENGLISH_HEIGHT, "66", "[in_i]"),
        ("en", "5 foot 6", HEIGHT, "167.6", "cm"),
        ("en", "5'6\"", ENGLISH_HEIGHT, "66", "[in_i]"),
        ("en", "5 ft 6 in", ENGLISH_HEIGHT, "66", "[in_i]"),
        ("en", "11 stone 4", ANY, "158", "[lb_av]"),
        ("en", "a year and a half", ANY, "1.5", "a"),
        ("en", "half an hour", ANY, "0.5", "h"),
    ],
)
def test_amounts_that_were_converted_or_are_rough_are_read_back(
    language: str, text: str, question: Asked, value: str, code: str
) -> None:
    assert amount(inferred(reply(text, question, language=language))) == (value, code)


@pytest.mark.parametrize(
    ("language", "text", "value"), [("de", "5", "5"), ("en", "about 7.5", "7.5"), ("de", "zwölf", "12")]
)
def test_a_number_without_unit_is_read_back_where_the_question_knows_of_none(
    language: str, text: str, value: str
) -> None:
    assert inferred(reply(text, ANY, language=language)) == {"value": Decimal(value)}


def _why(reading: Reading) -> str:
    assert isinstance(reading, NotUnderstood), reading
    return reading.why


@pytest.mark.parametrize(
    ("language", "text", "question", "why"),
    [
        ("de", "70 Liter", WEIGHT, "unit"),
        ("de", "70 Löffel", WEIGHT, "unit"),
        ("de", "3", DURATION, "unit-missing"),
        ("en", "38 degrees", ANY, "two-readings"),
        ("de", "70-75 kg", WEIGHT, "range"),
        ("de", "2-3 Wochen", DURATION, "range"),
        ("de", "mehr als 70 kg", WEIGHT, "limit"),
        ("de", "nicht 70 kg", WEIGHT, "negated"),
        ("de", "70 kg und 71 kg", WEIGHT, "several"),
        ("de", "ein paar Wochen", DURATION, "vague"),
        ("de", "Kilo", WEIGHT, "nothing"),
        ("de", "5 Monate", Asked("quantity", units=(Unit("d", "Tage"),)), "unit"),
    ],
)
def test_what_is_no_single_amount_is_not_understood(language: str, text: str, question: Asked, why: str) -> None:
    assert _why(reply(text, question, language=language)) == why


def test_the_reason_names_the_units_that_are_allowed() -> None:
    assert reply("70 Liter", WEIGHTS) == NotUnderstood("a unit that is not allowed; allowed are kg, g", "unit")


def test_units_of_the_questionnaire_are_known_by_their_display_and_code() -> None:
    packs = Asked("quantity", units=(Unit("{PackYears}", "Packungsjahre"),))

    assert amount(literal(reply("20 Packungsjahre", packs))) == ("20", "{PackYears}")


def test_a_unit_of_another_system_keeps_its_system() -> None:
    cups = Asked("quantity", unit=Unit("cup", "Tassen", "http://example.org/units"))

    assert literal(reply("3 Tassen", cups)) == {
        "value": Decimal(3),
        "unit": "Tassen",
        "system": "http://example.org/units",
        "code": "cup",
    }


def test_a_unit_without_system_or_code_leaves_them_out() -> None:
    assert literal(reply("3 Tassen", Asked("quantity", unit=Unit("", "Tassen", "")))) == {
        "value": Decimal(3),
        "unit": "Tassen",
    }


def test_several_amounts_are_several_answers_where_a_question_repeats() -> None:
    reading = reply("70 kg, 71 kg", Asked("quantity", unit=KG, repeats=True))

    assert isinstance(reading, Read)
    assert [amount(answer.value) for answer in reading.answers] == [("70", "kg"), ("71", "kg")]


def test_what_else_is_said_is_a_comment() -> None:
    reading = reply("70 kg, aber nur nüchtern", WEIGHT)

    assert isinstance(reading, Read)
    assert (reading.literal, reading.remainder) == (False, "aber nur nüchtern")
