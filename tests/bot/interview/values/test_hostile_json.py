"""Whatever the JSON holds, the validators say something and never break."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.fhir import surroundings, validate_documents
from bot.interview.values.fhir_json import Parsed, dump, parse
from bot.interview.values.finding import has_errors, operation_outcome
from tests.bot.interview.resources import (
    CORE,
    SDC,
    code_system,
    coding,
    extended,
    form,
    item,
    quantity,
    response,
    said,
    value_set,
)

FORM = form(
    item(
        "g",
        "group",
        item("q", "choice", answerOption=[coding("a"), {"valueString": "b"}], repeats=True),
        item("n", "integer", extension=extended((CORE + "minValue", {"valueInteger": 1}))),
        enableWhen=[{"question": "d", "operator": ">", "answerDate": "2020"}],
    ),
    item("d", "date", text="Wann?", enableWhen=[{"question": "w", "operator": "exists", "answerBoolean": True}]),
    item("w", "quantity", extension=extended((SDC + "sdc-questionnaire-minQuantity", quantity("1")))),
    item("s", "string", maxLength=5, extension=extended((CORE + "regex", {"valueString": "[a-z]*"}))),
    item("v", "choice", answerValueSet="#vs"),
    item("f", "attachment", extension=extended((CORE + "maxSize", {"valueDecimal": 10}))),
    item(
        "x",
        "string",
        extension=extended(
            (
                SDC + "sdc-questionnaire-enableWhenExpression",
                {"valueExpression": {"language": "text/fhirpath", "expression": "%resource.item.count() > 2"}},
            )
        ),
    ),
    contained=[
        code_system({"code": "aa"}, url="http://s", id="cs"),
        value_set({"system": "http://s", "filter": [{"property": "code", "op": "regex", "value": "a+"}]}, id="vs"),
    ],
    text={"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml">x</div>'},
)
RESPONSE = response(
    said("g", item=[said("q", coding("a"), {"valueString": "b"}), said("n", {"valueInteger": 3})]),
    said("d", {"valueDate": "2021-03"}, text="Wann?"),
    said("w", quantity("70")),
    said("s", {"valueString": "abc"}),
    said("v", coding("aa", system="http://s")),
    said("f", {"valueAttachment": {"contentType": "image/png", "data": "YWJj", "size": 3}}),
    said("x", {"valueString": "y"}),
    authored="2026-11-21T10:00:00Z",
)
AROUND = surroundings([FORM], [], [], now="2026-11-21T12:00:00Z")

hostile = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(10**40), max_value=10**40),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["2020-13", "9999-12-31", "#", "#x", "*", "(", "|", "http://x|", "\ud800", "\x00", "%x", "YQ"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(
        st.sampled_from(["item", "answer", "extension", "valueCoding", "linkId", "url"]), st.none(), max_size=2
    ),
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for key, child in children for found in [(*path, key), *places(child, (*path, key))]]


def mutated(document: dict[str, Any], changes: list[tuple[int, Any, str]]) -> dict[str, Any]:
    """Return a copy with some values replaced, removed, doubled or renamed."""
    copied = copy.deepcopy(document)
    for index, value, how in changes:
        found = places(copied)
        if not found:
            break
        *above, last = found[index % len(found)]
        holder = copied
        for key in above:
            holder = holder[key]
        if how == "replace":
            holder[last] = copy.deepcopy(value)
        elif how == "remove":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[f"{last}X" if how == "rename" else f"_{last}"] = copy.deepcopy(holder[last])
    return copied


changes = st.lists(
    st.tuples(st.integers(0, 500), hostile, st.sampled_from(["replace", "remove", "double", "rename"])),
    min_size=1,
    max_size=4,
)


def test_the_documents_that_are_mutated_are_valid() -> None:
    assert not has_errors(validate_documents(Parsed(FORM), AROUND))
    assert validate_documents(Parsed(RESPONSE), AROUND) == []


@given(changes)
def test_any_questionnaire_gets_an_outcome_that_is_json(changed: list[tuple[int, Any, str]]) -> None:
    outcome = operation_outcome(validate_documents(Parsed(mutated(FORM, changed)), AROUND))

    assert parse(dump(outcome)).value == outcome


@given(changes)
def test_any_response_gets_an_outcome_that_is_json(changed: list[tuple[int, Any, str]]) -> None:
    outcome = operation_outcome(validate_documents(Parsed(mutated(RESPONSE, changed)), AROUND))

    assert parse(dump(outcome)).value == outcome


@given(changes, changes)
def test_any_questionnaire_can_be_answered_by_any_response(
    in_form: list[tuple[int, Any, str]], in_response: list[tuple[int, Any, str]]
) -> None:
    around = surroundings([mutated(FORM, in_form)], [], [], now="2026-11-21T12:00:00Z")

    outcome = operation_outcome(validate_documents(Parsed(mutated(RESPONSE, in_response)), around))

    assert parse(dump(outcome)).value == outcome


@given(
    st.recursive(hostile, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=20)
)
def test_any_other_json_is_an_error(value: Any) -> None:
    assert has_errors(validate_documents(Parsed(value), AROUND))


@pytest.mark.parametrize("kind", ["group", "string"])
def test_deep_nesting_is_checked_to_the_bottom(kind: str) -> None:
    asked, given = item("i0", kind, repeats=False), said("i0")
    for depth in range(1, 45):
        asked = item(f"i{depth}", kind, asked)
        inner = {"item": [given]}
        given = said(f"i{depth}", **inner) if kind == "group" else said(f"i{depth}", {"valueString": "x", **inner})
    around = surroundings([form(asked)], [], [], now="")
    broken = parse(dump(response(given)).replace('"i0"', '"i0","text":3'))

    assert "type" in [finding.rule for finding in validate_documents(broken, around)]


def test_a_property_given_twice_is_an_error() -> None:
    document = parse('{"resourceType":"Questionnaire","status":"active","status":"draft"}')

    assert [finding.rule for finding in validate_documents(document, AROUND)] == ["duplicate-property"]
