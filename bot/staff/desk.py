"""What patients are told who ask for a person, whether one writes to them, and whether nobody does. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.staff.calls import Call, Calls

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
A_WEEK = 7
Spoken = tuple[str, Mapping[str, int]]  # the key of a fixed sentence, and its numbers


@dataclass(frozen=True, slots=True)
class Desk:
    """Where patients' calls arrive.

    Attributes:
        calls: What is kept of them.
        opens: Returns when staff are next there; None: they are there now, or nobody knows.
        contacts: How many are told, in turn, of a call that nobody acknowledges.
        every: How long a call waits for each of them.
    """

    calls: Calls
    opens: Callable[[datetime], datetime | None] = field(default=lambda _: None)
    contacts: int = 0
    every: timedelta = timedelta(minutes=5)

    def call(self, conversation: str) -> Call | None:
        return self.calls.call(conversation)

    def answer(self, at: datetime) -> tuple[Spoken, ...]:
        """Return what is said to somebody who asks for a person: no time is promised but that of opening."""
        opening = self.opens(at)
        if opening is None:
            return (("staff_is_called", {}),)
        return ("staff_is_called_closed", {}), _opening(opening, at)

    def is_late(self, call: Call, at: datetime) -> bool:
        """Say whether all contacts have been told of what waits, the last one's time is over, and nobody has come."""
        if call.rings is None or call.told < self.contacts:
            return False
        return at - call.rings >= self.every * max(1, self.contacts)


def _opening(opening: datetime, at: datetime) -> Spoken:
    clock = {"hour": opening.hour, "minute": opening.minute}
    days = (opening.date() - at.astimezone(opening.tzinfo).date()).days
    if days == 0:
        return "staff_opens_today", clock
    if days < A_WEEK:
        return f"staff_opens_{WEEKDAYS[opening.weekday()]}", clock
    return "staff_opens_later", {"day": opening.day, "month": opening.month, **clock}
