"""Responses: which items are there, where, how often, with which texts, and who must answer."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response, find_questionnaire
from tests.bot.interview.resources import (
    CORE,
    URL,
    checked,
    coding,
    errors,
    extended,
    form,
    item,
    response,
    rules,
    said,
    value_set,
    verdict,
)

YES = {"valueBoolean": True}
TEXT = {"valueString": "x"}
GROUP = item("g", "group", item("a", "string", required=True), item("b", "string"))


def test_a_response_that_answers_its_questionnaire_is_fine() -> None:
    assert checked(form(GROUP), response(said("g", item=[said("a", TEXT), said("b", TEXT)]))) == []


@pytest.mark.parametrize(
    ("asked", "given", "expected"),
    [
        (GROUP, [said("g", item=[said("b", TEXT)])], ["required"]),
        (GROUP, [said("g", item=[said("a"), said("b", TEXT)])], ["required"]),
        (GROUP, [said("g")], ["required"]),
        (GROUP, [], []),
        ({**GROUP, "required": True}, [], ["required"]),
        ({**GROUP, "required": True, "item": [item("b", "string")]}, [said("g")], ["required"]),
        (GROUP, [said("g", item=[said("b", TEXT), said("a", TEXT)])], ["order"]),
        (GROUP, [said("g", item=[said("a", TEXT), said("c", TEXT)])], ["linkId"]),
        (GROUP, [said("a", TEXT)], ["misplaced"]),
        (GROUP, [said("g", TEXT, item=[said("a", TEXT)])], ["group-answer"]),
        (GROUP, [said("g", item=[said("a", TEXT)]), said("g", item=[said("a", TEXT)])], ["repeats"]),
        ({**GROUP, "repeats": True}, [said("g", item=[said("a", TEXT)]), said("g", item=[said("a", TEXT)])], []),
        ({**GROUP, "repeats": True}, [said("g", item=[said("a", TEXT)]), said("g", item=[said("b", TEXT)])], ["required"]),
        (item("d", "display"), [said("d")], []),
        (item("d", "display"), [said("d", TEXT)], ["display-answer"]),
        (item("d", "question"), [said("d", TEXT)], ["question-answer"]),
        (item("s", "string"), [said("s", TEXT, TEXT)], ["repeats"]),
        (item("s", "string", repeats=True), [said("s", TEXT, TEXT)], []),
        (item("s", "string", text="Name"), [said("s", TEXT, text="Name")], []),
        (item("s", "string", text="Name"), [said("s", TEXT, text="Namen")], ["text"]),
        (item("s", "string"), [said("s", TEXT, text="Name")], ["text"]),
        (item("s", "string"), [{"answer": [TEXT]}], ["cardinality"]),
    ],
)  # fmt: skip
def test_items_must_be_those_of_the_questionnaire(
    asked: dict[str, Any], given: list[dict[str, Any]], expected: list[str]
) -> None:
    assert verdict(asked, *given) == expected


def test_items_of_a_question_stand_in_its_answers() -> None:
    parent = item("q", "boolean", item("why", "string", required=True))

    assert verdict(parent, said("q", {**YES, "item": [said("why", TEXT)]})) == []
    assert verdict(parent, said("q", YES)) == ["required"]
    assert verdict(parent, said("q", item=[said("why", TEXT)])) == ["question-item"]
    assert "qrs-1" in verdict(parent, said("q", {**YES, "item": [said("why", TEXT)]}, item=[said("why", TEXT)]))


@pytest.mark.parametrize(
    ("link_ids", "expected"), [(["g"], ["minOccurs"]), (["g", "g"], []), (["g"] * 3, []), (["g"] * 4, ["maxOccurs"])]
)
def test_a_group_occurs_as_often_as_it_should(link_ids: list[str], expected: list[str]) -> None:
    limits = extended(
        (CORE + "questionnaire-minOccurs", {"valueInteger": 2}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 3})
    )
    asked = item("g", "group", item("b", "string"), repeats=True, extension=limits)

    assert verdict(asked, *[said(link_id, item=[said("b", TEXT)]) for link_id in link_ids]) == expected


@pytest.mark.parametrize(("count", "expected"), [(1, ["minOccurs"]), (2, []), (3, []), (4, ["maxOccurs"])])
def test_a_question_has_as_many_answers_as_it_should(count: int, expected: list[str]) -> None:
    limits = extended(
        (CORE + "questionnaire-minOccurs", {"valueInteger": 2}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 3})
    )

    assert verdict(item("s", "string", repeats=True, extension=limits), said("s", *[TEXT] * count)) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((1, 1), []), ((2, 1), []), ((1, 0), ["minOccurs"]), ((2, 2), ["maxOccurs"]), ((1, 1, 1, 1), ["maxOccurs"])],
)
def test_answers_in_several_items_are_counted_together_and_warned_of(
    counts: tuple[int, ...], expected: list[str]
) -> None:
    limits = extended(
        (CORE + "questionnaire-minOccurs", {"valueInteger": 2}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 3})
    )
    asked = item("s", "string", repeats=True, required=True, extension=limits)
    given = [said("s", *[TEXT] * count) for count in counts]

    findings = checked(form(asked), response(*given))

    assert errors(findings) == expected
    assert [each.rule for each in findings if not each.is_error] == ["question-twice"]


def test_what_excludes_all_others_does_so_in_another_item_too() -> None:
    alone = {"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True}
    asked = item("c", "choice", repeats=True, answerOption=[coding("a"), {**coding("none"), "extension": [alone]}])

    assert verdict(asked, said("c", coding("a")), said("c", coding("none"))) == ["optionExclusive"]


@pytest.mark.parametrize("status", ["in-progress", "stopped"])
def test_until_a_response_is_finished_missing_answers_are_warnings(status: str) -> None:
    findings = checked(form(item("a", "string", required=True)), response(status=status))

    assert rules(findings) == [("warning", "required")]


@pytest.mark.parametrize("status", ["completed", "amended"])
def test_a_finished_response_must_be_complete(status: str) -> None:
    assert verdict(item("a", "string", required=True), status=status) == ["required"]


def test_the_text_may_be_a_translation_of_the_questionnaires() -> None:
    english = {
        "url": CORE + "translation",
        "extension": [{"url": "lang", "valueCode": "en"}, {"url": "content", "valueString": "Age"}],
    }
    asked = item("a", "integer", text="Alter", _text={"extension": [english]})

    assert verdict(asked, said("a", {"valueInteger": 4}, text="Age")) == []
    assert verdict(asked, said("a", {"valueInteger": 4}, text="Years")) == ["text"]


def test_texts_of_another_language_are_a_warning_only() -> None:
    questionnaire = form(item("a", "integer", text="Alter"), language="de-CH")

    findings = checked(questionnaire, response(said("a", {"valueInteger": 4}, text="Age"), language="en"))

    assert rules(findings) == [("warning", "text")]


def test_a_computed_text_is_not_compared() -> None:
    computed = {
        "extension": [
            {"url": CORE + "cqf-expression", "valueExpression": {"language": "text/fhirpath", "expression": "'x'"}}
        ]
    }

    assert verdict(item("a", "integer", text="Alter", _text=computed), said("a", {"valueInteger": 4}, text="Age")) == []


def test_without_its_questionnaire_only_the_structure_of_a_response_is_checked() -> None:
    findings = check_response(response(said("a", {"valueInteger": "4"})), None)

    assert rules(findings) == [("error", "type"), ("warning", "questionnaire")]


def test_a_response_that_names_no_questionnaire_is_told_so() -> None:
    assert rules(check_response({"resourceType": "QuestionnaireResponse", "status": "completed"}, None)) == [
        ("information", "questionnaire")
    ]


@pytest.mark.parametrize(
    ("authored", "expected"),
    [("2020-06-01", []), ("2021-01-02", [("warning", "effectivePeriod")]), ("2019", [("warning", "effectivePeriod")])],
)
def test_a_response_outside_the_effective_period_is_a_warning(authored: str, expected: list[Any]) -> None:
    questionnaire = form(item("a", "string"), effectivePeriod={"start": "2020-01-01", "end": "2021-01-01"})

    assert rules(checked(questionnaire, response(said("a", TEXT), authored=authored))) == expected


def test_another_version_of_the_questionnaire_is_a_warning() -> None:
    questionnaire = form(item("a", "string"), version="2")

    assert rules(checked(questionnaire, response(said("a", TEXT), questionnaire=f"{URL}|2"))) == []
    assert rules(checked(questionnaire, response(said("a", TEXT), questionnaire=f"{URL}|1"))) == [
        ("warning", "version")
    ]


def test_a_contained_questionnaire_is_found_with_what_is_contained_beside_it() -> None:
    options = value_set({"system": "http://s", "concept": [{"code": "a"}]}, id="vs")
    inside = {**form(item("a", "choice", answerValueSet="#vs")), "id": "q"}
    wrong = said("a", {"valueCoding": {"system": "http://s", "code": "b"}})
    answers = response(wrong, questionnaire="#q", contained=[inside, options])

    found = find_questionnaire(answers, lambda _: None)

    assert found is not None
    assert errors(check_response(answers, found)) == ["answerValueSet"]


def test_a_questionnaire_is_looked_up_by_its_canonical() -> None:
    asked: list[str] = []

    assert find_questionnaire(response(questionnaire=f"{URL}|1"), asked.append) is None
    assert asked == [f"{URL}|1"]
    assert find_questionnaire(response(questionnaire="#q"), asked.append) is None
    assert asked == [f"{URL}|1"]


def test_an_answer_that_only_holds_items_is_a_warning() -> None:
    asked = form(item("q", "boolean", item("why", "string")))

    findings = checked(asked, response(said("q", {"item": [said("why", TEXT)]})))

    assert rules(findings) == [("warning", "no-value")]


def test_an_item_without_a_type_is_left_alone() -> None:
    broken: dict[str, Any] = {"resourceType": "Questionnaire", "status": "active", "item": [{"linkId": "a"}]}

    findings = check_response(response(said("a", TEXT)), index_questionnaire(broken))

    assert rules(findings) == [("warning", "type")]


def test_a_contained_form_and_a_contained_response_are_checked_by_the_same_rules() -> None:
    broken = {**form(item("g", "group"), item("a", "integer")), "id": "q"}
    inner = {**response(said("a", {"valueString": "x"}), questionnaire="#q"), "id": "r"}
    extension = [{"url": "http://example.org/earlier", "valueReference": {"reference": "#r"}}]
    outer = response(said("a", {"valueInteger": 1}), questionnaire="#q", contained=[broken, inner], extension=extension)

    findings = check_response(outer, None)

    assert [(each.rule, each.path, each.link_id) for each in findings] == [
        ("answer-type", "QuestionnaireResponse.contained[1].item[0].answer[0].value.ofType(string)", "a"),
        ("que-1", "QuestionnaireResponse.contained[0].item[0]", "g"),
    ]


def test_a_reference_to_a_contained_resource_has_its_type() -> None:
    allowed = extended((CORE + "questionnaire-referenceResource", {"valueCode": "Practitioner"}))
    asked = item("a", "reference", extension=allowed)
    patient = {"resourceType": "Patient", "id": "p"}

    found = verdict(asked, said("a", {"valueReference": {"reference": "#p"}}), contained=[patient])

    assert found == ["referenceResource"]


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        (URL, []),
        (URL + "|7", []),
        ("http://example.org/Questionnaire/other", [("error", "questionnaire")]),
        ("#nowhere", [("error", "questionnaire")]),
        ("", []),
    ],
)
def test_a_response_names_the_questionnaire_that_it_is_held_against(
    canonical: str, expected: list[tuple[str, str]]
) -> None:
    head = {"questionnaire": canonical} if canonical else {}
    made = {name: value for name, value in response(said("a")).items() if name != "questionnaire"} | head
    asked = index_questionnaire(form(item("a", "string"))) if not canonical.startswith("#") else None

    assert rules(check_response(made, asked)) == expected


def test_a_very_long_link_id_is_cut_in_messages() -> None:
    findings = check_response(response(said("x" * 100_000)), index_questionnaire(form(item("a", "string"))))

    assert len(findings) == 1
    assert len(findings[0].text) < 300


def test_of_a_response_entered_in_error_nothing_is_missed() -> None:
    asked = form(
        item("a", "string", required=True), item("g", "group", item("b", "date", required=True), required=True)
    )

    assert rules(checked(asked, response(status="entered-in-error"))) == []
    assert rules(checked(asked, response(status="stopped"))) == [("warning", "required"), ("warning", "required")]
