"""A run as a FHIR R4 MeasureReport, stratified by vignette: for who keeps quality figures in a FHIR store. Pure.

Four proportions, each a group with the same stratifier. `docs/reference.md` says what the populations are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.reporting.facts import Facts
from harness.reporting.parts import name_of
from harness.score import Score

MEASURE = "https://klartext.example/fhir/Measure/understanding"
POPULATION = "http://terminology.hl7.org/CodeSystem/measure-population"
CODES = "https://klartext.example/fhir/CodeSystem/harness"
IMPROVEMENT = "http://terminology.hl7.org/CodeSystem/measure-improvement-notation"

Resource = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Proportion:
    """How many of how many."""

    numerator: int
    denominator: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What is measured."""

    code: str
    text: str

    def of(self, score: Score) -> Proportion:
        answered = score.n - score.errors + score.wrong
        right = score.n - score.errors
        if self.code == "precision":
            return Proportion(right, answered)
        counts = {"accuracy": right, "top1": round(score.top1 * score.n), "offered": round(score.offered * score.n)}
        return Proportion(counts[self.code], score.n)


KINDS = (
    Kind("accuracy", "Answered directly with the right pair, of all questions that have one"),
    Kind("precision", "Right, of all direct answers"),
    Kind("top1", "First candidate right, whether or not it was shown"),
    Kind("offered", "Right pair among the choices when asking back"),
)


def measure_report(facts: Facts, *, now: datetime) -> str:
    """Return the resource as JSON.

    Args:
        facts: Of the run.
        now: When the report is made, with a time zone; the period ends then, since runs keep no times of their own.
    """
    stamp = now.isoformat(timespec="seconds")
    identity = facts.run.identity
    suite = identity.get("suite", facts.run.folder.name)
    resource: Resource = {
        "resourceType": "MeasureReport",
        "identifier": [{"system": f"{CODES}/suite-hash", "value": facts.run.suite_hash or suite}],
        "status": "complete",
        "type": "summary",
        "measure": MEASURE,
        "reporter": {"display": f"Klartext test harness: {suite}, {identity.get('system', 'a system')}"},
        "date": stamp,
        "period": {"start": now.date().isoformat(), "end": now.date().isoformat()},
        "improvementNotation": {"coding": [{"system": IMPROVEMENT, "code": "increase"}]},
        "group": [_group(kind, facts) for kind in KINDS],
    }
    return json.dumps(resource, indent=2, ensure_ascii=False) + "\n"


def _group(kind: Kind, facts: Facts) -> Resource:
    strata = [
        {"value": {"text": name_of(name), "coding": [_coding(name)]}, **_figures(kind.of(score))}
        for name, score in facts.summary.vignettes.items()
    ]
    return {
        "code": {"coding": [_coding(kind.code)], "text": kind.text},
        **_figures(kind.of(facts.summary.total)),
        "stratifier": [{"code": [{"coding": [_coding("vignette")], "text": "Vignette"}], "stratum": strata}],
    }


def _figures(proportion: Proportion) -> Resource:
    """A group and a stratum hold the same; without a denominator there is no score."""
    figures: Resource = {"population": list(_populations(proportion))}
    if proportion.denominator:
        share = round(proportion.numerator / proportion.denominator, 6)
        figures["measureScore"] = {"value": share, "system": "http://unitsofmeasure.org", "code": "1"}
    return figures


def _populations(proportion: Proportion) -> Iterator[Resource]:
    counts = {
        "initial-population": proportion.denominator,
        "denominator": proportion.denominator,
        "numerator": proportion.numerator,
    }
    for code, count in counts.items():
        yield {"code": {"coding": [{"system": POPULATION, "code": code}]}, "count": count}


def _coding(code: str) -> Resource:
    return {"system": CODES, "code": code}
