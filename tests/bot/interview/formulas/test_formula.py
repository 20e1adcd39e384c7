"""FHIRPath: parsed to the end or refused, evaluated with the clock that is handed in, and asked what it reads."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.interview.formulas.evaluator import as_json, compile_formula, evaluate, typed
from bot.interview.formulas.formula import BadFormula, FormulaFailed, Reads
from tests.bot.interview.resources import UCUM, Json, amount

NOW = "2026-11-22T10:30:00+01:00"
KILOGRAMS: Json = {"value": 3, "code": "kg", "system": UCUM, "unit": "kg"}
RESPONSE: Json = {
    "resourceType": "QuestionnaireResponse",
    "item": [
        {"linkId": "g", "item": [{"linkId": "x", "answer": [{"valueDecimal": Decimal("1.5")}]}]},
        {"linkId": "q", "answer": [{"valueInteger": 3, "item": [{"linkId": "x", "answer": [{"valueInteger": 9}]}]}]},
        {"linkId": "kg", "answer": [{"valueQuantity": KILOGRAMS}]},
        {"linkId": "born", "answer": [{"valueDate": "2000-11-23"}]},
    ],
}


def value_of(source: str, **names: Any) -> list[Any]:
    resource = typed(RESPONSE, "QuestionnaireResponse")
    return as_json(evaluate(compile_formula(source), resource, {"resource": resource, **names}, now=NOW))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%resource.item.where(linkId='q').answer.value + 1", [4]),
        ("%resource.descendants().where(linkId='x').answer.value", [Decimal("1.5"), 9]),
        ("%resource.answers().value.ofType(integer)", [3, 9]),
        ("%resource.item.where(linkId='kg').answer.value > 2000 'g'", [True]),
        ("%resource.item.where(linkId='kg').answer.value <= 2000 'g'", [False]),
        ("%resource.item.where(linkId='kg').answer.value > 2 'm'", []),
        ("%resource.item.where(linkId='born').answer.value <= today() - 26 years", [False]),
        ("%resource.item.where(linkId='born').answer.value <= today() - 25 years", [True]),
        ("today()", ["2026-11-22"]),
        ("now()", [NOW]),
        ("timeOfDay()", ["10:30:00"]),
        ("2.5.round()", [3]),
        ("(-2.5).round()", [-3]),
        ("2.45.round(1)", [Decimal("2.5")]),
        ("(-2).power(2)", [4]),
        ("(-1).power(0.5)", []),
        ("(1 | 2 | 3).sum()", [6]),
        ("(1 | 2).avg()", [Decimal("1.5")]),
        ("(3 | 1).min()", [1]),
        ("(3 | 1).max()", [3]),
        ("{}.sum()", [0]),
        ("true.toString()", ["true"]),
        ("'yes'.toBoolean()", [True]),
        ("'a'.hasValue()", [True]),
        ("{}.hasValue()", [False]),
        ("'a'.trace('label')", ["a"]),
        ("{} = 1", []),
        ("{} != 1", []),
        ("1 = 1.0", [True]),
        ("%loinc", []),
        ("%given.value", [7]),
        ("@2020-01-01", ["2020-01-01"]),
        ("1 'kg'", [amount(1, "kg")]),
    ],
)
def test_a_formula_gives_what_fhirpath_says(source: str, expected: list[Any]) -> None:
    assert value_of(source, given={"value": 7}, loinc=None) == expected


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("1 +", "no FHIRPath"),
        ("answer.count() = 3 asdf aqwe", "no FHIRPath from column 20"),
        ("item.where(linkId=", "no FHIRPath"),
        ("foo()", r"function foo\(\) is not known"),
        ("item.select(memberOf('x'))", r"function memberOf\(\)"),
        ("%resource.klartextItems('x')", r"function klartextItems\(\)"),
        ("item.where()", r"where\(\) does not take 0 parameters"),
        ("", "no FHIRPath"),
        ("(" * 3000 + "1" + ")" * 3000, "nested too deep"),
        ("1" * 20_001, "longer than"),
    ],
)
def test_what_is_no_fhirpath_is_refused(source: str, problem: str) -> None:
    with pytest.raises(BadFormula, match=problem):
        compile_formula(source)


@pytest.mark.parametrize("source", ["'a' > 1", "%unknown", "(1 | 2) + 1", "('a' | 'b').sum()"])
def test_a_formula_that_cannot_be_evaluated_says_so(source: str) -> None:
    with pytest.raises(FormulaFailed):
        value_of(source)


def test_a_trace_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    value_of("%resource.item.answer.value.trace('secret')")

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("1 + 1", Reads()),
        ("%resource.item.where(linkId='a').answer.value", Reads(link_ids=frozenset("a"))),
        ("%resource.item.where(linkId='a' or linkId='b').answer.value", Reads(link_ids=frozenset("ab"))),
        ("%resource.item.where(linkId in ('a'|'b')).answer.value", Reads(link_ids=frozenset("ab"))),
        ("%resource.item.where('a' = linkId and answer.exists())", Reads(link_ids=frozenset("a"))),
        ("%resource.item.where($this.linkId = 'a').item.where(linkId = 'b')", Reads(link_ids=frozenset("a"))),
        ("%resource.item[0].where(linkId = 'a')", Reads(link_ids=frozenset("a"))),
        ("%resource.item.where(linkId='a' or answer.exists())", Reads(everything=True)),
        ("%resource.item.where(linkId != 'a')", Reads(everything=True)),
        ("%resource.item.where(linkId = %x)", Reads(everything=True)),
        ("%resource.item.answer.value", Reads(everything=True)),
        ("%resource.item.where(linkId='a').count() + %resource.item.count()", Reads(link_ids=frozenset("a"), everything=True)),
        ("QuestionnaireResponse.item.where(linkId='a').answer.value", Reads(link_ids=frozenset("a"))),
        ("QuestionnaireResponse.item.answer.value", Reads(everything=True)),
        ("item.where(QuestionnaireResponse.item.where(linkId='a').exists())", Reads(own=True, inside=True, link_ids=frozenset("a"))),
        ("answer.value > 3", Reads(own=True)),
        ("$this.item.answer", Reads(own=True, inside=True)),
        ("$this.exists()", Reads(own=True)),
        ("item.where(linkId='a').answer", Reads(own=True, inside=True)),
        ("descendants().count()", Reads(own=True, inside=True)),
        ("%context.item.answer", Reads(own=True, inside=True)),
        ("iif(answer.exists(), 1, 2)", Reads(own=True)),
        ("%patient.name.where(use = 'official').given", Reads()),
        ("%questionnaire.item.where(linkId = 'a').text", Reads()),
    ],
)  # fmt: skip
def test_what_a_formula_reads_is_known_or_overestimated(source: str, reads: Reads) -> None:
    found = compile_formula(source).reads

    assert (found.link_ids, found.everything, found.own, found.inside) == (
        reads.link_ids,
        reads.everything,
        reads.own,
        reads.inside,
    )


def test_variables_and_functions_are_named() -> None:
    reads = compile_formula("iif(%`a b`.exists(), %c.count() + %`vs-x`.length(), today())").reads

    assert reads.variables == {"a b", "c"}
    assert reads.functions == {"iif", "exists", "count", "length", "today"}


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ("%resource.descendants().where(linkId='x').answer.value", "%resource.descendants().where(linkId='x' and true).answer.value"),
        ("%resource.item.where(linkId='q').answer.item.answer.value", "%resource.item.where(linkId='q' and true).answer.item.answer.value"),
        ("%resource.item.where('g' = linkId).item.linkId", "%resource.item.where('g' = linkId and true).item.linkId"),
        ("%resource.descendants().where(linkId='none')", "%resource.descendants().where(linkId='none' and true)"),
        ("%questionnaire.repeat(item).where(linkId='b').text", "%questionnaire.repeat(item).where(linkId='b' and true).text"),
    ],
)  # fmt: skip
def test_the_fast_search_finds_what_the_plain_one_finds(fast: str, slow: str) -> None:
    asked = {"resourceType": "Questionnaire", "item": [{"linkId": "a", "item": [{"linkId": "b", "text": "B"}]}]}

    assert value_of(fast, questionnaire=asked) == value_of(slow, questionnaire=asked)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'ab'.matches('b')", [True]),
        ("'a\nb'.matches('a.b')", [True]),
        ("{}.matches('b')", []),
        ("'ab'.matches({})", []),
        ("'a-b'.replaceMatches('(a)-(b)', '$2-$1')", ["b-a"]),
        ("%resource.repeat(item).linkId", ["g", "q", "kg", "born", "x"]),
        ("%resource.repeat(item).answer.value.ofType(decimal)", [Decimal("1.5")]),
        ("'a,b'.repeat($this.split(','))", ["a", "b"]),
        ("(1 | 2).repeat(iif($this < 5, $this + 2, {}))", [3, 4, 5, 6]),
    ],
)
def test_searching_and_repeating_do_what_fhirpath_says(source: str, expected: list[Any]) -> None:
    assert value_of(source) == expected


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "source",
    [
        f"'{'a' * 60}b'.matches('(a|aa)+$')",
        f"'{'a' * 60}b'.replaceMatches('(a|aa)+$', 'x')",
        f"(1 | 2 | 3 | 4).select('{'a' * 60}b'.matches('(a|aa)+$'))",
        "1.repeat($this + 1)",
        "0.5.repeat($this + 0.001)",
        "'a'.repeat($this & $this)",
        "@2020-01-01.repeat($this + 1 day)",
    ],
)
def test_a_formula_without_end_is_given_up(source: str) -> None:
    with pytest.raises(FormulaFailed):
        value_of(source)
