"""What was stored by an earlier version is read by this one, and stored again in the same words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.errors import BadData
from bot.interview.manners.session import Session, Talk, head_to_json, session_from_json
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, dump, parse
from bot.interview.walk.filling import (
    STATE_VERSION,
    Cleared,
    Event,
    Filling,
    Given,
    GroupAdded,
    GroupRemoved,
    MarkedForStaff,
    NoMore,
    Noted,
    Shown,
    Skipped,
    event_from_json,
    event_to_json,
    filling_from_json,
    filling_to_json,
)
from tests.bot.interview.walk.engine_steps import at, coding, quantity, text, whole

EVENTS: list[tuple[Event, str]] = [
    (Given(at("g", "a"), (whole(5), text("ü")), proposed=True),
     '{"event":"Given","path":[["g",0],["a",0]],"answers":[{"type":"integer","value":5},{"type":"string","value":"ü"}],"proposed":true}'),
    (Skipped(at("a"), "dont_know"), '{"event":"Skipped","path":[["a",0]],"reason":"dont_know"}'),
    (Skipped(at("a")), '{"event":"Skipped","path":[["a",0]]}'),
    (MarkedForStaff(at("a"), "not understood"), '{"event":"MarkedForStaff","path":[["a",0]],"reason":"not understood"}'),
    (Noted(at("a"), "hm"), '{"event":"Noted","path":[["a",0]],"text":"hm"}'),
    (Cleared(at("a")), '{"event":"Cleared","path":[["a",0]]}'),
    (Shown(at("a")), '{"event":"Shown","path":[["a",0]]}'),
    (GroupAdded(at(("g", 1))), '{"event":"GroupAdded","path":[["g",1]]}'),
    (GroupRemoved(at(("g", 1))), '{"event":"GroupRemoved","path":[["g",1]]}'),
    (NoMore(at(("g", 2))), '{"event":"NoMore","path":[["g",2]]}'),
]  # fmt: skip
FILLING = Filling(
    answers={at(("g", 1), "a"): (quantity("1.50", "kg"),), at("b"): (coding("x"),)},
    computed={at("c"): (Answer("decimal", Decimal("2.0")),)},
    disabled=frozenset({at("d")}),
    skipped=frozenset({at("e")}),
    marked={at("f"): "not understood"},
    noted={at("f"): ("eins", "zwei")},
    accepted=frozenset({at("b")}),
    edited=frozenset({at("c")}),
    counts={at("g"): 2},
    closed=frozenset({at("g")}),
    shown=frozenset({at("t")}),
)
STORED_FILLING = (
    '{"answers":[[[["g",1],["a",0]],[{"type":"quantity","value":{"value":1.50,"unit":"kg","system":"http://unitsofmeasure.org",'
    '"code":"kg"}}]],[[["b",0]],[{"type":"coding","value":{"system":"http://example.org/codes","code":"x"}}]]],'
    '"computed":[[[["c",0]],[{"type":"decimal","value":2.0}]]],"disabled":[[["d",0]]],"skipped":[[["e",0]]],'
    '"marked":[[[["f",0]],"not understood"]],"noted":[[[["f",0]],["eins","zwei"]]],"accepted":[[["b",0]]],"edited":[[["c",0]]],'
    '"counts":[[[["g",0]],2]],"closed":[[["g",0]]],"shown":[[["t",0]]]}'
)
TALK = Talk(
    phase="choosing", revisit=at("a"), more=True, tries=2, kindly=True, pending=(whole(5),), nothing=True, proposed=True,
    declined=True, between=(coding("x"),), listed=(at("a"), at("g", "b")), heading=at(("g", 1)), kept=(text("hm"),),
    kept_for=at("b"), sent=7,
)  # fmt: skip
STORED_HEAD = (
    '{"language":"de","status":"amended","talk":{"phase":"choosing","revisit":[["a",0]],"more":true,"tries":2,"kindly":true,'
    '"pending":[{"type":"integer","value":5}],"nothing":true,"proposed":true,"declined":true,'
    '"between":[{"type":"coding","value":{"system":"http://example.org/codes","code":"x"}}],'
    '"listed":[[["a",0]],[["g",0],["b",0]]],"heading":[["g",1]],"kept":[{"type":"string","value":"hm"}],'
    '"kept_for":[["b",0]],"sent":7}}'
)


@pytest.mark.parametrize(("event", "stored"), EVENTS)
def test_an_event_is_stored_in_these_words(event: Event, stored: str) -> None:
    assert dump(event_to_json(event)) == stored
    assert event_from_json(as_object(parse(stored).value)) == event


def test_a_state_is_stored_in_these_words_or_its_version_is_another() -> None:
    assert STATE_VERSION == 1
    assert dump(filling_to_json(FILLING)) == STORED_FILLING
    assert filling_from_json(as_object(parse(STORED_FILLING).value)) == FILLING


def test_where_the_talk_stands_is_stored_in_these_words() -> None:
    session = Session("de", talk=TALK, status="amended")
    stored = {**as_object(parse(STORED_HEAD).value), "events": []}

    assert dump(head_to_json(session)) == STORED_HEAD
    assert session_from_json(stored) == session


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(BadData, match="cannot be read"):
        session_from_json({"language": "de", "status": "in-progress", "events": [], "talk": {"mood": "good"}})
