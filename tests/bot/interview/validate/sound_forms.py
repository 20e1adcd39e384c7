"""A sound form with every type and limit, a sound response to it, and ways to break one place of either."""

from __future__ import annotations

import base64
import hashlib
import re
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.bot.interview.resources import CORE, SDC, UCUM, Json, coding, extended, form, item, quantity, said
from tests.bot.interview.resources import response as answers

CODES = "http://example.org/codes"
PNG = b"12345678"
GONE = object()  # takes what stands there away


@dataclass(frozen=True, slots=True)
class Defect:
    """One thing that is wrong, and the one finding that says so.

    Attributes:
        clause: Of the specification, which it breaks.
        at: Where: ``@linkId`` stands for the item, ``[+]`` for a further one at the end.
        value: What is put there.
        rule: Of the finding.
        where: Its expression, likewise with ``@linkId``; of an item that is not in the sound one, written out.
        link_id: Which it names; empty for that of the item in ``where``, "-" for none.
        severity: Of the finding.
    """

    clause: str
    at: str
    value: Any
    rule: str
    where: str
    link_id: str = ""
    severity: str = "error"


def option(code: str, display: str, *marks: Json) -> Json:
    return {**coding(code, display=display), **({"extension": list(marks)} if marks else {})}


def when(question: str, operator: str, **answer: Any) -> list[Json]:
    return [{"question": question, "operator": operator, **answer}]


def colours() -> list[Json]:
    return [option("red", "Red"), option("green", "Green"), option("blue", "Blue")]


NONE = option("none", "None of these", {"url": CORE + "questionnaire-optionExclusive", "valueBoolean": True})
UNITS = [
    (CORE + "questionnaire-unitOption", {"valueCoding": {"system": UCUM, "code": code, "display": code}})
    for code in ("kg", "g")
]


def limits(kind: str, least: Any, most: Any) -> list[Json]:
    return extended((CORE + "minValue", {f"value{kind}": least}), (CORE + "maxValue", {f"value{kind}": most}))


def sound_form() -> Json:
    return form(
        item("intro", "display", text="Welcome"),
        item("spare", "string"),
        *(item(f"any-{kind}", kind) for kind in ("boolean", "integer", "decimal", "date", "dateTime", "time", "string")),
        item(
            "person",
            "group",
            item("smoker", "boolean", text="Do you smoke?", required=True),
            item("packs", "integer", enableWhen=when("smoker", "=", answerBoolean=True), extension=limits("Integer", 1, 60)),
            item("temperature", "decimal", extension=[
                *limits("Decimal", Decimal("35.0"), Decimal("42.5")),
                *extended((CORE + "maxDecimalPlaces", {"valueInteger": 1}))]),
            item("born", "date", extension=limits("Date", "1900-01-01", "2020-12-31")),
            item("seen", "dateTime", extension=limits("DateTime", "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z")),
            item("wakes", "time", extension=limits("Time", "04:00:00", "12:00:00")),
            item("name", "string", maxLength=20, extension=extended(
                (CORE + "minLength", {"valueInteger": 2}), (CORE + "regex", {"valueString": "[A-Za-z ]+"}))),
            item("notes", "text", maxLength=50),
            item("site", "url"),
            required=True,
        ),
        item("weight", "quantity", extension=extended(
            *UNITS,
            (SDC + "sdc-questionnaire-minQuantity", quantity("30")),
            (SDC + "sdc-questionnaire-maxQuantity", quantity("200")))),
        item("dose", "quantity"),
        item("load", "quantity"),
        item("colour", "choice", answerOption=colours()),
        item("country", "choice", answerValueSet="#countries"),
        item("symptoms", "choice", repeats=True, required=True, answerOption=[*colours(), option("grey", "Grey"), NONE],
             extension=extended((CORE + "questionnaire-minOccurs", {"valueInteger": 2}),
                                (CORE + "questionnaire-maxOccurs", {"valueInteger": 3}))),
        item("hobby", "open-choice", answerOption=colours()),
        item("grade", "choice", answerOption=[{"valueInteger": 1}, {"valueInteger": 2}]),
        item("day", "choice", answerOption=[{"valueDate": "2024-01-01"}, {"valueDate": "2024-02-01"}]),
        item("word", "choice", answerOption=[{"valueString": "one"}, {"valueString": "two"}]),
        item("photo", "attachment", extension=extended(
            (CORE + "mimeType", {"valueCode": "image/png"}), (CORE + "maxSize", {"valueDecimal": 10}))),
        item("scan", "attachment"),
        item("doctor", "reference", extension=extended(
            (CORE + "questionnaire-referenceResource", {"valueCode": "Practitioner"}))),
        item("where", "reference"),
        item("allergy", "boolean", item("allergen", "string", required=True)),
        item("travel", "boolean", item("travel-where", "string")),
        item("not-red", "string", enableWhen=when("colour", "!=", answerCoding={"system": CODES, "code": "red"})),
        item("adult", "string", enableWhen=when("born", "<", answerDate="2006-01-01")),
        item("hot", "string", enableWhen=when("temperature", ">", answerDecimal=Decimal("38.5"))),
        item("early", "string", enableWhen=when("wakes", "<=", answerTime="06:00:00")),
        item("heavy", "string", enableWhen=when("load", ">=", answerQuantity=quantity("3", "mg")["valueQuantity"])),
        item("named", "string", enableWhen=when("name", "exists", answerBoolean=True)),
        item("either", "string", enableBehavior="any", enableWhen=[
            *when("smoker", "=", answerBoolean=True), *when("packs", ">", answerInteger=5)]),
        item("by-formula", "string", extension=[{
            "url": SDC + "sdc-questionnaire-enableWhenExpression",
            "valueExpression": {"language": "text/fhirpath",
                                "expression": "%resource.item.where(linkId='allergy').answer.value = true"}}]),
        item("even", "integer", extension=[{
            "url": CORE + "questionnaire-constraint",
            "extension": [
                {"url": "key", "valueId": "even-1"}, {"url": "severity", "valueCode": "error"},
                {"url": "human", "valueString": "Even numbers only"},
                {"url": "expression", "valueString": "answer.value mod 2 = 0"}]}]),
        item(
            "child", "group",
            item("child-name", "string", required=True),
            item("child-ill", "boolean"),
            item("child-illness", "string", enableWhen=when("child-ill", "=", answerBoolean=True)),
            repeats=True, extension=extended((CORE + "questionnaire-maxOccurs", {"valueInteger": 2})),
        ),
        item("both", "string", enableBehavior="all", enableWhen=[
            *when("smoker", "=", answerBoolean=True), *when("packs", ">", answerInteger=5)]),
        item("anonymous", "string", enableWhen=when("name", "exists", answerBoolean=False)),
        id="sound", version="1.0", name="Sound", title="Sound", language="en", date="2024-05-01",
        subjectType=["Patient"], effectivePeriod={"start": "2020", "end": "2030"},
        identifier=[{"system": "http://example.org/ids", "value": "7"}],
        code=[{"system": "http://loinc.org", "code": "74465-6"}],
        text={"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">Sound</div>'},
        contained=[{
            "resourceType": "ValueSet", "id": "countries", "status": "active",
            "compose": {"include": [{"system": "urn:iso:std:iso:3166", "concept": [
                {"code": "DE", "display": "Germany"}, {"code": "CH", "display": "Switzerland"}]}]}}],
    )  # fmt: skip


ANYTHING = {
    "boolean": False, "integer": 0, "decimal": Decimal("0.50"), "date": "2024", "dateTime": "2024-02",
    "time": "23:59:60", "string": " x ",
}  # fmt: skip


def sound_response() -> Json:
    photo = {
        "contentType": "image/png",
        "data": base64.b64encode(PNG).decode(),
        "size": len(PNG),
        "hash": base64.b64encode(hashlib.sha1(PNG).digest()).decode(),
    }
    return answers(
        said("intro"),
        *(said(f"any-{kind}", {f"value{kind[0].upper()}{kind[1:]}": value}) for kind, value in ANYTHING.items()),
        {
            "linkId": "person",
            "item": [
                said("smoker", {"valueBoolean": True}, text="Do you smoke?"),
                said("packs", {"valueInteger": 3}),
                said("temperature", {"valueDecimal": Decimal("39.5")}),
                said("born", {"valueDate": "1975-03-03"}),
                said("seen", {"valueDateTime": "2024-05-01T10:30:00+02:00"}),
                said("wakes", {"valueTime": "06:00:00"}),
                said("name", {"valueString": "Ann"}),
                said("notes", {"valueString": "Two\nlines"}),
                said("site", {"valueUri": "http://example.org/a"}),
            ],
        },
        said("weight", quantity("120", unit="kg")),
        said("dose", quantity("5", "mg", unit="mg")),
        said("load", quantity("5", "mg")),
        said("colour", coding("green", display="Green")),
        said("country", coding("DE", "urn:iso:std:iso:3166", display="Germany")),
        said("symptoms", coding("red", display="Red"), coding("blue", display="Blue")),
        said("hobby", {"valueString": "Chess"}),
        said("grade", {"valueInteger": 2}),
        said("day", {"valueDate": "2024-02-01"}),
        said("word", {"valueString": "two"}),
        said("photo", {"valueAttachment": photo}),
        said("scan", {"valueAttachment": {"contentType": "text/plain; charset=utf-8", "data": "YQ=="}}),
        said("doctor", {"valueReference": {"reference": "Practitioner/1", "type": "Practitioner"}}),
        said("where", {"valueReference": {"reference": "http://example.org/fhir/Location/7/_history/2"}}),
        said("allergy", {"valueBoolean": True, "item": [said("allergen", {"valueString": "Nuts"})]}),
        said("travel", {"valueBoolean": True, "item": [said("travel-where", {"valueString": "x"})]}),
        *(said(each, {"valueString": "x"}) for each in ("not-red", "adult", "hot", "early", "heavy", "named", "either")),
        said("by-formula", {"valueString": "x"}),
        said("even", {"valueInteger": 4}),
        {"linkId": "child", "item": [said("child-name", {"valueString": "Tom"}), said("child-ill", {"valueBoolean": False})]},
        {
            "linkId": "child",
            "item": [
                said("child-name", {"valueString": "Kim"}),
                said("child-ill", {"valueBoolean": True}),
                said("child-illness", {"valueString": "Flu"}),
            ],
        },
        id="r1",
        language="en",
        meta={"lastUpdated": "2024-05-01T10:31:00Z", "profile": ["http://example.org/StructureDefinition/p"]},
        identifier={"system": "urn:ietf:rfc:3986", "value": "urn:uuid:0d6c1c9e-6a1a-4a52-9d3e-0f6f0d0d2a11"},
        basedOn=[{"reference": "ServiceRequest/1"}],
        partOf=[{"reference": "urn:oid:1.2.840.113619"}],
        subject={"reference": "Patient/1"},
        encounter={"reference": "urn:uuid:0d6c1c9e-6a1a-4a52-9d3e-0f6f0d0d2a11"},
        author={"reference": "#helper"},
        source={"identifier": {"system": "http://example.org/ids", "value": "7"}, "type": "Patient"},
        authored="2024-05-01T10:30:00+02:00",
        text={"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">Sound</div>'},
        contained=[{"resourceType": "Practitioner", "id": "helper", "active": True, "name": [{"family": "Roe"}]}],
    )  # fmt: skip


_STEP = re.compile(r"@([\w-]+)|([A-Za-z_]+)|\[(\d+|\+)\]")


def broken(document: Json, at: str, value: Any) -> Json:
    """Return a copy of a document with one place changed."""
    made = deepcopy(document)
    *steps, last = _steps(made, at)
    holder: Any = made
    for step in steps:
        holder = holder[step]
    if value is GONE:
        del holder[last]
    elif isinstance(holder, list) and last == len(holder):
        holder.append(value)
    else:
        holder[last] = value
    return made


def written_out(document: Json, where: str) -> str:
    """Return a FHIRPath with ``@linkId`` and ``[+]`` written out."""
    place, of_type, rest = where.partition(".value.ofType")
    plain = place.removeprefix(document["resourceType"])
    steps = _steps(document, plain)
    found = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"{document['resourceType']}{found}{of_type}{rest}"


def _steps(document: Json, at: str) -> list[Any]:
    """Return the keys that lead to a place; ``[+]`` is the one after the last."""
    steps: list[Any] = []
    for link_id, name, index in _STEP.findall(at):
        if index == "+":
            node: Any = document
            for step in steps:
                node = node[step]
            steps.append(len(node))
        else:
            steps += _steps_to(document, link_id) if link_id else [name or int(index)]
    return steps


def _steps_to(node: Any, link_id: str) -> list[Any]:
    """Return the keys that lead to the first item with a linkId."""
    for name in ("item", "answer"):
        for index, inner in enumerate(node.get(name, ())):
            if inner.get("linkId") == link_id:
                return [name, index]
            if found := _steps_to(inner, link_id):
                return [name, index, *found]
    return []
