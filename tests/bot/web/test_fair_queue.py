"""Who is served next: the order is tested, not the time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.matching.red_flags import load_red_flags
from bot.web.fair_queue import Crowd, FairLine, said_in

URGENT = "Ich kriege keine Luft"
LONG = "Tut das weh? " * 70
Joining = tuple[str, str, bool]  # address, conversation, urgent


def _order(joining: list[Joining]) -> list[int]:
    line: FairLine[int] = FairLine()
    for number, (address, conversation, urgent) in enumerate(joining):
        line.join(number, (address, conversation), urgent=urgent)
    return [line.next() for _ in joining]


def test_one_conversation_does_not_hold_up_others_of_its_address() -> None:
    assert _order([("a", "1", False)] * 4 + [("a", "2", False), ("a", "3", False)]) == [0, 4, 5, 1, 2, 3]


def test_one_address_with_many_conversations_does_not_hold_up_others() -> None:
    flood = [("a", str(number), False) for number in range(100)]

    assert _order([*flood, ("b", "x", False), ("c", "y", False)])[:4] == [0, 100, 101, 1]


def test_urgent_ones_come_first_and_are_fair_among_themselves() -> None:
    waiting = [("a", "1", False), *[("b", "2", True)] * 3, ("c", "3", True)]

    assert _order(waiting) == [1, 4, 2, 3, 0]


def test_who_was_served_lately_waits_for_who_was_not() -> None:
    line: FairLine[str] = FairLine()
    for _ in range(3):
        line.note(("a", "1"))
    line.join("again", ("a", "1"))
    line.join("new", ("b", "2"))

    assert [line.next(), line.next()] == ["new", "again"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("123"), st.booleans()), max_size=30))
def test_everybody_is_served_once_and_each_address_in_turn(joining: list[Joining]) -> None:
    order = _order(joining)

    assert sorted(order) == list(range(len(joining)))
    for urgent in (True, False):
        served = [joining[number][0] for number in order if joining[number][2] == urgent]
        for place, address in enumerate(served):
            before = next((n for n in range(place - 1, -1, -1) if served[n] == address), None)
            if before is not None:  # everybody else who still waits was served since
                assert set(served[place:]) <= {*served[before:place], address}


class _Service:
    """An application that works on a request for as long as the test wants, and notes in which order they came."""

    def __init__(self, at_once: int, for_urgent: int = 0) -> None:
        rules = load_red_flags("de")
        self.crowd = Crowd(rules.sees_plainly, at_once=at_once, for_urgent=for_urgent)
        self.began: list[str] = []
        self.may_end: dict[str, asyncio.Event] = {}
        self.app = self.crowd.around(self._work)

    async def _work(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        name = scope["name"]
        assert json.loads((await receive())["body"])["text"] == scope["said"]  # the whole request came through
        self.began.append(name)
        await self.may_end.setdefault(name, asyncio.Event()).wait()
        await send({"type": "http.response.start"})
        await send({"type": "http.response.body"})

    def come(
        self, name: str, address: str, text: str, *, path: str = "", reads: asyncio.Event | None = None
    ) -> asyncio.Future[None]:
        scope = {
            "type": "http",
            "path": path or f"/api/v1/conversations/{name.rstrip('0123456789')}/turns",
            "headers": [],
            "client": (address, 1),
            "name": name,
            "said": text,
        }

        async def receive() -> Any:
            return {"type": "http.request", "body": json.dumps({"text": text}).encode(), "more_body": False}

        async def send(message: Any) -> None:
            if reads is not None and message["type"] == "http.response.body":
                await reads.wait()

        return asyncio.ensure_future(self.app(scope, receive, send))

    async def end(self, name: str) -> None:
        self.may_end.setdefault(name, asyncio.Event()).set()
        await _settle()


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_flood_of_long_texts_from_one_address_lets_others_in_after_one_of_its_own() -> None:
    async def scenario() -> list[str]:
        service = _Service(at_once=2)
        for number in range(30):
            service.come(f"flood{number}", "192.0.2.1", LONG)
        await _settle()
        service.come("patient", "192.0.2.2", "Tut das weh?")
        await _settle()
        await service.end("flood0")
        return service.began

    assert asyncio.run(scenario()) == ["flood0", "flood1", "patient"]


def test_an_urgent_message_that_has_to_wait_is_let_in_at_once() -> None:
    async def scenario() -> list[str]:
        service = _Service(at_once=1, for_urgent=1)
        for number in range(5):
            service.come(f"flood{number}", "192.0.2.1", LONG)
        await _settle()
        service.come("ordinary", "192.0.2.2", "Tut das weh?")
        service.come("urgent", "192.0.2.1", URGENT)
        service.come("second-urgent", "192.0.2.1", URGENT)
        await _settle()
        await service.end("urgent")
        await service.end("second-urgent")
        await service.end("flood0")
        return service.began

    assert asyncio.run(scenario()) == ["flood0", "urgent", "second-urgent", "ordinary"]


def test_who_gives_up_waiting_holds_up_nobody() -> None:
    async def scenario() -> list[str]:
        service = _Service(at_once=1)
        first = service.come("first", "192.0.2.1", "eins")
        gone = service.come("gone", "192.0.2.2", "zwei")
        service.come("next", "192.0.2.3", "drei")
        await _settle()
        gone.cancel()
        first.cancel()
        await _settle()
        await service.end("next")
        service.come("last", "192.0.2.4", "vier")
        await _settle()
        return service.began

    assert asyncio.run(scenario()) == ["first", "next", "last"]


def test_who_is_let_in_and_gives_up_in_the_same_moment_holds_no_place() -> None:
    async def scenario() -> list[str]:
        service = _Service(at_once=1)
        service.come("first", "192.0.2.1", "eins")
        gone = service.come("gone", "192.0.2.2", "zwei")
        await _settle()
        service.may_end["first"].set()
        while not gone.cancelled() and service.crowd._inside and len(service.crowd._line):
            await asyncio.sleep(0)
        gone.cancel()
        await _settle()
        service.come("last", "192.0.2.4", "vier")
        await _settle()
        return service.began

    assert "last" in asyncio.run(scenario())


def test_who_reads_slowly_holds_no_place() -> None:
    async def scenario() -> list[str]:
        service, never = _Service(at_once=1), asyncio.Event()
        service.come("slow", "192.0.2.1", "eins", reads=never)
        service.come("next", "192.0.2.2", "zwei")
        await _settle()
        await service.end("slow")
        return service.began

    assert asyncio.run(scenario()) == ["slow", "next"]


def test_health_never_waits() -> None:
    async def scenario() -> list[str]:
        service = _Service(at_once=1)
        service.come("first", "192.0.2.1", "eins")
        await _settle()
        service.come("health", "192.0.2.1", "", path="/healthz")
        await _settle()
        return service.began

    assert asyncio.run(scenario()) == ["first", "health"]


def test_what_a_patient_wrote_is_found_in_every_kind_of_body() -> None:
    assert said_in(b'{"turn_id": "1", "text": "Luft"}') == ["Luft"]
    assert said_in(b'{"sender": "s", "message": "Luft"}') == ["Luft"]
    assert said_in(b"token=t&text=keine+Luft%21") == ["keine Luft!"]
    assert said_in(b"words=keine+Luft&text=") == ["keine Luft"]


@given(st.binary(max_size=200))
def test_any_body_is_looked_at_without_an_error(body: bytes) -> None:
    assert all(isinstance(text, str) for text in said_in(body))
    assert not said_in(b"[" * 100_000)
