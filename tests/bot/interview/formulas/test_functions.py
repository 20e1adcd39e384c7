"""FHIRPath's functions give what the specification (N1, chapter 5; FHIR R4, "FHIRPath"; SDC) says."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.interview.formulas.evaluator import as_json, compile_formula, evaluate, typed
from bot.interview.formulas.formula import FormulaFailed
from tests.bot.interview.resources import UCUM, Json, amount
from tests.conftest import examples

NOW = "2026-11-22T10:30:00+01:00"
PATIENT: Json = {
    "resourceType": "Patient",
    "id": "p",
    "contained": [{"resourceType": "Organization", "id": "o", "name": "Praxis"}],
    "active": True,
    "name": [{"use": "official", "family": "Muster", "given": ["Anna", None], "_given": [None, {"extension": [{"url": "u", "valueString": "v"}]}]}, {"use": "usual", "given": ["Anni"]}],
    "gender": "female",
    "birthDate": "1960-02-03",
    "_birthDate": {"extension": [{"url": "http://hl7.org/fhir/StructureDefinition/patient-birthTime", "valueDateTime": "1960-02-03T04:05:06+01:00"}]},
    "managingOrganization": {"reference": "#o"},
    "generalPractitioner": [{"reference": "Practitioner/1"}],
    "extension": [{"url": "age", "valueAge": {"value": 66, "code": "a", "system": UCUM}}, {"url": "many", "valueInteger": 3}],
}  # fmt: skip


_NAMES = st.sampled_from(
    [
        "item",
        "answer",
        "linkId",
        "value",
        "valueQuantity",
        "valueCoding",
        "valueDate",
        "extension",
        "url",
        "unit",
        "code",
        "reference",
        "id",
        "_linkId",
    ]
)
_SOURCES = [
    "%resource.item.where(linkId='x').answer.value",
    "%resource.descendants().where(linkId='x').answer.value.sum()",
    "QuestionnaireResponse.answers().value.ordinal().sum()",
    "item.answer.value + 1",
    "item.answer.value.round(2)",
    "item.answer.value < 5 'kg'",
    "item.answer.value ~ item.answer.value",
    "item.answer.value = item.answer.value",
    "descendants().distinct().count()",
    "repeat(item | answer).linkId.join(',')",
    "item.extension('x').value.toQuantity()",
    "contained.resolve() | item.answer.value.resolve()",
    "descendants().select(lowBoundary())",
    "descendants().select(toString().length())",
    "descendants().select(floor() + toDecimal())",
    "descendants().sort()",
    "descendants().where($this is Quantity).type().name",
]  # fmt: skip


def value_of(source: str, focus: Any = PATIENT, **names: Any) -> list[Any]:
    return as_json(evaluate(compile_formula(source), focus, {"resource": focus, **names}, now=NOW))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Existence.
        ("{}.empty()", [True]),
        ("(1 | 2).exists($this > 1)", [True]),
        ("{}.not()", []),
        ("(1 | 2).all($this > 1)", [False]),
        ("{}.all(false)", [True]),
        ("(true | false).allTrue()", [False]),
        ("(true | false).anyTrue()", [True]),
        ("(true | false).allFalse()", [False]),
        ("(true | false).anyFalse()", [True]),
        ("{}.anyTrue()", [False]),
        ("(1 | 2).subsetOf(1 | 2 | 3)", [True]),
        ("(1 | 2).supersetOf(1 | 2 | 3)", [False]),
        ("(1).combine(1).isDistinct()", [False]),
        ("(1).combine(1.0).distinct()", [1]),
        # Filtering and subsets.
        ("(1 | 2 | 3).where($index > 0 and $this < 3)", [2]),
        ("(1 | 2).select($this * 2)", [2, 4]),
        ("(1 | 2 | 3)[1]", [2]),
        ("(1 | 2 | 3)[5]", []),
        ("(1 | 2 | 3).tail().first()", [2]),
        ("(1 | 2 | 3).last()", [3]),
        ("(1 | 2 | 3).skip(1).take(1)", [2]),
        ("(1 | 2 | 3).skip(-1).take(-1)", []),
        ("(1 | 2 | 3).intersect(2 | 3 | 4)", [2, 3]),
        ("(1 | 2 | 3).exclude(2)", [1, 3]),
        ("(1 | 2).union(2 | 3)", [1, 2, 3]),
        ("(1 | 2).combine(2)", [1, 2, 2]),
        ("(3 | 1 | 2).sort()", [1, 2, 3]),
        ("('b' | 'a').sort(-$this)", ["b", "a"]),
        # Deciding and adding up.
        ("iif(false, 1)", []),
        ("iif({}, 1, 2)", [2]),
        ("iif(true, 1, 1 / 'a')", [1]),
        ("coalesce({}, 2, 3)", [2]),
        ("(1 | 2 | 3).aggregate($total + $this, 10)", [16]),
        ("(1 | 2 | 3).aggregate(iif($total.empty(), $this, $total * $this))", [6]),
        ("(1 'kg' | 500 'g').sum() = 1.5 'kg'", [True]),
        ("(1 | 2.5).avg()", [Decimal("1.75")]),
        ("{}.avg()", []),
        ("('b' | 'a').min()", ["a"]),
        ("(@2020 | @2021).max()", ["2021"]),
        # Conversion.
        ("'TRUE'.toBoolean()", [True]),
        ("'Y'.toBoolean()", [True]),
        ("1.0.toBoolean()", [True]),
        ("'maybe'.toBoolean()", []),
        ("'1.5'.toInteger()", []),
        ("'+12'.toInteger()", [12]),
        ("true.toInteger()", [1]),
        ("'1.5'.toDecimal()", [Decimal("1.5")]),
        ("1.50.toString()", ["1.50"]),
        ("1 week.toString()", ["1 week"]),
        ("1 'wk'.toString()", ["1 'wk'"]),
        ("@T10:30.toString()", ["10:30"]),
        ("'2020-02-30'.toDate()", []),
        ("'2020-02-03T10:00:00Z'.toDate()", ["2020-02-03"]),
        ("@2020-02-03.toDateTime() is DateTime", [True]),
        ("'10:30'.toTime()", ["10:30"]),
        ("'4 days'.toQuantity() = 4 'd'", [True]),
        ("'4 wk'.convertsToQuantity()", [False]),
        ("1 month.toQuantity('days')", [amount(30, "d", "days")]),
        ("1 year.toQuantity('days')", [amount(365, "d", "days")]),
        ("30 days.toQuantity('month')", [amount(1, "mo", "month")]),
        ("1 month.toQuantity('hours')", [amount(720, "h", "hours")]),
        ("1 year.toQuantity('months')", [amount(12, "mo", "months")]),
        ("1 'mo'.toQuantity('d')", [amount("30.4375", "d")]),
        ("1 month.comparable(1 week)", [True]),
        ("1 month.comparable(1 'kg')", [False]),
        ("'5 \\'mg\\'\\n'.toQuantity()", []),
        ("'abc'.substring(1, {})", ["bc"]),
        ("'abc'.substring({}, 1)", []),
        ("'abc'.substring({})", []),
        ("10.log(0)", []),
        ("0.power(0)", [1]),
        ("'[-'.matches('^\\\\[-[\\\\w-]*$')", [True]),
        ("1.5.round(29)", [Decimal("1.5")]),
        ("1.type().baseType", ["System.Any"]),
        ("Patient.type().baseType", ["FHIR.DomainResource"]),
        ("1 'kg'.toQuantity('g')", [amount(1000, "g")]),
        ("'a'.convertsToInteger()", [False]),
        ("{}.convertsToInteger()", []),
        # Texts.
        ("'abcb'.indexOf('b')", [1]),
        ("'abcb'.lastIndexOf('b')", [3]),
        ("'abc'.indexOf('z')", [-1]),
        ("'abc'.substring(1)", ["bc"]),
        ("'abc'.substring(1, 1)", ["b"]),
        ("'abc'.substring(3)", []),
        ("'abc'.substring(-1)", []),
        ("'abc'.startsWith('')", [True]),
        ("'abc'.endsWith('c')", [True]),
        ("'abc'.contains('b')", [True]),
        ("'aB'.upper() + 'aB'.lower()", ["ABab"]),
        ("' a '.trim()", ["a"]),
        ("'abc'.length()", [3]),
        ("'abc'.toChars().count()", [3]),
        ("'abc'.replace('', 'x')", ["xaxbxcx"]),
        ("'a,,b'.split(',')", ["a", "", "b"]),
        ("('a' | 'b').join('-')", ["a-b"]),
        ("'abc'.matches('b')", [True]),
        ("'abc'.matchesFull('b')", [False]),
        ("'abc'.replaceMatches('(?<x>b)', '[${x}]')", ["a[b]c"]),
        ("'ä'.encode('hex')", ["c3a4"]),
        ("'w6Q='.decode('base64')", ["ä"]),
        ("'zz'.decode('hex')", []),
        ("'<a>'.escape('html')", ["&lt;a&gt;"]),
        ("'&lt;a&gt;'.unescape('html')", ["<a>"]),
        ("'\"'.escape('json').unescape('json')", ['"']),
        # Numbers.
        ("(-1.5).abs()", [Decimal("1.5")]),
        ("(-1.5 'mg').abs()", [amount("1.5", "mg")]),
        ("(-1.1).ceiling()", [-1]),
        ("(-1.1).floor()", [-2]),
        ("(-1.9).truncate()", [-1]),
        ("2.power(10)", [1024]),
        ("2.power(-1)", [Decimal("0.5")]),
        ("2.power(40)", []),
        ("16.log(2)", [Decimal(4)]),
        ("0.ln()", []),
        ("1.exp().round(5)", [Decimal("2.71828")]),
        ("81.sqrt()", [Decimal(9)]),
        ("(-1).sqrt()", []),
        # Precision.
        ("1.587.lowBoundary(2)", [Decimal("1.58")]),
        ("1.587.highBoundary(2)", [Decimal("1.59")]),
        ("1.587.lowBoundary(32)", []),
        ("1.5 'cm'.highBoundary(2)", [amount("1.55", "cm")]),
        ("@2020-02.highBoundary()", ["2020-02-29"]),
        ("@2020.lowBoundary(6)", ["2020-01"]),
        ("@2020-01-01T08.highBoundary()", ["2020-01-01T08:59:59.999-12:00"]),
        ("@T10:30.lowBoundary(9)", ["10:30:00.000"]),
        ("1.580.precision()", [3]),
        ("@2020-01.precision()", [6]),
        ("1 'cm'.comparable(1 '[in_i]')", [True]),
        ("1 'cm'.comparable(1 's')", [False]),
    ],
)  # fmt: skip
def test_functions_give_what_the_specification_says(source: str, expected: list[Any]) -> None:
    found = value_of(source)

    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Patient.name.family", ["Muster"]),
        ("DomainResource.name.family", ["Muster"]),
        ("Encounter.name.family", []),
        ("name.given", ["Anna", "Anni"]),
        ("name.given.count()", [3]),
        ("name.given.select(hasValue())", [True, False, True]),
        ("name.given[1].extension('u').value", ["v"]),
        ("birthDate.extension(%`ext-patient-birthTime`).value > @1960-02-03T00:00:00+01:00", [True]),
        ("extension('age').value is Age", [True]),
        ("extension('age').value is Quantity", [True]),
        ("extension('age').value >= 18 years", [True]),
        ("extension('age').value >= 18 'a'", [True]),
        ("birthDate + extension('age').value", ["2026-02-03"]),
        ("extension('many').valueInteger", [3]),
        ("gender is code", [True]),
        ("gender is string", [True]),
        ("gender.ofType(string)", []),
        ("gender.as(code)", ["female"]),
        ("active is boolean", [True]),
        ("active is System.Boolean", [False]),
        ("active.type().name", ["boolean"]),
        ("name[0].type().namespace", ["FHIR"]),
        ("id is id", [True]),
        ("birthDate < today() - 18 years", [True]),
        ("name.exists(use = 'usual')", [True]),
        ("name.ofType(HumanName).count()", [2]),
        ("managingOrganization.resolve().name", ["Praxis"]),
        ("managingOrganization.resolve() is Organization", [True]),
        ("generalPractitioner.resolve()", []),
        ("contained.ofType(Organization).id", ["o"]),
        ("children().ofType(HumanName).count()", [2]),
        ("descendants().ofType(Age).value", [66]),
        ("conformsTo('http://hl7.org/fhir/StructureDefinition/Patient')", [True]),
        ("repeat(contained).id", ["o"]),
        ("name.use.getValue().count()", [0]),
        ("gender.getValue()", ["female"]),
        ("name.trace('x').count()", [2]),
        ("%`vs-administrative-gender`", ["http://hl7.org/fhir/ValueSet/administrative-gender"]),
        ("%loinc", ["http://loinc.org"]),
        ("%context.id", ["p"]),
    ],
)  # fmt: skip
def test_elements_of_fhir_have_the_types_that_r4_says(source: str, expected: list[Any]) -> None:
    assert value_of(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "(1 | 2).single()",
        "(1 | 2).not()",
        "(1 | 2).toString()",
        "(true | 'a').allTrue()",
        "1.startsWith('1')",
        "'a'.abs()",
        "'abc'.substring('a')",
        "'abc'.matches('(')",
        "'a]'.matches('[a-z-[aeiou]]')",
        "'b'.replaceMatches('[\\\\p{L}-[aeiou]]', '')",
        "iif(1 | 2, true, false)",
        "('a' | 'b').iif(true, 1)",
        "1.5.round(-1)",
        "name.as(HumanName)",
        "gender.ofType(string1)",
        "conformsTo('http://example.org/StructureDefinition/x')",
        "$total",
        "1 + $index",
    ],
)
def test_what_the_specification_calls_an_error_fails(source: str) -> None:
    with pytest.raises(FormulaFailed):
        value_of(source)


def test_a_formula_that_asks_for_the_time_without_one_fails() -> None:
    with pytest.raises(FormulaFailed, match="time is not known"):
        evaluate(compile_formula("today()"), [], {}, now="")


def test_the_response_is_meant_where_a_path_in_one_of_its_items_begins_with_its_type() -> None:
    inner: Json = {"linkId": "b", "answer": [{"valueInteger": 2}]}
    response = {
        "resourceType": "QuestionnaireResponse",
        "item": [{"linkId": "a", "answer": [{"valueInteger": 1}]}, inner],
    }
    item = typed(inner, "QuestionnaireResponse.item")
    source = "QuestionnaireResponse.item.where(linkId = 'a').answer.value"

    assert value_of(source, response) == [1]
    assert value_of(source, item, resource=response) == [1]
    assert value_of(source, PATIENT, resource=response) == []
    assert value_of("answer.select(QuestionnaireResponse.item.count())", item, resource=response) == [2]


def test_a_type_at_the_beginning_stands_for_all_that_the_formula_stands_at() -> None:
    assert (
        value_of("Patient.name.family", [PATIENT, PATIENT, {"resourceType": "Organization", "name": "x"}])
        == ["Muster"] * 2
    )


def test_values_of_one_formula_go_on_into_another() -> None:
    given = evaluate(compile_formula("extension('age').value"), PATIENT, {}, now=NOW)

    assert value_of("%age.value + 1", age=given) == [67]
    assert value_of("%age is Age", age=given) == [True]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "source",
    [
        "%many.where(%many.where(%many.where($this > 1).exists()).exists()).count()",
        "%many.select(%many.select(%many.select($this)))",
        "%many.aggregate($total.combine($total), 1)",
        "%many.aggregate($total & $total, 'ab')",
        "%many.aggregate($total.encode('hex'), 'ab')",
        "%many.aggregate($total.replace('a', 'aa'), 'a')",
        "%many.select('a' & $this.toString()).join(%long)",
        "%many.where(%long.replaceMatches('a', %long).exists())",
        "%many.all(%deep = %deep)",
        f"%many.select('{'a' * 60}b'.matches('^(a|aa)+$').not())",
        "%many.sort(%many.sum())",
    ],
)
def test_a_formula_that_takes_too_much_work_is_given_up(source: str) -> None:
    deep: Json = {"item": [{"linkId": str(number)} for number in range(2000)]}

    with pytest.raises(FormulaFailed):
        value_of(source, many=list(range(1200)), long="a" * 50_000, deep=typed(deep, "QuestionnaireResponse"))


_ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["x", "2020-02-30", "#o"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=12,
)


@examples(60, 300)
@given(_ANY_JSON, st.sampled_from(_SOURCES))
def test_whatever_stands_in_the_json_a_formula_gives_a_result_or_fails(held: Any, source: str) -> None:
    focus = typed(
        {"resourceType": "QuestionnaireResponse", "item": held, "contained": held, "answer": held},
        "QuestionnaireResponse",
    )

    with suppress(FormulaFailed):
        value_of(source, focus)


def test_a_pair_of_surrogates_is_one_character_and_half_of_one_is_none() -> None:
    assert value_of("'\\ud83d\\ude00'.length()") == [1]
    assert value_of("'\\ud83d'") == ["\ufffd"]


def test_no_failure_quotes_what_a_patient_said() -> None:
    secret = {"resourceType": "Patient", "gender": "s3cret", "name": [{"family": "s3cret"}]}
    for source in ("gender + 1", "name & 'a'", "gender.abs()", "name.family < 1", "gender.combine('x').single()"):
        with pytest.raises(FormulaFailed) as raised:
            value_of(source, secret)
        assert "s3cret" not in str(raised.value)
