"""Our JSON API under test: a conversation for each question, deleted afterwards, by its own kind and by `http`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot import UserFixable
from harness.systems.system import Failure, Reply
from tests.harness.systems.conftest import Opener
from tests.harness.systems.servers import Seen, Server, serving

CONVERSATIONS = "/api/v1/conversations"


@dataclass
class Api:
    """Answers as `klartext serve` does: conversations that their token opens, turns with ids of the client."""

    turns: dict[str, dict[str, Any]]
    opened: dict[str, str] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    turn_ids: list[str] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Any:
        body: Any = json.loads(seen.body) if seen.body else None
        if seen.path == CONVERSATIONS:
            assert body == {"consent": True, "language": "de"}
            id_ = f"{len(self.opened):032x}"
            self.opened[id_] = f"token-{id_}"
            return {"id": id_, "token": self.opened[id_], "language": "de", "sample": True, "welcome": reply_view()}
        match = re.fullmatch(CONVERSATIONS + r"/([0-9a-f]{32})(/turns)?", seen.path)
        assert match is not None
        assert seen.headers["Authorization"] == f"Bearer {self.opened[match[1]]}"
        if match[2] is None:
            assert (seen.method, body) == ("DELETE", None)
            self.erased.append(match[1])
            return None
        assert set(body) == {"turn_id", "text"}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", body["turn_id"])
        self.turn_ids.append(body["turn_id"])
        self.said.append(body["text"])
        view = {"turn_id": body["turn_id"], "number": 1, "at": "2026-11-22T05:00:00Z"}
        return view | self.turns[body["text"]]


def content(pair_id: str, text: str = "Text.") -> dict[str, Any]:
    return {"kind": "content", "text": text, "key": None, "pair_id": pair_id, "field": "answer"}


def interface(key: str) -> dict[str, Any]:
    return {"kind": "interface", "text": "Ein Satz.", "key": key, "pair_id": None, "field": None}


def reply_view(*parts: dict[str, Any], choices: tuple[str | None, ...] = ()) -> dict[str, Any]:
    numbered = [{"number": n, "text": "Frage?", "pair_id": pair_id} for n, pair_id in enumerate(choices, 1)]
    return {"language": "de", "parts": list(parts), "choices": numbered}


TURNS: dict[str, dict[str, Any]] = {
    "weh {token}?": {"decision": "answered", "reply": reply_view(interface("sample"), content("pain"))},
    "weh und teuer?": {"decision": "answered", "reply": reply_view(content("costs"), content("pain"))},
    "wie?": {"decision": "clarify", "reply": reply_view(interface("ask"), choices=("costs", "duration", None))},
    "zebra?": {"decision": "declined", "reply": reply_view(interface("declined"))},
    "hilfe!": {"decision": "urgent", "reply": reply_view(interface("urgent"))},
    "danke": {"decision": "talk", "reply": reply_view(interface("thanks"))},
}


def own_kind(server: Server) -> dict[str, Any]:
    return {"kind": "klartext-api", "url": server.url + "/"}


def described(server: Server) -> dict[str, Any]:
    """The same, written out with the keys of kind `http`."""
    one = server.url + CONVERSATIONS + "/{conversation}"
    return {
        "kind": "http",
        "before": [
            {
                "url": server.url + CONVERSATIONS,
                "body": {"consent": True, "language": "{lang}"},
                "take": {"conversation": "$.id", "token": "$.token"},
            }
        ],
        "url": one + "/turns",
        "headers": {"Authorization": "Bearer {token}"},
        "body": {"turn_id": "{uuid}", "text": "{question}"},
        "after": [{"method": "DELETE", "url": one}],
        "paths": {
            "pair": "$.reply.parts[?@.kind == 'content'].pair_id",
            "decision": "$.decision",
            "choices": "$.reply.choices[*].pair_id",
        },
        "decisions": {"talk": "declined"},
    }


@pytest.mark.parametrize("file_of", [own_kind, described])
def test_every_question_is_a_conversation_of_its_own(opener: Opener, file_of: Any) -> None:
    api = Api(TURNS)
    with serving(api) as server, opener(file_of(server)) as (system, _):
        replies = list(system.ask(list(TURNS), "de"))

    assert [(r.decision, r.pair_id, r.choices, r.matched) for r in replies if isinstance(r, Reply)] == [
        ("answered", "pain", (), "id"),
        ("answered", "costs", (), "id"),
        ("clarify", None, ("costs", "duration"), None),
        ("declined", None, (), None),
        ("urgent", None, (), None),
        ("declined", None, (), None),
    ]
    assert [candidate.pair_id for candidate in replies[2].candidates] == ["costs", "duration"]  # type: ignore[union-attr]
    assert api.said == list(TURNS)
    assert api.erased == list(api.opened)
    assert len(set(api.turn_ids)) == len(TURNS)


def test_a_conversation_that_does_not_begin_is_a_failure(opener: Opener) -> None:
    with serving(lambda seen: {"id": "0"}) as server, opener(own_kind(server)) as (system, _):
        (failure,) = system.ask(["weh?"], "de")

    assert isinstance(failure, Failure)
    assert failure.reason == "nothing at $.token"
    assert len(server.seen) == 1


def test_an_answer_counts_even_when_the_conversation_cannot_be_deleted(opener: Opener) -> None:
    api = Api(TURNS)
    with (
        serving(api, faults=[200, 200, 403]) as server,
        opener(own_kind(server)) as (system, _),
    ):
        (reply,) = system.ask(["zebra?"], "de")

    assert isinstance(reply, Reply)
    assert [seen.method for seen in server.seen] == ["POST", "POST", "DELETE"]


def test_a_turn_that_fails_is_a_failure_and_its_conversation_is_deleted(opener: Opener) -> None:
    api = Api(TURNS)
    with serving(api, faults=[200, 422]) as server, opener(own_kind(server)) as (system, _):
        (failure,) = system.ask(["zebra?"], "de")

    assert isinstance(failure, Failure)
    assert failure.reason == "status 422"
    assert [seen.method for seen in server.seen] == ["POST", "POST", "DELETE"]


def test_every_address_of_a_system_must_be_allowed(opener: Opener) -> None:
    with serving(Api(TURNS)) as server:
        record = described(server)
        record["after"] = [{"method": "DELETE", "url": "https://bot.example.org/{conversation}"}]

        with pytest.raises(UserFixable, match=r"'bot\.example\.org', which is not allowed"), opener(record):
            pass
