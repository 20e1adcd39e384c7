"""Is an answer one of those offered: options, value sets, codes, and options that stand alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.form.indexed import read_stated
from bot.interview.rules.answers import check_options, is_option
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import value_of
from bot.interview.values.terminology import Terminology
from tests.bot.interview.resources import (
    CORE,
    checked,
    code_system,
    coding,
    extended,
    form,
    item,
    response,
    rules,
    said,
    value_set,
    verdict,
)

OPTIONS = [coding("a", display="Ja"), coding("b"), {"valueString": "x"}, {"valueInteger": 3}, {"valueDate": "2020"},
           {"valueTime": "12:00:00"}, {"valueReference": {"reference": "Patient/1"}}]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (coding("a"), []),
        (coding("a", system="http://other"), ["answerOption"]),
        (coding("c"), ["answerOption"]),
        ({"valueCoding": {"code": "a"}}, ["answerOption"]),
        ({"valueString": "x"}, []),
        ({"valueString": "X"}, ["answerOption"]),
        ({"valueInteger": 3}, []),
        ({"valueInteger": 4}, ["answerOption"]),
        ({"valueDate": "2020"}, []),
        ({"valueDate": "2020-01"}, ["answerOption"]),
        ({"valueTime": "12:00:00"}, []),
        ({"valueReference": {"reference": "Patient/1"}}, []),
        ({"valueReference": {"reference": "Patient/2"}}, ["answerOption"]),
    ],
)
def test_an_answer_to_a_choice_is_one_of_its_options(answer: dict[str, Any], expected: list[str]) -> None:
    assert verdict(item("a", "choice", answerOption=OPTIONS), said("a", answer)) == expected


def test_an_open_choice_takes_free_text_but_no_code_of_its_own() -> None:
    asked = item("a", "open-choice", answerOption=OPTIONS[:2])

    assert verdict(asked, said("a", {"valueString": "anderes"})) == []
    assert verdict(asked, said("a", coding("c"))) == ["answerOption"]


def test_free_text_that_repeats_an_option_is_a_warning() -> None:
    asked = form(item("a", "open-choice", answerOption=OPTIONS[:2]))

    assert rules(checked(asked, response(said("a", {"valueString": "ja"})))) == [("warning", "text-for-option")]


def test_a_display_that_is_not_the_options_is_a_warning() -> None:
    asked = form(item("a", "choice", answerOption=OPTIONS[:2]))

    assert rules(checked(asked, response(said("a", coding("a", display="Nein"))))) == [("warning", "display")]


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("integer", {"valueInteger": 4}, ["answerOption"]),
        ("integer", {"valueInteger": 3}, []),
        ("string", {"valueString": "y"}, ["answerOption"]),
        ("date", {"valueDate": "2020"}, []),
    ],
)
def test_other_items_may_have_options_too(kind: str, answer: dict[str, Any], expected: list[str]) -> None:
    fitting = {"integer": OPTIONS[3:4], "string": OPTIONS[2:3], "date": OPTIONS[4:5]}[kind]

    assert verdict(item("a", kind, answerOption=fitting), said("a", answer)) == expected


def test_an_exclusive_option_stands_alone() -> None:
    none = {**coding("none"), "extension": extended((CORE + "questionnaire-optionExclusive", {"valueBoolean": True}))}
    asked = item("a", "choice", repeats=True, answerOption=[coding("a"), coding("b"), none])

    assert verdict(asked, said("a", coding("none"))) == []
    assert verdict(asked, said("a", coding("a"), coding("b"))) == []
    assert verdict(asked, said("a", coding("a"), coding("none"))) == ["optionExclusive"]


KNOWN = Terminology(
    [code_system({"code": "a", "display": "Ja", "designation": [{"language": "en", "value": "Yes"}]}, {"code": "b"}),
     value_set({"system": "http://example.org/codes", "filter": [{"property": "code", "op": "=", "value": "a"}]})]
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("choice", coding("a"), []),
        ("choice", coding("a", display="YES"), []),
        ("choice", coding("a", display="Nein"), ["display"]),
        ("choice", coding("b"), ["answerValueSet"]),
        ("choice", coding("c"), ["answerValueSet"]),
        ("choice", coding("a", system="http://other"), ["answerValueSet"]),
        ("choice", {"valueCoding": {"code": "a"}}, ["answerValueSet"]),
        ("choice", coding("a", system="local"), ["answerValueSet"]),
        ("open-choice", coding("b"), ["answerValueSet"]),
        ("open-choice", {"valueString": "anything"}, []),
        ("string", {"valueString": "a"}, []),
        ("string", {"valueString": "Ja"}, ["answerValueSet"]),
    ],
)
def test_an_answer_is_in_the_value_set_of_its_item(kind: str, answer: dict[str, Any], expected: list[str]) -> None:
    asked = item("a", kind, answerValueSet="http://example.org/vs")

    assert verdict(asked, said("a", answer), known=KNOWN) == expected


def test_a_value_set_that_is_not_at_hand_is_a_warning() -> None:
    asked = form(item("a", "choice", answerValueSet="http://example.org/elsewhere"))

    assert rules(checked(asked, response(said("a", coding("a"))))) == [("warning", "value-set")]


def test_a_code_that_may_be_in_a_value_set_is_a_warning() -> None:
    partly = Terminology([value_set({"system": "http://snomed.info/sct"})])
    asked = form(item("a", "choice", answerValueSet="http://example.org/vs"))
    given = response(said("a", coding("73211009", system="http://snomed.info/sct")))

    assert rules(checked(asked, given, known=partly)) == [("warning", "answerValueSet")]


@pytest.mark.parametrize(
    ("answer", "option", "same"),
    [
        (coding("a"), coding(" a "), True),
        (coding("a"), coding("a", system="http://example.org/others"), False),
        (
            {"valueReference": {"reference": "Patient/1"}},
            {"valueReference": {"reference": "Patient/1", "display": "X"}},
            True,
        ),
        ({"valueDecimal": Decimal(3)}, {"valueInteger": 3}, True),
        ({"valueDateTime": "2020"}, {"valueDate": "2020"}, True),
        ({"valueString": "3"}, {"valueInteger": 3}, False),
    ],
)
def test_an_answer_is_an_option_when_it_says_the_same(
    answer: dict[str, Any], option: dict[str, Any], same: bool
) -> None:
    one, other = value_of(answer), value_of(option)

    assert one is not None
    assert other is not None
    assert is_option(one, other) is same


def test_a_code_that_the_form_itself_offers_is_the_forms_to_mend() -> None:
    wrong = coding("zzz", display="Nichts")
    offered, other = (read_stated(item("a", "choice", answerOption=[each])) for each in (wrong, coding("a")))
    given = Answer("coding", wrong["valueCoding"])

    assert [(each.rule, each.severity) for each in check_options(offered, given, KNOWN)] == [("code", "warning")]
    assert [(each.rule, each.severity) for each in check_options(other, given, KNOWN)] == [("answerOption", "error")]


SIDES = [{"code": "l", "display": "Left breast"}, {"code": "r", "display": "Right breast", "designation": [
    {"language": "de", "value": "Rechte Brust"}]}, {"code": "u"}]  # fmt: skip


def side(code: str, display: str) -> dict[str, Any]:
    return coding(code, system="http://example.org/sides", display=display)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (side("r", "Right breast"), []),
        (side("r", "rechte  brust"), []),
        (side("l", "Right breast"), [("error", "display")]),
        (side("r", "Left breast"), [("error", "display")]),
        (side("l", "Both"), [("warning", "display")]),
        (side("u", "Unclear"), []),  # the value set does not say what it is called
    ],
)
def test_without_a_code_system_the_value_set_says_what_a_code_is_called(
    answer: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    sides = value_set({"system": "http://example.org/sides", "concept": SIDES})
    asked = form(item("a", "choice", answerValueSet="http://example.org/vs"))

    assert rules(checked(asked, response(said("a", answer)), known=Terminology([sides]))) == expected


def test_an_option_under_the_name_of_another_option_is_an_error_and_under_an_unknown_name_a_warning() -> None:
    asked = form(item("a", "choice", answerOption=[side("l", "Left breast"), side("r", "Right breast")]))

    assert rules(checked(asked, response(said("a", side("r", "Left breast"))))) == [("error", "display")]
    assert rules(checked(asked, response(said("a", side("r", "Right"))))) == [("warning", "display")]


SNOMED, LOINC = "http://snomed.info/sct", "http://loinc.org"


@pytest.mark.parametrize(
    ("value_set_url", "answer", "expected"),
    [
        (SNOMED + "?fhir_vs", coding("73211009", system=SNOMED), [("warning", "value-set")]),
        (SNOMED + "?fhir_vs=isa/404684003", coding("73211008", system=SNOMED), [("error", "answerValueSet")]),
        (SNOMED + "/900000000000207008?fhir_vs", coding("diabetes", system=SNOMED), [("error", "answerValueSet")]),
        (SNOMED + "?fhir_vs", coding("8302-2", system=LOINC), [("error", "answerValueSet")]),
        (LOINC + "/vs/LL715-4", coding("LA33-6", system=LOINC), [("warning", "value-set")]),
        (LOINC + "/vs", coding("8302-3", system=LOINC), [("error", "answerValueSet")]),
        ("http://example.org/vs", coding("8302-3", system=LOINC),
         [("warning", "value-set"), ("warning", "code")]),
    ],
)  # fmt: skip
def test_a_value_set_of_a_system_takes_only_what_can_be_a_code_of_it(
    value_set_url: str, answer: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    asked = form(item("a", "choice", answerValueSet=value_set_url))

    assert rules(checked(asked, response(said("a", answer)))) == expected


def test_a_code_without_its_system_is_refused_where_the_value_set_takes_in_a_hierarchy() -> None:
    findings = value_set({"system": SNOMED, "filter": [{"property": "concept", "op": "is-a", "value": "404684003"}]})
    asked = form(item("a", "choice", answerValueSet="http://example.org/vs"))
    given = response(said("a", {"valueCoding": {"code": "73211009"}}))

    assert rules(checked(asked, given, known=Terminology([findings]))) == [("error", "answerValueSet")]
