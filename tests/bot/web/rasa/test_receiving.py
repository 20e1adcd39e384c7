"""Calls with whole trackers: long ones, compressed ones, many at once."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from bot.web.rasa.project import ACTIONS_PATH
from bot.web.rasa.receiving import LARGE_AT_ONCE, MOST_BYTES, SMALL_BYTES, Slimming
from tests.bot.web.rasa.calls import Tracked
from tests.bot.web.serving import CHANNEL_TOKEN, RASA_TOKEN, Server
from tests.shipped_texts import SAID

DE = SAID["de"]
BREATHLESS = "Ich bekomme keine Luft. "


@pytest.fixture
def tracked(server: Server) -> Tracked:
    return Tracked(server.url, RASA_TOKEN)


def _texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["text"] for each in answer.json()["responses"]]


def test_however_long_a_tracker_is_its_emergency_is_heard(tracked: Tracked) -> None:
    tracked.events = [{"event": "bot", "timestamp": number, "text": "x" * 10_000} for number in range(2000)]
    call = tracked.call(BREATHLESS)
    body = json.dumps(call).encode()
    assert 20_000_000 < len(body) < MOST_BYTES

    assert DE["urgent"] in _texts(tracked.post_bytes(body))
    tracked.token = CHANNEL_TOKEN
    assert tracked.post_bytes(body).status_code == 401


def test_beyond_what_is_taken_the_refusal_says_whom_to_call(tracked: Tracked) -> None:
    answer = tracked.post_bytes(b" " * (MOST_BYTES + 1))

    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/problem+json")
    assert "32 MiB" in answer.json()["detail"]
    assert answer.json()["emergency_notice"]["de"]
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]
    packed = zlib.compress(b" " * (MOST_BYTES + 1))
    assert len(packed) < SMALL_BYTES
    assert tracked.post_bytes(packed, "deflate").status_code == 413


@pytest.mark.parametrize("length", [30_000, 40_000, 1_000_000])
@pytest.mark.parametrize("filling", ["x ", "ü "])
def test_however_long_a_text_is_it_is_told_so_and_an_emergency_in_it_is_heard(
    tracked: Tracked, length: int, filling: str
) -> None:
    tail = filling * (length // 2)

    kind = _texts(tracked.post(tracked.call(tail)))
    assert kind[0] == DE["too_long"].format(limit=1000)
    assert DE["urgent"] in _texts(tracked.post(tracked.call(BREATHLESS + tail)))


def test_many_slots_are_taken_and_too_many_refused_as_a_problem(tracked: Tracked) -> None:
    tracked.slots = {f"item_{number}": "x" * 200 for number in range(2000)}
    assert _texts(tracked.post(tracked.call("Tut das weh?")))

    tracked.slots = {f"item_{number}": "x" * 200 for number in range(6000)}
    answer = tracked.post(tracked.call("Tut das weh?"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/problem+json")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "deflate without a head", "identity", ""])
def test_calls_may_be_compressed(tracked: Tracked, encoding: str) -> None:
    tracked.events = [{"event": "bot", "timestamp": number, "text": "x" * 1000} for number in range(3000)]
    body = json.dumps(tracked.call("Tut das weh?")).encode()
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "gzip": gzip.compress(body),
        "deflate": zlib.compress(body),
        "deflate without a head": bare.compress(body) + bare.flush(),
    }

    assert _texts(tracked.post_bytes(packed.get(encoding, body), encoding.partition(" ")[0]))


@pytest.mark.parametrize(("encoding", "status"), [("br", 415), ("gzip, gzip", 415), ("gzip", 400), ("deflate", 400)])
def test_what_cannot_be_unpacked_is_refused(tracked: Tracked, encoding: str, status: int) -> None:
    answer = tracked.post_bytes(b"\xffno such thing", encoding)

    assert answer.status_code == status
    assert answer.json()["emergency_notice"]["de"]


def test_of_large_trackers_few_are_in_memory_at_once() -> None:
    """Eight arrive at once, each a piece at a time: beyond what is small, no more than the limit go on."""
    arrived: list[int] = [0] * 8
    most = 0
    piece = b" " * (SMALL_BYTES // 4)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def one(number: int) -> None:
        async def receive() -> Message:
            nonlocal most
            await asyncio.sleep(0)
            arrived[number] += 1
            most = max(most, sum(4 + 1 < each < 20 for each in arrived))
            return {"type": "http.request", "body": piece, "more_body": arrived[number] < 20}

        headers = [(b"authorization", f"Bearer {RASA_TOKEN}".encode()), (b"content-length", b"%d" % (20 * len(piece)))]
        scope: Scope = {"type": "http", "method": "POST", "path": ACTIONS_PATH, "headers": headers}
        await slimmed(scope, receive, _nothing)

    async def all_at_once() -> None:
        await asyncio.gather(*(one(number) for number in range(8)))

    slimmed = Slimming(RASA_TOKEN).around(app)
    asyncio.run(all_at_once())
    assert arrived == [20] * 8
    assert most == LARGE_AT_ONCE


async def _nothing(_: Message) -> None:
    pass
