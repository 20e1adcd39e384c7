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


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One patient turn as it is kept.

    Attributes:
        conversation: Random id of the conversation.
        at: When, with time zone.
        language: ``de`` or ``en``.
        question: What the patient wrote, sanitised.
        decision: answered, clarify, declined or urgent.
        pair_id: The answering pair, if any.
        score: Calibrated probability, or cosine under that method.
        catalog: ``name@version``.
    """

    conversation: str
    at: datetime
    language: str
    question: str
    decision: str
    pair_id: str | None
    score: float
    catalog: str


FlagReason = Literal["wrong", "complicated"]


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A stored turn with its number, and what the patient said of the answer."""

    number: int
    turn: StoredTurn
    flags: tuple[FlagReason, ...] = ()


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A conversation on its way to a FHIR server.

    Attributes:
        conversation: Its id.
        bundle: The transaction Bundle as JSON text.
        at: When it was put in, with time zone.
    """

    conversation: str
    bundle: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Claimed:
    """An entry of the outbox that nobody else sends meanwhile.

    Attributes:
        number: Of the entry; later ones are greater.
        token: Proves the claim.
        again: Whether it may have been sent before.
    """

    number: int
    token: str
    bundle: str
    again: bool


class History(Protocol):
    """What was kept of one conversation."""

    def conversation(self, id_: str, *, until: datetime | None = None) -> list[KeptTurn]:
        """Return its turns in order, or as they stood at `until`; none when there is no such conversation."""
        ...


class Outbox(Protocol):
    """What waits to be sent. Nothing is lost: an entry stays until a server has accepted it."""

    def put(self, outgoing: Outgoing) -> None:
        """Store durably."""
        ...

    def claim(self, *, at: datetime, after: int = 0) -> Claimed | None:
        """Return the oldest waiting entry with a number above `after`; None when there is none to be had.

        Entries of a conversation whose earlier entry still waits are left out: its states are sent in order.
        """
        ...

    def accept(self, claimed: Claimed, *, at: datetime) -> None:
        """Note that the server has it; its content is deleted here."""
        ...

    def release(self, claimed: Claimed, reason: str) -> None:
        """Note why it was not taken, and let it wait."""
        ...

    def last_put(self, conversation: str) -> datetime | None:
        """Return the moment of the latest entry of a conversation, sent or not; None when there is none."""
        ...

    def waiting(self) -> int:
        """Return how many entries no server has accepted yet."""
        ...


class FhirServer(Protocol):
    """A FHIR server that takes transactions."""

    def check(self) -> None:
        """Raise UserFixable when this is no server that we can send to, NotSent when it does not answer."""
        ...

    def send(self, bundle: str, *, again: bool = False) -> None:
        """Send a transaction Bundle; `again` when it may have arrived already.

        Raises:
            NotSent: The server did not take all of it.
        """
        ...


class Records(Protocol):
    """What is kept of conversations, for curators."""

    def add_turn(self, turn: StoredTurn) -> int:
        """Store a turn durably and return its number."""
        ...

    def flag(self, turn: int, reason: FlagReason, *, at: datetime) -> None:
        """Note that the patient found this turn's answer wrong or too complicated."""
        ...

    def open_questions(self) -> list[StoredTurn]:
        """Return unanswered and flagged turns, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class StoredInterview:
    """An interview as it is kept.

    Attributes:
        conversation: The conversation it belongs to.
        form: The Questionnaire, or a Bundle with its value sets, as JSON text: as it was when the interview began.
        head: Language, status and where the talk stands, as JSON text.
        events: What happened, in order, each as JSON text.
        changed_at: When, with time zone.
    """

    conversation: str
    form: str
    head: str
    events: tuple[str, ...]
    changed_at: datetime


class Interviews(Protocol):
    """Interviews, one per conversation. What was accepted is stored before the next question is shown."""

    def begin_interview(self, interview: StoredInterview) -> None:
        """Store a new interview durably."""
        ...

    def keep_turn(self, change: StoredInterview, *, known: int, said: str, outgoing: Outgoing | None = None) -> None:
        """Store a turn durably: the head, and the events after the first `known`, with what the patient said.

        Where the turn finishes the interview, `outgoing` goes into the outbox with it: both are stored, or neither.

        Raises:
            BadData: Somebody else has gone on with this interview meanwhile.
        """
        ...

    def interview(self, conversation: str) -> StoredInterview | None:
        """Return the interview of a conversation, or None."""
        ...
