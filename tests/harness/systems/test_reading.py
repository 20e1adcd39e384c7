"""What a system sent becomes a reply, or a failure when it makes no sense."""

from __future__ import annotations

from typing import Any

import pytest

from harness.systems.description import KLARTEXT_ANSWER, Paths
from harness.systems.recognition import JsonReader, Recogniser, read_messages
from harness.systems.system import Failure, Reply

ANSWER = "Tut die Untersuchung weh? (pain, de)"
Told = tuple[str, str | None, str | None, tuple[str, ...]]


def told(reply: Reply | Failure) -> Told | str:
    if isinstance(reply, Failure):
        return reply.reason
    return reply.decision, reply.pair_id, reply.matched, reply.choices


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"pair_id": "pain", "decision": "answered"}, ("answered", "pain", "id", ())),
        ({"pair_id": "pain"}, ("answered", "pain", "id", ())),
        ({"answer": ANSWER}, ("answered", "pain", "text", ())),
        ({"pair_id": "zebra", "answer": ANSWER}, ("answered", "pain", "text", ())),
        ({"pair_id": "zebra"}, ("answered", None, "none", ())),
        ({"pair_id": "nlu_fallback"}, ("declined", None, None, ())),
        ({"pair_id": None, "answer": None}, ("declined", None, None, ())),
        ({"pair_id": None, "choices": ["pain", "costs"]}, ("clarify", None, None, ("pain", "costs"))),
        ({"decision": "clarify", "choices": ["pain"]}, ("clarify", None, None, ("pain",))),
        ({"decision": "urgent", "answer": "112"}, ("urgent", None, None, ())),
        ({"decision": "perhaps"}, "the decision is none of answered, clarify, declined, urgent"),
        ({"pair_id": 7}, "`pair` is a number, not a text (at $.pair_id)"),
        ({"pair_id": ["pain"]}, "`pair` is a list, not a text (at $.pair_id)"),
        ({"answer": {"text": ANSWER}}, "`answer` is an object, not a text (at $.answer)"),
        ({"decision": 1, "answer": ANSWER}, "`decision` is a number, not a text (at $.decision)"),
        ({"pair_id": "pain", "candidates": "pain"}, "`candidates` is a text, not a list (at $.candidates[*].pair_id)"),
        (
            {"pair_id": "pain", "candidates": [{"pair_id": True}]},
            "`candidates` is true or false, not a text (at $.candidates[*].pair_id)",
        ),
        ({"choices": ["pain", 7]}, "`choices` is a number, not a text (at $.choices[*])"),
        ({"pair_id": "pain", "candidates": None, "choices": None}, ("answered", "pain", "id", ())),
        ({"pair_id": "ask_pain"}, ("answered", "pain", "id", ())),
        ({"choices": ["ask_pain", "7"]}, ("clarify", None, None, ("pain", "costs"))),
        ({"else": 1}, "nothing at $.answer, $.pair_id, $.decision, $.candidates[*].pair_id, $.choices[*]"),
        ([], "nothing at $.answer, $.pair_id, $.decision, $.candidates[*].pair_id, $.choices[*]"),
        ("text", "nothing at $.answer, $.pair_id, $.decision, $.candidates[*].pair_id, $.choices[*]"),
    ],
)
def test_json_is_read_by_its_paths(recogniser: Recogniser, document: Any, expected: Told | str) -> None:
    assert told(JsonReader(KLARTEXT_ANSWER, recogniser).read(document, 1.0)) == expected


def test_candidates_are_ranked_as_they_came(recogniser: Recogniser) -> None:
    document = {"pair": "pain", "top": ["pain", "costs"]}

    reply = JsonReader(Paths(pair="$.pair", candidates="$.top"), recogniser).read(document, 1.0)

    assert isinstance(reply, Reply)
    assert [candidate.pair_id for candidate in reply.candidates] == ["pain", "costs"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([{"text": "Hallo!"}, {"text": ANSWER}], ("answered", "pain", "text", ())),
        (
            [{"text": "Meinten Sie", "buttons": [{"title": "x", "payload": "/costs"}]}],
            ("clarify", None, None, ("costs",)),
        ),
        (
            [{"text": "Meinten Sie", "buttons": [{"title": "x", "payload": '/ask_pain{"a": 1}'}]}],
            ("clarify", None, None, ("pain",)),
        ),
        ([{"text": "Weiß ich nicht."}], ("declined", None, None, ())),
        ([], ("declined", None, None, ())),
        ([{"image": "x.png"}], ("declined", None, None, ())),
        ([{"text": "Bananen sind krumm und gelb."}], ("answered", None, "none", ())),
        ([{"text": ANSWER}, {"text": "Ruf 112!"}], ("urgent", None, None, ())),
        ({"text": ANSWER}, "no list of messages"),
        (["text"], "no list of messages"),
    ],
)
def test_messages_of_the_rest_channel_are_read(recogniser: Recogniser, document: Any, expected: Told | str) -> None:
    assert told(read_messages(recogniser, document, 1.0)) == expected
