"""The action server of a Rasa project that `klartext rasa export` has made: one action, a turn of the conversation.

Rasa sends all that its tracker holds with every message, more each time; `Slimming` keeps what is needed of it, before
anybody waits in line with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.talk.conversation import Message as Turn
from bot.web.limits import MAX_BODY_BYTES
from bot.web.problems import Problem
from bot.web.rasa import slots
from bot.web.rasa.project import ACTION, ACTIONS_PATH
from bot.web.rasa.tracker import FORMAT, Marker, Tracker, events
from bot.web.schemas import PatientText
from bot.web.senders import Bubble, Senders
from bot.web.slowloris import PATIENCE

log = logging.getLogger("klartext")
MOST_BYTES = 16 * 1024 * 1024  # of a tracker; a turn adds about 3 KB
RECEIVE_S = 30.0
TRIED = "3.6"  # Rasa Open Source; the protocol is that of all since 3.0
_VERSION = re.compile(r"(\d+)\.(\d+)")
Token = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, scheme_name="rasa", description="KLARTEXT_RASA_TOKEN.")),
]


class LatestMessage(BaseModel):
    """What the patient wrote last; nothing where an action was run without."""

    text: PatientText | None = None
    message_id: str | None = None


class ActiveLoop(BaseModel):
    """The form that is active, if one is."""

    name: str | None = None


class TrackerState(BaseModel):
    """What is read of Rasa's tracker."""

    latest_message: LatestMessage = LatestMessage()
    slots: dict[str, Any] = Field(default_factory=dict)
    active_loop: ActiveLoop = ActiveLoop()
    events: list[dict[str, Any]] = Field(default_factory=list)


class ActionCall(BaseModel):
    """What a Rasa server sends to have an action run; further fields are ignored."""

    next_action: str
    sender_id: str = Field(min_length=1, max_length=255)
    tracker: TrackerState
    version: str = ""


class ActionResult(BaseModel):
    """What Rasa does then: it says the responses and applies the events."""

    events: list[dict[str, Any]]
    responses: list[Bubble]


class RasaActions:
    """The action server's one operation."""

    def __init__(self, senders: Senders) -> None:
        self._senders = senders
        self._told = set[str]()  # versions that nobody has tried

    def admit(self, token: Token) -> None:
        """Raise Problem for who does not have the token."""
        self._senders.admit(token)

    def run(self, body: ActionCall) -> ActionResult:
        """Take the patient's message as a turn, and return what Rasa is to say, with the events of its tracker."""
        self._require_known(body)
        said = self._senders.say(body.sender_id, Turn(_turn_id(body.tracker), body.tracker.latest_message.text or ""))
        reception = self._senders.reception
        filled = reception.look(said.opened).filled(at=reception.now())
        tracker = Tracker(body.tracker.slots, body.tracker.active_loop.name or "")
        return ActionResult(events=events(said.taken, filled, tracker), responses=said.bubbles)

    def _require_known(self, body: ActionCall) -> None:
        """Raise Problem for another Rasa, another action, or a project that is not of what is served here."""
        version = _VERSION.match(body.version)
        if version is None or version[1] != "3":
            named = version[0] if version is not None else "without a version"
            raise _refused(f"Rasa {named} has another protocol. Use Rasa Open Source {TRIED}.")
        if version[0] != TRIED and version[0] not in self._told:
            self._told.add(version[0])
            log.warning("Rasa %s calls: only %s was tried", version[0], TRIED)
        if body.next_action != ACTION:
            raise _refused(f"There is one action here, {ACTION}. Export the project again with `klartext rasa export`.")
        marker = Marker.read(body.tracker.slots.get(slots.PROJECT))
        if marker is None or marker.format != FORMAT or marker.mode != "delegate":
            raise _refused("The Rasa project is not one that `klartext rasa export` has made for this version.")
        assistant = self._senders.reception.serving().assistant
        exam = assistant.catalog(assistant.languages[0]).name
        if marker.exam != exam:
            raise _refused(f"The Rasa project is for the exam {marker.exam!r}, and {exam!r} is served here.")
        if marker.sample != assistant.sample:
            there = "drafts (`--sample`)" if marker.sample else "approved content only"
            here = "drafts, too (`--sample`)" if assistant.sample else "approved content only"
            raise _refused(f"The Rasa project was exported for {there}, and here {here} is shown. Export it again.")


def _refused(detail: str) -> Problem:
    """Return an error that ends up in Rasa's log; its patient is told that something went wrong, and whom to call."""
    log.error("a Rasa server was refused: %s", detail)
    return Problem(HTTPStatus.CONFLICT, detail)


def _turn_id(tracker: TrackerState) -> str:
    """Return the same for the same message, however often it is sent, and another for every other.

    Ids of messages are the channel's: some count from 1 in every chat.
    """
    written = [each.get("timestamp") for each in tracker.events if each.get("event") == "user"]
    latest = tracker.latest_message
    named = json.dumps([latest.message_id, latest.text, written[-1] if written else len(tracker.events)])
    return f"rasa-{hashlib.sha256(named.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class Slimming:
    """Takes requests with whole trackers from who has the token, and passes on what is read of them."""

    token: str = field(repr=False)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return the application behind it."""

        async def slimmed(scope: Scope, receive: Receive, send: Send) -> None:
            if not takes_tracker(scope):
                await app(scope, receive, send)
                return
            body = await self._needed(scope, receive)
            lines = [each for each in scope["headers"] if each[0] not in (b"content-length", b"content-encoding")]
            scope["headers"] = [*lines, (b"content-length", str(len(body)).encode())]
            given: Iterator[Message] = iter([{"type": "http.request", "body": body, "more_body": False}])

            async def once() -> Message:
                return next(given, {"type": "http.disconnect"})

            await app(scope, once, send)

        return slimmed

    async def _needed(self, scope: Scope, receive: Receive) -> bytes:
        """Return a request's body, made short; empty for who has no token, or sends none that can be read."""
        _, _, given = Request(scope).headers.get("authorization", "").partition(" ")
        if not hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode()):
            return b""
        body, more = bytearray(), True
        scope[PATIENCE] = RECEIVE_S
        try:
            async with asyncio.timeout(RECEIVE_S):
                while more and len(body) <= MOST_BYTES:
                    message = await receive()
                    body += message.get("body", b"")
                    more = message.get("more_body", False) and message["type"] != "http.disconnect"
        except TimeoutError:
            return b""
        return await asyncio.to_thread(_slim, bytes(body)) if len(body) <= MOST_BYTES else b""


def takes_tracker(scope: Scope) -> bool:
    """Say whether a request comes with a whole tracker."""
    return bool(scope.get("method") == "POST" and scope.get("path") == ACTIONS_PATH)


def _slim(body: bytes) -> bytes:
    """Return a call without what nobody reads; what is none stays as it is, as far as any request may be long."""
    try:
        call = json.loads(body)
        tracker = call["tracker"]
        written = [each for each in tracker.get("events") or [] if each.get("event") == "user"]
        latest, loop = tracker.get("latest_message") or {}, tracker.get("active_loop") or {}
        short = {
            **{name: call[name] for name in ("next_action", "sender_id", "version") if name in call},
            "message": latest.get("text"),  # where whoever orders the line looks for emergencies
            "tracker": {
                "latest_message": {name: latest.get(name) for name in ("text", "message_id")},
                "slots": tracker.get("slots") or {},
                "active_loop": {"name": loop.get("name")},
                "events": [{"event": "user", "timestamp": each.get("timestamp")} for each in written[-1:]],
            },
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return body[:MAX_BODY_BYTES]
    return json.dumps(short).encode()
