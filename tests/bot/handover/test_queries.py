"""Requests that a form words with answers: what patients said changes nothing in them but values."""

from __future__ import annotations

from typing import Any

import pytest

from bot.handover.bundle import make_bundle
from bot.handover.subject import Made
from tests.bot.handover.exports import Json, entries, export, form, response
from tests.bot.handover.sdc_marks import context, filled, item, makes, text, use, use_bundle, variable

BASIC: Json = {"resourceType": "Basic", "id": "b", "code": {"_text": filled("answer.value")}}


def _made(mark: Json, *answers: str, kind: str = "string", **head: Any) -> Made:
    asked = form(item("x", kind, "", mark), contained=[BASIC], **head)
    return make_bundle(export(asked=asked, given=response(text("x", *answers))))


def _requests(made: Made, kind: str = "Basic") -> list[Json]:
    return [entry["request"] for entry in entries(made) if entry["resource"]["resourceType"] == kind]


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        ("Z9", "Z9"),
        ("B 12&_id=3", "B%2012%26_id%3D3"),
        ("Söhne & Co #4", "S%C3%B6hne%20%26%20Co%20%234"),
        ("a,b|c$d\\e", "a%5C%2Cb%5C%7Cc%5C%24d%5C%5Ce"),
        ("1+1=2?", "1%2B1%3D2%3F"),
    ],
)
@pytest.mark.parametrize("formula", ["answer.value", "$this.answer.value", "%said", "%resource.item.answer.value"])
def test_an_answer_in_a_condition_is_a_value_and_nothing_else(answer: str, sent: str, formula: str) -> None:
    mark = use("b", ifNoneExist=f"'code=https://a.example|' + {formula} + '&_tag=t'")
    asked = form(item("x", "string", "", mark, variable("said", "answer.value")), contained=[BASIC])

    made = make_bundle(export(asked=asked, given=response(text("x", answer))))

    assert _requests(made)[0]["ifNoneExist"] == f"code=https://a.example|{sent}&_tag=t"
    assert made.notes == ()


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("'code=' + answer.value.substring(0, 4)", "ifNoneExist: what it asks for hangs on the characters of an answer"),
        ("answer.value", "ifNoneExist: not a search (name=value)"),
        ("'code=' & answer.value.replace('q & r', '')", "ifNoneExist: what it asks for hangs on the characters of an answer"),
        ("'code=https://a.example|' & {}.first()", "ifNoneExist: not a search (name=value)"),
        ("'code=' & {}.first()", "ifNoneExist: not a search (name=value)"),
    ],
)  # fmt: skip
def test_a_condition_that_may_find_somebody_else_is_left_out_with_a_note(formula: str, reason: str) -> None:
    made = _made(use("b", ifNoneExist=formula), "q & r")

    (request,) = _requests(made)
    assert request["ifNoneExist"].startswith("_tag=https://klartext.example/")
    assert made.notes == (f"x: not extracted: {reason}; goes out without it",)
    assert "q & r" not in str(made.notes)


def test_definitions_word_their_conditions_by_the_same_rule() -> None:
    mark = makes("Patient", ifNoneExist="'family=' + %context.answer.value")
    asked = form(item("x", "string", "Patient.name.family", mark))

    made = make_bundle(export(asked=asked, given=response(text("x", "Ott&active=true"))))

    assert _requests(made, "Patient")[0]["ifNoneExist"] == "family=Ott%26active%3Dtrue"


def _in_bundle(method: str, url: str, **request: Any) -> Made:
    body = {"resourceType": "Basic", "code": {"text": "k"}}
    each = {"resource": body, "request": {"method": method, "_url": filled(url), **request}}
    template = {"resourceType": "Bundle", "id": "all", "type": "transaction", "entry": [each]}
    asked = form({"linkId": "x", "type": "string"}, contained=[template], extension=[use_bundle("all")])
    return make_bundle(export(asked=asked, given=response(text("x", "u&_id=1"))))


def test_requests_of_a_bundle_template_hold_answers_as_values() -> None:
    value = "item.where(linkId = 'x').answer.value"

    (put,) = _requests(_in_bundle("PUT", f"'Basic?code=' + {value}"))
    (post,) = _requests(_in_bundle("POST", "'Basic'", _ifNoneExist=filled(f"'code=' + {value}")))

    assert put["url"] == "Basic?code=u%26_id%3D1"
    assert post["ifNoneExist"] == "code=u%26_id%3D1"


def test_an_update_by_a_search_of_the_patients_own_is_not_made() -> None:
    made = _in_bundle("PUT", "'Basic?' + item.answer.value")

    assert _requests(made) == []
    assert made.notes == ("Questionnaire: not extracted: entry 0 of #all: request.url: not a search (name=value)",)


def test_a_question_mark_in_an_answer_makes_no_search_of_a_patch() -> None:
    part = {"name": "type", "valueCode": "delete"}
    path = {"name": "path", "valueString": "Basic.subject"}
    patch = {"resourceType": "Parameters", "id": "p", "parameter": [{"name": "operation", "part": [part, path]}]}
    mark = use("p", patchRequestUrl="answer.value")
    asked = form(item("x", "string", "", mark), contained=[patch])

    made = make_bundle(export(asked=asked, given=response(text("x", "Basic?_lastUpdated=gt2000"))))

    assert _requests(made, "Parameters") == []
    assert len(made.notes) == 1


def test_a_named_answer_of_a_context_is_a_value_too() -> None:
    template = {**BASIC, "extension": [context("answer.value")], "code": {"_text": filled("$this")}}
    asked = form(item("x", "string", "", use("b", ifNoneExist="'code=' + answer.value")), contained=[template])

    made = make_bundle(export(asked=asked, given=response(text("x", "n#1"))))

    assert _requests(made)[0]["ifNoneExist"] == "code=n%231"


@pytest.mark.parametrize(
    ("identity", "base", "url"),
    [
        ("https://here.example/r4/Basic/7", "https://here.example/r4", "Basic/7"),
        ("https://there.example/r4/Basic/7", "https://here.example/r4", None),
        ("https://here.example/r4/Basic/7", "", None),
        ("https://here.example/r4x/Basic/7", "https://here.example/r4", None),
    ],
)
def test_the_address_of_a_resource_counts_on_its_own_server_only(identity: str, base: str, url: str | None) -> None:
    asked = form(item("x", "string", "", use("b", resourceId=f"'{identity}'")), contained=[BASIC])

    made = make_bundle(export(asked=asked, given=response(text("x", "k")), base=base))

    assert [request["url"] for request in _requests(made)] == ([url] if url else [])
    address = "x: not extracted: Basic.id: the address of a resource on another server"
    assert made.notes == (() if url else (address,))


def test_an_id_of_another_type_is_called_so() -> None:
    made = _made(use("b", resourceId="'Condition/12'"), "k")

    assert made.notes == ("x: not extracted: Basic.id: that of a resource of another type (Condition)",)


def test_conditions_that_mean_nothing_for_a_request_are_noted() -> None:
    made = _made(use("b", ifMatch="'W/\"4\"'", ifModifiedSince="'2026-01-01'"), "k")

    assert sorted(_requests(made)[0]) == ["ifNoneExist", "method", "url"]
    assert made.notes == (
        "x: not extracted: ifModifiedSince: has no meaning for POST Basic; goes out without it",
        "x: not extracted: ifMatch: has no meaning for POST Basic; goes out without it",
    )


def test_an_update_whose_version_is_none_is_not_made_without_it() -> None:
    made = _made(use("b", resourceId="'b-1'", ifMatch="answer.value"), "W/1\r\nX: y")

    assert _requests(made) == []
    assert made.notes == ('x: not extracted: ifMatch: not a version (W/"1")',)
