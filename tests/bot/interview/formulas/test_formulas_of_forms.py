"""FHIRPath in forms: variables, calculated and initial values, options from formulas, launch context, constraints."""

from __future__ import annotations

from datetime import timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from bot.interview.load import load_form
from bot.interview.values.answer import Answer
from bot.interview.walk.engine import Engine
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, amount, form, item
from tests.bot.interview.walk.engine_steps import (
    NOW,
    Interview,
    at,
    coding,
    decimal,
    fhirpath,
    formula,
    hidden,
    no,
    options,
    text,
    variable,
    whole,
    yes,
)

PATIENT: Json = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"use": "official", "family": "Muster", "given": ["Anna", "Maria"]}],
    "gender": "female",
    "birthDate": "1960-02-03",
    "maritalStatus": {"coding": [{"system": "http://example.org/codes", "code": "M"}]},
}


def answer_to(link_id: str) -> str:
    return f"%resource.item.where(linkId='{link_id}').answer.value"


def bmi() -> Json:
    return form(
        item("weight", "decimal"),
        item("height", "decimal"),
        item("bmi", "decimal", extension=[formula("calculatedExpression", "(%kg / %m.power(2)).round(1)")]),
        extension=[variable("kg", answer_to("weight")), variable("m", answer_to("height") + " / 100")],
    )


def constraint(expression: str, human: str, **more: Any) -> Json:
    parts = {"key": {"valueId": "k1"}, "severity": {"valueCode": "error"}, **more}
    inner = [{"url": url, **value} for url, value in parts.items()]
    inner += [{"url": "expression", "valueString": expression}, {"url": "human", "valueString": human}]
    return {"url": CORE + "questionnaire-constraint", "extension": inner}


def target_constraint(expression: str, human: str) -> Json:
    parts = [{"url": "expression", **fhirpath(expression)}, {"url": "human", "valueString": human}]
    return {"url": CORE + "targetConstraint", "extension": [{"url": "severity", "valueCode": "error"}, *parts]}


def test_a_value_is_calculated_as_soon_as_what_it_needs_is_there() -> None:
    interview = Interview(bmi()).give("weight", decimal("70"))
    assert interview.values("bmi") == []

    interview.give("height", decimal("170"))

    assert interview.value("bmi") == Decimal("24.2")


def test_a_calculated_value_follows_the_answers() -> None:
    interview = Interview(bmi()).give("weight", decimal("70")).give("height", decimal("170"))

    assert interview.give("weight", decimal("80")).value("bmi") == Decimal("27.7")
    assert interview.clear("weight").values("bmi") == []


def test_a_value_that_the_patient_edited_is_not_calculated_again() -> None:
    interview = Interview(bmi()).give("weight", decimal("70")).give("height", decimal("170"))

    interview.give("bmi", decimal("25")).give("weight", decimal("80"))
    assert interview.value("bmi") == Decimal("25")

    assert interview.clear("bmi").value("bmi") == Decimal("27.7")


def test_a_calculated_value_that_was_confirmed_goes_on_being_calculated() -> None:
    interview = Interview(bmi()).give("weight", decimal("70")).give("height", decimal("170"))
    interview.give("bmi", *interview.filling.at(at("bmi")), proposed=True)

    assert interview.give("weight", decimal("80")).value("bmi") == Decimal("27.7")


def test_calculated_values_feed_each_other_in_any_order() -> None:
    questionnaire = form(
        item("twice", "integer", extension=[formula("calculatedExpression", answer_to("next") + " * 2")]),
        item("next", "integer", extension=[formula("calculatedExpression", answer_to("a") + " + 1")]),
        item("a", "integer"),
    )

    assert Interview(questionnaire).give("a", whole(4)).value("twice") == 10


def test_formulas_in_a_circle_come_to_rest() -> None:
    questionnaire = form(
        item("a", "integer", extension=[formula("calculatedExpression", f"iif({answer_to('b')}.exists(), {answer_to('b')} + 1, 1)")]),
        item("b", "integer", extension=[formula("calculatedExpression", answer_to("a") + " + 1")]),
        item("c", "string"),
    )  # fmt: skip
    interview = Interview(questionnaire)

    assert interview.give("c", text("x")).asks == "done"
    assert Interview(questionnaire).give("c", text("x")).filling == interview.filling


def test_a_sum_over_all_answers_does_not_count_itself() -> None:
    questionnaire = form(
        item("a", "integer"),
        item("b", "integer"),
        item("sum", "integer", extension=[formula("calculatedExpression", "%resource.item.answer.value.sum()")]),
    )
    interview = Interview(questionnaire).give("a", whole(2)).give("b", whole(3))

    assert interview.value("sum") == 5
    assert interview.give("b", whole(4)).value("sum") == 6


def test_hidden_calculated_values_are_sent() -> None:
    questionnaire = form(item("h", "string", extension=[hidden(), formula("calculatedExpression", "'x'")]))

    assert Interview(questionnaire).value("h") == "x"


def test_what_a_score_adds_up_is_what_the_chosen_options_count() -> None:
    def scored(code: str, points: int) -> Json:
        mark = {"url": CORE + "ordinalValue", "valueDecimal": points}
        return {"valueCoding": {"code": code}, "extension": [mark]}

    listed = [scored("never", 0), scored("often", 3)]
    questionnaire = form(
        item("g", "group", item("a", "choice", answerOption=listed), item("b", "choice", answerOption=listed)),
        item(
            "score",
            "quantity",
            extension=[formula("calculatedExpression", "%resource.answers().value.ordinal().sum()")],
        ),
    )
    interview = Interview(questionnaire).give(at("g", "a"), Answer("coding", {"code": "often"}))

    interview.give(at("g", "b"), Answer("coding", {"code": "often"}))

    assert interview.value("score") == {"value": 6}


def test_a_number_becomes_a_quantity_in_the_usual_unit() -> None:
    unit = {"url": CORE + "questionnaire-unit", "valueCoding": {"system": UCUM, "code": "kg", "display": "kg"}}
    questionnaire = form(item("w", "quantity", extension=[unit, formula("calculatedExpression", "70")]))

    assert Interview(questionnaire).value("w") == {"value": 70, "unit": "kg", "system": UCUM, "code": "kg"}


@pytest.mark.parametrize(
    ("kind", "expression", "expected"),
    [
        ("time", "@T10:00", "10:00:00"),
        ("time", "@T10", "10:00:00"),
        ("time", "@T10:00:30.5 + 1 hour", "11:00:30.5"),
        ("dateTime", "@2026-01-01T10:00:00", "2026-01-01T10:00:00+01:00"),
        ("dateTime", "@2026-01-01T10", "2026-01-01T10:00:00+01:00"),
        ("dateTime", "@2026-01-01T10:00Z", "2026-01-01T10:00:00Z"),
        ("dateTime", "@2026-01", "2026-01"),
        ("date", "@2026-01-01 + 2 * 1 month", "2026-03-01"),
    ],
)
def test_a_calculated_time_stands_as_r4_has_to_have_it(kind: str, expression: str, expected: str) -> None:
    zone = timezone(timedelta(hours=1))
    asked = form(item("t", kind, extension=[formula("calculatedExpression", expression)]))
    engine = Engine(load_form(asked), now=NOW.astimezone(zone))

    assert engine.start().at(at("t")) == (Answer(kind, expected),)


@pytest.mark.parametrize(
    ("given", "expression", "expected"),
    [
        ({"value": Decimal(3), "unit": "Tabletten"}, "* 2", {"value": Decimal(6), "unit": "Tabletten"}),
        ({"value": Decimal(3)}, "* 2", {"value": Decimal(6)}),
        (
            {"value": Decimal(3), "unit": "Tablette", "system": "http://example.org/units", "code": "T"},
            "+ %resource.item.answer.value.where(code = 'T')",
            {"value": Decimal(6), "unit": "Tablette", "system": "http://example.org/units", "code": "T"},
        ),
        (amount(70, "kg", "Kilogramm"), "* 2", amount(140, "kg", "Kilogramm")),
        (amount(70, "kg", "Kilogramm"), "+ 500 'g'", amount(70500, "g")),
        (amount(2, "mo", "Monate"), "* 2", amount(4, "mo", "Monate")),
        (amount(2, "mo", "Monate"), "+ 1 week", amount(67, "d", "days")),
        ({"value": Decimal(80), "unit": "kg"}, "/ 4 'm2'", amount(20, "kg/m2")),
        ({"value": Decimal(80), "unit": "Tabletten", "system": "http://example.org", "code": "kg"}, "+ 1 'kg'", {}),
        ({"value": Decimal(80), "system": "http://example.org", "code": "kg"}, "/ 2 'm'", {"value": Decimal(40), "unit": "kg/m"}),
    ],
)  # fmt: skip
def test_what_is_computed_from_a_quantity_keeps_its_system_and_what_it_is_called(
    given: Json, expression: str, expected: Json
) -> None:
    asked = form(
        item("a", "quantity"),
        item("b", "quantity", extension=[formula("calculatedExpression", f"{answer_to('a')} {expression}")]),
    )

    found = Interview(asked).give("a", Answer("quantity", given)).values("b")

    assert found == ([expected] if expected else [])


def test_a_code_that_a_formula_finds_becomes_the_listed_option() -> None:
    questionnaire = form(
        item("yes", "boolean"),
        item(
            "risk",
            "choice",
            answerOption=options("high", "low"),
            extension=[formula("calculatedExpression", f"iif({answer_to('yes')}, 'high', 'low')")],
        ),
    )

    assert Interview(questionnaire).give("yes", yes()).value("risk") == {
        "system": "http://example.org/codes",
        "code": "high",
    }
    assert Interview(questionnaire).give("yes", no()).value("risk") == {
        "system": "http://example.org/codes",
        "code": "low",
    }


def test_a_variable_of_a_group_is_worked_out_per_repetition() -> None:
    group = item(
        "g",
        "group",
        item("n", "integer"),
        item("twice", "integer", extension=[formula("calculatedExpression", "%own * 2")]),
        repeats=True,
        extension=[variable("own", "item.where(linkId='n').answer.value")],
    )
    interview = Interview(form(group)).add("g").give(at("g", "n"), whole(2))

    interview.add(("g", 1)).give(at(("g", 1), "n"), whole(5))

    assert interview.values("g", "twice") == [4, 10]


def test_an_inner_variable_hides_an_outer_one_and_may_use_it() -> None:
    inner = item(
        "g",
        "group",
        item("a", "integer", extension=[formula("calculatedExpression", "%n")]),
        extension=[variable("n", "%n + 1")],
    )
    outer = item("b", "integer", extension=[formula("calculatedExpression", "%n")])
    interview = Interview(form(inner, outer, extension=[variable("n", "1")]))

    assert (interview.value("g", "a"), interview.value("b")) == (2, 1)


def test_what_the_launch_context_knows_is_proposed() -> None:
    questionnaire = form(
        item("family", "string", extension=[formula("initialExpression", "%patient.name.where(use='official').family")]),
        item("given", "string", repeats=True, extension=[formula("initialExpression", "%patient.name.given")]),
        item("born", "date", extension=[formula("initialExpression", "%patient.birthDate")]),
        item("sex", "choice", answerOption=options("male", "female"), extension=[formula("initialExpression", "%patient.gender")]),
        item("married", "choice", answerOption=options("M", "S"), extension=[formula("initialExpression", "%patient.maritalStatus")]),
        item("who", "reference", extension=[formula("initialExpression", "%patient")]),
    )  # fmt: skip
    interview = Interview(questionnaire, launch={"patient": PATIENT})

    proposals = {}
    while interview.asks != "done":
        proposals[interview.step.item.link_id] = [answer.value for answer in interview.proposal]  # type: ignore[union-attr]
        interview.skip(interview.step.path).no_more(interview.step.path if interview.asks == "another" else "given")  # type: ignore[union-attr]

    assert proposals == {
        "family": ["Muster"],
        "given": ["Anna", "Maria"],
        "born": ["1960-02-03"],
        "sex": [{"system": "http://example.org/codes", "code": "female"}],
        "married": [{"system": "http://example.org/codes", "code": "M"}],
        "who": [{"reference": "Patient/p1"}],
    }


def test_without_the_launch_context_nothing_is_proposed() -> None:
    questionnaire = form(item("a", "string", extension=[formula("initialExpression", "%user.name.family")]))

    assert Interview(questionnaire).proposal == ()


def test_a_declared_name_of_the_launch_context_is_known() -> None:
    name = {"url": "name", "valueCoding": {"code": "client"}}
    questionnaire = form(
        item("a", "string", extension=[formula("initialExpression", "%client.name.family")]),
        extension=[{"url": SDC + "sdc-questionnaire-launchContext", "extension": [name]}],
    )

    assert Interview(questionnaire, launch={"client": PATIENT}).proposal == (text("Muster"),)


def test_an_initial_expression_may_look_at_earlier_answers() -> None:
    questionnaire = form(
        item("a", "string"), item("b", "string", extension=[formula("initialExpression", answer_to("a"))])
    )
    interview = Interview(questionnaire).give("a", text("x"))

    assert interview.proposal == (text("x"),)


def test_hidden_items_take_their_initial_expression() -> None:
    questionnaire = form(item("a", "string", extension=[hidden(), formula("initialExpression", "%patient.id")]))

    assert Interview(questionnaire, launch={"patient": PATIENT}).value("a") == "p1"


def test_today_and_now_are_the_moment_handed_in() -> None:
    questionnaire = form(
        item("d", "date", readOnly=True, extension=[formula("calculatedExpression", "today()")]),
        item("t", "dateTime", readOnly=True, extension=[formula("calculatedExpression", "now()")]),
    )
    interview = Interview(questionnaire)

    assert (interview.value("d"), interview.value("t")) == ("2026-11-22", NOW.isoformat())


def test_the_options_are_what_an_answer_expression_finds() -> None:
    found = "%resource.item.where(linkId='names').answer.value"
    questionnaire = form(
        item("names", "string", repeats=True),
        item("best", "open-choice", extension=[formula("answerExpression", found)]),
    )
    interview = Interview(questionnaire).give("names", text("a"), text("b")).no_more("names")

    assert interview.labels == ["a", "b"]
    assert interview.codes("best", text("a")) == []


def test_options_are_switched_off_by_a_formula() -> None:
    toggle = {
        "url": SDC + "sdc-questionnaire-answerOptionsToggleExpression",
        "extension": [
            {"url": "option", "valueCoding": {"system": "http://example.org/codes", "code": "c"}},
            {"url": "expression", **fhirpath(answer_to("all"))},
        ],
    }
    questionnaire = form(
        item("all", "boolean"), item("q", "choice", answerOption=options("a", "b", "c"), extension=[toggle])
    )
    interview = Interview(questionnaire).give("all", no())
    assert interview.labels == ["a", "b"]
    assert interview.codes("q", coding("c")) == ["not-an-option"]

    interview.give("all", yes())
    assert interview.labels == ["a", "b", "c"]

    interview.give("q", coding("c")).give("all", no())
    assert interview.open == [("not-an-option", "q")]


@pytest.mark.parametrize("make", [constraint, target_constraint])
def test_a_broken_constraint_says_what_the_form_says(make: Any) -> None:
    questionnaire = form(item("n", "integer", extension=[make("answer.value > 3", "Must be more than three")]))
    interview = Interview(questionnaire)

    (problem,) = interview.problems("n", whole(2))

    assert (problem.code, problem.human, problem.severity) == ("constraint", "Must be more than three", "error")
    assert interview.problems("n", whole(4)) == ()


def test_a_formula_that_begins_with_the_response_sees_all_of_it_wherever_it_stands() -> None:
    other = "QuestionnaireResponse.item.where(linkId='a').answer.value"
    questionnaire = form(
        item("a", "integer"),
        item(
            "g",
            "group",
            item("b", "integer", extension=[constraint(f"answer.value > {other}", "Must be more than a")]),
            item("c", "string", extension=[formula("enableWhenExpression", f"{other} > 5")]),
        ),
    )
    interview = Interview(questionnaire).give("a", whole(3))

    assert [each.human for each in interview.problems(at("g", "b"), whole(2))] == ["Must be more than a"]
    assert interview.problems(at("g", "b"), whole(4)) == ()
    assert interview.give(at("g", "b"), whole(4)).asks == "done"
    assert Interview(questionnaire).give("a", whole(6)).give(at("g", "b"), whole(7)).asks == "ask g/c"


def test_a_constraint_between_questions_is_said_when_the_last_of_them_is_answered() -> None:
    rule = constraint(f"{answer_to('start')} <= {answer_to('end')}", "The end is before the start")
    questionnaire = form(item("start", "date"), item("end", "date"), extension=[rule])
    interview = Interview(questionnaire)
    assert interview.codes("start", Answer("date", "2020-05-01")) == []

    interview.give("start", Answer("date", "2020-05-01"))

    assert interview.codes("end", Answer("date", "2020-04-01")) == ["constraint"]
    assert interview.codes("end", Answer("date", "2020-06-01")) == []


def test_a_broken_constraint_of_the_form_is_left_open() -> None:
    rule = constraint(f"{answer_to('a')}.exists() or {answer_to('b')}.exists()", "Say one of them")
    interview = Interview(form(item("a", "string"), item("b", "string"), extension=[rule])).skip("a").skip("b")

    assert interview.open == [("constraint", "")]
    assert interview.give("a", text("x")).open == []


def test_a_constraint_of_a_repeated_group_is_checked_per_repetition() -> None:
    rule = constraint("item.where(linkId='a').answer.value <= item.where(linkId='b').answer.value", "a is more than b")
    group = item("g", "group", item("a", "integer"), item("b", "integer"), repeats=True, extension=[rule])
    interview = Interview(form(group)).add("g").give(at("g", "a"), whole(1)).give(at("g", "b"), whole(2))
    interview.add(("g", 1)).give(at(("g", 1), "a"), whole(5))

    assert interview.codes(at(("g", 1), "b"), whole(4)) == ["constraint"]
    interview.give(at(("g", 1), "b"), whole(4)).no_more("g")

    (problem,) = interview.engine.open_problems(interview.filling)
    assert problem.path == at(("g", 1))


def test_a_mild_constraint_is_a_warning() -> None:
    rule = constraint("answer.value > 3", "Rather low", severity={"valueCode": "warning"})
    interview = Interview(form(item("n", "integer", extension=[rule])))

    assert [problem.severity for problem in interview.problems("n", whole(1))] == ["warning"]


def test_a_formula_that_fails_gives_nothing() -> None:
    questionnaire = form(
        item("a", "string", repeats=True),
        item("b", "integer", extension=[formula("calculatedExpression", answer_to("a") + " + 1")]),
    )

    assert Interview(questionnaire).give("a", text("x"), text("y")).values("b") == []
