"""Which items may be answered: enableWhen over other answers, alone and together, in repeating groups, by formulas."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from bot.interview.form.form import Condition
from bot.interview.load import load_form
from bot.interview.rules.enabled import Truth, holds, is_switched_on
from bot.interview.values.answer import Answer
from tests.bot.interview.resources import (
    CORE,
    SDC,
    checked,
    coding,
    errors,
    extended,
    form,
    item,
    quantity,
    response,
    rules,
    said,
)

YES, NO, TEXT = {"valueBoolean": True}, {"valueBoolean": False}, {"valueString": "x"}
PATIENT = {"valueReference": {"reference": "Patient/1"}}
WHEN_YES = {"question": "q", "operator": "=", "answerBoolean": True}


def when(operator: str, question: str = "q", **answer: Any) -> dict[str, Any]:
    return {"question": question, "operator": operator, **answer}


def outcome(kind: str, condition: dict[str, Any], *answers: dict[str, Any]) -> list[str]:
    """Return the errors when `dependent` is answered and when it is not, though required."""
    asked = form(
        item("q", kind, repeats=True),
        item("dependent", "string", required=True, enableWhen=[condition]),
    )
    target = [said("q", *answers)] if answers else []
    answered = errors(checked(asked, response(*target, said("dependent", TEXT))))
    left_out = errors(checked(asked, response(*target)))
    return answered + left_out


ENABLED, DISABLED, UNCLEAR = ["required"], ["enableWhen"], list[str]()


@pytest.mark.parametrize(
    ("kind", "condition", "answers", "expected"),
    [
        ("boolean", when("=", answerBoolean=True), [YES], ENABLED),
        ("boolean", when("=", answerBoolean=True), [NO], DISABLED),
        ("boolean", when("=", answerBoolean=True), [], DISABLED),
        ("boolean", when("=", answerBoolean=True), [NO, YES], ENABLED),
        ("boolean", when("exists", answerBoolean=True), [NO], ENABLED),
        ("boolean", when("exists", answerBoolean=True), [], DISABLED),
        ("boolean", when("exists", answerBoolean=False), [], ENABLED),
        ("boolean", when("exists", answerBoolean=False), [YES], DISABLED),
        ("string", when("!=", answerString="a"), [TEXT], ENABLED),
        ("string", when("!=", answerString="x"), [TEXT], DISABLED),
        ("string", when("!=", answerString="x"), [], UNCLEAR),
        ("string", when("!=", answerString="x"), [TEXT, {"valueString": "y"}], UNCLEAR),
        ("integer", when(">", answerInteger=2), [{"valueInteger": 3}], ENABLED),
        ("integer", when(">", answerInteger=2), [{"valueInteger": 2}], DISABLED),
        ("integer", when(">=", answerInteger=2), [{"valueInteger": 2}], ENABLED),
        ("integer", when("<", answerInteger=2), [{"valueInteger": 3}, {"valueInteger": 1}], ENABLED),
        ("decimal", when("<=", answerDecimal=Decimal("1.50")), [{"valueDecimal": Decimal("1.5")}], ENABLED),
        ("date", when(">", answerDate="2020-05-01"), [{"valueDate": "2021"}], ENABLED),
        ("date", when(">", answerDate="2020-05-01"), [{"valueDate": "2020"}], UNCLEAR),
        ("time", when("<", answerTime="12:00:00"), [{"valueTime": "11:59:59"}], ENABLED),
        ("quantity", when(">", answerQuantity=quantity("1")["valueQuantity"]), [quantity("1001", "g")], ENABLED),
        ("quantity", when(">", answerQuantity=quantity("1")["valueQuantity"]), [quantity("5", "m")], UNCLEAR),
        ("choice", when("=", answerCoding={"system": "http://example.org/codes", "code": "a"}), [coding("a")], ENABLED),
        ("choice", when("=", answerCoding={"system": "http://other", "code": "a"}), [coding("a")], DISABLED),
        ("choice", when("=", answerCoding={"code": "a"}), [coding("a")], ENABLED),
        ("reference", when("=", answerReference={"reference": "Patient/1"}), [PATIENT], ENABLED),
    ],
)  # fmt: skip
def test_a_condition_enables_an_item(
    kind: str, condition: dict[str, Any], answers: list[dict[str, Any]], expected: list[str]
) -> None:
    assert outcome(kind, condition, *answers) == expected


@pytest.mark.parametrize(
    ("behaviour", "one", "two", "expected"),
    [
        ("all", YES, YES, []),
        ("all", YES, NO, ["enableWhen"]),
        ("any", YES, NO, []),
        ("any", NO, NO, ["enableWhen"]),
    ],
)
def test_several_conditions_hold_all_or_any(
    behaviour: str, one: dict[str, Any], two: dict[str, Any], expected: list[str]
) -> None:
    conditions = [WHEN_YES, {**WHEN_YES, "question": "r"}]
    dependent = item("dependent", "string", enableWhen=conditions, enableBehavior=behaviour)
    asked = form(item("q", "boolean"), item("r", "boolean"), dependent)

    assert errors(checked(asked, response(said("q", one), said("r", two), said("dependent", TEXT)))) == expected


def test_items_inside_what_is_not_asked_are_not_asked_either_and_reported_once() -> None:
    group = item("g", "group", item("a", "string", required=True), item("b", "string"), enableWhen=[WHEN_YES])
    asked = form(item("q", "boolean"), group)

    assert errors(checked(asked, response(said("q", NO)))) == []
    findings = checked(asked, response(said("q", NO), said("g", item=[said("a", TEXT), said("b", TEXT)])))
    assert [(finding.rule, finding.path) for finding in findings] == [("enableWhen", "QuestionnaireResponse.item[1]")]


def test_answers_of_an_item_that_is_not_asked_enable_nothing() -> None:
    first = item("first", "boolean", enableWhen=[WHEN_YES])
    second = item("second", "string", required=True, enableWhen=[when("=", "first", answerBoolean=True)])
    asked = form(item("q", "boolean"), first, second)

    findings = checked(asked, response(said("q", NO), said("first", YES)))

    assert errors(findings) == ["enableWhen"]  # of `first`; that `second` is missing is right


def test_conditions_in_a_repeating_group_look_at_their_own_repetition() -> None:
    group = item(
        "g", "group", item("q", "boolean"), item("a", "string", required=True, enableWhen=[WHEN_YES]), repeats=True
    )
    one, other = said("g", item=[said("q", YES), said("a", TEXT)]), said("g", item=[said("q", NO)])

    assert errors(checked(form(group), response(one, other))) == []
    wrong = said("g", item=[said("q", NO), said("a", TEXT)])
    assert errors(checked(form(group), response(one, wrong))) == ["enableWhen"]


def test_an_item_may_depend_on_the_answer_it_is_nested_in() -> None:
    asked = form(item("q", "boolean", item("why", "string", enableWhen=[WHEN_YES])))

    assert errors(checked(asked, response(said("q", {**YES, "item": [said("why", TEXT)]})))) == []
    assert errors(checked(asked, response(said("q", {**NO, "item": [said("why", TEXT)]})))) == ["enableWhen"]


def test_until_a_response_is_finished_answers_to_disabled_items_are_warnings() -> None:
    asked = form(item("q", "boolean"), item("a", "string", enableWhen=[WHEN_YES]))

    findings = checked(asked, response(said("q", NO), said("a", TEXT), status="in-progress"))

    assert rules(findings) == [("warning", "enableWhen")]


def test_conditions_in_a_circle_decide_nothing() -> None:
    asked = form(
        item("a", "string", enableWhen=[when("exists", "b", answerBoolean=True)]),
        item("b", "string", enableWhen=[when("exists", "a", answerBoolean=True)]),
    )

    assert errors(checked(asked, response(said("a", TEXT), said("b", TEXT)))) == []


def test_a_long_chain_of_conditions_on_later_items_ends() -> None:
    length = 3000
    items = [
        item(f"i{n}", "string", enableWhen=[when("exists", f"i{n + 1}", answerBoolean=True)]) for n in range(length)
    ]
    asked = form(*items, item(f"i{length}", "string"))

    findings = checked(asked, response(*[said(f"i{n}", TEXT) for n in range(length + 1)]))

    assert errors(findings) == []


def formula(text: str, name: str = "sdc-questionnaire-enableWhenExpression") -> list[dict[str, Any]]:
    return extended((SDC + name, {"valueExpression": {"language": "text/fhirpath", "expression": text}}))


COUNTED = "%resource.item.where(linkId='q').answer.value > 2"


@pytest.mark.parametrize(("value", "expected"), [(3, []), (2, ["enableWhen"])])
def test_an_expression_enables_an_item(value: int, expected: list[str]) -> None:
    asked = form(item("q", "integer"), item("a", "string", extension=formula(COUNTED)))

    given = response(said("q", {"valueInteger": value}), said("a", TEXT))

    assert errors(checked(asked, given)) == expected


def test_an_expression_may_use_variables() -> None:
    variable = extended(
        (
            CORE + "variable",
            {
                "valueExpression": {
                    "name": "n",
                    "language": "text/fhirpath",
                    "expression": "%resource.item.where(linkId='q').answer.value",
                }
            },
        )
    )
    asked = form(item("q", "integer"), item("a", "string", extension=formula("%n > 2")), extension=variable)

    assert errors(checked(asked, response(said("q", {"valueInteger": 3}), said("a", TEXT)))) == []
    assert errors(checked(asked, response(said("q", {"valueInteger": 1}), said("a", TEXT)))) == ["enableWhen"]


@pytest.mark.parametrize("text", ["%patient.gender = 'female'", "not FHIRPath (", "today() > @2020-01-01", "%n"])
def test_an_expression_that_cannot_be_evaluated_decides_nothing_and_says_so(text: str) -> None:
    looping = extended(
        (CORE + "variable", {"valueExpression": {"name": "n", "language": "text/fhirpath", "expression": "%n"}})
    )
    asked = form(item("a", "string", extension=formula(text), required=True), extension=looping)

    assert rules(checked(asked, response(said("a", TEXT)))) == [("information", "enableWhen")]
    assert rules(checked(asked, response())) == [("warning", "required")]


def test_an_expression_may_ask_for_the_time_where_it_is_given() -> None:
    asked = form(item("a", "string", extension=formula("today() > @2020-01-01")))

    findings = checked(asked, response(said("a", TEXT)), now="2019-01-01T00:00:00Z")

    assert errors(findings) == ["enableWhen"]


def constraint(expression: dict[str, Any], severity: str = "error") -> list[dict[str, Any]]:
    parts = extended(
        ("key", {"valueId": "sum-1"}),
        ("severity", {"valueCode": severity}),
        ("expression", expression),
        ("human", {"valueString": "Mindestens zwei"}),
    )
    return [{"url": CORE + "questionnaire-constraint", "extension": parts}]


@pytest.mark.parametrize(
    ("answers", "severity", "status", "expected"),
    [
        ([TEXT, TEXT], "error", "completed", []),
        ([TEXT], "error", "completed", [("error", "sum-1")]),
        ([TEXT], "warning", "completed", [("warning", "sum-1")]),
        ([TEXT], "error", "in-progress", [("warning", "sum-1")]),
    ],
)
def test_a_constraint_on_an_item_is_kept(
    answers: list[dict[str, Any]], severity: str, status: str, expected: list[tuple[str, str]]
) -> None:
    rule = constraint({"valueString": "answer.count() >= 2"}, severity)
    asked = form(item("a", "string", repeats=True, extension=rule))

    findings = checked(asked, response(said("a", *answers), status=status))

    assert rules(findings) == expected
    assert all(finding.text == "Item 'a': Mindestens zwei" for finding in findings)


@pytest.mark.parametrize(("other", "expected"), [(3, []), (2, [("error", "sum-1")])])
def test_a_constraint_that_begins_with_the_response_sees_all_of_it(other: int, expected: list[tuple[str, str]]) -> None:
    rule = constraint({"valueString": "QuestionnaireResponse.item.where(linkId='b').answer.value = 3"})
    asked = form(item("a", "string", extension=rule), item("b", "integer"))

    findings = checked(asked, response(said("a", TEXT), said("b", {"valueInteger": other})))

    assert rules(findings) == expected


def test_a_constraint_on_the_whole_form_is_kept() -> None:
    rule = constraint({"valueExpression": {"language": "text/fhirpath", "expression": "item.count() = 2"}})
    asked = form(item("a", "string"), item("b", "string"), extension=rule)

    assert rules(checked(asked, response(said("a", TEXT)))) == [("error", "sum-1")]
    assert rules(checked(asked, response(said("a", TEXT), said("b", TEXT)))) == []


def test_a_constraint_that_cannot_be_evaluated_is_a_warning() -> None:
    asked = form(item("a", "string", extension=constraint({"valueString": "answer.nonsense("})))

    assert rules(checked(asked, response(said("a", TEXT)))) == [("warning", "constraint")]


@pytest.mark.parametrize(
    ("operator", "given", "validator", "interview"),
    [
        ("=", [], Truth.NO, False),
        ("=", [5, 6], Truth.YES, True),
        (">=", [4], Truth.NO, False),
        ("!=", [], Truth.UNCLEAR, False),
        ("!=", [6], Truth.YES, True),
        ("!=", [5], Truth.NO, False),
        ("!=", [5, 6], Truth.UNCLEAR, True),
        ("like", [5], Truth.UNCLEAR, False),
    ],
)
def test_the_interview_decides_what_the_validator_leaves_unclear(
    operator: str, given: list[int], validator: Truth, interview: bool
) -> None:
    expected, answers = Answer("integer", 5), [Answer("integer", value) for value in given]
    condition = {"question": "q", "operator": operator if operator != "like" else "=", "answerInteger": 5}
    asked = load_form(form(item("q", "integer", repeats=True), item("a", "string", enableWhen=[condition]))).items[1]
    asked = replace(asked, conditions=(Condition("q", operator, expected),))

    assert holds(operator, expected, answers) is validator
    assert is_switched_on(asked, lambda link_id: answers if link_id == "q" else []) is interview


@pytest.mark.parametrize(("behaviour", "expected"), [("any", True), ("all", False), (None, True)])
def test_of_several_conditions_without_a_word_one_is_enough_for_the_interview(
    behaviour: str | None, expected: bool
) -> None:
    both = [when("=", "q", answerInteger=5), when("=", "q", answerInteger=6)]
    head = {"enableBehavior": behaviour} if behaviour else {}
    asked = load_form(form(item("q", "integer"), item("a", "string", enableWhen=both, **head))).items[1]

    assert is_switched_on(asked, lambda _: [Answer("integer", 5)]) is expected
