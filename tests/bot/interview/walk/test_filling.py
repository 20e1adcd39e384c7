"""Events are small, survive storage, and say all: applied again they give the same state."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.errors import BadData
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, dump, parse
from bot.interview.walk.filling import (
    Cleared,
    Event,
    Given,
    GroupAdded,
    GroupRemoved,
    MarkedForStaff,
    NoMore,
    Shown,
    Skipped,
    event_from_json,
    event_to_json,
)
from tests.bot.interview.resources import Json, form, item
from tests.bot.interview.walk.engine_steps import Interview, at, coding, options, quantity, text, whole

PATH = at("g", ("q", 1), "a")


@pytest.mark.parametrize(
    "event",
    [
        Given(PATH, (text("ä\n\"x\""), Answer("decimal", Decimal("1.50"))), proposed=True),
        Given(PATH, (quantity("70.0", "kg"), Answer("boolean", False), Answer("integer", 0))),
        Skipped(PATH),
        MarkedForStaff(PATH, "not understood"),
        MarkedForStaff(PATH),
        Cleared(PATH),
        Shown(PATH),
        GroupAdded(PATH),
        GroupRemoved(PATH),
        NoMore(PATH),
    ],
)  # fmt: skip
def test_an_event_comes_back_from_storage_as_it_was(event: Event) -> None:
    line = dump(event_to_json(event))

    assert "\n" not in line
    assert event_from_json(as_object(parse(line).value)) == event


def test_stored_decimals_keep_their_digits() -> None:
    line = dump(event_to_json(Given(PATH, (Answer("decimal", Decimal("1.50")),))))

    (answer,) = event_from_json(as_object(parse(line).value)).answers  # type: ignore[union-attr]

    assert str(answer.value) == "1.50"


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"event": "Given"},
        {"event": "Given", "path": [["a", 0]]},
        {"event": "Exploded", "path": [["a", 0]]},
        {"event": "Skipped", "path": [["a"]]},
        {"event": "Skipped", "path": [["a", "x"]]},
        {"event": "Skipped", "path": [["a", 0]], "extra": 1},
        {"event": "Given", "path": [["a", 0]], "answers": [{"type": "string"}]},
    ],
)
def test_what_is_no_event_is_refused(stored: Json) -> None:
    with pytest.raises(BadData, match="cannot be read"):
        event_from_json(stored)


def test_replaying_gives_the_same_state_and_the_states_before_stay_as_they_were() -> None:
    questionnaire = form(item("a", "string"), item("g", "group", item("b", "integer"), repeats=True))
    interview = Interview(questionnaire)
    start = interview.filling

    interview.give("a", text("x")).add("g").give(at("g", "b"), whole(1)).no_more("g").clear("a").skip("a")

    assert interview.engine.replay(interview.events) == interview.filling
    assert start == interview.engine.start()
    assert interview.filling != start


def test_giving_an_answer_ends_being_skipped_or_marked() -> None:
    interview = Interview(form(item("a", "string"), item("b", "string"))).skip("a").mark("b")
    assert interview.filling.marked == {at("b"): "not understood"}

    interview.give("a", text("x")).give("b", text("y"))

    assert (interview.filling.skipped, interview.filling.marked) == (frozenset(), {})


def test_skipping_takes_an_answer_back() -> None:
    assert Interview(form(item("a", "string"))).give("a", text("x")).skip("a").items == []


def test_removing_an_instance_moves_all_that_stands_in_those_after_it() -> None:
    inner = item("h", "group", item("c", "string"), repeats=True)
    interview = Interview(form(item("g", "group", item("b", "string"), inner, repeats=True)))
    for number in range(3):
        interview.add(("g", number)).give(at(("g", number), "b"), text(f"b{number}"))
        interview.add(("g", number), "h").give(at(("g", number), "h", "c"), text(f"c{number}"))
        interview.no_more(at(("g", number), "h"))
    interview.no_more("g")

    interview.apply(GroupRemoved(at(("g", 1))))

    assert interview.values("g", "b") == ["b0", "b2"]
    assert interview.values("g", "h", "c") == ["c0", "c2"]
    assert interview.asks == "done"
    assert interview.engine.replay(interview.events) == interview.filling


def test_answers_in_another_order_keep_what_was_said_about_them() -> None:
    questionnaire = form(item("q", "choice", item("n", "string"), repeats=True, answerOption=options("a", "b", "c")))
    interview = Interview(questionnaire).give("q", coding("a"), coding("b"))
    interview.give(at("q", "n"), text("about a")).give(at(("q", 1), "n"), text("about b"))

    interview.give("q", coding("c"), coding("b"), coding("a"))

    said = [
        answer.get("item", [{}])[0].get("answer", [{}])[0].get("valueString") for answer in interview.items[0]["answer"]
    ]
    assert said == [None, "about b", "about a"]
    assert interview.asks == "ask q/n"


def test_equal_answers_keep_apart_what_was_said_about_each() -> None:
    interview = Interview(form(item("age", "integer", item("n", "string"), repeats=True)))
    interview.give("age", whole(5), whole(5), whole(7)).no_more("age")
    for number in range(3):
        interview.give(at(("age", number), "n"), text(f"child {number}"))

    interview.give("age", whole(7), whole(5), whole(5))

    answers = interview.items[0]["answer"]
    said = [(each["valueInteger"], each["item"][0]["answer"][0]["valueString"]) for each in answers]
    assert said == [(7, "child 2"), (5, "child 1"), (5, "child 0")]


def test_an_answer_changed_in_place_keeps_what_is_asked_below_it() -> None:
    rule = [{"question": "q", "operator": "=", "answerCoding": {"code": "a"}}]
    questionnaire = form(item("q", "choice", item("n", "string", enableWhen=rule), answerOption=options("a", "b")))
    interview = Interview(questionnaire).give("q", coding("a")).give(at("q", "n"), text("kept"))

    interview.give("q", coding("b"))
    assert "item" not in interview.items[0]["answer"][0]

    interview.give("q", coding("a"))
    assert interview.items[0]["answer"][0]["item"][0]["answer"] == [{"valueString": "kept"}]
