"""`klartext bench`: what a turn of the interview and the validation of a response cost.

The large form has the size and shape of a published radiology order: 271 items, conditions, calculated values.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

from bot import (
    Answer,
    AskItem,
    Done,
    Engine,
    Given,
    Heading,
    NoMore,
    Show,
    Shown,
    Skipped,
    check_response,
    index_questionnaire,
    load_form,
    shipped_terminology,
)
from harness.figures import Figure, median_of, milliseconds

LARGE, SMALL = 271, 25
IN_GROUP = 10
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-calculatedExpression"
CODES = [{"valueCoding": {"system": "https://klartext.example/bench", "code": code}} for code in "abc"]

Json = dict[str, Any]


def measure_interview(repeats: int) -> list[Figure]:
    """Return the figures of the interview."""
    figures = [_turns(repeats)]
    try:
        from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse
    except ImportError:  # only the test extra brings it
        return figures
    form = large_form(LARGE, formulas=False)
    response = _walk(Engine(load_form(form), now=NOW))[1]
    text, known = json.dumps(response), shipped_terminology()
    reading = median_of(lambda: QuestionnaireResponse.model_validate_json(text), repeats)
    checking = median_of(lambda: check_response(response, index_questionnaire(form), known=known), repeats)
    return [
        *figures,
        Figure("validating a response / parsing it", checking / reading, 2, "x", milliseconds(checking, reading)),
    ]


def _turns(repeats: int) -> Figure:
    large, small = (min(_mean_turn(size) for _ in range(repeats)) for size in (LARGE, SMALL))
    name = f"interview turn, {LARGE} items / {SMALL}"
    return Figure(name, large / small, 10, "x", milliseconds(large, small))


def _mean_turn(size: int) -> float:
    times, _ = _walk(Engine(load_form(large_form(size)), now=NOW))
    return sum(times) / len(times)


def _walk(engine: Engine) -> tuple[list[float], Json]:
    """Answer everything; return the seconds of each turn (check, take, find what is next), and the response."""
    filling, times = engine.start(), list[float]()
    step = engine.next(filling)
    while not isinstance(step, Done):
        started = time.perf_counter()
        if isinstance(step, AskItem):
            answers = (_answer(step.item.type),)
            wrong = engine.problems(filling, step.path, answers)
            filling = engine.apply(filling, Skipped(step.path) if wrong else Given(step.path, answers))
        else:
            filling = engine.apply(filling, Shown(step.path) if isinstance(step, Show) else NoMore(step.path))
        step = engine.next(filling)
        engine.progress(filling)
        times.append(time.perf_counter() - started)
    return times, dict(engine.response(filling, Heading("completed", NOW.isoformat())))


def large_form(items: int, *, formulas: bool = True) -> Json:
    """Return a Questionnaire of that many items: groups of ten with conditions, and calculated items at their ends."""
    groups: list[Json] = []
    count = 0
    while count < items:
        group: Json = {"linkId": f"g{count}", "type": "group", "text": "Gruppe", "item": []}
        count += 1
        for place in range(min(IN_GROUP, items - count)):
            group["item"].append(_item(count, place, formulas))
            count += 1
        groups.append(group)
    return {"resourceType": "Questionnaire", "url": "https://klartext.example/bench", "status": "draft", "item": groups}


def _item(number: int, place: int, formulas: bool) -> Json:
    kind = ("boolean", "choice", "string", "date", "integer")[place % 5]
    item: Json = {"linkId": f"q{number}", "type": kind, "text": f"Frage {number}"}
    if kind == "choice":
        item["answerOption"] = CODES
    if place % 5 == 1:
        item["enableWhen"] = [{"question": f"q{number - 1}", "operator": "=", "answerBoolean": True}]
    if formulas and place == IN_GROUP - 1:
        expression = f"%resource.item.item.where(linkId='q{number - 5}').answer.value"
        item["extension"] = [{"url": SDC, "valueExpression": {"language": "text/fhirpath", "expression": expression}}]
    return item


def _answer(kind: str) -> Answer:
    values: dict[str, Answer] = {
        "boolean": Answer("boolean", True),
        "choice": Answer("coding", dict(CODES[0]["valueCoding"])),
        "string": Answer("string", "wie immer"),
        "date": Answer("date", "2020-03"),
        "integer": Answer("integer", 3),
    }
    return values[kind]
