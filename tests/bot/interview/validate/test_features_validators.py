"""Rules of the response validator that forms may state in the newer of two ways."""

from __future__ import annotations

import pytest

from tests.bot.interview.resources import CORE, SDC, Json, form, item, response, said, verdict
from tests.bot.interview.resources import checked as findings_of
from tests.bot.interview.walk.engine_steps import fhirpath


def target_constraint(base: str, expression: str) -> list[Json]:
    parts = [
        {"url": "key", "valueId": "more"},
        {"url": "severity", "valueCode": "error"},
        {"url": "human", "valueString": "More than three"},
        {"url": "expression", **fhirpath(expression)},
    ]
    return [{"url": base + "targetConstraint", "extension": parts}]


@pytest.mark.parametrize("base", [CORE, SDC])
def test_a_target_constraint_is_kept(base: str) -> None:
    asked = item("n", "integer", extension=target_constraint(base, "answer.value > 3"))

    assert verdict(asked, said("n", {"valueInteger": 3})) == ["more"]
    assert verdict(asked, said("n", {"valueInteger": 4})) == []


def test_a_constraint_without_end_is_a_warning_soon() -> None:
    asked = item("n", "integer", extension=target_constraint(CORE, "1.repeat($this + 1).exists()"))

    findings = findings_of(form(asked), response(said("n", {"valueInteger": 3})))

    assert [(each.severity, each.rule) for each in findings] == [("warning", "constraint")]


@pytest.mark.parametrize(("name", "expression"), [("calculatedExpression", "1 + 1"), ("answerExpression", "(5 | 6)")])
def test_what_a_formula_would_have_given_is_not_compared(name: str, expression: str) -> None:
    extension = {"url": f"{SDC}sdc-questionnaire-{name}", **fhirpath(expression)}

    assert verdict(item("n", "integer", extension=[extension]), said("n", {"valueInteger": 3})) == []
