"""What patients are told who ask for a person, and whether one writes to them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

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
    """

    calls: Calls
    opens: Callable[[datetime], datetime | None] = field(default=lambda _: None)

    def call(self, conversation: str) -> Call | None:
        return self.calls.call(conversation)

    def answer(self, at: datetime) -> tuple[Spoken, ...]:
        """Return what is said to somebody who asks for a person: no time is promised but that of opening."""
        opening = self.opens(at)
        said: Spoken = ("staff_is_called", {})
        return (said,) if opening is None else (said, _opening(opening, at))


def _opening(opening: datetime, at: datetime) -> Spoken:
    clock = {"hour": opening.hour, "minute": opening.minute}
    days = (opening.date() - at.astimezone(opening.tzinfo).date()).days
    if days < A_WEEK:
        return f"staff_opens_{WEEKDAYS[opening.weekday()]}", clock
    return "staff_opens_later", {"day": opening.day, "month": opening.month, **clock}
