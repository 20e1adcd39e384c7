"""What a form lists and nobody can choose is left out and named: no question ends in a loop, no label is blank."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from bot.interview.values.answer import Answer
from tests.bot.interview.resources import CORE, Json, form, item
from tests.bot.interview.walk.engine_steps import NOW, Interview, control, formula, options, text, whole, yes

WORDS: list[Json] = [{"valueString": "one"}, {"valueString": "many"}]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (item("q", "boolean", required=True, answerOption=WORDS), yes()),
        (item("q", "boolean", required=True, answerValueSet="http://example.org/nowhere"), yes()),
        (item("q", "integer", required=True, answerOption=WORDS), whole(4)),
        (item("q", "date", required=True, answerOption=WORDS), Answer("date", "2020-05-01")),
        (item("q", "string", required=True, answerOption=options("a", "b")), text("free")),
        (item("q", "text", required=True, answerOption=WORDS), text("free")),
    ],
)
def test_a_list_of_the_wrong_type_is_no_list(asked: Json, answer: Answer) -> None:
    questionnaire = form(asked)
    loaded = load_form(questionnaire)
    interview = Interview(questionnaire)

    assert loaded.by_link_id["q"].options == ()
    assert ("q", "answerOption") in [(note.link_id, note.feature) for note in loaded.warnings]
    assert interview.codes("q", answer) == []
    interview.give("q", answer)
    assert interview.open == []
    index = index_questionnaire(questionnaire)
    assert not [each for each in check_response(interview.response, index, now=NOW.isoformat()) if each.is_error]


def test_options_that_say_nothing_are_not_offered() -> None:
    blank: list[Json] = [
        {"valueCoding": {"system": "http://example.org/codes"}},
        {"valueCoding": {"system": "http://example.org/codes", "code": "b", "display": "  "}},
        {"valueString": " "},
    ]
    loaded = load_form(form(item("q", "choice", answerOption=[*blank, *options("red")])))

    assert all(option.label.base.strip() for option in loaded.by_link_id["q"].options)
    assert "red" in [option.label.base for option in loaded.by_link_id["q"].options]
    assert [note.link_id for note in loaded.warnings if note.feature == "answerOption"] == ["q"]


def test_an_option_of_true_or_false_is_none_of_a_choice() -> None:
    listed = [{"valueBoolean": True}, *options("red")]
    loaded = load_form(form(item("q", "choice", answerOption=listed)))

    assert [option.label.base for option in loaded.by_link_id["q"].options] == ["red"]


@pytest.mark.parametrize("where", ["option", "coding"])
def test_formulas_find_by_its_extension_what_an_answer_counts(where: str) -> None:
    def scored(code: str, score: str) -> Json:
        marks = [{"url": CORE + "ordinalValue", "valueDecimal": Decimal(score)}]
        coding: Json = {"system": "http://example.org/codes", "code": code}
        if where == "option":
            return {"valueCoding": coding, "extension": marks}
        return {"valueCoding": {**coding, "extension": marks}}

    listed = [scored("never", "0"), scored("often", "2.5")]
    total = f"%resource.item.answer.value.extension('{CORE}ordinalValue').value.sum()"
    questionnaire = form(
        item("a", "choice", answerOption=listed),
        item("b", "choice", answerOption=listed),
        item("total", "decimal", readOnly=True, extension=[formula("calculatedExpression", total)]),
    )
    often = Answer("coding", {"system": "http://example.org/codes", "code": "often"})

    interview = Interview(questionnaire).give("a", often).give("b", often)

    assert interview.value("total") == Decimal(5)
    assert interview.items[0]["answer"] == [{"valueCoding": often.value}]  # the response repeats no scores


@pytest.mark.parametrize("role", ["inline", "sidebar", "highlight", "help"])
def test_a_text_item_that_holds_a_text_to_show_is_shown_and_never_asked(role: str) -> None:
    told = item("t", "text", text="Read this", readOnly=True, extension=[control(role)])
    interview = Interview(form(told, item("g", "group", item("q", "string"), told | {"linkId": "u"})))

    asked = [path[-1][0] for path in interview.engine.questions(interview.filling)]

    assert asked == ["q"]
    assert interview.open == []
