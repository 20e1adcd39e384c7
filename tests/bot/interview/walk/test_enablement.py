"""enableWhen: every operator on every type, rules on rules, repetitions kept apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.values.answer import Answer
from tests.bot.interview.resources import UCUM, Json, form, item
from tests.bot.interview.walk.engine_steps import (
    Interview,
    at,
    coding,
    formula,
    no,
    options,
    quantity,
    text,
    whole,
    yes,
)


def condition(question: str, operator: str, **answer: Any) -> Json:
    return {"question": question, "operator": operator, **answer}


def pair(kind: str, *conditions: Json, **more: Any) -> Json:
    """A question, and one that depends on it."""
    # Of two systems, so that a condition may name either: one that nothing listed can meet is no condition.
    elsewhere = {"valueCoding": {"system": "http://elsewhere.org", "code": "a"}}
    inner = {"answerOption": [*options("a", "b"), elsewhere]} if "choice" in kind else {}
    return form(item("q", kind, **inner), item("then", "string", enableWhen=list(conditions), **more))


DATE = "2001-06-15"
TABLE: list[tuple[str, str, Json, Answer, bool]] = [
    ("boolean", "=", {"answerBoolean": True}, yes(), True),
    ("boolean", "=", {"answerBoolean": True}, no(), False),
    ("boolean", "!=", {"answerBoolean": True}, no(), True),
    ("integer", "=", {"answerInteger": 5}, whole(5), True),
    ("integer", ">", {"answerInteger": 5}, whole(5), False),
    ("integer", ">=", {"answerInteger": 5}, whole(5), True),
    ("integer", "<", {"answerInteger": 5}, whole(4), True),
    ("integer", "<=", {"answerInteger": 5}, whole(6), False),
    ("integer", "!=", {"answerInteger": 5}, whole(6), True),
    ("decimal", "=", {"answerDecimal": Decimal("1.5")}, Answer("decimal", Decimal("1.50")), True),
    ("decimal", ">", {"answerDecimal": Decimal("1.5")}, Answer("decimal", 2), True),
    ("date", "<", {"answerDate": DATE}, Answer("date", "2001-06-14"), True),
    ("date", "<", {"answerDate": DATE}, Answer("date", "2001-06-15"), False),
    ("date", ">", {"answerDate": DATE}, Answer("date", "2002"), True),
    ("date", ">", {"answerDate": DATE}, Answer("date", "2001"), False),
    ("dateTime", ">=", {"answerDateTime": f"{DATE}T10:00:00Z"}, Answer("dateTime", f"{DATE}T12:00:00+02:00"), True),
    ("dateTime", "<", {"answerDateTime": f"{DATE}T10:00:00Z"}, Answer("dateTime", f"{DATE}T12:00:00+02:00"), False),
    ("time", ">", {"answerTime": "11:11:11"}, Answer("time", "11:11:12"), True),
    ("time", "<=", {"answerTime": "11:11:11"}, Answer("time", "11:11:12"), False),
    ("string", "=", {"answerString": "yes"}, text("yes"), True),
    ("string", "!=", {"answerString": "yes"}, text("Yes"), True),
    ("choice", "=", {"answerCoding": {"system": "http://example.org/codes", "code": "a"}}, coding("a"), True),
    ("choice", "=", {"answerCoding": {"system": "http://elsewhere.org", "code": "a"}}, coding("a"), False),
    ("choice", "=", {"answerCoding": {"code": "a"}}, coding("a", display="A"), True),
    ("choice", "!=", {"answerCoding": {"system": "http://example.org/codes", "code": "a"}}, coding("b"), True),
    ("open-choice", "=", {"answerString": "other"}, text("other"), True),
    ("quantity", ">", {"answerQuantity": {"value": 70, "system": UCUM, "code": "kg"}}, quantity("71", "kg"), True),
    ("quantity", ">", {"answerQuantity": {"value": 70, "system": UCUM, "code": "kg"}}, quantity("71", "g"), False),
    ("quantity", "=", {"answerQuantity": {"value": 70, "system": UCUM, "code": "kg"}}, quantity("70000", "g"), True),
    ("quantity", "<", {"answerQuantity": {"value": 70, "system": UCUM, "code": "kg"}}, quantity("1", "cm"), False),
    ("reference", "=", {"answerReference": {"reference": "Patient/1"}}, Answer("reference", {"reference": "Patient/1"}), True),
    ("reference", "!=", {"answerReference": {"reference": "Patient/1"}}, Answer("reference", {"reference": "Patient/2"}), True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "operator", "expected", "given", "enabled"), TABLE)
def test_an_operator_compares_the_answer_by_its_type(
    kind: str, operator: str, expected: Json, given: Answer, enabled: bool
) -> None:
    interview = Interview(pair(kind, condition("q", operator, **expected)))

    interview.give("q", given)

    assert interview.asks == ("ask then" if enabled else "done")


@pytest.mark.parametrize(("wanted", "before", "after"), [(True, "ask q", "ask then"), (False, "ask q", "done")])
def test_exists_asks_whether_there_is_an_answer(wanted: bool, before: str, after: str) -> None:
    interview = Interview(pair("string", condition("q", "exists", answerBoolean=wanted)))

    assert interview.asks == before
    assert interview.give("q", text("x")).asks == after
    assert interview.skip("q").asks == ("done" if wanted else "ask then")


@pytest.mark.parametrize("operator", ["=", "!=", ">", "<", ">=", "<="])
def test_without_an_answer_no_comparison_holds(operator: str) -> None:
    interview = Interview(pair("integer", condition("q", operator, answerInteger=5)))

    assert interview.skip("q").asks == "done"


@pytest.mark.parametrize(
    ("behavior", "first", "second", "enabled"),
    [
        ("all", yes(), yes(), True),
        ("all", yes(), no(), False),
        ("any", no(), yes(), True),
        ("any", no(), no(), False),
    ],
)
def test_several_conditions_go_together_as_enable_behavior_says(
    behavior: str, first: Answer, second: Answer, enabled: bool
) -> None:
    rules = [condition(question, "=", answerBoolean=True) for question in ("a", "b")]
    then = item("then", "string", enableWhen=rules, enableBehavior=behavior)
    interview = Interview(form(item("a", "boolean"), item("b", "boolean"), then))

    assert interview.give("a", first).give("b", second).asks == ("ask then" if enabled else "done")


def test_one_of_several_answers_is_enough() -> None:
    questionnaire = form(
        item("q", "choice", repeats=True, answerOption=options("a", "b", "c")),
        item("then", "string", enableWhen=[condition("q", "=", answerCoding={"code": "b"})]),
    )

    assert Interview(questionnaire).give("q", coding("a"), coding("b")).asks == "ask then"


def test_a_question_that_is_not_asked_counts_as_unanswered() -> None:
    questionnaire = form(
        item("a", "boolean"),
        item("b", "boolean", enableWhen=[condition("a", "=", answerBoolean=True)]),
        item("c", "string", enableWhen=[condition("b", "=", answerBoolean=True)]),
    )
    interview = Interview(questionnaire).give("a", yes()).give("b", yes())
    assert interview.asks == "ask c"

    interview.give("a", no())

    assert interview.asks == "done"
    assert [each["linkId"] for each in interview.items] == ["a"]


def test_answers_come_back_when_their_question_is_asked_again() -> None:
    questionnaire = form(
        item("a", "boolean"),
        item("g", "group", item("b", "string"), enableWhen=[condition("a", "=", answerBoolean=True)]),
    )
    interview = Interview(questionnaire).give("a", yes()).give(at("g", "b"), text("kept"))

    interview.give("a", no())
    assert interview.values("g", "b") == []
    interview.give("a", yes())

    assert interview.values("g", "b") == ["kept"]
    assert interview.asks == "done"


def test_what_is_inside_a_disabled_group_counts_as_unanswered() -> None:
    questionnaire = form(
        item("a", "boolean"),
        item("g", "group", item("b", "boolean"), enableWhen=[condition("a", "=", answerBoolean=True)]),
        item("c", "string", enableWhen=[condition("b", "exists", answerBoolean=True)]),
    )
    interview = Interview(questionnaire).give("a", yes()).give(at("g", "b"), yes())
    assert interview.asks == "ask c"

    assert interview.give("a", no()).asks == "done"


def test_each_repetition_looks_at_its_own_answers() -> None:
    questionnaire = form(
        item(
            "person",
            "group",
            item("ill", "boolean"),
            item("since", "string", enableWhen=[condition("ill", "=", answerBoolean=True)]),
            repeats=True,
        )
    )
    interview = Interview(questionnaire).add("person").give(at("person", "ill"), no())
    assert interview.asks == "another person[1]"

    interview.add(("person", 1)).give(at(("person", 1), "ill"), yes())

    assert interview.asks == "ask person[1]/since"


def test_a_question_outside_sees_all_repetitions() -> None:
    questionnaire = form(
        item("person", "group", item("ill", "boolean"), repeats=True),
        item("then", "string", enableWhen=[condition("ill", "=", answerBoolean=True)]),
    )
    interview = Interview(questionnaire).add("person").give(at("person", "ill"), yes())
    interview.add(("person", 1)).give(at(("person", 1), "ill"), no()).no_more("person")

    assert interview.asks == "ask then"


def test_a_question_below_a_question_depends_on_the_answers_above() -> None:
    inner = item("which", "string", enableWhen=[condition("q", "=", answerBoolean=True)])
    interview = Interview(form(item("q", "boolean", inner)))

    assert interview.give("q", yes()).asks == "ask q/which"
    assert interview.give("q", no()).asks == "done"


def test_two_questions_that_exclude_each_other_leave_the_one_that_was_answered() -> None:
    questionnaire = form(
        item("a", "string", enableWhen=[condition("b", "exists", answerBoolean=False)]),
        item("b", "string", enableWhen=[condition("a", "exists", answerBoolean=False)]),
    )
    interview = Interview(questionnaire)
    assert interview.asks == "ask a"

    interview.give("a", text("x"))

    assert interview.asks == "done"
    assert [each["linkId"] for each in interview.items] == ["a"]


def test_a_formula_decides_before_conditions_do() -> None:
    rule = formula("enableWhenExpression", "%resource.item.where(linkId='n').answer.value > 5")
    then = item("then", "string", extension=[rule], enableWhen=[condition("n", "exists", answerBoolean=False)])
    interview = Interview(form(item("n", "integer"), then))

    assert interview.give("n", whole(6)).asks == "ask then"
    assert interview.give("n", whole(5)).asks == "done"
    assert interview.skip("n").asks == "done"


def test_a_formula_in_a_repeated_group_stands_at_that_repetition() -> None:
    rule = formula("enableWhenExpression", "item.where(linkId='n').answer.value > 5")
    questionnaire = form(
        item("g", "group", item("n", "integer"), item("then", "string", extension=[rule]), repeats=True)
    )
    interview = Interview(questionnaire).add("g").give(at("g", "n"), whole(1))
    assert interview.asks == "another g[1]"

    interview.add(("g", 1)).give(at(("g", 1), "n"), whole(9))

    assert interview.asks == "ask g[1]/then"


def test_a_repeating_group_that_a_rule_opened_begins_without_asking_whether_there_is_any() -> None:
    inner = item("g", "group", item("b", "string"), repeats=True, enableWhen=[condition("a", "=", answerBoolean=True)])
    interview = Interview(form(item("a", "boolean"), inner))

    assert interview.give("a", no()).asks == "done"
    assert interview.give("a", yes()).asks == "ask g/b"
