"""How long what is stored is kept. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Retention:
    """Days that each kind is kept. By default nothing outlives its conversation.

    Attributes:
        conversations: After the last sign of life of a conversation: all of it goes
            (``KLARTEXT_KEEP_CONVERSATIONS_DAYS``).
        questions: Unanswered and flagged questions, for curators (``KLARTEXT_KEEP_QUESTIONS_DAYS``); None: as long as
            the conversation. Where it is longer, their wording stays without conversation, comment and time of day.
        comments: What patients wrote when they flagged an answer (``KLARTEXT_KEEP_COMMENTS_DAYS``).
        interviews: Typed answers, after their last change (``KLARTEXT_KEEP_INTERVIEWS_DAYS``).
        sent: The note that something was sent (``KLARTEXT_KEEP_SENT_DAYS``); its content goes when a server has it.
    """

    conversations: int = 30
    questions: int | None = None
    comments: int = 30
    interviews: int = 30
    sent: int = 30

    def cutoffs(self, now: datetime) -> Cutoffs:
        """Return the moments before which things are too old."""
        days = {kind.name: getattr(self, kind.name) or self.conversations for kind in fields(self)}
        return Cutoffs(**{name: now - timedelta(days=number) for name, number in days.items()})


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """What is older than these moments goes."""

    conversations: datetime
    questions: datetime
    comments: datetime
    interviews: datetime
    sent: datetime

    @property
    def questions_stay(self) -> bool:
        """Whether curators keep questions longer than conversations are kept."""
        return self.questions < self.conversations


@dataclass(frozen=True, slots=True)
class Purged:
    """How many of each kind went, or would go.

    Attributes:
        conversations: With their turns, flags and interviews.
        questions: Detached before, and now too old.
        questions_detached: Kept for curators without their conversation.
        comments: Emptied; the flags stay.
        interviews: Of conversations that stay.
        sent: Notes of what was sent.
        unsent_kept: Entries that no FHIR server has taken yet, of an age at which the rest goes: never deleted.
        residue: The database could not be cleaned up because somebody was reading all the time: purge again.
    """

    conversations: int = 0
    questions: int = 0
    questions_detached: int = 0
    comments: int = 0
    interviews: int = 0
    sent: int = 0
    unsent_kept: int = 0
    residue: bool = False

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield the kinds with their counts."""
        for each in fields(self):
            if each.name != "residue":
                yield each.name, int(getattr(self, each.name))


class Keeper(Protocol):
    """Deletes what is too old."""

    def purge(self, cutoffs: Cutoffs, *, dry_run: bool = False) -> Purged:
        """Delete it while the service runs on; with `dry_run` only count."""
        ...
