"""Every item type of R4 is asked in chat, in both languages, and answered with a value of its type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, form, item
from tests.bot.interview.walk.engine_steps import coding, options

KG = {"system": UCUM, "code": "kg", "display": "kg"}
LISTED: Json = {"answerOption": options("left", "right")}
WEIGHT: Json = {"extension": [{"url": CORE + "questionnaire-unit", "valueCoding": KG}]}
SEVENTY = {"value": Decimal(70), "unit": "kg", "system": UCUM, "code": "kg"}
PDF = {"contentType": "application/pdf", "url": "https://example.org/a.pdf"}


@pytest.mark.parametrize(
    ("kind", "more", "german", "english", "name", "value"),
    [
        ("boolean", {}, "ja", "yes", "valueBoolean", True),
        ("boolean", {}, "nein", "no", "valueBoolean", False),
        ("decimal", {}, "2,5", "2.5", "valueDecimal", Decimal("2.5")),
        ("integer", {}, "zwei", "two", "valueInteger", 2),
        ("date", {}, "3. März 1975", "3 March 1975", "valueDate", "1975-03-03"),
        ("date", {}, "März 1975", "March 1975", "valueDate", "1975-03"),
        ("date", {}, "1975", "1975", "valueDate", "1975"),
        (
            "dateTime", {}, "3. März 2020 um 14:30 Uhr", "3 March 2020 at 2:30 pm",
            "valueDateTime", "2020-03-03T14:30:00+00:00",
        ),
        ("time", {}, "14:30", "2:30 pm", "valueTime", "14:30:00"),
        ("string", {}, "Muster", "Muster", "valueString", "Muster"),
        ("text", {}, "eine Narbe links", "a scar on the left", "valueString", None),
        ("url", {}, "https://example.org", "https://example.org", "valueUri", "https://example.org"),
        ("choice", LISTED, "left", "2", "valueCoding", None),
        ("open-choice", LISTED, "vorne", "in front", "valueString", None),
        ("open-choice", LISTED, "1", "left", "valueCoding", coding("left").value),
        ("attachment", {}, "https://example.org/a.pdf", "https://example.org/a.pdf", "valueAttachment", PDF),
        ("reference", {}, "Dr. Muster", "Dr. Muster", "valueReference", {"display": "Dr. Muster"}),
        ("quantity", WEIGHT, "70 Kilo", "70 kilos", "valueQuantity", SEVENTY),
    ],
)  # fmt: skip
def test_a_question_of_every_type_is_answered_in_both_languages(
    kind: str, more: Json, german: str, english: str, name: str, value: Any
) -> None:
    for language, said, agreed in (("de", german, "ja"), ("en", english, "yes")):
        chat = Chat(form(item("q", kind, text="Q", **more)), language).say(said)
        if chat.open == "read-back q":
            chat.say(agreed)

        assert chat.say(agreed).status == "completed"

        (answered,) = chat.response()["item"]
        (answer,) = answered["answer"]
        assert list(answer) == [name]
        assert answer[name] == value or value is None
        assert chat.errors() == []


def test_groups_and_displays_are_read_out_and_have_no_answers() -> None:
    questionnaire = form(item("g", "group", item("d", "display", text="Take care"), item("q", "boolean"), text="Group"))

    chat = Chat(questionnaire, "en")

    assert chat.said[1:3] == ["Group", "Take care"]
    assert chat.say("yes", "yes").response()["item"] == [
        {"linkId": "g", "text": "Group", "item": [{"linkId": "q", "answer": [{"valueBoolean": True}]}]}
    ]


@pytest.mark.parametrize(("language", "unable"), [("de", "habe ich zu Hause"), ("en", "it is at home")])
def test_a_file_is_not_taken_in_chat_and_that_is_said(language: str, unable: str) -> None:
    chat = Chat(form(item("q", "attachment", text="Q")), language)
    assert "file" in chat.keys

    chat.say(unable)

    assert (chat.keys[0], chat.open) == ("why_not_in_chat", "question q")


def test_a_text_of_several_lines_becomes_one_line() -> None:
    chat = Chat(form(item("q", "text", text="Q")), "en").say("one\ntwo")

    assert chat.value("q") == "one two"


def test_the_units_that_are_possible_are_said_and_others_are_not_taken() -> None:
    gram = {"system": UCUM, "code": "g", "display": "g"}
    choices = [{"url": CORE + "questionnaire-unitOption", "valueCoding": unit} for unit in (KG, gram)]
    chat = Chat(form(item("q", "quantity", text="Dose", extension=choices)), "en")
    assert "Possible: kg, g." in chat.said

    assert chat.say("70").keys[:2] == ["why_unit_missing", "units"]
    assert chat.say("70 m").keys[:2] == ["why_unit", "units"]
    assert chat.say("70 kg").value("q") == SEVENTY


def test_an_amount_in_another_unit_of_the_same_kind_keeps_to_the_limit() -> None:
    limit = {"url": SDC + "sdc-questionnaire-minQuantity", "valueQuantity": {"value": 20, "unit": "kg", **KG}}
    limit["valueQuantity"].pop("display")  # type: ignore[attr-defined]
    chat = Chat(form(item("q", "quantity", text="Weight", extension=[*WEIGHT["extension"], limit])), "en")

    assert chat.say("19 kg").keys[0] == "problem_below-minimum"
    assert chat.say("41 kg").open == "summary"
