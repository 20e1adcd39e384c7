"""Systems outside that remember a conversation are talked with: one conversation for all turns of a dialogue."""

from __future__ import annotations

import json
from typing import Any

from harness.systems.description import fingerprint, load_system_file
from harness.systems.system import Conversing, Failure, Reply
from tests.harness.systems.conftest import Opener
from tests.harness.systems.servers import Seen, serving
from tests.harness.systems.test_klartext_api import TURNS, Api, content, interface, own_kind, reply_view


def _said(system: object, *texts: str) -> list[Reply | Failure]:
    assert isinstance(system, Conversing)
    with system.chats("de") as begin, begin() as chat:
        return [chat.say(text) for text in texts]


def test_all_turns_are_said_in_one_conversation_of_our_api(opener: Opener) -> None:
    easier = {**content("pain"), "field": "easy_answer"}
    turns = {**TURNS, "einfacher": {"decision": "talk", "reply": reply_view(interface("easy_intro"), easier)}}
    api = Api(turns)
    with serving(api) as server, opener(own_kind(server)) as (system, _):
        assert isinstance(system, Conversing)
        assert system.turns
        first, easy, talk = _said(system, "weh {token}?", "einfacher", "danke")

    assert isinstance(first, Reply)
    assert isinstance(easy, Reply)
    assert isinstance(talk, Reply)
    assert (first.shown, first.texts, first.keys, first.language) == (("pain",), ("answer",), ("sample",), "de")
    assert (easy.shown, easy.texts, easy.keys) == (("pain",), ("easy_answer",), ("easy_intro",))
    assert (talk.shown, talk.keys) == ((), ("thanks",))
    assert api.said == ["weh {token}?", "einfacher", "danke"]
    assert len(api.opened) == 1
    assert api.erased == list(api.opened)
    assert len(set(api.turn_ids)) == 3


def test_a_complaint_is_told_with_its_urgency_and_its_text_is_no_answer(opener: Opener) -> None:
    advice = {"pair_id": "pain", "urgency": "days", "text": "Text."}
    turn = {"decision": "declined", "reason": "complaint", "advice": advice, "reply": reply_view(content("pain"))}
    with serving(Api({"knoten": turn})) as server, opener(own_kind(server)) as (system, _):
        (reply,) = _said(system, "knoten")

    assert isinstance(reply, Reply)
    assert (reply.urgency, reply.reason, reply.shown) == ("days", "complaint", ())


def test_a_rasa_sender_is_the_same_for_all_turns_of_a_dialogue_and_no_other(opener: Opener) -> None:
    def answer(seen: Seen) -> Any:
        return [{"recipient_id": json.loads(seen.body)["sender"], "text": "Weiß ich nicht."}]

    with serving(answer) as server, opener({"kind": "rasa", "url": server.url}) as (system, _):
        _said(system, "eins", "zwei")
        _said(system, "drei")

    senders = [json.loads(seen.body)["sender"] for seen in server.seen]
    assert senders[0] == senders[1] != senders[2]
    assert [json.loads(seen.body)["message"] for seen in server.seen] == ["eins", "zwei", "drei"]


def test_what_cannot_be_reached_fails_each_turn(opener: Opener) -> None:
    record = {"kind": "klartext-api", "url": "http://127.0.0.1:9", "retries": 0}
    with opener(record) as (system, _):
        first, second = _said(system, "eins", "zwei")

    assert isinstance(first, Failure)
    assert isinstance(second, Failure)


def test_single_messages_go_to_systems_without_memory_too(opener: Opener) -> None:
    record = {
        "kind": "http",
        "body": {"q": "{question}"},
        "paths": {"pair": "$.pair_id", "urgency": "$.advice.urgency"},
    }
    with (
        serving(lambda seen: {"pair_id": None, "advice": {"urgency": "today"}}) as server,
        opener({**record, "url": server.url}) as (system, _),
    ):
        assert isinstance(system, Conversing)
        assert not system.turns
        (reply,) = _said(system, "knoten")

    assert isinstance(reply, Reply)
    assert (reply.decision, reply.urgency) == ("declined", "today")


def test_paths_that_came_later_change_no_fingerprint(tmp_path: Any) -> None:
    file = tmp_path / "system.yaml"
    file.write_text("kind: http\nurl: http://127.0.0.1:9\npaths: {pair: $.pair}\nname: one\n", encoding="utf-8")
    plain = load_system_file(file)
    file.write_text(
        "kind: http\nurl: http://127.0.0.1:9\npaths: {pair: $.pair, urgency: $.how}\nname: one\n", encoding="utf-8"
    )
    assert fingerprint(plain) == "da81f159ccb04a80"  # of runs from before
    assert fingerprint(load_system_file(file)) != fingerprint(plain)
