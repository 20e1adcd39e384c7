"""The REST channel of Rasa: existing chat widgets and test tools talk to Klartext unchanged."""

from __future__ import annotations

import hashlib
import hmac
import time
import uuid
from collections.abc import Mapping
from typing import Annotated

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from bot.sentences.reply import Interface, Reply, interface
from bot.talk.conversation import Message, Taken
from bot.talk.reception import Reception
from bot.web.limits import RateLimit
from bot.web.metrics import Metrics
from bot.web.problems import no_access, too_many
from bot.web.schemas import PatientText
from bot.web.staff_lines import staff_lines

Token = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, scheme_name="channel", description="KLARTEXT_CHANNEL_TOKEN.")),
]


class ChannelMessage(BaseModel):
    """What Rasa's channel takes; its further fields are ignored.

    Half a character in a message is replaced; in a sender it is refused, since two senders must not become one.
    """

    sender: str = Field(min_length=1, max_length=255)
    message: PatientText


class Button(BaseModel):
    """A choice. The payload is its text: pressed late, it still means what it says."""

    title: str
    payload: str


class ChannelReply(BaseModel):
    """One bubble."""

    recipient_id: str
    text: str
    buttons: list[Button] | None = None


class RestChannel:
    """The channel's one operation."""

    def __init__(
        self,
        reception: Reception,
        metrics: Metrics,
        turns: RateLimit,
        labels: Mapping[str, Mapping[str, str]],
        *,
        token: str,
    ) -> None:
        """`labels`: of staff's messages, by language."""
        self._reception = reception
        self._metrics = metrics
        self._turns = turns
        self._labels = labels
        self._token = token.encode()

    def message(self, body: ChannelMessage, token: Token) -> list[ChannelReply]:
        """Take a message of a sender and return the bubbles of the reply."""
        given = token.credentials.encode("utf-8", "replace") if token else b""
        if not hmac.compare_digest(given, self._token):
            raise no_access()
        key = self._key(body.sender)
        if wait_s := self._turns.wait_s(key):
            raise too_many(wait_s)
        started_s = time.perf_counter()
        opened = self._reception.known_as(key, channel="rest")
        taken = self._reception.take(opened, Message(uuid.uuid4().hex, body.message))
        self._metrics.turn("rest", taken, time.perf_counter() - started_s)
        reply = bubbles(body.sender, taken, sample=self._reception.serving(opened).assistant.sample)
        return [*self._of_staff(body.sender, opened.id, taken.reply.language), *reply]

    def _of_staff(self, sender: str, conversation: str, language: str) -> list[ChannelReply]:
        """Return what staff have written since the last message: the channel has no other way to the patient."""
        desk = self._reception.desk
        lines = staff_lines(desk.calls.not_shown(conversation), self._labels[language]) if desk is not None else []
        return [ChannelReply(recipient_id=sender, text=line.whole) for line in lines]

    def _key(self, sender: str) -> str:
        """Return the conversation's id: without the token nobody can tell it, and senders' names are not stored."""
        return hmac.new(self._token, sender.encode(), hashlib.sha256).hexdigest()[:32]


def bubbles(sender: str, taken: Taken, *, sample: bool) -> list[ChannelReply]:
    """Return a reply bubble by bubble, with the emergency notice and the sample label: a widget shows nothing else."""
    reply = _labelled(taken.reply, sample=sample)
    texts = [ChannelReply(recipient_id=sender, text=part.text) for part in reply.parts]
    if reply.choices:
        buttons = [Button(title=choice.text, payload=choice.text) for choice in reply.choices]
        # At the very end: widgets let patients press the buttons of the last bubble only.
        texts[-1] = texts[-1].model_copy(update={"buttons": buttons})
    return texts


def _labelled(reply: Reply, *, sample: bool) -> Reply:
    there = {part.key for part in reply.parts if isinstance(part, Interface)}
    if any(key.startswith("staff_reads") for key in there):  # says whom to call, and that somebody does read
        there.add("emergency_notice")
    wanted = ["sample_label"] * sample + ["emergency_notice"]
    further = tuple(interface(reply.language, key) for key in wanted if key not in there)
    return Reply(reply.language, (*reply.parts, *further), reply.choices)
