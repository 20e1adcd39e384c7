"""Questionnaires: invariants que-0 to que-13, linkIds, conditions, options, limits."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.values.finding import Finding, operation_outcome
from tests.bot.interview.resources import CORE, SDC, UCUM, coding, errors, extended, form, item, quantity, rules

OPTIONS = [{"valueCoding": {"code": "a"}}, {"valueCoding": {"code": "b"}}]


def when(question: str, operator: str, **answer: Any) -> dict[str, Any]:
    return {"question": question, "operator": operator, **answer}


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (item("a", "group"), "que-1"),
        (item("a", "display", item("b", "string")), "que-1"),
        (item("a", "display", code=[{"code": "x"}]), "que-3"),
        (item("a", "choice", answerOption=OPTIONS, answerValueSet="http://x"), "que-4"),
        (item("a", "boolean", answerOption=OPTIONS), "que-5"),
        (item("a", "text", answerValueSet="http://x"), "que-5"),
        (item("a", "display", required=False), "que-6"),
        (item("a", "display", repeats=True), "que-6"),
        (item("a", "group", item("b", "string"), initial=[{"valueString": "x"}]), "que-8"),
        (item("a", "display", readOnly=False), "que-9"),
        (item("a", "date", maxLength=3), "que-10"),
        (item("a", "choice", answerOption=OPTIONS, initial=[{"valueCoding": {"code": "a"}}]), "que-11"),
        (item("a", "string", initial=[{"valueString": "x"}, {"valueString": "y"}]), "que-13"),
        (item("a", "integer", initial=[{"valueString": "1"}]), "initial-type"),
        (item("a", "integer", answerOption=[{"valueString": "1"}]), "answerOption-type"),
        (item("a", "choice", answerValueSet="#missing"), "value-set"),
    ],
)
def test_an_item_that_breaks_a_rule_is_an_error(broken: dict[str, Any], rule: str) -> None:
    assert errors(check_questionnaire(form(broken))) == [rule]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (when("asked", "=", answerCoding={"code": "a"}), []),
        (when("asked", "exists", answerBoolean=True), []),
        (when("asked", "exists", answerString="x"), ["que-7"]),
        (when("nobody", "=", answerBoolean=True), ["enableWhen-target"]),
        (when("self", "=", answerString="x"), ["enableWhen-self"]),
        (when("inner", "=", answerString="x"), ["enableWhen-inner"]),
        (when("asked", "=", answerString="a"), ["enableWhen-type"]),
        (when("asked", ">", answerCoding={"code": "a"}), ["enableWhen-operator"]),
        (when("number", ">", answerInteger=3), []),
        (when("number", ">", answerDecimal=3), []),
        (when("number", ">", answerDate="2020"), ["enableWhen-type"]),
        (when("asked", "~", answerCoding={"code": "a"}), ["binding"]),
        (when("asked", "="), ["cardinality"]),
    ],
)
def test_a_condition_must_fit_its_target(condition: dict[str, Any], expected: list[str]) -> None:
    questionnaire = form(
        item("asked", "choice", answerOption=OPTIONS),
        item("number", "integer"),
        item("self", "string", item("inner", "string"), enableWhen=[condition]),
    )

    assert errors(check_questionnaire(questionnaire)) == expected


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("integer", {"answerDecimal": 3}), ("decimal", {"answerInteger": 3}), ("dateTime", {"answerDate": "2020"})],
)
def test_a_condition_of_a_kindred_type_is_a_warning(kind: str, answer: dict[str, Any]) -> None:
    questionnaire = form(item("asked", kind), item("b", "string", enableWhen=[when("asked", ">", **answer)]))

    assert rules(check_questionnaire(questionnaire)) == [("warning", "enableWhen-type")]


def test_a_condition_on_a_later_item_is_a_warning() -> None:
    questionnaire = form(item("a", "string", enableWhen=[when("b", "exists", answerBoolean=True)]), item("b", "string"))

    assert rules(check_questionnaire(questionnaire)) == [("warning", "enableWhen-after")]


def test_a_condition_on_a_group_is_a_warning_since_groups_have_no_answers() -> None:
    group = item("g", "group", item("a", "string"))
    questionnaire = form(group, item("b", "string", enableWhen=[when("g", "exists", answerBoolean=True)]))

    assert rules(check_questionnaire(questionnaire)) == [("warning", "enableWhen-type")]


def test_several_conditions_need_a_word_on_how_they_go_together() -> None:
    conditions = [when("a", "exists", answerBoolean=True), when("a", "=", answerString="x")]
    unclear, clear = (
        item("b", "string", enableWhen=conditions),
        item("c", "string", enableWhen=conditions, enableBehavior="any"),
    )

    findings = check_questionnaire(form(item("a", "string"), unclear, clear))

    assert [(finding.rule, finding.path) for finding in findings] == [("que-12", "Questionnaire.item[1]")]


def test_a_link_id_that_is_used_twice_is_named_once() -> None:
    findings = check_questionnaire(
        form(item("a", "string"), item("g", "group", item("a", "string"), item("a", "string")))
    )

    assert findings == [Finding("error", "invariant", "Questionnaire", "The linkId 'a' is used 3 times", "que-2", "a")]


def test_a_name_that_no_program_could_use_is_a_warning() -> None:
    assert rules(check_questionnaire(form(name="my form"))) == [("warning", "que-0")]


def test_a_subject_must_be_a_type_of_resource() -> None:
    assert errors(check_questionnaire(form(subjectType=["Patient", "Woman"]))) == ["binding"]


@pytest.mark.parametrize(
    ("kind", "low", "high", "expected"),
    [
        ("integer", {"valueInteger": 3}, {"valueInteger": 2}, [("warning", "limits")]),
        ("date", {"valueDate": "2021"}, {"valueDate": "2020"}, [("warning", "limits")]),
        ("integer", {"valueInteger": 2}, {"valueInteger": 2}, []),
        ("decimal", {"valueInteger": 2}, {"valueDecimal": 3}, []),
        ("dateTime", {"valueDate": "2020"}, {"valueInstant": "2021-01-01T00:00:00Z"}, []),
        ("quantity", quantity("2"), quantity("3000", "g"), []),
    ],
)
def test_limits_that_leave_nothing_are_a_warning(
    kind: str, low: dict[str, Any], high: dict[str, Any], expected: list[Any]
) -> None:
    limits = extended((CORE + "minValue", low), (CORE + "maxValue", high))

    assert rules(check_questionnaire(form(item("a", kind, extension=limits)))) == expected


@pytest.mark.parametrize(
    "asked",
    [
        item("a", "quantity", extension=extended((SDC + "sdc-questionnaire-minQuantity", quantity("1000", "g")),
                                                 (SDC + "sdc-questionnaire-maxQuantity", quantity("1")))),
        item("a", "string", repeats=True, required=True, extension=extended(
            (CORE + "questionnaire-minOccurs", {"valueInteger": 2}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 2}))),
        item("a", "string", extension=extended((CORE + "questionnaire-maxOccurs", {"valueInteger": 1}))),
        item("a", "string", repeats=True, extension=extended((CORE + "questionnaire-minOccurs", {"valueInteger": 0}))),
        item("a", "attachment", extension=extended((CORE + "mimeType", {"valueCode": "image/png"}),
                                                   (CORE + "mimeType", {"valueCode": "image/*"}))),
        item("a", "quantity", initial=[{"valueQuantity": {"unit": "kg"}}]),
        item("a", "decimal", extension=extended((CORE + "questionnaire-unit", coding("kg", UCUM)))),
        item("a", "boolean", extension=extended((CORE + "questionnaire-choiceOrientation", {"valueCode": "vertical"}))),
    ],
)  # fmt: skip
def test_limits_and_extensions_as_their_definitions_have_them_are_fine(asked: dict[str, Any]) -> None:
    assert rules(check_questionnaire(form(asked))) == []


def test_a_regex_that_cannot_be_read_is_a_warning() -> None:
    questionnaire = form(item("a", "string", extension=extended((CORE + "regex", {"valueString": "("}))))

    assert rules(check_questionnaire(questionnaire)) == [("warning", "regex")]


def test_the_abstract_type_is_a_warning() -> None:
    assert rules(check_questionnaire(form(item("a", "question")))) == [("warning", "abstract-type")]


def test_a_contained_value_set_may_be_used_for_options() -> None:
    inside = {"resourceType": "ValueSet", "id": "vs", "status": "active"}

    assert check_questionnaire(form(item("a", "choice", answerValueSet="#vs"), contained=[inside])) == []


def test_options_of_every_type_fit_a_choice() -> None:
    values: list[dict[str, Any]] = [
        coding("a"), {"valueString": "x"}, {"valueInteger": 1}, {"valueDate": "2020"}, {"valueTime": "12:00:00"},
        {"valueReference": {"display": "x"}},
    ]  # fmt: skip

    assert check_questionnaire(form(item("a", "choice", answerOption=values))) == []


def test_findings_become_an_operation_outcome() -> None:
    outcome = operation_outcome(check_questionnaire(form(item("a", "group"))))

    assert outcome == {
        "resourceType": "OperationOutcome",
        "issue": [
            {
                "severity": "error",
                "code": "invariant",
                "details": {"coding": [{"code": "que-1"}], "text": "Item 'a': A group needs items"},
                "expression": ["Questionnaire.item[0]"],
                "extension": [
                    {
                        "url": "https://klartext.example/fhir/StructureDefinition/finding-link-id",
                        "valueString": "a",
                    }
                ],
            }
        ],
    }


def test_an_outcome_without_findings_still_holds_an_issue() -> None:
    assert len(operation_outcome([])["issue"]) == 1  # type: ignore[arg-type]
