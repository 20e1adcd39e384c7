"""The marks of SDC extraction, as forms carry them."""

from __future__ import annotations

from typing import Any

from tests.bot.handover.exports import SDC, Json

BASE = "http://hl7.org/fhir/StructureDefinition/"


def filled(formula: str) -> Json:
    """Return what an element of a template holds that is filled by a formula."""
    return {"extension": [{"url": SDC + "sdc-questionnaire-templateExtractValue", "valueString": formula}]}


def context(formula: str) -> Json:
    return {"url": SDC + "sdc-questionnaire-templateExtractContext", "valueString": formula}


def use(template: str, **further: str) -> Json:
    """Return the use of a template; `further` are the formulas for its entry."""
    parts: list[Json] = [{"url": "template", "valueReference": {"reference": f"#{template}"}}]
    parts += [{"url": name, "valueString": formula} for name, formula in further.items() if name != "type"]
    if "type" in further:
        parts.append({"url": "type", "valueCode": further["type"]})
    return {"url": SDC + "sdc-questionnaire-templateExtract", "extension": parts}


def use_bundle(template: str) -> Json:
    url = SDC + "sdc-questionnaire-templateExtractBundle"
    return {"url": url, "valueReference": {"reference": f"#{template}"}}


def allocate(name: str) -> Json:
    return {"url": SDC + "sdc-questionnaire-extractAllocateId", "valueString": name}


def variable(name: str, formula: str, language: str = "text/fhirpath") -> Json:
    expression = {"name": name, "language": language, "expression": formula}
    return {"url": "http://hl7.org/fhir/StructureDefinition/variable", "valueExpression": expression}


def entry(**formulas: str) -> Json:
    parts = [{"url": name, "valueString": formula} for name, formula in formulas.items()]
    return {"url": SDC + "sdc-questionnaire-observationExtractEntry", "extension": parts}


def makes(kind: str, **formulas: str) -> Json:
    """Return the mark of an item that becomes a resource by definition; `kind` is a type, or the URL of a profile."""
    canonical = kind if "/" in kind else BASE + kind
    parts: list[Json] = [{"url": "definition", "valueCanonical": canonical}]
    parts += [{"url": name, "valueString": formula} for name, formula in formulas.items()]
    return {"url": SDC + "sdc-questionnaire-definitionExtract", "extension": parts}


def at(path: str, canonical: str = "") -> str:
    """Return the definition of an element: ``Patient.name.family``."""
    return f"{canonical or BASE + path.partition('.')[0]}#{path}"


def fixed(path: str, canonical: str = "", **value: Any) -> Json:
    parts: list[Json] = [{"url": "definition", "valueUri": at(path, canonical)}, {"url": "fixed-value", **value}]
    return {"url": SDC + "sdc-questionnaire-definitionExtractValue", "extension": parts}


def computed(path: str, formula: str, canonical: str = "") -> Json:
    expression = {"language": "text/fhirpath", "expression": formula}
    parts: list[Json] = [
        {"url": "definition", "valueUri": at(path, canonical)},
        {"url": "expression", "valueExpression": expression},
    ]
    return {"url": SDC + "sdc-questionnaire-definitionExtractValue", "extension": parts}


def item(link_id: str, kind: str, path: str = "", *marks: Json, inner: Any = (), **further: Any) -> Json:
    """Return an item, with the element it stands for, its marks and the items inside it."""
    made: Json = {"linkId": link_id, "type": kind, **further}
    if path:
        made["definition"] = at(path)
    if marks:
        made["extension"] = [*made.get("extension", []), *marks]
    return made | ({"item": list(inner)} if inner else {})


def group(link_id: str, *inner: Json) -> Json:
    """Return an instance of a group in a response."""
    return {"linkId": link_id, "item": list(inner)}


def text(link_id: str, *texts: str) -> Json:
    """Return an item of a response that was answered with texts."""
    return {"linkId": link_id, "answer": [{"valueString": each} for each in texts]}


def code(link_id: str, *codes: str, system: str = "https://clinic.example/codes") -> Json:
    return {"linkId": link_id, "answer": [{"valueCoding": {"system": system, "code": each}} for each in codes]}


def given(link_id: str, **value: Any) -> Json:
    return {"linkId": link_id, "answer": [value]}
