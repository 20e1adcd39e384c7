"""Tell the contacts of a call that nobody acknowledges, one after the other, until somebody does.

What somebody has taken who is not there any more waits again.

None of it holds a patient's text.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from bot.errors import NotTold
from bot.outbox_ports import pseudonym
from bot.staff.calls import Call, CallKind, Calls, Deleted, Tally

log = logging.getLogger("klartext")

POLL_S = 2.0
AT_ONCE = 16  # contacts that are being told; what hangs is left alone when its hold has ended
HOLD = timedelta(seconds=60)  # longer than telling one takes; who dies meanwhile holds a call no longer
AWAY = timedelta(minutes=10)  # after so long without a sign of life, who has taken a call is not there any more
AGAIN = timedelta(seconds=30)  # until a contact that could not be told is tried again


@dataclass(frozen=True, slots=True)
class Notice:
    """What a contact is told of a call.

    Attributes:
        conversation: Its id; its pseudonym where it was deleted.
        kind: Why a person is needed.
        minutes: For how long nobody has acknowledged it.
        inbox: Where calls are seen; empty where that is not known.
        taken: Whether somebody has taken it, and has not answered since.
        patient_left: Whether the patient has ended the conversation: nobody can write to them any more.
        deleted: Whether the patient has deleted it: nobody can read it any more.
    """

    conversation: str
    kind: CallKind
    minutes: int
    inbox: str
    taken: bool = False
    patient_left: bool = False
    deleted: bool = False


class Contact(Protocol):
    """Somebody who is told."""

    def tell(self, notice: Notice) -> None:
        """Return when they have it.

        Raises:
            NotTold: They have not.
        """
        ...


@dataclass(slots=True)
class Escalation:
    """Runs in a thread of its own, and tells in others. What it has not done is seen in the database.

    Attributes:
        calls: What waits.
        contacts: Who is told, in order: the first after `every`, and at once of what is urgent; each further one as
            long after that, and after the last the first again.
        every: How long a call waits for each.
        now: The clock.
        report: Gets how many calls there are, whenever that was looked at.
        inbox: Where calls are seen.
        stopping: Set when the service ends.
        beat: Called after each look without an error.
        failed: Gets why a contact could not be told.
        is_gone: Says whether somebody of a name has shown no sign of life since a moment.
    """

    calls: Calls
    contacts: Sequence[Contact]
    every: timedelta
    now: Callable[[], datetime]
    report: Callable[[Tally], None]
    inbox: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)
    beat: Callable[[], None] = field(default=lambda: None)
    failed: Callable[[str], None] = field(default=lambda _: None)
    is_gone: Callable[[str, datetime], bool] = field(default=lambda name, since: False)
    _telling: set[threading.Thread] = field(default_factory=set)

    def run(self) -> None:
        """Look until told to stop. Errors do not end the thread."""
        while not self.stopping.is_set():
            try:
                self.look()
                self.beat()
            except Exception:
                log.exception("calls for staff are held up")
            self.stopping.wait(POLL_S)

    def look(self) -> None:
        """Begin to tell who is due, and report what waits."""
        self.report(self.calls.tally())
        now = self.now()
        for call in self.calls.open():
            if call.is_taken and self._has_gone(call, now - AWAY):
                self.calls.let_go(call.name, at=now, conversation=call.conversation)
                log.warning("a call waits again: who had taken it is gone", extra={"fields": _about(call)})
        for call in self.calls.unacknowledged(at=now):
            due = call.told < self._due(call, now) and self._has_room()
            if due and self.calls.hold(call, at=now, until=now + HOLD):
                self._begin(partial(self._tell, call))
        for gone in self.calls.deleted(at=now) if self.contacts else ():
            if self._has_room() and self.calls.hold_deleted(gone, at=now, until=now + HOLD):
                self._begin(partial(self._tell_deleted, gone))

    def _has_gone(self, call: Call, since: datetime) -> bool:
        """Whether who has taken a call has neither done anything about it since then nor been seen at all."""
        done = [each.at for each in self.calls.actions(call.conversation) if each.name == call.name]
        return max(done, default=since) <= since and self.is_gone(call.name, since)

    def join(self, timeout_s: float) -> None:
        """Wait for who is being told."""
        for thread in list(self._telling):
            thread.join(timeout_s)

    def _has_room(self) -> bool:
        self._telling = {thread for thread in self._telling if thread.is_alive()}
        return len(self._telling) < AT_ONCE

    def _begin(self, tell: Callable[[], None]) -> None:
        thread = threading.Thread(target=tell, daemon=True, name="staff-contact")
        self._telling.add(thread)
        thread.start()

    def _due(self, call: Call, now: datetime) -> int:
        """Return how often contacts are to have been told of a call by now."""
        if call.rings is None or not self.contacts:
            return 0
        return (now - call.rings) // self.every + (1 if call.at_once else 0)

    def _tell(self, call: Call) -> None:
        now, contact = self.now(), call.told % len(self.contacts)
        fields = {**_about(call), "contact": contact + 1}
        notice = Notice(
            call.conversation,
            call.kind,
            _minutes(call.since, now),
            self.inbox,
            taken=call.is_taken,
            patient_left=call.patient_left,
        )
        if self._has_told(contact, notice, fields):
            self.calls.note(call, what="told", at=self.now(), told=self._told_after(call, now), contact=contact + 1)
            log.warning("nobody acknowledged a call: a contact was told", extra={"fields": fields})
        elif self._due(call, now) > call.told + 1:
            self.calls.note(call, what="failed", at=now, told=self._told_after(call, now), contact=contact + 1)
        else:  # the same contact again, until the next one is due
            self.calls.release(call, until=now + AGAIN)

    def _told_after(self, call: Call, now: datetime) -> int:
        """Return how often contacts have been told now: rounds that were missed, while nothing ran, are not made up."""
        missed = max(0, self._due(call, now) - call.told - 1) // len(self.contacts)
        return call.told + 1 + missed * len(self.contacts)

    def _tell_deleted(self, gone: Deleted) -> None:
        """Tell the first contact that can be told; where none can, all are tried again when the hold ends."""
        notice = Notice(gone.pseudonym, gone.kind, _minutes(gone.since, gone.at), self.inbox, deleted=True)
        for contact in range(len(self.contacts)):
            if self._has_told(contact, notice, {"conversation": gone.pseudonym, "contact": contact + 1}):
                self.calls.note_deleted(gone)
                return

    def _has_told(self, contact: int, notice: Notice, fields: Mapping[str, object]) -> bool:
        try:
            self.contacts[contact].tell(notice)
        except NotTold as error:
            log.error("a contact was not told of a call: %s", error.reason, extra={"fields": fields})
            self.failed(error.reason)
            return False
        except Exception:
            log.exception("a contact was not told of a call", extra={"fields": fields})
            self.failed("failed")
            return False
        return True


def _about(call: Call) -> dict[str, object]:
    return {"conversation": pseudonym(call.conversation)}


def _minutes(since: datetime | None, now: datetime) -> int:
    return (now - since) // timedelta(minutes=1) if since is not None else 0
