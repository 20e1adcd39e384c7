"""A condition that no answer can meet spares nobody a question: it is asked, and the author of the form is told."""

from __future__ import annotations

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.walk.engine_steps import NOW, Interview, coding, formula, no, options, text, whole, yes

CODES = "http://example.org/codes"


def when(question: str = "q", operator: str = "=", **answer: object) -> Json:
    return {"question": question, "operator": operator, **answer}


def guarded(asked: Json, *conditions: Json, **more: object) -> Json:
    return form(asked, item("then", "string", text="Then?", required=True, enableWhen=list(conditions), **more))


COUNT = item("q", "integer")
COLOUR = item("q", "choice", answerOption=options("red", "blue"))


@pytest.mark.parametrize(
    ("asked", "condition"),
    [
        (item("q", "boolean"), when(answerString="yes")),
        (item("q", "boolean"), when(operator=">", answerInteger=0)),
        (COUNT, when(answerString="5")),
        (COUNT, when(operator=">=", answerQuantity={"value": 5})),
        (item("q", "date"), when(operator="<", answerTime="10:00:00")),
        (COLOUR, when(answerString="red")),
        (COLOUR, when(answerCoding={"system": CODES, "code": "green"})),
        (COLOUR, when(answerCoding={"system": "http://elsewhere.org", "code": "red"})),
        (item("q", "open-choice", answerOption=options("red")), when(answerInteger=1)),
        (item("q", "group", item("a", "string")), when(operator="exists", answerBoolean=True)),
        (item("q", "display", text="Look"), when(answerString="Look")),
    ],
)  # fmt: skip
def test_it_is_asked_whatever_was_answered_and_named(asked: Json, condition: Json) -> None:
    questionnaire = guarded(asked, condition)
    loaded = load_form(questionnaire)
    interview = Interview(questionnaire)

    assert ("then", "enableWhen") in [(note.link_id, note.feature) for note in loaded.gaps]
    assert "asked in any case, and not required" in next(loaded.gap_lines())
    assert ("then", 0) in [path[-1] for path in interview.engine.questions(interview.filling)]
    # What was answered is kept, and is no answer to a question that was not to be asked.
    interview.give("then", text("words"))
    findings = check_response(interview.response, index_questionnaire(questionnaire), now=NOW.isoformat())
    assert [each.text for each in findings if each.is_error] == []


@pytest.mark.parametrize(
    ("asked", "condition"),
    [
        (COUNT, when(operator=">", answerDecimal=3)),
        (item("q", "dateTime"), when(operator=">", answerDate="2001-01-01")),
        (item("q", "url"), when(answerString="http://example.org")),
        (item("q", "open-choice", answerOption=options("red")), when(answerString="other")),
        (COLOUR, when(answerCoding={"code": "red"})),
        (COLOUR, when(operator="exists", answerBoolean=True)),
        (item("q", "choice", answerOption=options("red"), extension=[formula("answerExpression", "%resource")]), when(answerCoding={"system": CODES, "code": "green"})),
    ],
)  # fmt: skip
def test_a_condition_that_some_answer_meets_stays(asked: Json, condition: Json) -> None:
    questionnaire = guarded(asked, condition)

    assert [note for note in load_form(questionnaire).warnings if note.feature == "enableWhen"] == []
    assert Interview(questionnaire).asks == "ask q"
    assert Interview(questionnaire).skip("q").asks == "done"


def test_beside_one_that_may_hold_an_answer_that_no_longer_exists_decides_nothing() -> None:
    gone = when(answerCoding={"system": CODES, "code": "green"})
    red = when(answerCoding={"system": CODES, "code": "red"})
    questionnaire = guarded(COLOUR, gone, red, enableBehavior="any")

    assert Interview(questionnaire).give("q", coding("blue")).asks == "done"
    assert Interview(questionnaire).give("q", coding("red")).asks == "ask then"
    (line,) = (note.text for note in load_form(questionnaire).warnings if note.feature == "enableWhen")
    assert "never true" in line


def test_where_all_must_hold_the_others_go_on_deciding() -> None:
    asked = form(
        item("n", "integer"),
        item("b", "boolean"),
        item(
            "then",
            "string",
            enableBehavior="all",
            enableWhen=[when("n", ">", answerInteger=2), when("b", answerString="true")],
        ),
    )

    assert Interview(asked).give("n", whole(1)).give("b", yes()).asks == "done"
    assert Interview(asked).give("n", whole(3)).give("b", no()).asks == "ask then"


def test_conditions_that_are_no_list_are_named() -> None:
    questionnaire = form(item("q", "boolean"), item("then", "string", enableWhen=when(answerBoolean=True)))

    assert ("then", "enableWhen") in [(note.link_id, note.feature) for note in load_form(questionnaire).gaps]
    assert Interview(questionnaire).give("q", no()).asks == "ask then"
