"""A run for other programs: JUnit XML, CSV tables, and a FHIR R4 MeasureReport. Pure.

JUnit: one test suite per vignette, one test case per question; `klartext harness gate --junit` writes one test case per
gate instead: that one decides, this one lists. CSV: UTF-8, commas, one header line, shares from 0 to 1. MeasureReport:
stratified by vignette, four proportions, each a group with the same stratifier; `docs/reference.md` says what the
populations are.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from xml.etree import ElementTree as ET

from harness.files import xml_text
from harness.labelling.exchange import formula_safe
from harness.reporting.facts import Facts, cut, result_of
from harness.running.outcomes import ERROR, Outcome
from harness.scoring.comparison import Paired, is_good
from harness.scoring.score import Score

MEASURE = "https://klartext.example/fhir/Measure/understanding"
POPULATION = "http://terminology.hl7.org/CodeSystem/measure-population"
CODES = "https://klartext.example/fhir/CodeSystem/harness"
IMPROVEMENT = "http://terminology.hl7.org/CodeSystem/measure-improvement-notation"
VIGNETTES = (
    "vignette n accuracy wilson_low wilson_high by_pair_low by_pair_high top1 offered precision errors wrong unanswered"
)
QUESTIONS = "id vignette kind pair text result shown offered first_candidate score right elapsed_ms said before"
READING = (
    "vignette n ease_q1 ease_median ease_q3 words_median answers_ease_median wanted_ease_low "
    "wanted_ease_high wanted_words_low wanted_words_high outside"
)
CHANGES = "name n before after difference low high fixed broken p p_holm detectable"
Resource = dict[str, Any]
Value = str | int | float | None


def junit_xml(facts: Facts) -> str:
    """Return the document. Questions that were not answered right fail; those that people judge are skipped."""
    root = ET.Element("testsuites", _counts(facts.run.outcomes))
    name = facts.run.identity.get("suite", facts.run.folder.name)
    for vignette in facts.vignettes:
        group = [outcome for outcome in facts.run.outcomes if outcome.vignette == vignette]
        suite = ET.SubElement(root, "testsuite", {"name": xml_text(f"{name}.{vignette}"), **_counts(group)})
        for outcome in group:
            _case(suite, outcome)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    kinds = [_kind(outcome) for outcome in outcomes]
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": _seconds(sum(outcome.elapsed_ms for outcome in outcomes)),
    }


def _kind(outcome: Outcome) -> str:
    if outcome.decision == ERROR:
        return "error"
    if outcome.kind == "urgent":
        return "" if outcome.decision == "urgent" else "failure"
    if outcome.right is None and outcome.met is None:
        return "skipped"
    return "" if is_good(outcome) else "failure"


def _case(suite: ET.Element, outcome: Outcome) -> None:
    about = outcome.pair_id or outcome.expected or outcome.kind
    case = ET.SubElement(
        suite,
        "testcase",
        {
            "classname": xml_text(f"{outcome.vignette}.{about}"),
            "name": xml_text(outcome.id),
            "time": _seconds(outcome.elapsed_ms),
        },
    )
    properties = ET.SubElement(case, "properties")
    for key, value in (("stratum", outcome.vignette), ("pair", outcome.pair_id or ""), ("question", outcome.text)):
        ET.SubElement(properties, "property", {"name": key, "value": xml_text(value)})
    kind = _kind(outcome)
    if kind:
        shown = f" ({outcome.answered_with})" if outcome.answered_with else ""
        shown += f' "{cut(outcome.said)}"' if outcome.said else ""
        skipped = "nothing was shown before that it could be about" if outcome.expected else "people judge it"
        said = outcome.error or (skipped if kind == "skipped" else f"{result_of(outcome)}{shown}")
        ET.SubElement(case, kind, {"message": xml_text(f"{said}: {outcome.text}")})


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


@dataclass(frozen=True, slots=True)
class Proportion:
    """How many of how many."""

    numerator: int
    denominator: int


@dataclass(frozen=True, slots=True)
class MeasureKind:
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
    MeasureKind("accuracy", "Answered directly with the right pair, of all questions that have one"),
    MeasureKind("precision", "Right, of all direct answers"),
    MeasureKind("top1", "First candidate right, whether or not it was shown"),
    MeasureKind("offered", "Right pair among the choices when asking back"),
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


def _group(kind: MeasureKind, facts: Facts) -> Resource:
    strata = [
        {"value": {"text": facts.name(name), "coding": [_coding(name)]}, **_figures(kind.of(score))}
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


def tables(facts: Facts) -> dict[str, str]:
    """Return every table by the name of its file; those of a baseline only where there is one."""
    found = {"vignettes": _csv(VIGNETTES, _vignettes(facts))} if facts.scores is not None else {}
    if facts.expectations:
        found["expectations"] = _csv("expected vignette n met share low high offered not_scored", _expected(facts))
    found |= {
        "pairs": _csv("pair vignette n right accuracy", _pairs(facts)),
        "questions": _csv(QUESTIONS, _questions(facts)),
        "confusion": _csv(
            "first second there back by_chance p q",
            ((c.first, c.second, c.forth, c.back, c.expected, c.p_value, c.q_value) for c in facts.confused),
        ),
        "risk_coverage": _csv(
            "score_from answered coverage wrong risk",
            ((p.score, p.answered, p.coverage, p.wrong, p.risk) for p in facts.curve),
        ),
        "readability": _csv(READING, _reading(facts)),
        "thresholds": _csv("threshold current vignette n accuracy precision wrong", _thresholds(facts)),
    }
    if facts.comparison is not None:
        total = [facts.comparison.total(), *facts.comparison.strata()] if facts.comparison.scored else []
        rows = [*total, *facts.comparison.expectations()]
        found["changes"] = _csv(CHANGES, map(_change, rows))
        found["changes_by_pair"] = _csv(CHANGES, map(_change, facts.by_pair))
    return found


def _vignettes(facts: Facts) -> Iterable[Sequence[Value]]:
    for name, score in {**facts.summary.vignettes, "": facts.summary.total}.items():
        by_pair = (score.clustered.low, score.clustered.high) if score.clustered else (None, None)
        shares = (score.accuracy, score.wilson.low, score.wilson.high, *by_pair, score.top1, score.offered)
        yield name or "all", score.n, *shares, score.precision, score.errors, score.wrong, score.unanswered


def _expected(facts: Facts) -> Iterable[Sequence[Value]]:
    for kind, one in facts.expectations.items():
        for name, met in {**one.vignettes, "all": one.total}.items():
            interval = (met.wilson.low, met.wilson.high) if met.wilson else (None, None)
            yield kind, name, met.n, met.met, met.share, *interval, met.offered, met.unscored + met.failed


def _pairs(facts: Facts) -> Iterable[Sequence[Value]]:
    for pair in facts.pairs:
        for vignette in facts.vignettes:
            cell = facts.cells.get((pair, vignette))
            if cell is not None:
                yield pair, vignette, cell.n, cell.right, cell.share


def _questions(facts: Facts) -> Iterable[Sequence[Value]]:
    before = {now.id: result_of(was) for was, now in facts.comparison.common} if facts.comparison else {}
    for o in facts.run.outcomes:
        asked = (o.id, o.vignette, o.kind, o.pair_id, o.text)
        first = o.candidates[0] if o.candidates else None
        right = None if o.right is None else int(o.right)
        told = (result_of(o), o.answered_with, " ".join(o.choices), first, o.score)
        yield *asked, *told, right, o.elapsed_ms, cut(o.said or ""), before.get(o.id)


def _reading(facts: Facts) -> Iterable[Sequence[Value]]:
    for one in facts.reading:
        wanted = (*one.targets.reading_ease, *one.targets.words) if one.targets else (None,) * 4
        answers = one.answers.median if one.answers else None
        ease = (one.ease.low, one.ease.median, one.ease.high)
        yield one.vignette, one.n, *ease, one.words.median, answers, *wanted, len(one.outside) if one.targets else None


def _thresholds(facts: Facts) -> Iterable[Sequence[Value]]:
    advice = facts.advice.threshold
    for move in advice.moves if advice else ():
        for name, effect in {"all": move.total, **move.vignettes}.items():
            now = int(move.current)
            yield move.answer, now, name, effect.n, effect.accuracy, effect.precision, effect.wrong


def _change(row: Paired) -> Sequence[Value]:
    low, high = (row.change.low, row.change.high) if row.change else (None, None)
    shares = (row.before, row.after, row.difference, low, high)
    return row.name, row.n, *shares, row.fixed, row.broken, row.p_value, row.adjusted, row.detectable


def _csv(header: str, rows: Iterable[Sequence[Value]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(header.split())
    writer.writerows([_safe(value) for value in row] for row in rows)
    return stream.getvalue()


def _safe(value: Value) -> Value:
    if isinstance(value, str):
        return formula_safe(value)
    return round(value, 6) if isinstance(value, float) else value
