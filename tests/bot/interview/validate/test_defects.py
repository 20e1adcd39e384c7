"""Single defects of sound forms and responses: each gives exactly the finding that names it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.finding import Finding
from tests.bot.interview.validate import defects_of_forms, defects_of_responses
from tests.bot.interview.validate.sound_forms import Defect, broken, sound_form, sound_response, written_out

NOW = "2026-11-21T12:00:00+01:00"
RESPONSES, FORMS = defects_of_responses.DEFECTS, defects_of_forms.DEFECTS


def check(response: dict[str, Any]) -> list[Finding]:
    return check_response(response, index_questionnaire(sound_form()), known=shipped_terminology(), now=NOW)


def said(findings: list[Finding]) -> list[tuple[str, str, str, str]]:
    return [(each.severity, each.rule, each.path, each.link_id) for each in findings]


def expected(defect: Defect, sound: dict[str, Any]) -> tuple[str, str, str, str]:
    about = defect.where[1:].partition(".")[0] if defect.where.startswith("@") else ""
    link_id = "" if defect.link_id == "-" else defect.link_id or about
    return defect.severity, defect.rule, written_out(sound, defect.where), link_id


def test_the_sound_form_and_the_sound_response_have_no_findings() -> None:
    assert said(check_questionnaire(sound_form())) == []
    assert said(check(sound_response())) == []


def test_there_are_more_than_120_defects_and_no_two_are_the_same() -> None:
    every = [*((each, "response") for each in RESPONSES), *((each, "form") for each in FORMS)]

    assert len(every) >= 120
    assert len({(kind, each.at, repr(each.value)) for each, kind in every}) == len(every)


@pytest.mark.parametrize("defect", RESPONSES, ids=lambda each: f"{each.clause} {each.at}")
def test_a_defect_of_a_response_gives_the_finding_that_names_it(defect: Defect) -> None:
    findings = check(broken(sound_response(), defect.at, defect.value))

    assert said(findings) == [expected(defect, sound_response())]


@pytest.mark.parametrize("defect", FORMS, ids=lambda each: f"{each.clause} {each.at}")
def test_a_defect_of_a_form_gives_the_finding_that_names_it(defect: Defect) -> None:
    findings = check_questionnaire(broken(sound_form(), defect.at, defect.value))

    assert said(findings) == [expected(defect, sound_form())]
