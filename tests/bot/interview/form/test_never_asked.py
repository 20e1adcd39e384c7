"""What no answer can ever switch on, or nobody can ever fill, is named to the author when the form is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.load import load_form
from tests.bot.interview.chat import Chat
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.walk.engine_steps import formula, hidden, options

OTHER = item("other", "string", text="Other")


def waiting(question: str, **more: Any) -> Json:
    return {"question": question, "operator": "exists", "answerBoolean": True, **more}


def named(*items: Json) -> list[str]:
    return [note.link_id for note in load_form(form(*items)).gaps if "never asked" in note.text]


SILENT = item("silent", "string", text="Silent", extension=[hidden()])
NO = item("a", "boolean", text="A")


@pytest.mark.parametrize(
    "items",
    [
        [SILENT, item("x", "string", text="X", required=True, enableWhen=[waiting("silent")])],
        [item("silent", "string", text="S", readOnly=True), item("x", "string", text="X", enableWhen=[waiting("silent")])],
        [item("x", "string", text="X", enableWhen=[waiting("x")])],
        [item("x", "string", text="X", enableWhen=[waiting("y")]), item("y", "string", text="Y", enableWhen=[waiting("x")])],
        [item("x", "group", item("y", "string", text="Y"), text="X", enableWhen=[waiting("y")])],
        [NO, item("x", "string", text="X", enableBehavior="all", enableWhen=[
            {"question": "a", "operator": "=", "answerBoolean": True}, {"question": "a", "operator": "=", "answerBoolean": False}])],
    ],
)  # fmt: skip
def test_a_question_that_nothing_switches_on_is_named(items: list[Json]) -> None:
    assert "x" in named(OTHER, *items)


@pytest.mark.parametrize(
    "items",
    [
        [{**SILENT, "initial": [{"valueString": "a"}]}, item("x", "string", text="X", enableWhen=[waiting("silent")])],
        [item("s", "integer", text="S", readOnly=True, extension=[formula("calculatedExpression", "1")]), item("x", "string", text="X", enableWhen=[waiting("s")])],
        [item("x", "string", text="X", enableWhen=[waiting("y"), waiting("other")], enableBehavior="any"), item("y", "string", text="Y", enableWhen=[waiting("x")])],
        [item("x", "string", text="X", enableWhen=[waiting("later")]), item("later", "string", text="L")],
        [item("x", "string", text="X", enableWhen=[waiting("silent", answerBoolean=False)]), SILENT],
        [item("a", "choice", text="A", repeats=True, answerOption=options("1", "2")), item("x", "string", text="X", enableBehavior="all", enableWhen=[
            {"question": "a", "operator": "=", **{"answerCoding": each["valueCoding"]}} for each in options("1", "2")])],
    ],
)  # fmt: skip
def test_a_question_that_some_answer_switches_on_is_not(items: list[Json]) -> None:
    assert named(OTHER, *items) == []


@pytest.mark.parametrize("how", [{"extension": [hidden()]}, {"readOnly": True}])
def test_a_required_item_that_nobody_fills_is_named_to_the_author_and_never_to_the_patient(how: Json) -> None:
    questionnaire = form(item("case", "string", text="Case number", required=True, **how), OTHER)
    chat = Chat(questionnaire, "en").say("something")

    assert not any("Case number" in text for text in chat.said)
    assert any(line.startswith("case (Case number): required: ") for line in chat.interview.form.gap_lines())
    chat.say("yes")
    assert chat.status == "in-progress"
    assert not any("Case number" in text for text in chat.said)


def test_a_required_question_that_a_patient_left_open_is_still_named_to_them() -> None:
    chat = Chat(form(item("n", "string", text="Your name", required=True), OTHER), "en").say("skip", "skip", "words")

    assert "Your name" in chat.said
