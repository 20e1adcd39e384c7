"""What a question says of the form of its answer: briefly, where it helps, and in the words of the form first."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, UCUM, Json, extended, form, item

ENTRY_FORMAT = CORE + "entryFormat"


def in_unit(code: str, display: str = "") -> Json:
    unit = {"system": UCUM, "code": code, **({"display": display} if display else {})}
    return {"extension": extended((CORE + "questionnaire-unit", {"valueCoding": unit}))}


def limited(low: Json, high: Json) -> Json:
    return {"extension": extended((CORE + "minValue", low), (CORE + "maxValue", high))}


def asked(*items: Json, language: str = "de") -> list[str]:
    return Chat(form(*items), language).said[1:]


@pytest.mark.parametrize(
    ("question", "language", "hint"),
    [
        (item("q", "quantity", text="Wie groß sind Sie?", **in_unit("cm", "cm")), "de", "Zum Beispiel: 170 cm."),
        (item("q", "quantity", text="Wie groß sind Sie?", **in_unit("m")), "de", "Zum Beispiel: 1,7 m."),
        (item("q", "quantity", text="How tall are you?", **in_unit("[in_i]")), "en", "For example: 67 in."),
        (item("q", "quantity", text="Wie schwer sind Sie?", **in_unit("kg")), "de", "Zum Beispiel: 70 kg."),
        (item("q", "decimal", text="Your weight", **in_unit("[lb_av]")), "en", "For example: 154 lb."),
        (item("q", "quantity", text="Seit wann nehmen Sie das?", **in_unit("a")), "de", "Zum Beispiel: 3 Jahre."),
        # Of a lump, any example would frighten somebody.
        (item("q", "quantity", text="Wie groß ist der Knoten?", **in_unit("cm")), "de", "Bitte in: cm."),
        (item("q", "date", text="Wann war das?"), "de", "Zum Beispiel: 2. November 2026. Oder nur das Jahr."),
        (item("q", "date", text="Wann sind Sie geboren?"), "de", "Zum Beispiel: 3. März 1975. Oder nur das Jahr."),
        (
            item("q", "dateTime", text="When was it?"), "en",
            "Best with day and time, for example: 2 November 2026, 14:30. Just the month or the year is fine, too.",
        ),
        (item("q", "time", text="Wann schlafen Sie ein?"), "de", "Zum Beispiel: 14:30."),
        (item("q", "url", text="Wo?"), "de", "Eine Internet-Adresse, zum Beispiel: www.beispiel.ch"),
        (
            item("q", "integer", text="Wie stark ist der Schmerz?", **limited({"valueInteger": 0}, {"valueInteger": 10})),
            "de",
            "Eine Zahl von 0 bis 10.",
        ),
        (
            item("q", "decimal", text="How sure?", **limited({"valueDecimal": Decimal("0.5")}, {"valueDecimal": Decimal("2.5")})),
            "en",
            "A number from 0.5 to 2.5.",
        ),
        (
            item("q", "string", text="Versichertennummer?", extension=extended((ENTRY_FORMAT, {"valueString": "756.XXXX.XXXX.XX"}))),
            "de",
            "756.XXXX.XXXX.XX",
        ),
    ],
)  # fmt: skip
def test_a_question_says_briefly_what_form_of_answer_is_wanted(question: Json, language: str, hint: str) -> None:
    assert asked(question, language=language)[1:] == [hint]


@pytest.mark.parametrize(
    "question",
    [
        item("q", "quantity", text="Größe in cm", **in_unit("cm")),
        item("q", "date", text="Wann war das? Das Jahr reicht."),
        item("q", "integer", text="Wie alt sind Sie?", **limited({"valueInteger": 0}, {"valueInteger": 100})),
        item("q", "integer", text="Von 0 bis 10: Wie stark?", **limited({"valueInteger": 0}, {"valueInteger": 10})),
        item("q", "integer", text="Wie viele Zigaretten?", **limited({"valueInteger": 0}, {"valueInteger": 500})),
        item("q", "integer", text="Wie viele Kinder haben Sie?"),
        item("q", "string", text="Wie heißen Sie?"),
        item("q", "boolean", text="Haben Sie Schmerzen?"),
    ],
)
def test_what_the_question_says_or_everybody_knows_is_not_said(question: Json) -> None:
    assert asked(question)[1:] == []


def test_the_words_of_the_form_come_before_ours() -> None:
    written = extended((ENTRY_FORMAT, {"valueString": "TT.MM.JJJJ"}))
    label = item("u", "display", text="in Millimetern", extension=extended(
        (CORE + "questionnaire-itemControl", {"valueCodeableConcept": {"coding": [{"code": "unit"}]}})))  # fmt: skip

    assert asked(item("q", "date", text="Wann?", extension=written))[1:] == ["TT.MM.JJJJ"]
    assert asked(item("q", "decimal", label, text="Wie groß sind Sie?"))[1:] == ["in Millimetern"]


def test_how_a_day_is_written_is_said_with_the_first_one_only() -> None:
    chat = Chat(form(item("one", "date", text="Wann war das?"), item("two", "date", text="Und wann war es vorbei?")))

    assert "hint_date" in chat.keys
    assert "hint_date" not in chat.say("3. März 2020").keys
    assert chat.open == "question two"


def test_an_example_is_not_said_twice_in_one_reply() -> None:
    pattern = (CORE + "regex", {"valueString": "[0-9]{4}"})
    shown = (ENTRY_FORMAT, {"valueString": "vier Ziffern"})
    chat = Chat(form(item("q", "string", text="PIN?", required=True, extension=extended(pattern, shown))))

    said = chat.say("zwölf", "dreizehn").said

    assert said.count("vier Ziffern") == 1

    chat = Chat(form(item("q", "quantity", text="Wie groß sind Sie?", required=True, **in_unit("cm"))))
    said = chat.say("keine Ahnung wie", "hm tja so lala").said
    assert sum("170 cm" in each for each in said) <= 1


def test_a_hint_survives_the_guard_when_the_talk_is_resumed() -> None:
    chat = Chat(form(item("q", "quantity", text="Wie schwer sind Sie?", **in_unit("kg"))))

    chat.say("pause", "weiter")

    assert "hint_amount" in chat.keys
