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
