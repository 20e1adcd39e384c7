"""What an item demands of an answer: type, number, length, pattern, range, unit, kind of file and reference."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.form.indexed import read_stated
from bot.interview.load import load_form
from bot.interview.rules.answers import Violation, check_bound, check_number, check_text, check_unit
from bot.interview.values.answer import Answer
from bot.interview.values.terminology import Terminology
from tests.bot.interview.resources import (
    CORE,
    SDC,
    UCUM,
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


@pytest.mark.parametrize(
    ("profiles", "reference", "expected"),
    [
        (["Practitioner"], "Practitioner/1", []),
        (["Practitioner", "Organization|4.0.1"], "Organization/1", []),
        (["Practitioner", "Organization"], "Patient/1", ["referenceResource"]),
        (["Practitioner", "bmi"], "Patient/1", []),  # bmi is a profile: what it constrains cannot be told here
        (["Resource"], "Patient/1", []),
    ],
)
def test_a_profile_that_is_a_type_of_r4_says_what_may_be_referred_to(
    profiles: list[str], reference: str, expected: list[str]
) -> None:
    stated = [(CORE + "questionnaire-referenceProfile", {"valueCanonical": CORE + name}) for name in profiles]

    assert verdict(limited("reference", *stated), said("a", {"valueReference": {"reference": reference}})) == expected


@pytest.mark.parametrize(
    ("code", "expected"), [("mg", []), ("kg", []), ("mL", [("warning", "questionnaire-unit")]), ("{tablet}", [("warning", "questionnaire-unit")])]
)  # fmt: skip
def test_a_quantity_measures_what_the_unit_of_its_item_does(code: str, expected: list[tuple[str, str]]) -> None:
    asked = limited("quantity", (CORE + "questionnaire-unit", coding("mg", UCUM)))

    assert rules(checked(form(asked), response(said("a", quantity("1", code))))) == expected


def test_a_date_too_coarse_for_its_limit_is_a_warning() -> None:
    findings = checked(form(between("date", "2020-06-01", "2030")), response(said("a", {"valueDate": "2020"})))

    assert rules(findings) == [("warning", "minValue")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2020-06", []),
        ("2020", [("warning", "minValue")]),
        ("2021-12", []),
        ("2021", []),
        ("2022", [("error", "maxValue")]),
        ("2020-05", [("error", "minValue")]),
    ],
)
def test_a_date_known_in_part_is_within_a_limit_where_all_of_it_is(given: str, expected: list[tuple[str, str]]) -> None:
    findings = checked(form(between("date", "2020-06-01", "2021-12-31")), response(said("a", {"valueDate": given})))

    assert rules(findings) == expected


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

    assert rules(findings) == [("warning", "ucum"), ("warning", "minQuantity"), ("warning", "maxQuantity")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *((quantity("1", unit), [("warning", "ucum")]) for unit in ("cc", "lbs", "{a b}", "kg/m^2")),
        *((quantity("1", unit), []) for unit in ("mL", "[lb_av]", "{a_b}", "kg/m2")),
        (quantity("1", "lbs", "http://example.org/units"), []),
        (quantity("1", None, None, unit="lbs"), []),
    ],
)
def test_a_code_that_ucum_does_not_have_is_a_warning_without_any_limit(answer: dict[str, Any], expected: Any) -> None:
    assert rules(checked(form(item("a", "quantity")), response(said("a", answer)))) == expected


def test_an_illegal_code_that_the_form_itself_offers_is_no_more_than_a_warning() -> None:
    asked = limited("quantity", unit_option("kg/m^2"))

    found = checked(form(asked), response(said("a", quantity("22", "kg/m^2"))))

    assert rules(found) == [("warning", "ucum")]


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


def broken(*violations: Violation) -> list[tuple[str, str, str]]:
    return [(each.rule, each.severity, each.how) for each in violations]


@pytest.mark.parametrize(
    ("flags", "given", "expected"),
    [
        ({}, 0, []),
        ({"required": True}, 0, ["required"]),
        ({"required": "true"}, 0, ["required"]),
        ({}, 2, ["repeats"]),
        ({"repeats": True}, 2, []),
        ({"repeats": True}, 1, ["minOccurs"]),
        ({"repeats": True}, 4, ["maxOccurs"]),
        ({}, 4, ["repeats", "maxOccurs"]),
    ],
)
def test_answers_are_counted(flags: dict[str, Any], given: int, expected: list[str]) -> None:
    occurs = extended(
        (CORE + "questionnaire-minOccurs", {"valueInteger": 2}), (CORE + "questionnaire-maxOccurs", {"valueInteger": 3})
    )
    asked = item("a", "integer", extension=occurs, **flags)

    found = [each.rule for each in check_number(read_stated(asked), given)]

    # Nothing of what may be left out is too few; who asks decides that.
    assert [rule for rule in found if given or rule != "minOccurs"] == expected


def test_a_violation_has_the_values_that_a_message_needs_and_no_text() -> None:
    (found,) = check_text(read_stated(item("a", "string", maxLength=3)), Answer("string", "abcd"))

    assert found == Violation("maxLength", values={"limit": 3, "given": 4})


@pytest.mark.parametrize(
    ("answer", "bound", "expected"),
    [
        (Answer("integer", 4), Answer("integer", 5), [("minValue", "error", "beyond")]),
        (Answer("integer", 5), Answer("decimal", Decimal("5.0")), []),
        (Answer("date", "2020"), Answer("date", "2020-05"), [("minValue", "warning", "unknown")]),
        (Answer("date", "2019"), Answer("date", "2020-05"), [("minValue", "error", "beyond")]),
        (Answer("integer", 5), Answer("date", "2020"), [("minValue", "warning", "unknown")]),
        (Answer("quantity", {"value": 5}), Answer("integer", 5), [("minQuantity", "warning", "no unit")]),
    ],
)
def test_a_bound_is_kept_broken_or_not_comparable(answer: Answer, bound: Answer, expected: list[Any]) -> None:
    assert broken(*check_bound(answer, bound, least=True)) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("kg", "2"), []),
        (("g", "2000"), []),
        (("g", "1000"), [("minQuantity", "error", "beyond")]),
        (("m", "2"), [("minQuantity", "error", "other kind")]),
        (("zzz", "2"), [("minQuantity", "warning", "unknown unit")]),
        ((None, "2"), [("minQuantity", "error", "no code")]),
    ],
)
def test_a_quantity_is_compared_in_its_own_unit(given: tuple[str | None, str], expected: list[Any]) -> None:
    unit, value = given
    bound = Answer("quantity", quantity("2")["valueQuantity"])

    assert (
        broken(*check_bound(Answer("quantity", quantity(value, unit)["valueQuantity"]), bound, least=True)) == expected
    )


@pytest.mark.parametrize(
    ("limit", "as_written", "as_meant"), [(3, ["maxLength"], ["maxLength"]), ("3", [], ["maxLength"]), (-1, [], [])]
)
def test_the_validator_takes_a_limit_as_written_and_the_interview_as_meant(
    limit: Any, as_written: list[str], as_meant: list[str]
) -> None:
    asked = item("a", "string", maxLength=limit)
    (compiled,) = load_form(form(asked)).items

    for reading, expected in ((read_stated(asked), as_written), (compiled, as_meant)):
        assert [each.rule for each in check_text(reading, Answer("string", "abcd"))] == expected


def test_units_of_a_value_set_are_listed_for_people_and_looked_up_for_the_validator() -> None:
    units = value_set({"system": "http://unitsofmeasure.org", "concept": [{"code": "kg", "display": "Kilo"}]})
    asked = item("a", "quantity", extension=extended(
        (CORE + "questionnaire-unitValueSet", {"valueCanonical": "http://example.org/vs"})
    ))  # fmt: skip
    (compiled,) = load_form(form(asked), resources=[units]).items
    given = quantity("1", "kg", unit="kg")["valueQuantity"]

    assert broken(*check_unit(read_stated(asked).units, given, Terminology([units]))) == []
    assert broken(*check_unit(compiled.units, given, Terminology())) == [("unitOption", "error", "")]
    assert broken(*check_unit(compiled.units, {**given, "unit": "Kilo"}, Terminology())) == []


def test_an_amount_need_not_say_its_unit_in_words() -> None:
    asked = form(limited("quantity", unit_option("m", "m"), unit_option("cm", "cm")))

    assert rules(checked(asked, response(said("a", quantity("1.72", "m"))))) == []
    assert rules(checked(asked, response(said("a", quantity("1.72", "m", unit="cm"))))) == [("error", "unitOption")]
