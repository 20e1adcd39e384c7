"""Single answers: types, limits, options, value sets, quantities, attachments, references."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.values.terminology import Terminology
from tests.bot.interview.resources import (
    CORE,
    SDC,
    checked,
    code_system,
    coding,
    errors,
    extended,
    form,
    item,
    quantity,
    response,
    rules,
    said,
    value_set,
    verdict,
)

ANSWERS: dict[str, dict[str, Any]] = {
    "boolean": {"valueBoolean": False},
    "decimal": {"valueDecimal": Decimal("1.5")},
    "integer": {"valueInteger": 0},
    "date": {"valueDate": "1975-03"},
    "dateTime": {"valueDateTime": "1975-03"},
    "time": {"valueTime": "12:00:00"},
    "string": {"valueString": "x"},
    "text": {"valueString": "x\ny"},
    "url": {"valueUri": "http://x"},
    "choice": coding("a"),
    "open-choice": {"valueString": "x"},
    "attachment": {"valueAttachment": {"contentType": "a/b", "url": "http://x"}},
    "reference": {"valueReference": {"reference": "Patient/1"}},
    "quantity": quantity("70"),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_of_the_right_type_fits(kind: str) -> None:
    assert verdict(item("a", kind), said("a", ANSWERS[kind])) == []


@pytest.mark.parametrize("kind", sorted(ANSWERS.keys() - {"choice", "open-choice", "boolean"}))
def test_an_answer_of_another_type_does_not(kind: str) -> None:
    assert verdict(item("a", kind), said("a", {"valueBoolean": True})) == ["answer-type"]


@pytest.mark.parametrize("kind", ["choice", "open-choice"])
@pytest.mark.parametrize(
    "answer", [{"valueBoolean": True}, {"valueDecimal": 1}, {"valueReference": {"reference": "Patient/1"}}]
)
def test_a_choice_is_not_answered_with_what_no_option_can_be(kind: str, answer: dict[str, Any]) -> None:
    assert verdict(item("a", kind), said("a", answer)) == ["answer-type"]


def limited(kind: str, *pairs: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    return item("a", kind, extension=extended(*pairs), **more)


def between(kind: str, low: Any, high: Any, name: str = "") -> dict[str, Any]:
    value = "value" + (name or kind[0].upper() + kind[1:])
    return limited(kind, (CORE + "minValue", {value: low}), (CORE + "maxValue", {value: high}))


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        (between("integer", 1, 3), {"valueInteger": 1}, []),
        (between("integer", 1, 3), {"valueInteger": 0}, ["minValue"]),
        (between("integer", 1, 3), {"valueInteger": 4}, ["maxValue"]),
        (between("decimal", 1, 3, "Integer"), {"valueDecimal": Decimal("3.01")}, ["maxValue"]),
        (between("date", "2020-01-01", "2020-12-31"), {"valueDate": "2019-12-31"}, ["minValue"]),
        (between("date", "2020-01-01", "2020-12-31"), {"valueDate": "2020"}, []),
        (between("date", "2020-01-01", "2020-12-31"), {"valueDate": "2021"}, ["maxValue"]),
        (between("dateTime", "2020", "2021"), {"valueDateTime": "2022-01-01T00:00:00Z"}, ["maxValue"]),
        (between("time", "08:00:00", "18:00:00"), {"valueTime": "07:59:59"}, ["minValue"]),
        (item("a", "string", maxLength=3), {"valueString": "abcd"}, ["maxLength"]),
        (item("a", "string", maxLength=3), {"valueString": "abc"}, []),
        (item("a", "text", maxLength=3), {"valueString": "abcd"}, ["maxLength"]),
        (limited("string", (CORE + "minLength", {"valueInteger": 3})), {"valueString": "ab"}, ["minLength"]),
        (limited("string", (CORE + "regex", {"valueString": "[0-9]{4}"})), {"valueString": "8001"}, []),
        (limited("string", (CORE + "regex", {"valueString": "[0-9]{4}"})), {"valueString": "8001 "}, ["regex"]),
        (limited("decimal", (CORE + "maxDecimalPlaces", {"valueInteger": 1})), {"valueDecimal": Decimal("1.50")}, ["maxDecimalPlaces"]),
        (limited("decimal", (CORE + "maxDecimalPlaces", {"valueInteger": 2})), {"valueDecimal": Decimal("1.50")}, []),
    ],
)  # fmt: skip
def test_an_answer_is_within_the_limits_of_its_item(
    asked: dict[str, Any], answer: dict[str, Any], expected: list[str]
) -> None:
    assert verdict(asked, said("a", answer)) == expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\p{Lu}\p{Ll}+", "Öde", []),
        (r"\p{Lu}\p{Ll}+", "öde", [("error", "regex")]),
        ("(a|aa)+[bc]", "a" * 60, [("warning", "regex")]),
    ],
)
def test_patterns_may_name_letters_but_not_take_forever(
    pattern: str, text: str, expected: list[tuple[str, str]]
) -> None:
    asked = form(limited("string", (CORE + "regex", {"valueString": pattern})))

    assert rules(checked(asked, response(said("a", {"valueString": text})))) == expected


def test_a_date_too_coarse_for_its_limit_is_a_warning() -> None:
    findings = checked(form(between("date", "2020-06-01", "2030")), response(said("a", {"valueDate": "2020"})))

    assert rules(findings) == [("warning", "minValue")]


def test_a_computed_limit_is_said_to_be_unchecked() -> None:
    today = {
        "url": CORE + "cqf-calculatedValue",
        "valueExpression": {"language": "text/fhirpath", "expression": "today()"},
    }
    asked = item("a", "date", extension=[{"url": CORE + "maxValue", "_valueDate": {"extension": [today]}}])

    assert rules(checked(form(asked), response(said("a", {"valueDate": "2999"})))) == [
        ("information", "computed-limit")
    ]


def test_a_line_break_in_a_one_line_answer_is_a_warning() -> None:
    findings = checked(form(item("a", "string")), response(said("a", {"valueString": "x\ny"})))

    assert rules(findings) == [("warning", "line-break")]


def test_neither_texts_nor_dates_of_patients_are_quoted() -> None:
    asked = [
        {**limited("string", (CORE + "regex", {"valueString": "[0-9]+"}), maxLength=3), "linkId": "s"},
        {**between("date", "2020-01-01", "2020-12-31"), "linkId": "d"},
        item("c", "choice", answerOption=[{"valueString": "ja"}]),
    ]
    given = [
        said("s", {"valueString": "geheim"}),
        said("d", {"valueDate": "1975-03-03"}),
        said("c", {"valueString": "geheim"}),
    ]

    findings = checked(form(*asked), response(*given))

    assert errors(findings) == ["maxLength", "regex", "minValue", "answerOption"]
    assert not [finding for finding in findings if "geheim" in finding.text or "1975" in finding.text]


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
        ("choice", coding("c"), ["answerValueSet", "code"]),
        ("choice", coding("a", system="http://other"), ["answerValueSet"]),
        ("choice", {"valueCoding": {"code": "a"}}, ["answerValueSet"]),
        ("choice", coding("a", system="local"), ["answerValueSet", "coding-system"]),
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


def weighed(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    names = ("sdc-questionnaire-minQuantity", "sdc-questionnaire-maxQuantity")
    return limited("quantity", *((SDC + name, limit) for name, limit in zip(names, (low, high), strict=True)))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (quantity("10"), []),
        (quantity("200"), []),
        (quantity("9.99"), ["minQuantity"]),
        (quantity("201"), ["maxQuantity"]),
        (quantity("70000", "g"), []),
        (quantity("9999", "g"), ["minQuantity"]),
        (quantity("500", "[lb_av]"), ["maxQuantity"]),
        (quantity("70", "[mi_i]"), ["minQuantity", "maxQuantity"]),
        (quantity("70", None, None, unit="kg"), ["minQuantity", "maxQuantity"]),
        (quantity("70", "kg", "http://other"), ["minQuantity", "maxQuantity"]),
    ],
)
def test_a_quantity_is_within_limits_whatever_its_unit(answer: dict[str, Any], expected: list[str]) -> None:
    assert verdict(weighed(quantity("10"), quantity("200")), said("a", answer)) == expected


def test_a_unit_that_is_not_known_cannot_be_compared_which_is_a_warning() -> None:
    asked = form(weighed(quantity("10"), quantity("200")))

    findings = checked(asked, response(said("a", quantity("70", "[foo_us]"))))

    assert rules(findings) == [("warning", "minQuantity"), ("warning", "maxQuantity")]


def unit_option(code: str, display: str = "") -> tuple[str, dict[str, Any]]:
    shown = {"display": display} if display else {}
    return (
        CORE + "questionnaire-unitOption",
        {"valueCoding": {"system": "http://unitsofmeasure.org", "code": code, **shown}},
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (quantity("1", "km", unit="Kilometer"), []),
        (quantity("1", "m"), []),
        (quantity("1", "km", unit="Meilen"), ["unitOption"]),
        (quantity("1", "kg"), ["unitOption"]),
        (quantity("1", None, None, unit="m"), ["unitOption"]),
    ],
)
def test_a_quantity_has_one_of_the_units_offered(answer: dict[str, Any], expected: list[str]) -> None:
    asked = limited("quantity", unit_option("km", "Kilometer"), unit_option("m"))

    assert verdict(asked, said("a", answer)) == expected


def test_open_units_may_be_others() -> None:
    asked = limited(
        "quantity", unit_option("km"), (SDC + "sdc-questionnaire-unitOpen", {"valueCode": "optionsOrString"})
    )

    assert verdict(asked, said("a", quantity("1", None, None, unit="Ellen"))) == []


@pytest.mark.parametrize(("unit", "expected"), [("kg", []), ("m", ["unitValueSet"])])
def test_a_unit_is_in_the_value_set_of_units(unit: str, expected: list[str]) -> None:
    known = Terminology([value_set({"system": "http://unitsofmeasure.org", "concept": [{"code": "kg"}]})])
    asked = limited("quantity", (CORE + "questionnaire-unitValueSet", {"valueCanonical": "http://example.org/vs"}))

    assert verdict(asked, said("a", quantity("1", unit)), known=known) == expected


FILE = {"contentType": "image/png", "data": "YWJj"}


@pytest.mark.parametrize(
    ("limits", "attachment", "expected"),
    [
        ([("mimeType", {"valueCode": "image/png"})], FILE, []),
        ([("mimeType", {"valueCode": "image/*"})], FILE, []),
        ([("mimeType", {"valueCode": "application/pdf"})], FILE, ["mimeType"]),
        ([("mimeType", {"valueCode": "image/png"})], {"url": "http://x"}, ["mimeType"]),
        ([("maxSize", {"valueDecimal": 3})], FILE, []),
        ([("maxSize", {"valueDecimal": 2})], FILE, ["maxSize"]),
        ([("maxSize", {"valueDecimal": 2})], {"contentType": "image/png", "url": "http://x", "size": 3}, ["maxSize"]),
    ],
)
def test_an_attachment_is_of_the_allowed_kind_and_size(
    limits: list[tuple[str, dict[str, Any]]], attachment: dict[str, Any], expected: list[str]
) -> None:
    asked = limited("attachment", *((CORE + name, value) for name, value in limits))

    assert verdict(asked, said("a", {"valueAttachment": attachment})) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ({"reference": "Patient/1"}, []),
        ({"reference": "http://x/fhir/Patient/1/_history/2"}, []),
        ({"reference": "Device/1"}, ["referenceResource"]),
        ({"reference": "Nothing/1"}, ["reference-type"]),
        ({"reference": "urn:uuid:7b1e8a1c-8a4f-4d0e-9a53-0d1c0a7f8f11"}, []),
        ({"type": "Device", "display": "x"}, ["referenceResource"]),
    ],
)
def test_a_reference_is_to_an_allowed_kind_of_resource(reference: dict[str, Any], expected: list[str]) -> None:
    asked = limited("reference", (CORE + "questionnaire-referenceResource", {"valueCode": "Patient"}))

    assert verdict(asked, said("a", {"valueReference": reference})) == expected
