"""The response: nested as R4 has it, in the form's order, with base texts and every digit."""

from __future__ import annotations

from decimal import Decimal

from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import dump
from bot.interview.walk.assemble import Heading
from tests.bot.interview.resources import form, item
from tests.bot.interview.walk.engine_steps import (
    AUTHORED,
    Interview,
    at,
    coding,
    decimal,
    formula,
    hidden,
    options,
    text,
    yes,
)


def test_the_head_says_what_it_answers_for_whom_and_when() -> None:
    interview = Interview(form(item("a", "string"), version="1.2", language="de"))
    heading = Heading(
        status="in-progress",
        authored=AUTHORED,
        subject={"reference": "Patient/1"},
        source={"reference": "Patient/1"},
        author={"reference": "Device/1"},
        encounter={"reference": "Encounter/1"},
        identifier={"value": "x"},
        id="r1",
        profiles=("http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaireresponse",),
    )

    assert interview.engine.response(interview.filling, heading) == {
        "resourceType": "QuestionnaireResponse",
        "id": "r1",
        "meta": {"profile": ["http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaireresponse"]},
        "language": "de",
        "identifier": {"value": "x"},
        "questionnaire": "http://example.org/Questionnaire/test|1.2",
        "status": "in-progress",
        "subject": {"reference": "Patient/1"},
        "encounter": {"reference": "Encounter/1"},
        "authored": AUTHORED,
        "author": {"reference": "Device/1"},
        "source": {"reference": "Patient/1"},
    }


def test_a_form_without_url_is_named_by_its_id() -> None:
    questionnaire = form(item("a", "string"), id="q1")
    del questionnaire["url"]

    assert Interview(questionnaire).response["questionnaire"] == "Questionnaire/q1"


def test_items_stand_as_in_the_form_however_they_were_answered() -> None:
    questionnaire = form(
        item("g", "group", item("a", "string", text="A"), item("b", "string"), text="G"), item("c", "boolean", text="C")
    )
    interview = Interview(questionnaire).give("c", yes()).give(at("g", "b"), text("2")).give(at("g", "a"), text("1"))

    assert interview.items == [
        {
            "linkId": "g",
            "text": "G",
            "item": [
                {"linkId": "a", "text": "A", "answer": [{"valueString": "1"}]},
                {"linkId": "b", "answer": [{"valueString": "2"}]},
            ],
        },
        {"linkId": "c", "text": "C", "answer": [{"valueBoolean": True}]},
    ]


def test_a_repeating_question_is_one_item_and_a_repeating_group_many() -> None:
    questionnaire = form(item("q", "integer", repeats=True), item("g", "group", item("a", "string"), repeats=True))
    interview = Interview(questionnaire).give("q", Answer("integer", 1), Answer("integer", 2)).no_more("q")
    interview.add("g").give(at("g", "a"), text("x")).add(("g", 1)).give(at(("g", 1), "a"), text("y")).no_more("g")

    assert interview.items == [
        {"linkId": "q", "answer": [{"valueInteger": 1}, {"valueInteger": 2}]},
        {"linkId": "g", "item": [{"linkId": "a", "answer": [{"valueString": "x"}]}]},
        {"linkId": "g", "item": [{"linkId": "a", "answer": [{"valueString": "y"}]}]},
    ]


def test_what_is_asked_about_an_answer_stands_in_that_answer() -> None:
    group = item("more", "group", item("when", "date"))
    questionnaire = form(item("q", "choice", group, repeats=True, answerOption=options("a", "b")))
    interview = Interview(questionnaire).give("q", coding("a"), coding("b"))

    interview.give(at(("q", 1), "more", "when"), Answer("date", "2010"))

    first, second = interview.items[0]["answer"]
    assert first == {"valueCoding": coding("a").value}
    assert second["item"] == [{"linkId": "more", "item": [{"linkId": "when", "answer": [{"valueDate": "2010"}]}]}]


def test_decimals_keep_their_digits() -> None:
    interview = Interview(form(item("d", "decimal"))).give("d", decimal("1.50"))

    assert interview.value("d") == Decimal("1.50")
    assert '"valueDecimal":1.50' in dump(interview.response)


def test_every_type_has_its_value_name() -> None:
    kinds = {
        "boolean": ("boolean", "valueBoolean"),
        "date": ("date", "valueDate"),
        "dateTime": ("dateTime", "valueDateTime"),
        "time": ("time", "valueTime"),
        "text": ("string", "valueString"),
        "url": ("uri", "valueUri"),
        "attachment": ("attachment", "valueAttachment"),
        "reference": ("reference", "valueReference"),
        "quantity": ("quantity", "valueQuantity"),
    }
    for kind, (value_type, name) in kinds.items():
        interview = Interview(form(item("x", kind))).give("x", Answer(value_type, {"value": 1}))
        assert interview.items == [{"linkId": "x", "answer": [{name: {"value": 1}}]}]


def test_groups_and_instances_without_answers_are_left_out() -> None:
    questionnaire = form(
        item("g", "group", item("a", "string"), repeats=True), item("h", "group", item("d", "display", text="D"))
    )
    interview = Interview(questionnaire).add("g").skip(at("g", "a")).no_more("g")

    assert interview.items == []
    assert "item" not in interview.response


def test_a_required_group_is_there_even_when_it_is_empty() -> None:
    interview = Interview(form(item("g", "group", item("a", "string"), required=True))).skip(at("g", "a"))

    assert interview.items == [{"linkId": "g"}]


def test_hidden_and_calculated_values_are_sent_and_disabled_ones_are_not() -> None:
    rule = [{"question": "a", "operator": "=", "answerBoolean": True}]
    questionnaire = form(
        item("h", "integer", extension=[hidden(), formula("calculatedExpression", "1 + 1")]),
        item("a", "boolean"),
        item("off", "integer", extension=[formula("calculatedExpression", "3")], enableWhen=rule),
    )
    interview = Interview(questionnaire).skip("a")
    assert [each["linkId"] for each in interview.items] == ["h"]

    interview.give("a", yes())

    assert [each["linkId"] for each in interview.items] == ["h", "a", "off"]


def test_the_response_shares_nothing_with_the_answers() -> None:
    interview = Interview(form(item("q", "choice", answerOption=options("a")))).give("q", coding("a"))

    interview.items[0]["answer"][0]["valueCoding"]["code"] = "changed"

    assert interview.value("q") == coding("a").value


def test_an_answer_is_sent_without_what_belongs_to_the_form() -> None:
    mark = {"url": "http://hl7.org/fhir/StructureDefinition/ordinalValue", "valueDecimal": 1}
    listed = [{"valueCoding": {"code": "a", "extension": [mark], "_display": {"extension": []}}}]
    interview = Interview(form(item("q", "choice", answerOption=listed)))

    (option,) = interview.engine.form.by_link_id["q"].options

    assert interview.give("q", option.answer).value("q") == {"code": "a"}
