"""Validating a response costs at most twice what fhir.resources needs to read it."""

from __future__ import annotations

import time
from collections.abc import Callable

from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import as_object, parse
from tests.bot.interview.resources import corpus


def fastest_s(action: Callable[[], object], repetitions: int = 9) -> float:
    """Return the fastest run: what else the machine does only ever adds time."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def test_validating_the_radiology_order_takes_at_most_twice_the_time_to_read_it() -> None:
    pairs = corpus() / "pairs"
    text = (pairs / "ch-rad-order-ImagingRequest-response.json").read_text(encoding="utf-8")
    questionnaire = as_object(parse((pairs / "ch-rad-order-questionnaire.json").read_bytes()).value)
    response, known = as_object(parse(text).value), shipped_terminology()

    reading = fastest_s(lambda: QuestionnaireResponse.model_validate_json(text))
    validating = fastest_s(lambda: check_response(response, index_questionnaire(questionnaire), known=known))

    assert validating <= 2 * reading
