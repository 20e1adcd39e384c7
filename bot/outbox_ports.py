"""What leaves for a FHIR server: entries of the outbox, and what stores and sends them. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A conversation on its way to a FHIR server.

    Attributes:
        conversation: Its id.
        bundle: The transaction Bundle as JSON text.
        at: When it was put in, with time zone.
        turn: Number of the urgent turn that it is the red flag of; None for all else of a conversation.
    """

    conversation: str
    bundle: str
    at: datetime
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class RedFlag:
    """An urgent turn whose Task is not in the outbox yet; `number` is that of the turn in `History`."""

    conversation: str
    number: int
    at: datetime


# Red flags, each by itself; or everything else, state after state of each conversation.
Lane = Literal["urgent", "rest"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which entries of the outbox.

    Attributes:
        lane: Only of this one.
        without: Not those with these numbers.
        due: Not what was released for a later moment.
        fresh: Not what was claimed before.
    """

    lane: Lane | None = None
    without: Collection[int] = ()
    due: bool = False
    fresh: bool = False


ANY = Wanted()


@dataclass(frozen=True, slots=True)
class Claimed:
    """An entry of the outbox that nobody else sends meanwhile.

    Attributes:
        number: Of the entry; later ones are greater.
        token: Proves the claim.
        attempts: How often it was claimed before: it may have been sent then.
        is_urgent: Whether it holds a red flag.
    """

    number: int
    token: str
    bundle: str
    attempts: int
    is_urgent: bool = False

    @property
    def again(self) -> bool:
        return self.attempts > 0


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that wait for the same reason.

    Attributes:
        lane: Which way they go.
        reason: Why they were not taken when they were last tried; empty where they were not tried, or nobody knows.
        held: Whether somebody has claimed them: they are being sent, or whoever sent them has died.
        count: How many they are.
        oldest: When the oldest was raised.
    """

    lane: Lane
    reason: str
    held: bool
    count: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in the outbox.

    Attributes:
        waiting: Entries that no server has accepted.
        urgent: Those of them that hold a red flag.
        oldest_urgent: When the oldest of these was raised; None when there is none.
        groups: All of them, by why they wait.
    """

    waiting: int = 0
    urgent: int = 0
    oldest_urgent: datetime | None = None
    groups: tuple[Group, ...] = ()

    @classmethod
    def of(cls, groups: Sequence[Group]) -> Backlog:
        """Return what waits altogether."""
        urgent = [each for each in groups if each.lane == "urgent"]
        oldest = min((each.oldest for each in urgent), default=None)
        waiting = sum(each.count for each in groups)
        return cls(waiting, sum(each.count for each in urgent), oldest, tuple(groups))


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One state of a conversation in the outbox; once a server has taken it, `bundle` is empty."""

    put_at: datetime
    accepted_at: datetime | None
    bundle: str


class Outbox(Protocol):
    """What waits to be sent. Nothing is lost: an entry stays until a server has accepted it."""

    def put(self, outgoing: Outgoing) -> None:
        """Store durably."""
        ...

    def put_new(self, outgoing: Outgoing) -> bool:
        """Store durably, unless its conversation is gone or it is there already: say whether it was stored.

        A red flag is there when its turn's is; anything else when an entry of that moment or a later one is.
        """
        ...

    def claim(self, *, at: datetime, wanted: Wanted = ANY, lease: timedelta | None = None) -> Claimed | None:
        """Return a waiting entry; None when there is none to be had.

        Red flags first, then what was tried least often, then the oldest. Entries of a conversation whose earlier entry
        still waits are left out, since its states are sent in order; red flags wait for nothing, and hold up nothing.

        `lease`: how long nobody else may have it; default: that of the outbox.
        """
        ...

    def accept(self, claimed: Claimed, *, at: datetime) -> None:
        """Note that the server has it; its content is deleted here."""
        ...

    def release(self, claimed: Claimed, reason: str, *, retry_at: datetime | None = None) -> None:
        """Note why it was not taken, and let it wait, for `retry_at` at least where that is respected."""
        ...

    def last_put(self, conversation: str) -> datetime | None:
        """Return the moment of the latest entry of a conversation, sent or not; None when there is none.

        Red flags do not count: all that they are about is in another entry, too.
        """
        ...

    def entries(self, conversation: str) -> list[OutboxEntry]:
        """Return all entries of a conversation, oldest first."""
        ...

    def waiting(self) -> int:
        """Return how many entries no server has accepted yet."""
        ...

    def backlog(self) -> Backlog:
        """Return what waits."""
        ...


class Leaving(Protocol):
    """What has happened in conversations since they were last handed over."""

    def red_flags(self) -> list[RedFlag]:
        """Return urgent turns whose red flag is not in the outbox yet, oldest first."""
        ...

    def urgent(self) -> list[str]:
        """Return conversations with an urgent turn that is in no entry of the outbox but that of its red flag."""
        ...

    def quiet(self, *, since: datetime | None, until: datetime) -> list[str]:
        """Return conversations with something new between two moments, and without a word since."""
        ...

    def last_change(self, conversation: str) -> datetime | None:
        """Return the moment of the last turn, complaint or answer; None when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to bear with a server.

    Attributes:
        attempts: How often a request is made at most.
        first_wait_s: Before the first repetition; doubled for each further one.
        longest_wait_s: A server that asks for more (Retry-After) is left alone until the next push.
        timeout_s: For a request with all of its answer.
        total_s: For everything that sending one transaction takes; claims on the outbox last longer.
    """

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    timeout_s: float = 30.0
    total_s: float = 600.0


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

    def close(self) -> None:
        """Break off what is under way."""
        ...


DIGITS = 12


def pseudonym(conversation: str) -> str:
    """Return a name that whoever knows the conversation's id can find in logs, and that does not lead back to the id.

    Ids have 128 random bits (or come from a secret), so that they cannot be found by trying.
    """
    return hashlib.sha256(b"klartext conversation\0" + conversation.encode("utf-8", "replace")).hexdigest()[:DIGITS]
