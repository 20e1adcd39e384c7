"""Fair queue of requests: each address in turn, then its conversations; emergencies first."""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.limits import MAX_BODY_BYTES, MAX_QUESTION_FIELDS
from bot.web.middleware import UNLIMITED, address_of

Item = TypeVar("Item")
Owner = tuple[str, ...]  # from the outside in, such as address and conversation

# Requests at work. What they decide is decided together: of 16 a turn costs a fifth less than of 8; of more it costs as
# much (they contend for one interpreter), and whoever is next waits for all of them.
AT_ONCE = 16
FOR_URGENT = 8  # that are let in beyond these if they are urgent
MAX_REMEMBERED = 10_000  # owners; whoever was served longest ago is forgotten first
SAID_IN = ("text", "message", "words")  # fields of requests that hold what a patient wrote
IN_FORM = re.compile(r"q\d+(_\d+)+(\.own)?")  # likewise of a page of the form


@dataclass(slots=True, eq=False)
class _Place(Generic[Item]):
    item: Item
    owner: Owner
    urgent: bool
    arrival: int


class FairLine(Generic[Item]):
    """Who waits, and who is next. Pure order: no clock, no threads.

    Of two addresses that one is next which was served longer ago, and within an address that conversation: however
    much one of them sends, the others wait for one request of each.
    """

    def __init__(self) -> None:
        self._waiting: list[_Place[Item]] = []
        self._served: OrderedDict[Owner, int] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_urgent(self) -> bool:
        return any(place.urgent for place in self._waiting)

    def join(self, item: Item, owner: Owner, *, urgent: bool = False) -> None:
        self._count += 1
        self._waiting.append(_Place(item, owner, urgent, self._count))

    def leave(self, item: Item) -> bool:
        """Take somebody out who waits no longer; False when it was their turn already."""
        left = [place for place in self._waiting if place.item is not item]
        was_there = len(left) < len(self._waiting)
        self._waiting = left
        return was_there

    def next(self) -> Item:
        """Return who is next and take them out of the line; there must be somebody."""
        place = min(self._waiting, key=self._rank)
        self._waiting.remove(place)
        self.note(place.owner)
        return place.item

    def note(self, owner: Owner) -> None:
        """Count somebody as served now; those who need not wait, too."""
        self._count += 1
        for end in range(1, len(owner) + 1):
            self._served[owner[:end]] = self._count
            self._served.move_to_end(owner[:end])
        while len(self._served) > MAX_REMEMBERED:
            self._served.popitem(last=False)

    def _rank(self, place: _Place[Item]) -> tuple[bool, list[int], int]:
        last = [self._served.get(place.owner[:end], 0) for end in range(1, len(place.owner) + 1)]
        return not place.urgent, last, place.arrival


class Crowd:
    """Lets so many requests in at once; the others wait in a fair line. Only for the thread of the event loop."""

    def __init__(
        self, sounds_urgent: Callable[[str], bool], *, at_once: int = AT_ONCE, for_urgent: int = FOR_URGENT
    ) -> None:
        """`sounds_urgent` is asked about texts of those who have to wait; it must be quick."""
        self._sounds_urgent = sounds_urgent
        self._at_once = at_once
        self._for_urgent = for_urgent
        self._inside = 0
        self._line: FairLine[asyncio.Future[None]] = FairLine()

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the application, worked on in turn: from the whole request to the beginning of the answer."""

        async def in_turn(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in UNLIMITED or scope["path"].startswith("/static/"):
                await app(scope, receive, send)
                return
            # Who sends or reads slowly must not hold a place.
            body, again = await _whole_body(receive)
            await self.enter(
                (address_of(scope), _conversation_of(scope)), lambda: any(map(self._sounds_urgent, said_in(body)))
            )
            is_inside = True

            def go() -> None:
                nonlocal is_inside
                if is_inside:
                    is_inside = False
                    self.leave()

            async def send_and_go(message: Message) -> None:
                go()
                await send(message)

            try:
                await app(scope, again, send_and_go)
            finally:
                go()

        return in_turn

    async def enter(self, owner: Owner, is_urgent: Callable[[], bool]) -> None:
        """Wait for one's turn; `is_urgent` is only asked of who has to wait."""
        if self._inside < self._at_once:
            self._inside += 1
            self._line.note(owner)
        else:
            await self._wait(owner, urgent=is_urgent())

    def leave(self) -> None:
        """Make room for the next."""
        self._inside -= 1
        self._let_in()

    async def _wait(self, owner: Owner, *, urgent: bool) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._line.join(mine, owner, urgent=urgent)
        self._let_in()
        try:
            await mine
        except asyncio.CancelledError:
            if not self._line.leave(mine) and not mine.cancelled():  # it was let in, and will not go
                self.leave()
            raise

    def _let_in(self) -> None:
        while len(self._line):
            room = self._at_once + self._for_urgent * self._line.has_urgent
            if self._inside >= room:
                return
            following = self._line.next()
            if not following.cancelled():
                following.set_result(None)
                self._inside += 1


async def _whole_body(receive: Receive) -> tuple[bytes, Receive]:
    """Read a request's body, as far as it is not too long, and return it with what gives it out again."""
    messages: list[Message] = []
    body = bytearray()
    more = True
    while more and len(body) <= MAX_BODY_BYTES:
        messages.append(await receive())
        body += messages[-1].get("body", b"")
        more = bool(messages[-1].get("more_body"))
    given = iter(messages)

    async def again() -> Message:
        following = next(given, None)
        return following if following is not None else await receive()

    return bytes(body), again


def _conversation_of(scope: Scope) -> str:
    """Return what tells conversations of one address apart; no proof of anything."""
    if "/conversations/" in scope["path"]:
        return str(scope["path"].split("/conversations/")[1].split("/")[0])
    return bytes(dict(scope["headers"]).get(b"cookie", b"")).decode("latin-1")


def said_in(body: bytes) -> Sequence[str]:
    """Return what a patient wrote in the body of a request: JSON, or a form. Nothing that is neither is an error."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return [text for name, text in _fields(body) if name in SAID_IN or IN_FORM.fullmatch(name)]
    if not isinstance(found, dict):
        return ()
    return [text for name in SAID_IN if isinstance(text := found.get(name), str)]


def _fields(body: bytes) -> Sequence[tuple[str, str]]:
    try:
        return parse_qsl(body.decode("ascii", "replace"), errors="replace", max_num_fields=MAX_QUESTION_FIELDS)
    except ValueError:
        return ()
