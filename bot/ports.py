"""What the rules need from outside, as Protocols; `bot/adapters` fulfils them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors whose cosine tells how close they are in meaning."""

    @property
    def name(self) -> str:
        """Identifies encoder and model: vectors of encoders with different names must not be mixed."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit-length vectors, shape (texts, dimensions). Any text is allowed: adapters sanitise it."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One text in the index.

    Attributes:
        id: Unique in its collection.
        pair_id: The pair the text asks for; empty for background questions.
        text: The text.
    """

    id: str
    pair_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entry near to a query; `similarity` is the cosine, -1 to 1."""

    pair_id: str
    text: str
    similarity: float


class AnswerIndex(Protocol):
    """Stored vectors of a catalog's texts: complete, or absent."""

    def nearest(self, query: Vectors, *, k: int) -> list[Neighbour]:
        """Return the k entries nearest to one query vector of shape (dimensions,), nearest first."""
        ...

    def vectors(self) -> Vectors:
        """Return all vectors in the order in which the entries were given, shape (entries, dimensions)."""
        ...


Channel = Literal["terminal", "api", "rest"]


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it is kept.

    Attributes:
        id: Random, or derived from a secret: it tells nothing about the patient.
        begun: When, with time zone.
        language: That it began in.
        channel: How the patient talks to us.
        secret_hash: SHA-256 of the secret that opens it from outside; None where nothing opens it.
        consented: Whether the patient agreed to what is stored.
    """

    id: str
    begun: datetime
    language: str
    channel: Channel
    secret_hash: str | None = None
    consented: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a turn's place in its conversation is, and what is needed to repeat its reply and to go on from it.

    Attributes:
        number: Place in the conversation, from 1.
        turn_id: The client's name for the turn; a resend has the same.
        said: What the patient sent, sanitised.
        reply: The reply, as `bot.kept` writes it.
        state: The state of the dialogue after it, as `bot.kept` writes it.
        choice: The number of the offered choice that was taken; None when text was sent.
    """

    number: int
    turn_id: str
    said: str
    reply: str
    state: str
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One patient turn as it is kept.

    Attributes:
        conversation: Id of the conversation.
        at: When, with time zone.
        language: ``de`` or ``en``.
        question: What was looked for, sanitised: what the patient wrote, with its context where it needs some.
        decision: answered, clarify, declined or urgent; ``talk`` for what is no question.
        pair_id: The answering pair, if any.
        score: Calibrated probability, or cosine under that method.
        catalog: ``name@version``.
        exchange: None for turns that were stored before conversations could be resumed.
    """

    conversation: str
    at: datetime
    language: str
    question: str
    decision: str
    pair_id: str | None
    score: float
    catalog: str
    exchange: Exchange | None = None


FlagReason = Literal["wrong", "complicated"]


@dataclass(frozen=True, slots=True)
class StoredFlag:
    """A patient's complaint about an answer; `turn_id` names the turn."""

    turn_id: str
    reason: FlagReason
    comment: str
    at: datetime


class Records(Protocol):
    """What is kept of conversations. Every write is durable before it returns."""

    def begin(self, conversation: StoredConversation) -> None:
        """Store a new conversation; raise AlreadyStored when its id is in use."""
        ...

    def conversation(self, id_: str) -> StoredConversation | None:
        """Return a conversation, or None: never begun, or erased."""
        ...

    def add_turn(self, turn: StoredTurn) -> None:
        """Store a turn.

        Raises:
            AlreadyStored: Its number or its turn id is in use: another request was faster.
            Erased: Its conversation is gone.
        """
        ...

    def turn(self, conversation: str, turn_id: str) -> StoredTurn | None:
        """Return one turn of a conversation, or None."""
        ...

    def turns(self, conversation: str) -> list[StoredTurn]:
        """Return the turns of a conversation in order."""
        ...

    def last_turn(self, conversation: str) -> StoredTurn | None:
        """Return the last turn of a conversation, or None before the first."""
        ...

    def flag(self, conversation: str, flag: StoredFlag) -> None:
        """Note a complaint; the same reason again replaces it. Raise BadData when there is no such turn."""
        ...

    def flags(self, conversation: str) -> list[StoredFlag]:
        """Return the complaints of a conversation, oldest first."""
        ...

    def erase(self, conversation: str) -> None:
        """Delete a conversation with its turns and flags."""
        ...

    def open_questions(self) -> list[StoredTurn]:
        """Return unanswered and flagged turns, oldest first."""
        ...

    def ping(self) -> None:
        """Raise Unreachable when the database does not answer."""
        ...
