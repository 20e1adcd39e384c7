"""A form of parts is assembled from the Questionnaires at hand; a part that is not at hand is left out."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.fhir import surroundings, validate_documents
from bot.interview.form.modular import assembled
from bot.interview.load import load_form
from bot.interview.values.fhir_json import dump, parse
from bot.interview.walk.assemble import Heading
from bot.interview.walk.engine import Engine
from bot.interview.walk.filling import Given
from bot.talk.interviewing import form_of
from tests.bot.interview.resources import CORE, SDC, Json, form, item
from tests.bot.interview.walk.engine_steps import NOW, Interview, at, formula, text, variable

PREFIX = SDC + "sdc-questionnaire-"
NAME = "http://example.org/Questionnaire/name"
FAMILY = "%resource.repeat(item).where(linkId = %linkIdPrefix + 'family').answer.value"


def part(link_id: str, canonical: str, prefix: str = "", address: str = PREFIX + "subQuestionnaire") -> Json:
    inside: list[Json] = [{"url": address, "valueCanonical": canonical}]
    inside += [variable("linkIdPrefix", f"'{prefix}'")] if prefix else []
    return item(link_id, "display", text="[part]", extension=inside)


def named(*, version: str = "2", prefixed: bool = True) -> Json:
    shown = [{"question": "family", "operator": "exists", "answerBoolean": True}]
    made = form(
        item("family", "string", text="Family name?"),
        item("again", "string", text="Again?", enableWhen=shown, extension=[formula("initialExpression", FAMILY)]),
    )
    context = [{"url": PREFIX + "assembleContext", "valueString": "linkIdPrefix"}] if prefixed else []
    return {**made, "url": NAME, "version": version, "extension": context}


ROOT = form(item("g", "group", part("p", NAME, "own."), part("m", f"{NAME}|2", "mother.")), version="1")


def test_a_part_is_asked_as_often_as_it_is_put_in_each_time_by_its_own_link_ids() -> None:
    walked = Interview(ROOT, named())

    assert [each.link_id for each in walked.engine.form.walk()] == [
        "g", "own.family", "own.again", "mother.family", "mother.again",
    ]  # fmt: skip
    walked.give(at("g", "own.family"), text("Muster"))
    assert walked.asks == "ask g/own.again"
    assert walked.proposal == (text("Muster"),)
    walked.give(at("g", "own.again"), text("Muster")).skip(at("g", "mother.family"))
    assert walked.asks == "done"
    assert walked.engine.open_problems(walked.filling) == ()
    assert walked.response["questionnaire"].endswith("|1-assembled")


def test_the_address_that_drafts_of_sdc_had_is_understood_too() -> None:
    asks = item("g", "group", part("p", NAME, "own.", CORE + "sub-questionnaire"))

    assert "own.family" in Interview(form(asks, version="1"), named()).engine.form.by_link_id
    alone = load_form(form(asks, item("other", "string", text="Other")))
    assert alone.by_link_id["p"].left_out
    assert [note.feature for note in alone.gaps] == ["sdc-questionnaire-subQuestionnaire"]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "not at hand"),
        ([named(version="3")], "another version"),
        ([named(prefixed=False)], "its linkIds would be there twice"),
    ],
)
def test_a_part_that_cannot_be_put_in_is_left_out(parts: list[Any], why: str) -> None:
    canonical = f"{NAME}|2"
    loaded = load_form(form(part("p", canonical, "a."), item("family", "string", text="F")), resources=parts)

    assert loaded.by_link_id["p"].left_out, why
    assert "sdc-questionnaire-subQuestionnaire" in {note.feature for note in loaded.gaps}


def test_parts_of_parts_are_put_in_and_circles_end() -> None:
    middle = {**form(part("inner", NAME), item("more", "string", text="More")), "url": "http://example.org/middle"}
    circle = {
        **form(part("self", "http://example.org/circle"), item("x", "string")),
        "url": "http://example.org/circle",
    }
    root = form(part("a", "http://example.org/middle"), part("b", "http://example.org/circle"))

    made = assembled(root, [middle, circle, named()])

    assert [each["linkId"] for each in made["item"]] == ["family", "again", "more", "self", "x"]  # type: ignore[union-attr, call-overload, index]


def test_a_form_without_parts_is_as_it_was() -> None:
    raw = form(item("a", "string"))

    assert assembled(raw, [named()]) is raw


def test_a_bundle_brings_the_parts_along_and_the_validator_puts_them_in_too() -> None:
    bundle: Json = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": named()}, {"resource": ROOT}],
    }
    engine = Engine(form_of(bundle), now=NOW)
    filling = engine.apply(engine.start(), Given(at("g", "own.family"), (text("Muster"),)))
    made = engine.response(filling, Heading("completed", NOW.isoformat()))

    def verdict(response: Json) -> list[str]:
        around = surroundings([bundle], [], [], now=NOW.isoformat())
        return [each.rule for each in validate_documents(parse(dump(response)), around) if each.is_error]

    assert verdict(made) == []
    made["item"][0]["item"][0]["linkId"] = "other.family"  # type: ignore[call-overload, index]
    assert verdict(made) == ["linkId"]
