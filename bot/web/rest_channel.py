"""The REST channel of Rasa: existing chat widgets and test tools talk to Klartext unchanged."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from bot.talk.conversation import Message
from bot.web.schemas import PatientText
from bot.web.senders import Bubble, Senders, own_sender

Token = Annotated[
    HTTPAuthorizationCredentials | None,
    Security(HTTPBearer(auto_error=False, scheme_name="channel", description="KLARTEXT_CHANNEL_TOKEN.")),
]


class ChannelMessage(BaseModel):
    """What Rasa's channel takes; its further fields are ignored.

    Half a character in a message is replaced; in a sender it is refused, since two senders must not become one. So is a
    sender that stands for everybody (`default`).
    """

    sender: str = Field(min_length=1, max_length=255)
    message: PatientText


class ChannelReply(Bubble):
    """One bubble."""

    recipient_id: str


class RestChannel:
    """The channel's one operation."""

    def __init__(self, senders: Senders) -> None:
        self._senders = senders

    def message(self, body: ChannelMessage, token: Token) -> list[ChannelReply]:
        """Take a message of a sender and return the bubbles of the reply."""
        self._senders.admit(token)
        said = self._senders.say(own_sender(body.sender), Message(uuid.uuid4().hex, body.message))
        return [ChannelReply(recipient_id=body.sender, **dict(each)) for each in said.bubbles]
