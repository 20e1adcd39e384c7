"""What validating a large response costs, in calls: they are the same on every machine. Times: `klartext bench`."""

from __future__ import annotations

import sys
from types import FrameType

from bot.catalog.fhir_files import shipped_terminology
from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.fhir_json import as_object, parse
from tests.bot.interview.resources import corpus

MOST_CALLS = 30_000  # about 10 ms; fhir.resources reads the same text in 8


def test_validating_the_radiology_order_stays_cheap() -> None:
    pairs = corpus() / "pairs"
    questionnaire = as_object(parse((pairs / "ch-rad-order-questionnaire.json").read_bytes()).value)
    response = as_object(parse((pairs / "ch-rad-order-ImagingRequest-response.json").read_bytes()).value)
    known, calls = shipped_terminology(), 0

    def count(_frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call"

    check_response(response, index_questionnaire(questionnaire), known=known)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check_response(response, index_questionnaire(questionnaire), known=known)
    finally:
        sys.setprofile(before)

    assert 1_000 < calls <= MOST_CALLS
