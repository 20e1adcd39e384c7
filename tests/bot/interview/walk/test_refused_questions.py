"""A question that must be answered and was refused keeps the interview open, wherever it stands."""

from __future__ import annotations

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.walk.engine_steps import NOW, Interview, at, hidden, text, whole

MUST: Json = item("must", "integer", required=True)
WHEN_HIGH = [{"question": "level", "operator": ">", "answerInteger": 3}]


@pytest.mark.parametrize(
    ("questionnaire", "place"),
    [
        (form(item("g", "group", MUST)), at("g", "must")),
        (form(item("g", "group", item("h", "group", item("i", "string"), MUST))), at("g", "h", "must")),
        (form(item("g", "group", item("h", "group", MUST, repeats=True, required=True))), at("g", "h", "must")),
    ],
)
def test_a_required_question_refused_in_an_optional_group_stays_open(questionnaire: Json, place: object) -> None:
    interview = Interview(questionnaire).skip(place)  # type: ignore[arg-type]

    assert ("required", "must") in interview.open
    # As a response by itself it may leave the group out; what is open is a matter of the interview.
    if "required" not in questionnaire["item"][0]["item"][0]:
        index = index_questionnaire(questionnaire)
        assert not [each for each in check_response(interview.response, index, now=NOW.isoformat()) if each.is_error]


def test_in_a_row_that_was_asked_for_and_then_left_blank_the_question_stays_open() -> None:
    interview = Interview(form(item("row", "group", MUST, repeats=True)))
    assert interview.open == []

    interview.add("row").give(at("row", "must"), whole(3)).add(("row", 1)).skip(at(("row", 1), "must"))

    assert interview.open == [("required", "must")]


def test_what_nobody_was_asked_for_does_not_stay_open_in_an_absent_group() -> None:
    guarded = item("must", "integer", required=True, enableWhen=WHEN_HIGH)
    silent = item("silent", "string", required=True, extension=[hidden()])
    fixed = item("fixed", "string", required=True, readOnly=True)
    inside = item("row", "group", item("r", "string", required=True), repeats=True)
    questionnaire = form(item("level", "integer"), item("g", "group", guarded, silent, fixed, inside))

    interview = Interview(questionnaire).give("level", whole(1))

    assert interview.open == []
    assert Interview(questionnaire).give("level", whole(9)).skip(at("g", "must")).open == [("required", "must")]


def test_a_question_left_out_of_an_optional_group_stays_open() -> None:
    unknown = item("u", "choice", text="U", required=True, answerValueSet="http://example.org/nowhere")
    other = item("other", "wheel", text="W", required=True)

    interview = Interview(form(item("a", "string"), item("g", "group", unknown, other))).give("a", text("x"))

    assert ("required", "u") in interview.open
    assert ("required", "other") in interview.open
