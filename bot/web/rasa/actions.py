"""The action server of a Rasa project that `klartext rasa export` has made: one action, a turn of the conversation."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from bot.talk.conversation import Message as Turn
from bot.talk.exams import exam_of
from bot.web.problems import Problem
from bot.web.rasa import slots
from bot.web.rasa.project import ACTION
from bot.web.rasa.tracker import FORMAT, Marker, Stand, Tracker, events
from bot.web.schemas import PatientText
from bot.web.senders import Bubble, Senders, own_sender

log = logging.getLogger("klartext")
TRIED = "3.6"  # Rasa Open Source; the protocol is that of all since 3.0
MOST_QUOTED = 40  # characters of what a project says of itself
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

    sender_id: str | None = None
    latest_message: LatestMessage = LatestMessage()
    slots: dict[str, Any] = Field(default_factory=dict)
    active_loop: ActiveLoop = ActiveLoop()
    events: list[dict[str, Any]] = Field(default_factory=list)


class ActionCall(BaseModel):
    """What a Rasa server sends to have an action run; further fields are ignored."""

    next_action: str
    sender_id: str | None = None
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
        exam, reception = self._require_known(body), self._senders.reception
        message = Turn(_turn_id(body.tracker), body.tracker.latest_message.text or "")
        said = self._senders.say(_sender(body), message, exam=exam if reception.several else None)
        filled = reception.look(said.opened).filled(at=reception.now())
        tracker = Tracker(body.tracker.slots, body.tracker.active_loop.name or "")
        return ActionResult(events=events(Stand(said.opened.id, said.taken, filled), tracker), responses=said.bubbles)

    def _require_known(self, body: ActionCall) -> str:
        """Return the exam of the project; raise Problem for another Rasa or action, or what is not served here."""
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
        served = self._senders.reception.several or (exam_of(assistant),)
        if marker.exam not in served:
            theirs, here = marker.exam[:MOST_QUOTED], " and ".join(map(repr, served))
            raise _refused(f"The Rasa project is for the exam {theirs!r}, and {here} is served here.")
        if marker.sample != assistant.sample:
            there = "drafts (`--sample`)" if marker.sample else "approved content only"
            here = "drafts, too (`--sample`)" if assistant.sample else "approved content only"
            raise _refused(f"The Rasa project was exported for {there}, and here {here} is shown. Export it again.")
        return marker.exam


def _refused(detail: str) -> Problem:
    """Return an error that ends up in Rasa's log; its patient is told that something went wrong, and whom to call."""
    return Problem(HTTPStatus.CONFLICT, detail)


def _sender(body: ActionCall) -> str:
    """Return who writes; raise Problem where that is nobody of their own, or not the same everywhere."""
    if body.tracker.sender_id is not None and body.tracker.sender_id != body.sender_id:
        raise _refused("The call is for another sender than its tracker.")
    return own_sender(body.sender_id)


def _turn_id(tracker: TrackerState) -> str:
    """Return the same for the same message, however often it is sent, and another for every other.

    Ids of messages are the channel's: some count from 1 in every chat.
    """
    written = [each.get("timestamp") for each in tracker.events if each.get("event") == "user"]
    latest = tracker.latest_message
    named = json.dumps([latest.message_id, latest.text, written[-1] if written else len(tracker.events)])
    return f"rasa-{hashlib.sha256(named.encode()).hexdigest()[:32]}"
