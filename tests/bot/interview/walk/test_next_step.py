"""What is asked, in which order: groups, repetitions, texts, proposals, what nobody is asked for."""

from __future__ import annotations

import pytest

from bot.errors import BadData
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import AskAnother
from bot.interview.walk.filling import Given, GroupAdded, GroupRemoved, NoMore, Shown, Skipped
from tests.bot.interview.resources import CORE, Json, form, item
from tests.bot.interview.walk.engine_steps import (
    Interview,
    at,
    coding,
    control,
    fhirpath,
    formula,
    hidden,
    options,
    text,
    whole,
    yes,
)


def limit(name: str, value: int) -> Json:
    return {"url": f"{CORE}questionnaire-{name}", "valueInteger": value}


def test_items_are_asked_in_the_forms_order_through_all_levels() -> None:
    questionnaire = form(
        item("g", "group", item("a", "string"), item("h", "group", item("b", "string"))), item("c", "string")
    )
    interview = Interview(questionnaire)

    asked = []
    while interview.asks != "done":
        asked.append(interview.asks)
        interview.skip(interview.step.path)  # type: ignore[union-attr]

    assert asked == ["ask g/a", "ask g/h/b", "ask c"]


def test_a_text_is_shown_once() -> None:
    interview = Interview(form(item("d", "display", text="Please read"), item("a", "string")))

    assert interview.asks == "show d"
    assert interview.shown("d").asks == "ask a"


def test_children_of_a_question_are_asked_for_each_of_its_answers() -> None:
    questionnaire = form(item("q", "choice", item("since", "string"), repeats=True, answerOption=options("a", "b")))
    interview = Interview(questionnaire).give("q", coding("a"), coding("b"))

    assert interview.asks == "ask q/since"
    interview.give(at("q", "since"), text("2010"))
    assert interview.asks == "ask q[1]/since"
    interview.give(at(("q", 1), "since"), text("2015"))

    assert interview.asks == "done"
    answers = interview.items[0]["answer"]
    assert [each["item"][0]["answer"][0]["valueString"] for each in answers] == ["2010", "2015"]


def test_children_of_a_question_without_answer_are_not_asked() -> None:
    interview = Interview(form(item("q", "boolean", item("which", "string", required=True))))

    assert interview.skip("q").asks == "done"
    assert interview.open == []


def test_what_was_said_about_an_answer_stays_with_it() -> None:
    questionnaire = form(item("q", "choice", item("since", "string"), repeats=True, answerOption=options("a", "b")))
    interview = Interview(questionnaire).give("q", coding("a"), coding("b"))
    interview.give(at("q", "since"), text("2010")).give(at(("q", 1), "since"), text("2015"))

    interview.give("q", coding("b"))

    answer = interview.items[0]["answer"]
    assert [(each["valueCoding"]["code"], each["item"][0]["answer"][0]["valueString"]) for each in answer] == [
        ("b", "2015")
    ]
    assert interview.asks == "done"


def test_an_optional_repeating_group_is_asked_for_first() -> None:
    interview = Interview(form(item("g", "group", item("a", "string", required=True), repeats=True)))

    assert interview.asks == "another g"
    assert interview.no_more("g").asks == "done"
    assert interview.open == []
    assert interview.items == []


def test_a_repeating_group_takes_instances_until_there_are_no_more() -> None:
    interview = Interview(form(item("g", "group", item("a", "string"), repeats=True))).add("g")
    interview.give(at("g", "a"), text("one"))
    step = interview.step
    assert isinstance(step, AskAnother)
    assert (step.path, step.count) == (at(("g", 1)), 1)

    interview.add(("g", 1)).give(at(("g", 1), "a"), text("two")).no_more("g")

    assert interview.asks == "done"
    assert interview.values("g", "a") == ["one", "two"]


def test_a_required_repeating_group_begins_at_once_and_stops_at_its_most() -> None:
    questionnaire = form(
        item("g", "group", item("a", "string"), repeats=True, required=True, extension=[limit("maxOccurs", 2)])
    )
    interview = Interview(questionnaire)

    assert interview.asks == "ask g/a"
    interview.give(at("g", "a"), text("one")).add(("g", 1)).give(at(("g", 1), "a"), text("two"))

    assert interview.asks == "done"


def test_as_many_instances_as_the_form_demands_are_asked() -> None:
    questionnaire = form(
        item("g", "group", item("a", "string"), repeats=True, required=True, extension=[limit("minOccurs", 2)])
    )
    interview = Interview(questionnaire).give(at("g", "a"), text("one"))

    assert interview.asks == "ask g[1]/a"
    assert interview.skip(at(("g", 1), "a")).no_more("g").open == [("too-few", "g")]


def test_a_group_instance_can_be_taken_out_again() -> None:
    interview = Interview(form(item("g", "group", item("a", "string"), repeats=True))).add("g")
    interview.give(at("g", "a"), text("one")).add(("g", 1)).give(at(("g", 1), "a"), text("two")).no_more("g")

    interview.apply(GroupRemoved(at("g")))

    assert interview.values("g", "a") == ["two"]
    assert interview.asks == "done"


def test_a_repeating_question_asks_for_more_until_there_are_no_more() -> None:
    interview = Interview(form(item("year", "integer", repeats=True))).give("year", whole(2010))

    assert interview.asks == "another year"
    interview.give("year", whole(2010), whole(2015))
    assert interview.asks == "another year"
    assert interview.no_more("year").asks == "done"
    assert interview.values("year") == [2010, 2015]


def test_a_repeating_question_stops_at_its_most() -> None:
    questionnaire = form(item("year", "integer", repeats=True, extension=[limit("maxOccurs", 2)]))

    assert Interview(questionnaire).give("year", whole(1), whole(2)).asks == "done"


def test_from_a_list_all_are_chosen_at_once() -> None:
    questionnaire = form(item("q", "choice", repeats=True, answerOption=options("a", "b", "c")))

    assert Interview(questionnaire).give("q", coding("a")).asks == "done"


def test_skipped_and_marked_questions_are_not_asked_again() -> None:
    interview = Interview(form(item("a", "string"), item("b", "string"), item("c", "string")))

    interview.skip("a").mark("b")

    assert interview.asks == "ask c"


def test_the_parts_of_a_form_are_what_may_ever_be_asked_side_by_side() -> None:
    condition = [{"question": "a", "operator": "=", "answerBoolean": True}]
    questionnaire = form(
        item("text", "display"),
        item("a", "boolean"),
        item("g", "group", item("b", "string"), item("b2", "string"), enableWhen=condition),
        item("secret", "string", extension=[hidden()]),
        item("c", "string", readOnly=True),
        item("rows", "group", item("d", "string"), repeats=True),
    )
    engine = Interview(questionnaire).engine

    assert (engine.parts, engine.has_sections) == (3, True)
    assert [engine.part(at(*path)) for path in (("a",), ("g", "b2"), (("rows", 4), "d"))] == [0, 1, 2]
    inside = Interview(form(item("all", "group", item("a", "boolean"), item("b", "string")))).engine
    assert (inside.parts, inside.has_sections) == (2, False)


def test_a_question_that_was_cleared_is_asked_again() -> None:
    interview = Interview(form(item("a", "string"), item("b", "string"))).give("a", text("x")).give("b", text("y"))

    assert interview.clear("a").asks == "ask a"
    assert interview.values("a") == []


def test_an_initial_value_is_proposed_and_not_assumed() -> None:
    interview = Interview(form(item("a", "boolean", initial=[{"valueBoolean": True}]), item("b", "string")))

    assert interview.asks == "ask a"
    assert interview.proposal == (yes(),)
    assert interview.skip("a").values("a") == []


def test_a_confirmed_proposal_is_an_answer_that_was_accepted() -> None:
    interview = Interview(form(item("a", "integer", initial=[{"valueInteger": 3}])))

    interview.give("a", *interview.proposal, proposed=True)

    assert interview.values("a") == [3]
    assert interview.filling.accepted == {at("a")}


def test_options_that_are_selected_beforehand_are_proposed() -> None:
    questionnaire = form(item("q", "choice", answerOption=[*options("a"), *options("b", initialSelected=True)]))

    assert Interview(questionnaire).proposal == (coding("b"),)


def test_the_answer_given_before_is_what_a_question_asked_again_proposes() -> None:
    interview = Interview(form(item("a", "integer", initial=[{"valueInteger": 3}]))).give("a", whole(5))

    assert interview.engine.ask(interview.filling, at("a")).proposal == (whole(5),)


def test_nobody_is_asked_for_hidden_and_read_only_items_and_their_values_are_sent() -> None:
    questionnaire = form(
        item("a", "string", extension=[hidden()], initial=[{"valueString": "phone"}]),
        item("g", "group", item("b", "string", initial=[{"valueString": "x"}]), extension=[hidden()]),
        item("c", "string", readOnly=True, initial=[{"valueString": "fixed"}]),
        item("h", "group", item("d", "string", initial=[{"valueString": "y"}]), readOnly=True),
    )
    interview = Interview(questionnaire)

    assert interview.asks == "done"
    assert [interview.value("a"), interview.value("g", "b"), interview.value("c")] == ["phone", "x", "fixed"]
    assert interview.value("h", "d") == "y"


def test_display_items_of_a_question_become_its_help_and_instructions() -> None:
    questionnaire = form(
        item(
            "q",
            "string",
            item("why", "display", text="Because.", extension=[control("help")]),
            item("how", "display", text="Select one"),
        )
    )
    interview = Interview(questionnaire).give("q", text("x"))
    asked = interview.engine.form.by_link_id["q"]

    assert interview.engine.form.help(asked, "en") == "Because."
    assert [each.base for each in asked.presentation.instructions] == ["Select one"]
    assert interview.asks == "done"


def test_calculated_items_are_not_asked_for() -> None:
    questionnaire = form(
        item("a", "integer"), item("sum", "integer", extension=[formula("calculatedExpression", "1 + 1")])
    )
    interview = Interview(questionnaire)

    assert interview.skip("a").asks == "done"
    assert interview.values("sum") == [2]


def test_a_required_value_that_could_not_be_calculated_is_asked_for_at_the_end() -> None:
    twice = "%resource.item.where(linkId='a').answer.value * 2"
    questionnaire = form(
        item("double", "integer", required=True, extension=[formula("calculatedExpression", twice)]),
        item("a", "integer"),
    )
    assert Interview(questionnaire).give("a", whole(4)).asks == "done"

    interview = Interview(questionnaire).skip("a")

    assert interview.asks == "ask double"
    assert interview.give("double", whole(6)).asks == "done"
    assert interview.values("double") == [6]


@pytest.mark.parametrize(
    "event",
    [
        Given(at("nowhere"), (text("x"),)),
        Given(at("g", "a"), (text("x"),)),
        Given(at("b"), ()),
        Given(at("g"), (text("x"),)),
        Given(at(("b", 1)), (text("x"),)),
        Skipped(at("g", "b")),
        NoMore(at("b")),
        Shown(at("b")),
        GroupAdded(at("b")),
        GroupAdded(at(("g", 2))),
        GroupRemoved(at("g")),
        Given((), (text("x"),)),
    ],
)
def test_an_event_for_a_place_that_does_not_exist_is_refused(event: Given) -> None:
    interview = Interview(form(item("g", "group", item("a", "string"), repeats=True), item("b", "string")))

    with pytest.raises(BadData, match=r"event|instance|answer"):
        interview.apply(event)


def test_an_answer_expression_that_finds_nothing_leaves_the_listed_options() -> None:
    questionnaire = form(
        item("q", "choice", answerOption=options("a"), extension=[formula("answerExpression", "%patient.contact.name")])
    )

    assert Interview(questionnaire).labels == ["a"]


def test_dates_known_in_part_are_kept_as_given() -> None:
    interview = Interview(form(item("d", "date"))).give("d", Answer("date", "1975-03"))

    assert interview.value("d") == "1975-03"


def test_an_expression_beside_minimum_is_evaluated_at_the_time() -> None:
    bound = {
        "url": CORE + "maxValue",
        "_valueDate": {"extension": [{"url": CORE + "cqf-calculatedValue", **fhirpath("today()")}]},
    }
    interview = Interview(form(item("d", "date", extension=[bound])))

    assert interview.codes("d", Answer("date", "2026-11-23")) == ["above-maximum"]
    assert interview.codes("d", Answer("date", "2026-11-22")) == []
