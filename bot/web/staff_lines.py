"""What staff wrote in a conversation, as patients see it: marked with a name, and no reply of the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.staff.calls import Action, for_patients
from bot.talk.reception import Reception


@dataclass(frozen=True, slots=True)
class StaffLine:
    """One thing that a patient is told of staff; nothing of it is escaped yet.

    Attributes:
        number: Of the action.
        turn: The number of the turn that it stands behind.
        heading: Who it is, or that they have come or gone.
        text: What they wrote; empty where the heading says all.
    """

    number: int
    turn: int
    heading: str
    text: str = ""

    @property
    def whole(self) -> str:
        """The line where there is no place for a heading."""
        return f"{self.heading}: {self.text}" if self.text else self.heading


_LABELS = {
    **{"take": "staff_takes", "message": "staff_from", "return": "staff_returns"},
    **{"close": "staff_closes", "away": "staff_away"},
}


def staff_lines(actions: Sequence[Action], labels: Mapping[str, str]) -> list[StaffLine]:
    """Return what patients see of what staff did, in order."""
    shown = for_patients(actions)
    return [
        StaffLine(each.number, each.turn, labels[_LABELS[each.what]].format(name=each.name), each.text)
        for each in shown
    ]


def actions_for_patient(reception: Reception, conversation: str, *, after: int = 0) -> list[Action]:
    """Return what a patient may see of what staff did; nothing where nobody reads calls."""
    if reception.desk is None:
        return []
    return for_patients(reception.desk.calls.actions(conversation, after=after))
