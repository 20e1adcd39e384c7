"""Calls for staff: a conversation that waits for a person, what staff did about it, and where both are kept. Pure.

A call waits until somebody acknowledges or takes it. Taken, a named person writes and the program is silent, but for
emergencies; then it is handed back. A new urgent turn makes it wait again; one that is taken stays so, and has a
message that nobody has acknowledged: an urgent one, or one that nobody has answered. What was urgent once stays so
until it is handed back or closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol, get_args

CallKind = Literal["urgent", "asked"]  # a red flag, or a patient who asked for a person
CallState = Literal["waiting", "acknowledged", "taken", "returned"]
# What a turn means to staff: `message` was written to somebody who has taken the call, `language` only where the
# patient has changed it.
Stir = Literal["urgent", "asked", "message", "language"]
# The most pressing of what nobody has acknowledged; empty where there is nothing.
Pressing = Literal["", "message", "asked", "urgent"]
PRESSING: tuple[Pressing, ...] = ("", "message", "asked", "urgent")
OPEN: tuple[CallState, ...] = ("waiting", "acknowledged", "taken")
# What was done: `close` hands back what nobody took, `reopen` undoes either; `away`: who wrote has logged out, or
# shows no sign of life; `told` and `failed` are the program's, about the next contacts.
Deed = Literal["acknowledge", "take", "message", "return", "close", "reopen", "away", "told", "failed"]
FOR_PATIENTS: tuple[Deed, ...] = ("take", "message", "return", "close", "away")
# What was done about an emergency that is closed without anybody having written to the patient.
Outcome = Literal["spoke", "phoned", "rescue", "no_emergency", "passed_on", "not_reached"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
MAX_NAME, MAX_TEXT = 80, 1000  # characters of a name, and of a message of staff


@dataclass(frozen=True, slots=True)
class Call:
    """A conversation that waits for a person, or did.

    Attributes:
        conversation: Its id.
        kind: Why.
        state: Where it stands.
        name: Of who acknowledged or took it; empty for nobody.
        language: Of the turn that raised it.
        opened: When the first such turn was stored.
        since: When the oldest turn was stored that nobody has acknowledged or answered; None where there is none.
        told: How often one of the next contacts has been told of it, or given up on: they are told in turn, anew
            when the last one was.
        taken_at: The number of the last turn when it was taken; None where nobody has.
        pressing: The most pressing of what nobody has acknowledged.
        rings: When that was stored: the minutes of the contacts count from then.
        unanswered: How many messages the patient has written, since somebody took the call, that nobody has answered.
        patient_left: Whether the patient has ended the conversation, and reads nothing any more.
        again: Whether somebody has seen to it before, and it waits once more.
        exam: That the conversation is about; empty while that is not known.
    """

    conversation: str
    kind: CallKind
    state: CallState
    name: str
    language: str
    opened: datetime
    since: datetime | None
    told: int = 0
    taken_at: int | None = None
    pressing: Pressing = ""
    rings: datetime | None = None
    unanswered: int = 0
    patient_left: bool = False
    again: bool = False
    exam: str = ""

    @property
    def is_pressing_emergency(self) -> bool:
        """Whether an emergency waits for somebody, or for what was done about it to be said."""
        return self.pressing == "urgent" or self.is_unresolved

    @property
    def at_once(self) -> bool:
        """Whether the first contact is told without waiting: of what is urgent, and where who has taken it is away."""
        return self.pressing == "urgent" or (self.pressing == "asked" and (self.is_taken or self.kind == "urgent"))

    @property
    def is_unresolved(self) -> bool:
        """Whether a patient described an emergency and has left: somebody must say what was done."""
        return self.is_open and self.kind == "urgent" and self.patient_left

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_taken(self) -> bool:
        """Whether a member of staff writes, and the program is silent."""
        return self.state == "taken"

    def came_between(self, number: int) -> bool:
        """Whether staff have taken the conversation since the turn of this number: what it asked is open no more."""
        return self.taken_at == number


@dataclass(frozen=True, slots=True)
class Action:
    """What somebody did about a call: never changed, deleted with the conversation only.

    Attributes:
        number: Greater than those before it.
        at: When, with time zone.
        name: Who it was; which contact, where the program told one.
        what: What was done.
        text: Of a message; what was done, where an emergency was closed; else empty.
        turn: The number of the last turn then: in the conversation it stands behind that.
    """

    number: int
    at: datetime
    name: str
    what: Deed
    text: str = ""
    turn: int = 0


def for_patients(actions: Sequence[Action]) -> list[Action]:
    """Return what patients may see of what staff did: of what was not written to them, that it was done."""
    shown = (action for action in actions if action.what in FOR_PATIENTS)
    return [each if each.what == "message" else replace(each, text="") for each in shown]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What stays of a call whose patient deleted the conversation while it was open: nothing that was said.

    Attributes:
        pseudonym: Of the conversation, as in logs.
        kind: Of the call.
        at: When it was deleted.
        since: Since when a turn of it was unacknowledged; None where there was none.
    """

    pseudonym: str
    kind: CallKind
    at: datetime
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many calls there are of each state, and since when the oldest is unacknowledged.

    `deleted`: urgent ones whose patients deleted them before anybody saw it, until they are purged.
    """

    by_state: Mapping[CallState, int] = field(default_factory=dict)
    oldest: datetime | None = None
    deleted: int = 0

    def oldest_s(self, now: datetime) -> float:
        """Return the age of the oldest turn that nobody has acknowledged, in seconds; 0 where there is none."""
        return max(0.0, (now - self.oldest).total_seconds()) if self.oldest is not None else 0.0


class Calls(Protocol):
    """What is kept of calls. They are opened with the turn that raises them (`bot.ports.Records.add_turn`).

    What staff do raises CallRefused when the call does not stand so, and is stored with who did it, or not at all.
    """

    def call(self, conversation: str) -> Call | None:
        """Return the call of a conversation, or None."""
        ...

    def open(self) -> list[Call]:
        """Return the open calls: urgent ones that wait, other urgent ones, the rest; each oldest first."""
        ...

    def actions(self, conversation: str, *, after: int = 0) -> list[Action]:
        """Return what was done about a call, in order; `after`: only what has a greater number."""
        ...

    def acknowledge(self, conversation: str, name: str, *, at: datetime) -> Call:
        """Note that somebody has seen what waits."""
        ...

    def take(self, conversation: str, name: str, *, at: datetime, from_: str = "") -> Call:
        """Let somebody write instead of the program: of several at once, one; `from_`: instead of who does now."""
        ...

    def write(self, conversation: str, name: str, text: str, *, at: datetime) -> Call:
        """Store a message of who has taken the call; refused to others, and when the patient has left."""
        ...

    def hand_back(
        self,
        conversation: str,
        name: str,
        *,
        at: datetime,
        left_open: int | None = None,
        outcome: Outcome | None = None,
    ) -> Call:
        """Let the program answer again; refused to who has not taken it, and while an urgent turn is unacknowledged.

        A call that was only acknowledged is closed, by anybody; `outcome`: what was done. Refused, too, where more
        messages are unanswered than `left_open`; None: however many.
        """
        ...

    def closed(self, *, since: datetime, most: int) -> list[tuple[Call, Action]]:
        """Return calls that were handed back or closed since then, by that, newest first."""
        ...

    def reopen(self, conversation: str, name: str, *, at: datetime) -> Call:
        """Open a call again that was handed back or closed: somebody has seen it, and the program still answers."""
        ...

    def let_go(self, name: str, *, at: datetime, conversation: str = "") -> list[str]:
        """Let wait again, for anybody, what somebody has taken who is not there any more: all of it, or one of them.

        Return the ids of the conversations.
        """
        ...

    def not_shown(self, conversation: str) -> list[Action]:
        """Return what is for the patient and was not returned before, for channels that show each thing once."""
        ...

    def unacknowledged(self, *, at: datetime) -> list[Call]:
        """Return calls with a turn that nobody has acknowledged, oldest first, but for those that are held."""
        ...

    def hold(self, call: Call, *, at: datetime, until: datetime) -> bool:
        """Keep others from telling a contact of a call; say whether it still stands so, and nobody else holds it."""
        ...

    def release(self, call: Call, *, until: datetime) -> None:
        """Leave the same contact to be tried again, at `until` at the earliest."""
        ...

    def note(self, call: Call, *, what: Literal["told", "failed"], at: datetime, told: int, contact: int) -> None:
        """Note that a contact has been told, or given up on, and hold the call no longer; `told`: how often now."""
        ...

    def deleted(self, *, at: datetime) -> list[Deleted]:
        """Return urgent calls that were deleted before anybody saw them and no contact knows of it; none held."""
        ...

    def hold_deleted(self, deleted: Deleted, *, at: datetime, until: datetime) -> bool:
        """Keep others from telling a contact of it; say whether nobody else does."""
        ...

    def note_deleted(self, deleted: Deleted) -> None:
        """Note that a contact has been told."""
        ...

    def was_deleted(self, conversation: str) -> bool:
        """Say whether the patient deleted the conversation while its call was open."""
        ...

    def tally(self) -> Tally:
        """Return how many calls there are."""
        ...
