"""Small Questionnaires and responses for tests, and the validators' findings as plain values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.interview.form.indexed import index_questionnaire
from bot.interview.validate.questionnaire import check_questionnaire
from bot.interview.validate.response import check_response
from bot.interview.values.finding import Finding
from bot.interview.values.terminology import Terminology

CORE = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"
UCUM = "http://unitsofmeasure.org"
URL = "http://example.org/Questionnaire/test"

Json = dict[str, Any]


def corpus() -> Path:
    """Return the folder of third-party FHIR data, or skip the test."""
    beside = Path(__file__).parents[4] / "shared" / "fhir-corpus"
    folder = Path(os.environ.get("KLARTEXT_FHIR_CORPUS", beside))
    if not folder.is_dir():
        pytest.skip(f"no third-party FHIR data at {folder}: set KLARTEXT_FHIR_CORPUS")
    return folder


def form(*items: Json, **head: Any) -> Json:
    return {"resourceType": "Questionnaire", "url": URL, "status": "active", **_items(items), **head}


def _items(items: Sequence[Json]) -> Json:
    return {"item": list(items)} if items else {}


def item(link_id: str, kind: str, *inner: Json, **more: Any) -> Json:
    return {"linkId": link_id, "type": kind, **more, **_items(inner)}


def extended(*pairs: tuple[str, Json]) -> list[Json]:
    return [{"url": url, **value} for url, value in pairs]


def response(*items: Json, status: str = "completed", **head: Any) -> Json:
    head = {"resourceType": "QuestionnaireResponse", "questionnaire": URL, "status": status, **head}
    return {**head, **_items(items)}


def amount(value: str | int | Decimal, code: str, unit: str = "") -> Json:
    """A Quantity of UCUM, called by its code where `unit` does not say otherwise."""
    return {"value": Decimal(value), "system": UCUM, "code": code, "unit": unit or code}


def said(link_id: str, *values: Json, **more: Any) -> Json:
    """An item with answers, each given as ``{"valueX": …}``."""
    return {"linkId": link_id, **({"answer": list(values)} if values else {}), **more}


def coding(code: str, system: str = "http://example.org/codes", **more: Any) -> Json:
    return {"valueCoding": {"system": system, "code": code, **more}}


def quantity(value: str, code: str | None = "kg", system: str | None = UCUM, **more: Any) -> Json:
    parts = {"value": Decimal(value), "system": system, "code": code, **more}
    return {"valueQuantity": {name: part for name, part in parts.items() if part is not None}}


def errors(findings: Sequence[Finding]) -> list[str]:
    """Return the rules of the errors, in order."""
    return [finding.rule for finding in findings if finding.is_error]


def rules(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.rule) for finding in findings]


def checked(questionnaire: Json, answers: Json, **more: Any) -> list[Finding]:
    """Validate a response against its Questionnaire, which itself must be fine."""
    assert errors(check_questionnaire(questionnaire)) == []
    return check_response(answers, index_questionnaire(questionnaire), **more)


def verdict(asked: Json, *given: Json, known: Terminology | None = None, **head: Any) -> list[str]:
    """Validate answers to a form of one item; return the rules of the errors."""
    return errors(checked(form(asked), response(*given, **head), known=known))


def value_set(*includes: Mapping[str, Any], url: str = "http://example.org/vs", **more: Any) -> Json:
    return {"resourceType": "ValueSet", "url": url, "status": "active", "compose": {"include": list(includes)}, **more}


def code_system(*concepts: Json, url: str = "http://example.org/codes", **more: Any) -> Json:
    head = {"resourceType": "CodeSystem", "url": url, "status": "active", "content": "complete"}
    return {**head, "concept": list(concepts), **more}
