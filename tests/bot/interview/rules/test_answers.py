"""What is wrong with an answer: each limit just met and just missed, with the values a message needs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.values.answer import Answer
from tests.bot.interview.resources import CORE, SDC, UCUM, Json, form, item
from tests.bot.interview.walk.engine_steps import (
    Interview,
    at,
    coding,
    decimal,
    no,
    options,
    quantity,
    text,
    whole,
    yes,
)


def core(name: str, **value: Any) -> Json:
    return {"url": CORE + name, **value}


def kilograms(value: int) -> Json:
    return {"valueQuantity": {"value": value, "system": UCUM, "code": "kg", "unit": "kg"}}


def unit(code: str) -> Json:
    return {"valueCoding": {"system": UCUM, "code": code, "display": code}}


def attachment(**value: Any) -> Answer:
    return Answer("attachment", {"contentType": "image/png", **value})


TABLE: list[tuple[str, Json, Answer, list[str]]] = [
    ("boolean", {}, whole(1), ["wrong-type"]),
    ("boolean", {}, Answer("boolean", "true"), ["malformed"]),
    ("integer", {}, Answer("integer", Decimal("1.5")), ["malformed"]),
    ("integer", {}, Answer("integer", True), ["malformed"]),
    ("integer", {}, decimal("1"), ["wrong-type"]),
    ("decimal", {}, whole(1), ["wrong-type"]),
    ("decimal", {}, decimal("1.50"), []),
    ("date", {}, Answer("date", "2020-02-30"), ["malformed"]),
    ("date", {}, Answer("date", "2020-02"), []),
    ("dateTime", {}, Answer("dateTime", "2020-02-01T10:00:00"), ["malformed"]),
    ("time", {}, Answer("time", "25:00:00"), ["malformed"]),
    ("string", {}, text(""), ["malformed"]),
    ("text", {}, text("a\nb"), []),
    ("url", {}, Answer("uri", "http://example.org"), []),
    ("url", {}, Answer("uri", "not a url"), ["malformed"]),
    ("quantity", {}, Answer("quantity", {"unit": "kg"}), ["malformed"]),
    ("reference", {}, Answer("reference", {}), ["malformed"]),
    ("string", {"maxLength": 3}, text("abc"), []),
    ("string", {"maxLength": 3}, text("abcd"), ["too-long"]),
    ("string", {"extension": [core("minLength", valueInteger=3)]}, text("ab"), ["too-short"]),
    ("string", {"extension": [core("minLength", valueInteger=3)]}, text("abc"), []),
    ("string", {"extension": [core("regex", valueString="[0-9]{4}")]}, text("8000"), []),
    ("string", {"extension": [core("regex", valueString="[0-9]{4}")]}, text("80001"), ["pattern"]),
    ("string", {"extension": [core("regex", valueString="matches('^[0-9]{4}$')")]}, text("800"), ["pattern"]),
    ("integer", {"extension": [core("minValue", valueInteger=3)]}, whole(3), []),
    ("integer", {"extension": [core("minValue", valueInteger=3)]}, whole(2), ["below-minimum"]),
    ("integer", {"extension": [core("maxValue", valueInteger=3)]}, whole(4), ["above-maximum"]),
    ("decimal", {"extension": [core("maxValue", valueDecimal=Decimal("2.5"))]}, decimal("2.51"), ["above-maximum"]),
    ("date", {"extension": [core("minValue", valueDate="2000-01-01")]}, Answer("date", "1999-12-31"), ["below-minimum"]),
    ("date", {"extension": [core("minValue", valueDate="2000-06-01")]}, Answer("date", "2000"), []),
    ("time", {"extension": [core("maxValue", valueTime="12:00:00")]}, Answer("time", "12:00:01"), ["above-maximum"]),
    ("decimal", {"extension": [core("maxDecimalPlaces", valueInteger=1)]}, decimal("1.2"), []),
    ("decimal", {"extension": [core("maxDecimalPlaces", valueInteger=1)]}, decimal("1.25"), ["decimal-places"]),
    ("quantity", {"extension": [core("maxDecimalPlaces", valueInteger=0)]}, quantity("1.5", "kg"), ["decimal-places"]),
    ("quantity", {"extension": [{"url": SDC + "sdc-questionnaire-minQuantity", **kilograms(20)}]}, quantity("20", "kg"), []),
    ("quantity", {"extension": [{"url": SDC + "sdc-questionnaire-minQuantity", **kilograms(20)}]}, quantity("19000", "g"), ["below-minimum"]),
    ("quantity", {"extension": [{"url": SDC + "sdc-questionnaire-maxQuantity", **kilograms(20)}]}, quantity("21", "kg"), ["above-maximum"]),
    ("quantity", {"extension": [{"url": SDC + "sdc-questionnaire-maxQuantity", **kilograms(20)}]}, quantity("1", "m"), ["not-comparable"]),
    ("quantity", {"extension": [core("questionnaire-unitOption", **unit("kg")), core("questionnaire-unitOption", **unit("g"))]}, quantity("1", "g"), []),
    ("quantity", {"extension": [core("questionnaire-unitOption", **unit("kg"))]}, quantity("1", "m"), ["unit"]),
    ("quantity", {"extension": [core("questionnaire-unitOption", **unit("kg")), {"url": SDC + "sdc-questionnaire-unitOpen", "valueCode": "optionsOrString"}]}, quantity("1", "m"), []),
    ("quantity", {"extension": [core("questionnaire-unit", **unit("kg"))]}, quantity("1", "g"), []),
    ("attachment", {"extension": [core("maxSize", valueDecimal=3)]}, attachment(data="YWJj"), []),
    ("attachment", {"extension": [core("maxSize", valueDecimal=2)]}, attachment(data="YWJj"), ["too-big"]),
    ("attachment", {"extension": [core("maxSize", valueDecimal=2)]}, attachment(url="http://x", size=3), ["too-big"]),
    ("attachment", {"extension": [core("mimeType", valueCode="image/jpeg")]}, attachment(), ["mime-type"]),
    ("attachment", {"extension": [core("mimeType", valueCode="image/png")]}, attachment(), []),
    ("reference", {"extension": [core("questionnaire-referenceResource", valueCode="Patient")]}, Answer("reference", {"reference": "Practitioner/1"}), ["reference-type"]),
    ("reference", {"extension": [core("questionnaire-referenceResource", valueCode="Patient")]}, Answer("reference", {"reference": "http://example.org/fhir/Patient/1"}), []),
    ("choice", {"answerOption": options("a")}, coding("a"), []),
    ("choice", {"answerOption": options("a")}, coding("b"), ["not-an-option"]),
    ("choice", {"answerOption": options("a")}, text("a"), ["wrong-type"]),
    ("open-choice", {"answerOption": options("a")}, text("anything"), []),
    ("open-choice", {"answerOption": options("a")}, coding("b"), ["not-an-option"]),
    ("choice", {"answerOption": [{"valueString": "one"}]}, text("one"), []),
    ("choice", {"answerOption": [{"valueString": "one"}]}, text("two"), ["not-an-option"]),
    ("choice", {"answerOption": [{"valueInteger": 1}, {"valueInteger": 2}]}, whole(2), []),
    ("choice", {"answerOption": [{"valueDate": "2020"}]}, Answer("date", "2021"), ["not-an-option"]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "more", "given", "codes"), TABLE)
def test_an_answer_is_held_to_its_type_and_limits(kind: str, more: Json, given: Answer, codes: list[str]) -> None:
    assert Interview(form(item("q", kind, **more))).codes("q", given) == codes


def test_a_problem_carries_what_a_message_needs() -> None:
    (problem,) = Interview(form(item("q", "string", maxLength=3))).problems("q", text("abcd"))

    assert (problem.path, problem.parameters) == (at("q"), {"limit": 3, "given": 4})


def test_a_question_that_does_not_repeat_takes_one_answer() -> None:
    assert Interview(form(item("q", "integer"))).codes("q", whole(1), whole(2)) == ["too-many"]


def test_no_option_is_chosen_twice_but_twins_may_have_one_age() -> None:
    ticked = Interview(form(item("q", "choice", repeats=True, answerOption=options("a", "b"))))
    typed = Interview(form(item("q", "integer", repeats=True)))

    assert ticked.codes("q", coding("a"), coding("a")) == ["twice"]
    assert typed.codes("q", whole(5), whole(5)) == []


def test_a_repeating_question_keeps_to_its_most() -> None:
    most = core("questionnaire-maxOccurs", valueInteger=2)
    interview = Interview(form(item("q", "integer", repeats=True, extension=[most])))

    assert interview.codes("q", whole(1), whole(2), whole(3)) == ["too-many"]


def test_an_exclusive_option_stands_alone() -> None:
    none = {"valueCoding": {"code": "none"}, "extension": [core("questionnaire-optionExclusive", valueBoolean=True)]}
    interview = Interview(form(item("q", "choice", repeats=True, answerOption=[*options("a", "b"), none])))
    alone = Answer("coding", {"code": "none"})

    assert interview.codes("q", alone) == []
    assert interview.codes("q", coding("a"), coding("b")) == []
    assert interview.codes("q", coding("a"), alone) == ["exclusive"]


def test_what_is_required_and_missing_is_left_open() -> None:
    questionnaire = form(
        item("a", "string", required=True),
        item("g", "group", item("b", "string", required=True), item("c", "string"), required=True),
        item(
            "d", "boolean", required=True, enableWhen=[{"question": "c", "operator": "exists", "answerBoolean": True}]
        ),
    )
    interview = Interview(questionnaire).skip("a").skip(at("g", "b")).skip(at("g", "c"))
    assert interview.open == [("required", "a"), ("required", "g"), ("required", "b")]

    interview.give("a", text("x")).give(at("g", "c"), text("y"))

    assert interview.open == [("required", "b"), ("required", "d")]


def test_too_few_answers_are_left_open() -> None:
    least = core("questionnaire-minOccurs", valueInteger=2)
    interview = Interview(form(item("q", "integer", repeats=True, required=True, extension=[least])))

    assert interview.give("q", whole(1)).no_more("q").open == [("too-few", "q")]
    assert interview.give("q", whole(1), whole(2)).open == []


def test_answers_that_no_longer_fit_are_left_open() -> None:
    bound = {"url": CORE + "maxValue", "_valueInteger": {"extension": [{"url": CORE + "cqf-calculatedValue", "valueExpression": {"language": "text/fhirpath", "expression": "%resource.item.where(linkId='most').answer.value"}}]}}  # fmt: skip
    interview = Interview(form(item("most", "integer"), item("n", "integer", extension=[bound])))
    interview.give("most", whole(5)).give("n", whole(4))
    assert interview.open == []

    assert interview.give("most", whole(3)).open == [("above-maximum", "n")]


def test_answers_of_questions_that_are_not_asked_are_no_problem() -> None:
    rule = [{"question": "a", "operator": "=", "answerBoolean": True}]
    interview = Interview(form(item("a", "boolean"), item("b", "string", required=True, enableWhen=rule)))

    assert interview.give("a", yes()).open == [("required", "b")]
    assert interview.give("a", no()).open == []
