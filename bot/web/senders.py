"""Conversations whose patients another system names: it has a token, and says who writes."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel

from bot.ports import StoredConversation
from bot.sentences.reply import Interface, Reply, interface
from bot.talk.conversation import Message, Taken
from bot.talk.reception import Reception
from bot.web.limits import RateLimit
from bot.web.metrics import Metrics
from bot.web.problems import Problem, no_token, too_many
from bot.web.staff_lines import staff_lines


class Button(BaseModel):
    """A choice. The payload is its text: pressed late, it still means what it says."""

    title: str
    payload: str


class Bubble(BaseModel):
    """One message to the patient."""

    text: str
    buttons: list[Button] | None = None


# What front ends and Rasa send for everybody whom they do not know: all of them would share one conversation.
SHARED = frozenset({"", "default", "none", "null", "undefined", "nan", "[object object]"})


def own_sender(sender: str | None) -> str:
    """Return a sender; raise Problem for a name that stands for everybody."""
    if sender is None or sender.strip().lower() in SHARED:
        raise Problem(
            HTTPStatus.CONFLICT,
            "The front end sends no sender of its own for each patient (it is missing, empty, or such as `default`): "
            "patients would read each other's answers. Let it send one that nobody guesses with every message.",
        )
    return sender


@dataclass(frozen=True, slots=True)
class Said:
    """What came of a message."""

    opened: StoredConversation
    taken: Taken
    bubbles: list[Bubble]


@dataclass(frozen=True, slots=True)
class Senders:
    """Whoever has the token may write as any sender of it.

    Attributes:
        reception: Takes the turns.
        metrics: Count them.
        turns: How many a sender may take.
        labels: Of staff's messages, by language.
        token: Opens it, and is what conversations' ids are made with.
        setting: What it is called where it is set.
        apart: Keeps senders of several systems apart that have one token.
    """

    reception: Reception
    metrics: Metrics
    turns: RateLimit
    labels: Mapping[str, Mapping[str, str]]
    token: str
    setting: str
    apart: str = ""

    def admit(self, given: HTTPAuthorizationCredentials | None) -> None:
        """Raise Problem for who does not have the token."""
        said = given.credentials.encode("utf-8", "replace") if given else b""
        if not hmac.compare_digest(said, self.token.encode()):
            raise no_token(self.setting)

    def say(self, sender: str, message: Message, *, exam: str | None = None) -> Said:
        """Take a sender's message; raise Problem when there are too many.

        `exam`: that the other system is about, where there are several; a sender has a conversation about each.
        """
        key = self._key(f"{exam}:{sender}" if exam is not None else sender)
        if wait_s := self.turns.wait_s(key):
            raise too_many(wait_s)
        started_s = time.perf_counter()
        opened = self.reception.known_as(key, channel="rest", exam=exam)
        taken = self.reception.take(opened, message)
        self.metrics.turn("rest", taken, time.perf_counter() - started_s)
        sample = self.reception.serving(opened).assistant.sample
        return Said(opened, taken, [*self._of_staff(opened.id, taken.reply.language), *bubbles(taken, sample=sample)])

    def _of_staff(self, conversation: str, language: str) -> list[Bubble]:
        """Return what staff have written since the last message: there is no other way to the patient."""
        desk = self.reception.desk
        lines = staff_lines(desk.calls.not_shown(conversation), self.labels[language]) if desk is not None else []
        return [Bubble(text=line.whole) for line in lines]

    def _key(self, sender: str) -> str:
        """Return the conversation's id: without the token nobody can tell it, and senders' names are not stored."""
        return hmac.new(self.token.encode(), f"{self.apart}{sender}".encode(), hashlib.sha256).hexdigest()[:32]


def bubbles(taken: Taken, *, sample: bool) -> list[Bubble]:
    """Return a reply bubble by bubble, with the emergency notice and the sample label: a widget shows nothing else."""
    reply = _labelled(taken.reply, sample=sample)
    texts = [Bubble(text=part.text) for part in reply.parts]
    if reply.choices:
        # At the very end: widgets let patients press the buttons of the last bubble only.
        texts[-1].buttons = [Button(title=choice.text, payload=choice.text) for choice in reply.choices]
    return texts


def _labelled(reply: Reply, *, sample: bool) -> Reply:
    there = {part.key for part in reply.parts if isinstance(part, Interface)}
    if any(key.startswith("staff_reads") for key in there):  # says whom to call, and that somebody does read
        there.add("emergency_notice")
    wanted = ["sample_label"] * sample + ["emergency_notice"]
    further = tuple(interface(reply.language, key) for key in wanted if key not in there)
    return Reply(reply.language, (*reply.parts, *further), reply.choices)
