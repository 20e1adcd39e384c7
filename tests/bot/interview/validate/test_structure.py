"""Structure: properties, JSON types, cardinalities and required codes, with nothing coerced."""

from __future__ import annotations

from typing import Any

import pytest

from bot.interview.validate.structure import check_structure
from bot.interview.values.finding import Finding, Findings
from tests.bot.interview.resources import errors, form, item, response, said

DIV = '<div xmlns="http://www.w3.org/1999/xhtml">{}</div>'


def check(resource: dict[str, Any]) -> list[Finding]:
    findings = Findings(resource)
    check_structure(resource, findings)
    return findings.all()


def narrative(div: str) -> dict[str, Any]:
    return form(text={"status": "generated", "div": div})


@pytest.mark.parametrize(
    ("broken", "rule", "path"),
    [
        (form(item("a", "group", required="true")), "type", "Questionnaire.item[0].required"),
        (form(item("a", "string", maxLength="2")), "type", "Questionnaire.item[0].maxLength"),
        (form(item("a", "string", prefix=None)), "type", "Questionnaire.item[0].prefix"),
        (form(item("a", "string", code={})), "type", "Questionnaire.item[0].code"),
        (form(item("a", "string", code=[])), "empty", "Questionnaire.item[0].code"),
        (form(item("a", "string", code=[{}])), "empty", "Questionnaire.item[0].code[0]"),
        (form(item("a", "string", text=["b"])), "type", "Questionnaire.item[0].text"),
        (form(item("a", "string", colour="red")), "unknown-property", "Questionnaire.item[0]"),
        (form(item("a", "number")), "binding", "Questionnaire.item[0].type"),
        (form({"type": "string"}), "cardinality", "Questionnaire.item[0]"),
        (form({"linkId": "a"}), "cardinality", "Questionnaire.item[0]"),
        (form(status="released"), "binding", "Questionnaire.status"),
        (form(item("a", "string", enableWhen=[{"question": "b", "operator": "="}])), "cardinality", None),
        (form(item("a", "choice", answerOption=[{"valueBoolean": True}])), "unknown-property", None),
        (form(item("a", "string", initial=[{"valueString": "x", "valueInteger": 1}])), "choice", None),
        (form(extension=[{"url": "http://x"}]), "ext-1", "Questionnaire.extension[0]"),
        (form(extension=[{"valueString": "x"}]), "cardinality", "Questionnaire.extension[0]"),
        (form(extension=[{"url": "http://u", "valueExpression": {"language": "text/fhirpath"}}]), "exp-1", None),
        (form(effectivePeriod={"start": "2021", "end": "2020"}), "per-1", "Questionnaire.effectivePeriod"),
        (form(_title={"value": "x"}), "type", "Questionnaire._title"),
        (form(_title=[None]), "type", None),
        (form(contained=[{"resourceType": "Nothing", "id": "a"}]), "type", "Questionnaire.contained[0]"),
        (form(contained=[{"resourceType": "Patient", "id": "a"}]), "dom-3", "Questionnaire.contained[0]"),
        (narrative("<p>x</p>"), "txt-1", "Questionnaire.text.div"),
        (narrative(DIV.format("<script>x</script>")), "txt-1", None),
        (narrative(DIV.format('<p onclick="x">x</p>')), "txt-1", None),
        (narrative(DIV.format(" ")), "txt-2", None),
        (narrative('<!DOCTYPE div [<!ENTITY a "b">]>' + DIV.format("&a;")), "txt-1", None),
        (response(said("a", {"valueCode": "x"})), "unknown-property", "QuestionnaireResponse.item[0].answer[0]"),
        (response(said("a", {"valueDate": "3.3.1975"})), "type", "QuestionnaireResponse.item[0].answer[0].value.ofType(date)"),
        (response(said("a", {"valueQuantity": {"value": 1, "code": "kg"}})), "qty-3", None),
        (response(said("a", {"valueReference": {"reference": "#nobody"}})), "ref-1", None),
        (response(said("a", {"valueAttachment": {"data": "YQ=="}})), "att-1", None),
        (response(said("a", {"valueAttachment": {"contentType": "a/b", "data": "YQ==", "size": 2}})), "attachment-size", None),
        (response(said("a", {"valueAttachment": {"contentType": "a/b", "data": "YQ==", "hash": "YQ=="}})), "attachment-hash", None),
        (response(status="done"), "binding", "QuestionnaireResponse.status"),
    ],
)  # fmt: skip
def test_a_structural_defect_is_one_error_in_its_place(broken: dict[str, Any], rule: str, path: str | None) -> None:
    findings = check(broken)

    assert rule in errors(findings)
    assert path is None or path in [finding.path for finding in findings if finding.rule == rule]


@pytest.mark.parametrize(
    "fine",
    [
        form(_title={"extension": [{"url": "http://x", "valueString": "y"}]}),
        form(subjectType=["Patient", None], _subjectType=[None, {"id": "x"}]),
        form(extension=[{"url": "http://x", "valueTiming": {"repeat": {"count": 1}}}]),
        form(contained=[{"resourceType": "Patient", "id": "a"}], extension=[{"url": "http://u", "valueReference": {"reference": "#a"}}]),
        narrative(DIV.format("gr&uuml;n &amp; <b>gut</b><!-- ja -->")),
        narrative(DIV.format("<p class='a' xml:lang='de'><u>x</u><kbd>y</kbd><font color='red'>z</font></p><center/>")),
        narrative(DIV.format("<table data-fhir='generated' role='grid'><tr><td aria-label='a'>x</td></tr></table>")),
        narrative(DIV.format("<a href='data:application/pdf;base64,AAAA'>x</a><img src='#part' alt='javascript: no'/>")),
        response({"linkId": "a", "answer": [{"_valueString": {"extension": [{"url": "http://u", "valueCode": "unknown"}]}}]}),
        response(said("a", {"valueAttachment": {"contentType": "a/b", "data": "YQ==", "size": 1, "hash": "hvfkN/qlp/zhXR3cuerq6jd2Z7g="}})),
    ],
)  # fmt: skip
def test_what_fhir_allows_is_no_defect(fine: dict[str, Any]) -> None:
    assert check(fine) == []


def test_no_finding_quotes_what_a_patient_wrote() -> None:
    findings = check(response(said("a", {"valueDate": "geheim"}, {"valueInteger": "geheim"}, {"valueString": 3})))

    assert len(findings) == 3
    assert not [finding for finding in findings if "geheim" in finding.text]
