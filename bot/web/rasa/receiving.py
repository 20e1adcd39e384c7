"""Receive calls with a whole tracker: Rasa sends all that it holds with every message, more each time.

What is read of a tracker is kept, before anybody waits in line with it: the latest message, the slots, the form and
when the patient last wrote. What happened before is looked at event by event, and forgotten.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.limits import MAX_BODY_BYTES
from bot.web.problems import Problem, log_refusal, respond, unreadable
from bot.web.rasa.project import ACTIONS_PATH
from bot.web.slowloris import PATIENCE
from bot.web.slowloris import RECEIVE_S as ORDINARY_S

MOST_BYTES = 32 * 1024 * 1024  # of a call, unpacked; a turn adds about 3 KB
MOST_KEPT = 1024 * 1024  # of it, as it is passed on
MOST_TEXT = 30_000  # characters of a message: what is longer is cut, and told to be too long like any over 1,000
SMALL_BYTES = 1024 * 1024  # of larger calls so many are taken in at once, and the others wait
LARGE_AT_ONCE = 2
LARGE_S = 30.0  # that a large one may take to arrive; others as long as every request
_STEP = 64 * 1024


@dataclass(frozen=True, slots=True)
class Slimming:
    """Takes requests with whole trackers from who has the token, and passes on what is read of them."""

    token: str = field(repr=False)
    _large: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LARGE_AT_ONCE), init=False, repr=False)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the application behind it."""

        async def slimmed(scope: Scope, receive: Receive, send: Send) -> None:
            if not takes_tracker(scope):
                await app(scope, receive, send)
                return
            try:
                body = await self._needed(scope, receive)
            except Problem as problem:
                log_refusal(ACTIONS_PATH, problem)
                await respond(problem)(scope, receive, send)
                return
            lines = [each for each in scope["headers"] if each[0] not in (b"content-length", b"content-encoding")]
            scope["headers"] = [*lines, (b"content-length", str(len(body)).encode())]
            given: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

            async def once() -> Message:
                return next(given, {"type": "http.disconnect"})

            await app(scope, once, send)

        return slimmed

    async def _needed(self, scope: Scope, receive: Receive) -> bytes:
        """Return a request's body, made short; empty for who has no token: nothing of theirs is read."""
        headers = Request(scope).headers
        _, _, given = headers.get("authorization", "").partition(" ")
        if not hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode()):
            return b""
        length = headers.get("content-length", "0")
        if int(length) > MOST_BYTES:  # the envelope has seen that it is a number
            raise _too_large()
        patience_s = LARGE_S if int(length) > SMALL_BYTES else ORDINARY_S
        scope[PATIENCE] = patience_s
        packed = _packed(headers.get("content-encoding", ""))
        body = bytearray()
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(patience_s):
                    async for piece in _pieces(receive, packed):
                        before = len(body)
                        body += piece
                        if before <= SMALL_BYTES < len(body):
                            await held.enter_async_context(self._large)
                        if len(body) > MOST_BYTES:
                            raise _too_large()
            except TimeoutError:
                raise Problem(
                    HTTPStatus.SERVICE_UNAVAILABLE, "The call did not arrive in time.", headers={"Retry-After": "5"}
                ) from None
            short = await asyncio.to_thread(_slim, body)
        if len(short) > MOST_KEPT:
            told = f"The slots of the tracker, or its sender, are over {MOST_KEPT // 1024} KiB."
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)
        return short


def takes_tracker(scope: Scope) -> bool:
    """Say whether a request comes with a whole tracker."""
    return bool(scope.get("method") == "POST" and scope.get("path") == ACTIONS_PATH)


def _too_large() -> Problem:
    return Problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The tracker is over {MOST_BYTES // 1024 // 1024} MiB. Give the patient a new sender, or let Rasa's sessions "
        "end (`session_expiration_time` in domain.yml).",
    )


def _packed(encoding: str) -> bool:
    """Say whether a body is compressed; raise Problem for a way that is not known here."""
    named = encoding.strip().lower()
    if named not in ("", "identity", "gzip", "x-gzip", "deflate"):
        told = "Send the call as it is, or compressed as `deflate` or `gzip`."
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, told)
    return named not in ("", "identity")


async def _pieces(receive: Receive, packed: bool) -> AsyncIterator[bytes]:
    """Yield a body as it arrives, unpacked in steps: a little that becomes much is noticed before it is there."""
    unpacking, more = None, True
    while more:
        message = await receive()
        left = message.get("body", b"")
        more = message.get("more_body", False) and message["type"] != "http.disconnect"
        if not packed:
            yield left
            continue
        try:
            unpacking = unpacking or (zlib.decompressobj(_window(left)) if left else None)
            piece = left
            while unpacking is not None and (left or len(piece) == _STEP):
                piece = unpacking.decompress(left, _STEP)
                yield piece
                left = unpacking.unconsumed_tail
        except zlib.error:
            raise unreadable() from None


def _window(begin: bytes) -> int:
    """Return how zlib is to read what begins so: gzip, deflate with a head, or (as some send it) without one."""
    has_head = begin[0] & 0x0F == zlib.DEFLATED and (len(begin) < 2 or (begin[0] << 8 | begin[1]) % 31 == 0)
    return zlib.MAX_WBITS | 32 if has_head or begin[:1] == b"\x1f" else -zlib.MAX_WBITS


def _slim(body: bytearray) -> bytes:
    """Return a call without what nobody reads; what is none stays as it is, as far as any request may be long."""
    try:
        call = json.loads(body, object_pairs_hook=_without_event)
        tracker = call["tracker"]
        written = [each for each in tracker.get("events") or () if each is not None and each.get("event") == "user"]
        latest, loop = tracker.get("latest_message") or {}, tracker.get("active_loop") or {}
        text = latest.get("text")
        text = text[:MOST_TEXT] if isinstance(text, str) else text
        short = {
            **{name: call[name] for name in ("next_action", "sender_id", "version") if name in call},
            "message": text,  # where whoever orders the line looks for emergencies
            "tracker": {
                "sender_id": tracker.get("sender_id"),
                "latest_message": {"text": text, "message_id": latest.get("message_id")},
                "slots": tracker.get("slots") or {},
                "active_loop": {"name": loop.get("name")},
                "events": [{"event": "user", "timestamp": each.get("timestamp")} for each in written[-1:]],
            },
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return bytes(body[:MAX_BODY_BYTES])
    return json.dumps(short).encode()


def _without_event(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any] | None:
    """Return an object of a tracker; of its events only when the patient wrote: there are thousands of them."""
    found = dict(pairs)
    if not isinstance(kind := found.get("event"), str):
        return found
    return {"event": kind, "timestamp": found.get("timestamp")} if kind == "user" else None
