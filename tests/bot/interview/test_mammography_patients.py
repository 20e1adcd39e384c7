"""Patients walk through the shipped questions before a mammogram: nobody is asked, or may answer, what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fhirpathpy
import pytest
from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse
from fhirpathpy.models import models

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.load import load_form
from bot.interview.validate.response import check_response
from bot.interview.values import fhir_names
from bot.interview.values.fhir_json import walk
from tests.bot.interview.mammography_patients import (
    UNKNOWN,
    YES,
    Code,
    after_breast_cancer,
    healthy_at_first_visit,
    lump_while_breastfeeding,
    questionnaire,
    respond,
)

Json = dict[str, Any]
NOW = "2026-11-22T10:00:00+01:00"
FORM = questionnaire()
INDEXED = index_questionnaire(FORM)
PATIENTS = [healthy_at_first_visit, lump_while_breastfeeding, after_breast_cancer]
AGREED: Json = {"consent": True, "reason": Code("reason-screening")}
YEARS = {"unit": "Jahre", "system": "http://unitsofmeasure.org", "code": "a"}
HEALTHY: Json = {
    "consent": True, "reason": Code("reason-screening"), "age": 50, "interpreter": False, "period": YES,
    "pregnant": Code("LA26683-5"),
}  # fmt: skip


def errors(told: Json) -> list[str]:
    """Return the rules that the answers break."""
    found = check_response(respond(told, form=FORM), INDEXED, now=NOW, known=shipped_terminology())
    return [finding.rule for finding in found if finding.is_error]


def evaluate(formula: str, told: Json) -> list[Any]:
    response = respond(told, form=FORM)
    return list(fhirpathpy.evaluate(response, formula, {"resource": response}, models["r4"]))


def formulas(link_id: str, urls: tuple[str, ...]) -> list[str]:
    """Return the formulas in the extensions of an item that have one of `urls`."""
    item: Any = next(item for item in walk(FORM["item"]) if item["linkId"] == link_id)
    found = [each for each in item["extension"] if each["url"] in urls]
    parts = [part for each in found for part in [each, *each.get("extension", [])] if "valueExpression" in part]
    return [part["valueExpression"]["expression"] for part in parts]


def test_it_can_be_asked_without_a_warning() -> None:
    form = load_form(FORM, strict=True)

    assert form.warnings == ()
    assert form.languages == ("de", "en", "fr")


@pytest.mark.parametrize("patient", PATIENTS, ids=lambda patient: patient.__name__)
def test_the_answers_of_a_patient_are_valid(patient: Callable[[Json], Json]) -> None:
    response = patient(FORM)

    assert check_response(response, INDEXED, now=NOW, known=shipped_terminology()) == []
    assert QuestionnaireResponse.model_validate(response).status == "completed"


@pytest.mark.parametrize("missing", ["consent", "reason", "age", "pregnant"])
def test_what_matters_for_safety_cannot_be_left_out(missing: str) -> None:
    told = {link_id: answer for link_id, answer in HEALTHY.items() if link_id != missing}

    assert errors(HEALTHY) == []
    assert "required" in errors(told)


def test_who_does_not_agree_is_asked_nothing_else() -> None:
    assert errors({"consent": False}) == []
    assert set(errors({"consent": False, "age": 50})) == {"enableWhen"}


@pytest.mark.parametrize(
    ("told", "misfit"),
    [
        ({}, {"last-mammogram": "2020"}),
        ({"mammogram-before": Code("373067005")}, {"last-mammogram-place": "Bern"}),
        ({"interpreter": False}, {"interpreter-language": Code("tr")}),
        ({"complaints-now": [Code("no-complaint")]}, {"complaint": [{"complaint-side": Code("7771000")}]}),
        ({"complaints-now": [UNKNOWN]}, {"complaint": [{"complaint-side": Code("7771000")}]}),
        (
            {"complaints-now": [Code("breast-lump")]},
            {"complaint": [{"complaint-kind": Code("breast-lump"), "discharge-colour": Code("discharge-clear")}]},
        ),
        (
            {"complaints-now": [Code("breast-lump")]},
            {"complaint": [{"complaint-change": Code("change-none"), "complaint-since": "2020"}]},
        ),
        (
            {"complaints-now": [Code("breast-lump")]},
            {"complaint": [{"complaint-kind": Code("breast-lump"), "discharge-how": UNKNOWN}]},
        ),
        (
            {"devices": [Code("glucose-sensor")]},
            {"device": [{"device-kind": Code("glucose-sensor"), "device-new": YES}]},
        ),
        ({"own-cancer": Code("373067005")}, {"own-cancer-detail": [{"own-cancer-kind": Code("254837009")}]}),
        (
            {"own-cancer": Code("cancer-now")},
            {"own-cancer-detail": [{"own-cancer-kind": Code("lymphoma"), "own-cancer-side": Code("7771000")}]},
        ),
        ({"procedures": [Code("no-procedure")]}, {"procedure": [{"procedure-side": Code("7771000")}]}),
        ({}, {"procedure": [{"procedure-year": "2014"}]}),
        ({"radiotherapy": Code("373067005")}, {"chest-radiotherapy-age": 30}),
        ({"radiotherapy": UNKNOWN}, {"chest-radiotherapy-side": Code("7771000")}),
        ({"implant": UNKNOWN}, {"implant-side": Code("7771000")}),
        ({"other-imaging": [Code("no-imaging")]}, {"other-imaging-when": "2020"}),
        ({"breast-skin": [Code("no-skin")]}, {"breast-skin-where": "links"}),
        ({"devices": [Code("no-device")]}, {"device": [{"device-new": YES}]}),
        ({"family-cancer": UNKNOWN}, {"relative": [{"relative-who": Code("MTH")}]}),
        (
            {"family-cancer": YES},
            {"relative": [{"relative-who": Code("FTH"), "relative-cancer": [Code("363443007")]}]},
        ),
        (
            {"family-cancer": YES},
            {"relative": [{"relative-who": Code("MTH"), "relative-cancer-man": Code("254837009")}]},
        ),
        (
            {"family-cancer": YES},
            {"relative": [{"relative-who": Code("MTH"), "relative-cancer-unnamed": [Code("254837009")]}]},
        ),
        ({"hormones": [Code("other-hormones")]}, {"hormones-duration": {"value": 2, **YEARS}}),
        ({"blood-thinner": Code("373067005")}, {"blood-thinner-name": "Eliquis"}),
        ({"period": Code("period-paused")}, {"last-period": "2026-10"}),
        ({}, {"breastfeeding": Code("LA29253-4")}),
        ({"age": 49, "breastfeeding": Code("LA29252-6")}, {"weaned": True}),
    ],
    ids=lambda told: "-".join(told) or "nothing",
)
def test_questions_that_do_not_fit_are_not_asked(told: Json, misfit: Json) -> None:
    assert errors(HEALTHY | told) == []
    assert set(errors(HEALTHY | told | misfit)) == {"enableWhen"}


def test_a_woman_of_seventy_is_not_asked_for_periods_or_pregnancy() -> None:
    told = {**AGREED, "age": 70}

    assert errors(told) == []
    assert errors(told | {"period": Code("past-menopause")}) == ["enableWhen"]
    assert errors(told | {"pregnant": Code("LA26683-5")}) == ["enableWhen"]


@pytest.mark.parametrize("period", [None, "373066001", "period-paused", "past-menopause", "no-uterus", "no-period"])
def test_pregnancy_is_asked_of_everybody_under_sixty(period: str | None) -> None:
    told = {**AGREED, "age": 59, "hormones": [UNKNOWN]} | ({"period": Code(period)} if period else {})

    assert errors(told) == ["required"]
    assert errors(told | {"pregnant": Code("LA26683-5")}) == []
    assert errors(told | {"age": 60}) == (["enableWhen"] if period else [])


@pytest.mark.parametrize("told", [{}, {"own-cancer": Code("373067005")}, {"own-cancer": UNKNOWN}, {"age": 80}])
def test_every_procedure_and_every_hormone_can_be_named_whatever_was_said_before(told: Json) -> None:
    named = {
        "procedures": [Code("breast-cancer-operation"), Code("breast-removed")],
        "radiotherapy": YES,
        "hormones": [Code("anti-hormone-therapy"), Code("contraceptive-hormones")],
    }

    assert errors({**AGREED, "age": 61} | told | named) == []


@pytest.mark.parametrize(
    ("misfit", "rule"),
    [
        ({"age": 15}, "minValue"),
        ({"age": 121}, "maxValue"),
        ({"hormones": [Code("menopause-hormones")], "hormones-duration": {"value": 61, **YEARS}}, "maxQuantity"),
        ({"family-cancer": YES, "relative": [{"relative-age": 121}]}, "maxValue"),
        ({"hormones": [Code("other-hormones"), Code("no-hormones")]}, "optionExclusive"),
        ({"devices": [Code("port"), Code("no-device")]}, "optionExclusive"),
        ({"note": "x" * 1001}, "maxLength"),
    ],
)
def test_impossible_answers_are_refused(misfit: Json, rule: str) -> None:
    assert rule in errors(HEALTHY | misfit)


@pytest.mark.parametrize(
    ("when", "possible"),
    [
        ("1960", True),
        ("2019-03", True),
        ("2026", True),
        ("2026-11-22", True),
        ("2026-11-23", False),
        ("2026-12", False),
        ("2027", False),
        ("1959-12-31", False),
        ("1959", False),
    ],
)
def test_the_last_mammogram_was_between_1960_and_today(when: str, possible: bool) -> None:
    told = HEALTHY | {"mammogram-before": YES, "last-mammogram": when}

    assert errors(told) == ([] if possible else ["last-mammogram-date"])


@pytest.mark.parametrize(
    ("told", "constraint"),
    [
        (lambda when: {"procedures": [Code("clip")], "procedure": [{"procedure-year": when}]}, "procedure-year-date"),
        (lambda when: {"last-period": when}, "last-period-date"),
        (
            lambda when: {"complaints-now": [Code("breast-lump")], "complaint": [{"complaint-since": when}]},
            "complaint-since-date",
        ),
        (lambda when: {"other-imaging": [Code("breast-mri")], "other-imaging-when": when}, "other-imaging-when-date"),
        (lambda when: {"implant": YES, "implant-year": when}, "implant-year-date"),
    ],
)
def test_dates_are_not_in_the_future(told: Callable[[str], Json], constraint: str) -> None:
    assert errors(HEALTHY | told("2024-02-29")) == []
    assert errors(HEALTHY | told("2026-11-23")) == [constraint]


@pytest.mark.parametrize(("then", "possible"), [(38, True), (50, True), (51, False)])
def test_cancer_was_found_at_an_age_that_the_patient_has_reached(then: int, possible: bool) -> None:
    told = HEALTHY | {"own-cancer": Code("cancer-past"), "own-cancer-detail": [{"own-cancer-age": then}]}
    treated = HEALTHY | {"radiotherapy": YES, "chest-radiotherapy-age": then}

    assert errors(told) == ([] if possible else ["own-cancer-age-before-today"])
    assert errors(treated) == ([] if possible else ["chest-radiotherapy-age-before-today"])


@pytest.mark.parametrize(("relatives", "count"), [([], 0), (["MTH"], 1), (["MTH", "SIS", "SIS"], 3)])
def test_relatives_are_counted(relatives: list[str], count: int) -> None:
    (formula,) = formulas("affected-relatives", fhir_names.CALCULATED_EXPRESSION)

    assert evaluate(formula, {"relative": [{"relative-who": Code(code)} for code in relatives]}) == [count]


def test_a_relative_of_whom_only_the_illness_is_told_counts() -> None:
    (formula,) = formulas("affected-relatives", fhir_names.CALCULATED_EXPRESSION)
    told = {"family-cancer": YES, "relative": [{"relative-cancer-unnamed": [Code("363443007")], "relative-age": 41}]}

    assert errors(HEALTHY | told) == []
    assert evaluate(formula, told) == [1]


@pytest.mark.parametrize(
    ("told", "flagged"),
    [
        ({"gene-change": Code("gene-own")}, [True]),
        ({"gene-change": Code("gene-family")}, []),
        ({"gene-change": Code("gene-negative")}, []),
        ({"radiotherapy": YES, "chest-radiotherapy-age": 10}, [True]),
        ({"radiotherapy": YES, "chest-radiotherapy-age": 35}, [True]),
        ({"radiotherapy": YES, "chest-radiotherapy-age": 36}, []),
        ({"radiotherapy": YES, "chest-radiotherapy-age": 9}, []),
        ({}, []),
    ],
)
def test_a_high_risk_is_flagged_to_the_team_and_nothing_else_is(told: Json, flagged: list[bool]) -> None:
    (formula,) = formulas("high-risk", fhir_names.CALCULATED_EXPRESSION)

    assert evaluate(formula, told) == flagged
