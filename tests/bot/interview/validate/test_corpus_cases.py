"""HL7's own test cases and published forms: our verdict is that of HL7's Java validator."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bot.catalog.fhir_files import read_json, shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import JsonObject, as_object
from bot.interview.values.finding import Finding, has_errors
from tests.bot.interview.resources import corpus, errors, rules

NOW = "2026-11-21T12:00:00+01:00"


def _read(path: Path) -> JsonObject:
    return as_object(read_json(path).value)


def _validate(folder: Path) -> list[Finding]:
    path = folder / "questionnaire.json"
    form = index_questionnaire(_read(path)) if path.exists() else None
    return check_response(_read(folder / "response.json"), form, known=shipped_terminology(), now=NOW)


def _cases() -> list[tuple[str, str]]:
    table = corpus() / "response-cases" / "EXPECTED.tsv"
    with table.open(encoding="utf-8", newline="") as lines:
        return [(row["case"], row["java_errors"]) for row in csv.DictReader(lines, delimiter="\t")]


def test_every_case_with_a_verdict_of_the_java_validator_gets_the_same_from_us() -> None:
    judged = [(case, int(count) > 0) for case, count in _cases() if count]
    assert len(judged) >= 35

    ours = [(case, has_errors(_validate(corpus() / "response-cases" / case))) for case, _ in judged]

    assert ours == judged


@pytest.mark.parametrize("case", ["invariant-corrupted-expression-qr", "invariant-undefined-variable-qr"])
def test_a_constraint_that_cannot_be_evaluated_is_a_warning(case: str) -> None:
    findings = _validate(corpus() / "response-cases" / case)

    assert rules(findings) == [("warning", "constraint")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ImagingRequest", []),
        ("Intervention", []),
        # Published with the group of the appointment under the linkId of the previous stay.
        ("SecondOpinion", ["misplaced", "misplaced", "text"]),
    ],
)
def test_published_radiology_orders_have_no_defects_but_true_ones(name: str, expected: list[str]) -> None:
    pairs = corpus() / "pairs"
    form = index_questionnaire(_read(pairs / "ch-rad-order-questionnaire.json"))

    findings = check_response(_read(pairs / f"ch-rad-order-{name}-response.json"), form, known=shipped_terminology())

    assert sorted(errors(findings)) == expected


DEFECTS = {
    "android-behavior_skip_logic": {"cardinality"},  # no status
    "android-new-patient-registration-translations": {"unknown-property"},  # Expression.system
    "hl7-sdc-test-enableWhen": {"enableWhen-type"},  # a string to compare codes with
    "lhncbc-questionnaire-calculatedExpression": {
        "cardinality",
        "vsd-10",
    },  # a contained value set has no status, its codes no system
    "lhncbc-questionnaire-initialx": {"que-11"},
}


def test_published_questionnaires_have_no_errors_but_known_ones() -> None:
    paths = sorted((corpus() / "questionnaires").glob("*.json"))
    assert len(paths) >= 15

    found = {path.stem: set(errors(check_questionnaire(_read(path)))) for path in paths}

    assert {name: kinds for name, kinds in found.items() if kinds} == DEFECTS
