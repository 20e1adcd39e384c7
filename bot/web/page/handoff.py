"""What the page shows of staff who were called: that they are, what they wrote, and what can be pressed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.sentences.reply import site_text
from bot.staff.calls import Call, CallState
from bot.talk.conversation import Stage
from bot.talk.reception import Reception
from bot.web.page.offers import Offers
from bot.web.page.rendering import Labels
from bot.web.staff_lines import StaffLine, actions_for_patient, staff_lines

OPEN_QUESTIONS: tuple[Stage, ...] = ("asking", "summary", "choosing")


@dataclass(frozen=True, slots=True)
class Handoff:
    """Where a call for staff stands.

    Attributes:
        state: Of the call; empty where nobody was called.
        status: What the patient is told of that; empty where there is nothing to tell.
        lines: What staff wrote, in order; each stands behind a turn.
        interrupts: Whether staff have written since the last turn, or write now: what it offered is open no more.
        is_read: Whether a site reads calls at all.
    """

    state: CallState | str = ""
    status: str = ""
    lines: tuple[StaffLine, ...] = ()
    interrupts: bool = False
    is_read: bool = False

    @property
    def is_open(self) -> bool:
        """Whether something may still come, so that a browser asks for it."""
        return self.state in ("waiting", "acknowledged", "taken")

    @property
    def latest(self) -> int:
        """The number of the last thing that staff wrote; 0 before."""
        return self.lines[-1].number if self.lines else 0

    def behind(self, turn: int) -> list[StaffLine]:
        return [line for line in self.lines if line.turn == turn]

    def leaves(self, offers: Offers, *, alarmed: bool) -> Offers:
        """Return what can still be pressed: while staff write, nothing of the program but the way out of an alarm."""
        if not self.interrupts:
            return offers
        stage = "paused" if offers.stage in OPEN_QUESTIONS else offers.stage
        return replace(
            offers,
            buttons=offers.buttons if alarmed else (),
            several=False,
            changes=(),
            steps=(),
            stage="none" if self.state == "taken" else stage,
            progress=None,
            asks=False,
        )


def handoff(reception: Reception, conversation: str, number: int, labels: Labels) -> Handoff:
    """Return where the call of a conversation stands after the turn of this number."""
    desk = reception.desk
    call = desk.call(conversation) if desk is not None else None
    if call is None:
        return Handoff(is_read=desk is not None)
    lines = tuple(staff_lines(actions_for_patient(reception, conversation), labels))
    status = _status(reception, call, labels) if call.is_open else ""
    return Handoff(call.state, status, lines, interrupts=call.is_taken or call.came_between(number), is_read=True)


def _status(reception: Reception, call: Call, labels: Labels) -> str:
    """Return what a patient is told of an open call; when nobody has come for long, whom to telephone."""
    if reception.desk is None or not reception.desk.is_late(call, reception.now()):
        return labels[f"staff_{call.state}"].format(name=call.name)
    opened = reception.records.conversation(call.conversation)
    writes = opened is not None and reception.look(opened).cannot_telephone
    site = reception.serving(opened).assistant.site
    how = site_text(site, "written" if writes else "phone", call.language) if site is not None else None
    told = labels["staff_late_writes" if writes else "staff_late"]
    return " ".join([told, *([how.text] if how is not None else [])])
