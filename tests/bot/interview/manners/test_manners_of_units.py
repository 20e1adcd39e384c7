"""A number is asked for in its unit, converted to it, and read back with it; what cannot be is asked about."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, amount, form, item


def _in(code: str, **display: str) -> list[Json]:
    return [{"url": CORE + "questionnaire-unit", "valueCoding": {"system": UCUM, "code": code, **display}}]


HEIGHT = item("q", "integer", text="Wie groß sind Sie?", extension=_in("cm"))
TALL = item("q", "decimal", text="How tall are you?", extension=_in("cm"))
WEIGHT = item("q", "decimal", text="Gewicht (kg)")
NUMBER = item("q", "string", text="Versicherungsnummer")
NAME = item("q", "string", text="What is your name?")


def test_the_unit_is_asked_for_unless_the_question_says_it() -> None:
    assert "Zum Beispiel: 170 cm." in Chat(form(HEIGHT), "de").said
    assert "For example: 170 cm." in Chat(form(TALL), "en").said
    assert Chat(form(WEIGHT), "de").said[-1] == "Gewicht (kg)"


@pytest.mark.parametrize(
    ("question", "language", "said", "read_back", "value"),
    [
        (HEIGHT, "de", "1,80 m", "Ich habe verstanden: 180 cm. Stimmt das?", 180),
        (HEIGHT, "de", "1,80", "Ich habe verstanden: 180 cm. Stimmt das?", 180),
        (HEIGHT, "de", "eins achtzig", "Ich habe verstanden: 180 cm. Stimmt das?", 180),
        (HEIGHT, "de", "180", "Ich habe verstanden: 180 cm. Stimmt das?", 180),
        (TALL, "en", "5 foot 11", "I understood: 180.3 cm. Is that right?", Decimal("180.3")),
        (WEIGHT, "de", "154 Pfund", "Ich habe verstanden: 77 kg. Stimmt das?", 77),
        (WEIGHT, "de", "70,5", "Ich habe verstanden: 70,5 kg. Stimmt das?", Decimal("70.5")),
        (NAME, "en", "my name is Amina", "I understood: “Amina”. Is that right?", "Amina"),
    ],
)
def test_what_will_be_stored_is_read_back(
    question: Json, language: str, said: str, read_back: str, value: object
) -> None:
    chat = Chat(form(question), language).say(said)
    assert (chat.said, chat.value("q")) == ([read_back], None)

    chat.say("ja" if language == "de" else "yes")

    assert chat.value("q") == value
    assert chat.errors() == []
    assert str(chat.said[1]).endswith(
        read_back.split(": ")[1].split(". ", maxsplit=1)[0]
    )  # the summary has the unit, too


def test_what_nobody_has_is_not_taken_and_what_few_have_is_questioned() -> None:
    assert Chat(form(HEIGHT), "de").say("1800").keys[0] == "why_implausible"
    assert Chat(form(HEIGHT), "de").say("70 Liter").keys[:3] == ["why_unit", "units", "noted"]
    assert Chat(form(HEIGHT), "de").say("240 cm").keys == ["unusual", "read_back"]


def test_having_none_is_offered_and_nothing_is_stored() -> None:
    chat = Chat(form(NUMBER), "de").say("hab ich nicht")
    assert chat.keys == ["read_back_has_none"]

    chat.say("ja")

    assert chat.answers("q") == []
    assert chat.parts[-2].text == "1. Versicherungsnummer – habe ich nicht, oder nichts anzugeben"


def test_a_yes_with_another_value_corrects_what_was_read_back() -> None:
    chat = Chat(form(HEIGHT), "de").say("180", "ja, aber 181 cm")

    assert chat.said == ["Ich habe verstanden: 181 cm. Stimmt das?"]
    assert chat.say("ja").value("q") == 181


@pytest.mark.parametrize(
    "given",
    [
        {"extension": [{"url": SDC + "sdc-questionnaire-minQuantity", "valueQuantity": amount(20, "kg")}]},
        {"extension": [{"url": SDC + "sdc-questionnaire-maxQuantity", "valueQuantity": amount(300, "kg")}]},
        {"initial": [{"valueQuantity": amount(70, "kg")}]},
    ],
)
def test_the_unit_of_the_limits_is_the_one_that_is_meant(given: Json) -> None:
    chat = Chat(form(item("q", "quantity", text="Mass?", **given)), "en")

    if chat.open == "proposal q":
        chat.say("no")
    chat.say("82", "yes")
    assert chat.value("q") == {"value": 82, "unit": "kg", "system": UCUM, "code": "kg"}
    chat.say("yes")
    assert (chat.status, chat.errors()) == ("completed", [])


def test_a_bare_number_is_taken_where_the_form_knows_of_no_unit_and_a_unit_that_is_said_is_kept() -> None:
    questionnaire = form(item("q", "quantity", text="Amount?", required=True))
    chat = Chat(questionnaire, "en").say("7")

    assert chat.open == "read-back q"
    chat.say("yes", "yes")
    assert (chat.value("q"), chat.status, chat.errors()) == ({"value": 7}, "completed", [])
    assert Chat(questionnaire, "en").say("7 mg").value("q")["code"] == "mg"


@pytest.mark.parametrize(
    "asked", ["How many tablets of vitamin C?", "Siblings with hepatitis C?", "Punkte (C)?", "Teil B.2 / K:", "Grade F"]
)
def test_a_letter_at_the_end_of_a_question_is_no_unit(asked: str) -> None:
    chat = Chat(form(item("n", "integer", text=asked), item("next", "string", text="?"), language="en"), "en").say("2")

    assert chat.open == "question next"
    assert chat.value("n") == 2


def test_of_a_temperature_it_is() -> None:
    chat = Chat(form(item("n", "quantity", text="Body temperature (C)?"), language="en"), "en").say("38.5", "yes")

    value = chat.value("n")
    assert isinstance(value, dict)
    assert value["code"] == "Cel"
