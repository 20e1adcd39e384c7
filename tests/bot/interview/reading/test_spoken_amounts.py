"""How people say amounts in two languages: collective names, halves and quarters, dialect, slips of the pen."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.interview.reading.reading import Asked, NotUnderstood, Read, Unit
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import as_object
from tests.bot.interview.reading.replies import reply

ASKED = {
    "de": {
        "kg": Asked("quantity", prompt="Wie schwer sind Sie?", unit=Unit("kg", "kg")),
        "cm": Asked("quantity", prompt="Wie groß sind Sie?", unit=Unit("cm", "cm")),
        "g": Asked("quantity", prompt="Wie schwer war Ihr Kind?", unit=Unit("g", "g")),
        "mL": Asked("quantity", prompt="Wie viel trinken Sie?", unit=Unit("mL", "ml")),
        "mo": Asked("quantity", prompt="Wie lange schon?", unit=Unit("mo", "Monate")),
        "a": Asked("quantity", prompt="Wie lange schon?", unit=Unit("a", "Jahre")),
        "min": Asked("quantity", prompt="Wie lange dauert es?", unit=Unit("min", "Minuten")),
        "h": Asked("quantity", prompt="Wie lange dauert es?", unit=Unit("h", "Stunden")),
        "mg": Asked("quantity", prompt="Welche Dosis?", unit=Unit("mg", "mg")),
        "mg/d": Asked("quantity", prompt="Welche Dosis?", unit=Unit("mg/d", "mg/Tag")),
        "{T}": Asked("quantity", prompt="Wie viele nehmen Sie?", unit=Unit("{T}", "Tabletten")),
        "[drp]": Asked("quantity", prompt="Wie viele nehmen Sie?", unit=Unit("[drp]", "Tropfen")),
        "": Asked("quantity", prompt="Wie viel nehmen Sie?"),
    },
    "en": {
        "kg": Asked("quantity", prompt="How much do you weigh?", unit=Unit("kg", "kg")),
        "cm": Asked("quantity", prompt="How tall are you?", unit=Unit("cm", "cm")),
        "g": Asked("quantity", prompt="Birth weight of your child", unit=Unit("g", "g")),
        "mL": Asked("quantity", prompt="How much do you drink?", unit=Unit("mL", "ml")),
        "mo": Asked("quantity", prompt="For how long?", unit=Unit("mo", "months")),
        "a": Asked("quantity", prompt="For how long?", unit=Unit("a", "years")),
        "d": Asked("quantity", prompt="For how long?", unit=Unit("d", "days")),
        "min": Asked("quantity", prompt="How long does it take?", unit=Unit("min", "minutes")),
        "h": Asked("quantity", prompt="How long does it take?", unit=Unit("h", "hours")),
        "mg": Asked("quantity", prompt="Which dose?", unit=Unit("mg", "mg")),
        "mg/d": Asked("quantity", prompt="Which dose?", unit=Unit("mg/d", "mg per day")),
        "{T}": Asked("quantity", prompt="How many do you take?", unit=Unit("{T}", "tablets")),
        "": Asked("quantity", prompt="How much do you take?"),
    },
}


def _amount(reading: Read) -> tuple[JsonValue, JsonValue]:
    (answer,) = reading.answers
    quantity = as_object(answer.value)
    return quantity["value"], quantity["code"]


@pytest.mark.parametrize(
    ("language", "unit", "said", "value"),
    [
        ("de", "kg", "einen Zentner", "50"),
        ("de", "kg", "anderthalb Zentner", "75"),
        ("de", "kg", "68 Kilo 500", "68.5"),
        ("de", "g", "3 Kilo 500", "3500"),
        ("de", "cm", "meter achtzig", "180"),
        ("de", "cm", "Meter fünfundsechzig", "165"),
        ("de", "cm", "168 zentimetr", "168"),
        ("de", "mL", "ein Viertelliter", "250"),
        ("de", "mL", "einen Viertel Liter", "250"),
        ("de", "mL", "ein Dreiviertelliter", "750"),
        ("de", "mL", "drei Dezi", "300"),
        ("de", "mL", "500 Mililiter", "500"),
        ("de", "mL", "0.5 lt", "500"),
        ("de", "mo", "ein Vierteljahr", "3"),
        ("de", "mo", "dreiviertel Jahr", "9"),
        ("de", "mo", "zwei Quartale", "6"),
        ("de", "a", "ein Jahrzehnt", "10"),
        ("de", "min", "eine Viertelstunde", "15"),
        ("de", "min", "Dreiviertelstunde", "45"),
        ("de", "min", "drei viertel Stunden", "45"),
        ("de", "min", "20 Minutn", "20"),
        ("de", "h", "eine Viertelstunde", "0.25"),
        ("de", "mg", "100 miligramm", "100"),
        ("de", "mg/d", "100 Milligramm am Tag", "100"),
        ("de", "{T}", "eine Tablette", "1"),
        ("de", "{T}", "eine halbe Tablette", "0.5"),
        ("de", "{T}", "2 Tbl.", "2"),
        ("de", "[drp]", "zwanzig Tropfe", "20"),
        ("en", "kg", "11 and a half stone", "73"),
        ("en", "kg", "70 and a half kilos", "70.5"),
        ("en", "kg", "70 kilogramms", "70"),
        ("en", "g", "7 pounds 8", "3402"),
        ("en", "cm", "5 foot 6 and a half", "168.9"),
        ("en", "cm", "metre eighty", "180"),
        ("en", "mL", "500 mls", "500"),
        ("en", "mL", "a quarter of a litre", "250"),
        ("en", "mo", "three quarters of a year", "9"),
        ("en", "a", "two decades", "20"),
        ("en", "d", "a fortnight", "14"),
        ("en", "min", "a quarter of an hour", "15"),
        ("en", "min", "three quarters of an hour", "45"),
        ("en", "h", "2 and a half hours", "2.5"),
        ("en", "mg", "100 miligrams", "100"),
        ("en", "mg/d", "100 milligrams a day", "100"),
        ("en", "{T}", "half a tablet", "0.5"),
        ("en", "{T}", "two pills", "2"),
    ],
)
def test_an_amount_is_read_in_the_unit_asked_for(language: str, unit: str, said: str, value: str) -> None:
    reading = reply(said, ASKED[language][unit], language=language)

    assert isinstance(reading, Read), reading
    assert _amount(reading) == (Decimal(value), unit)


@pytest.mark.parametrize(
    ("language", "said", "value", "unit"),
    [
        ("de", "20 Tropfen", "20", "[drp]"),
        ("de", "zwei Kapseln", "2", "{cps}"),
        ("de", "2 Hübe", "2", "{puff}"),
        ("de", "1000 Einheiten", "1000", "[IU]"),
        ("de", "ein Pfund", "0.5", "kg"),
        ("en", "2 tablets", "2", "{tbl}"),
        ("en", "a tablespoon", "1", "{tbs}"),
        ("en", "a fortnight", "14", "d"),
    ],
)
def test_where_no_unit_is_asked_for_the_one_that_was_said_counts(
    language: str, said: str, value: str, unit: str
) -> None:
    reading = reply(said, ASKED[language][""], language=language)

    assert isinstance(reading, Read), reading
    assert _amount(reading) == (Decimal(value), unit)


@pytest.mark.parametrize(
    ("language", "unit", "said"),
    [
        ("de", "{T}", "20 Tropfen"),  # nothing of one kind is so many of another
        ("de", "[drp]", "2 Tabletten"),
        ("de", "kg", "70 Kilo 5"),  # 5 g, or half a kilo?
        ("de", "mL", "500 Lieter"),
        ("en", "{T}", "two puffs"),
    ],
)
def test_what_may_be_something_else_is_not_guessed(language: str, unit: str, said: str) -> None:
    assert isinstance(reply(said, ASKED[language][unit], language=language), NotUnderstood)


@pytest.mark.parametrize("said", ["168 zentimetr", "meter achtzig"])
def test_slips_of_the_pen_and_spoken_heights_are_read_back(said: str) -> None:
    reading = reply(said, ASKED["de"]["cm"])

    assert isinstance(reading, Read)
    assert not reading.literal
