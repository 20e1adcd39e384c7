"""Endpoints are asked over real sockets; what fails is a failure, not a wrong answer."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from bot import BadData, UserFixable
from harness.systems.system import Failure, Reply
from tests.harness.systems.conftest import Opener
from tests.harness.systems.servers import CUT, GARBLED, SLOW, Seen, serving

ENDPOINT = {"kind": "http", "body": {"text": "{question}", "in": ["{lang}"]}, "paths": {"pair": "$.pair"}}


def always_pain(seen: Seen) -> Any:
    return {"pair": "pain"}


def asked(opener: Opener, record: dict[str, Any], *texts: str, **more: Any) -> list[Reply | Failure]:
    with opener(record, **more) as (system, _):
        return list(system.ask(texts, "de"))  # type: ignore[arg-type]


def test_body_url_and_headers_are_filled(opener: Opener) -> None:
    hostile = 'Tut "das" {lang} weh?\u2028& ü'
    with serving(always_pain) as server:
        record = {**ENDPOINT, "url": server.url + "/ask?q={question}&l={lang}", "headers": {"X-Key": "k ${SECRET}"}}
        replies = asked(opener, record, hostile, environ={"SECRET": "s3"})

    (seen,) = server.seen
    assert json.loads(seen.body) == {"text": hostile, "in": ["de"]}
    assert seen.path == "/ask?q=Tut%20%22das%22%20%7Blang%7D%20weh%3F%E2%80%A8%26%20%C3%BC&l=de"
    assert seen.headers["X-Key"] == "k s3"
    assert [(r.pair_id, r.matched) for r in replies if isinstance(r, Reply)] == [("pain", "id")]


def test_a_get_without_a_body(opener: Opener) -> None:
    with serving(always_pain) as server:
        record = {"kind": "http", "method": "GET", "url": server.url + "/{question}", "paths": {"pair": "$.pair"}}
        asked(opener, record, "weh?")

    assert [(seen.method, seen.path, seen.body) for seen in server.seen] == [("GET", "/weh%3F", "")]


@pytest.mark.parametrize("fault", [500, 503, 429, CUT, SLOW])
def test_faults_that_may_pass_are_tried_again(opener: Opener, fault: int) -> None:
    with serving(always_pain, faults=[fault]) as server:
        replies = asked(opener, {**ENDPOINT, "url": server.url, "timeout_s": 0.3}, "weh?")

    assert isinstance(replies[0], Reply)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("fault", "reason", "requests"),
    [
        (500, "status 500", 3),
        (CUT, "no connection (RemoteProtocolError)", 3),
        (SLOW, "no answer within 0.3 s", 3),
        (404, "status 404", 1),
        (302, "status 302", 1),
        (GARBLED, "no JSON", 1),
    ],
)
def test_faults_that_last_are_failures_and_the_next_question_is_asked(
    opener: Opener, fault: int, reason: str, requests: int
) -> None:
    with serving(always_pain, faults=[fault] * requests) as server:
        first, second = asked(opener, {**ENDPOINT, "url": server.url, "timeout_s": 0.3}, "weh?", "kosten?")

    assert isinstance(first, Failure)
    assert first.reason == reason
    assert isinstance(second, Reply)
    assert len(server.seen) == requests + 1


def test_the_rate_limit_is_kept(opener: Opener) -> None:
    with serving(always_pain) as server:
        started = time.monotonic()
        asked(opener, {**ENDPOINT, "url": server.url, "per_second": 10}, *["weh?"] * 4)

    assert time.monotonic() - started >= 0.3


def test_rasa_is_asked_in_a_new_conversation_each_time(opener: Opener) -> None:
    with serving(lambda seen: [{"recipient_id": "x", "text": "costs, de."}]) as server:
        replies = asked(opener, {"kind": "rasa", "url": server.url + "/"}, "kosten?", "preis?")

    bodies = [json.loads(seen.body) for seen in server.seen]
    assert [seen.path for seen in server.seen] == ["/webhooks/rest/webhook"] * 2
    assert [body["message"] for body in bodies] == ["kosten?", "preis?"]
    assert len({body["sender"] for body in bodies}) == 2
    assert {(r.pair_id, r.matched) for r in replies if isinstance(r, Reply)} == {("costs", "text")}


def test_questions_leave_this_machine_only_where_that_is_allowed(opener: Opener) -> None:
    record = {**ENDPOINT, "url": "https://bot.example.org/ask"}

    with pytest.raises(UserFixable, match=r"'bot\.example\.org', which is not allowed"), opener(record):
        pass
    with opener(record, allow=frozenset({"bot.example.org"})):
        pass  # opened, and nothing sent


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"kind": "smoke"}, r"does not match any of the expected tags"),
        ({**ENDPOINT, "url": "http://{question}.example.org"}, "must be a fixed address"),
        ({**ENDPOINT, "url": "ftp://x"}, "must be a fixed address"),
        ({**ENDPOINT, "url": "http://127.0.0.1", "paths": {"pair": "$.["}}, "is no JSONPath"),
        ({**ENDPOINT, "url": "http://127.0.0.1", "paths": {}}, "neither `answer` nor `pair` is given"),
        ({**ENDPOINT, "url": "http://127.0.0.1", "colour": "red"}, "colour: is not known here"),
        ({**ENDPOINT, "url": "http://127.0.0.1", "headers": {"K": "${NOPE}"}}, "NOPE, which is not set"),
        ({"kind": "command", "command": []}, "command"),
    ],
)
def test_files_that_cannot_be_understood_are_one_clear_line(opener: Opener, record: dict[str, Any], said: str) -> None:
    with pytest.raises(BadData, match=said) as caught, opener(record):
        pass
    assert "\n" not in str(caught.value)
