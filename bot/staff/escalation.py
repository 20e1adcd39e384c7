"""Tell the next contact of a call that nobody acknowledges, one after the other; none of it holds a patient's text."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from bot.errors import NotTold
from bot.outbox_ports import pseudonym
from bot.staff.calls import Call, CallKind, Calls, Tally

log = logging.getLogger("klartext")

POLL_S = 2.0
AT_ONCE = 16  # contacts that are being told; what hangs is left alone when its hold has ended
HOLD = timedelta(seconds=60)  # longer than telling one takes; who dies meanwhile holds a call no longer
AGAIN = timedelta(seconds=30)  # until a contact that could not be told is tried again


@dataclass(frozen=True, slots=True)
class Notice:
    """What a contact is told of a call.

    Attributes:
        conversation: Its id.
        kind: Why a person is needed.
        minutes: For how long nobody has acknowledged it.
        inbox: Where calls are seen; empty where that is not known.
    """

    conversation: str
    kind: CallKind
    minutes: int
    inbox: str


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
        contacts: Who is told, in order: the first after `every`, each further one as long after that.
        every: How long a call waits for each.
        now: The clock.
        report: Gets how many calls there are, whenever that was looked at.
        inbox: Where calls are seen.
        stopping: Set when the service ends.
    """

    calls: Calls
    contacts: Sequence[Contact]
    every: timedelta
    now: Callable[[], datetime]
    report: Callable[[Tally], None]
    inbox: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)
    _telling: set[threading.Thread] = field(default_factory=set)

    def run(self) -> None:
        """Look until told to stop. Errors do not end the thread."""
        while not self.stopping.is_set():
            try:
                self.look()
            except Exception:
                log.exception("calls for staff are held up")
            self.stopping.wait(POLL_S)

    def look(self) -> None:
        """Begin to tell who is due, and report what waits."""
        self.report(self.calls.tally())
        now = self.now()
        for call in self.calls.unacknowledged(at=now):
            self._telling = {thread for thread in self._telling if thread.is_alive()}
            if call.told >= self._due(call, now) or len(self._telling) >= AT_ONCE:
                continue
            if self.calls.hold(call, at=now, until=now + HOLD):
                thread = threading.Thread(target=self._tell, args=[call], daemon=True, name="staff-contact")
                self._telling.add(thread)
                thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for who is being told."""
        for thread in list(self._telling):
            thread.join(timeout_s)

    def _due(self, call: Call, now: datetime) -> int:
        """Return how many contacts are to be told of a call by now."""
        waited = now - call.since if call.since is not None else timedelta(0)
        return min(len(self.contacts), waited // self.every)

    def _tell(self, call: Call) -> None:
        now, number = self.now(), call.told + 1
        age = now - call.since if call.since is not None else timedelta(0)
        notice = Notice(call.conversation, call.kind, age // timedelta(minutes=1), self.inbox)
        fields: dict[str, object] = {"conversation": pseudonym(call.conversation), "contact": number}
        try:
            self.contacts[call.told].tell(notice)
        except NotTold as error:
            log.error("a contact was not told of a call: %s", error.reason, extra={"fields": fields})
            self._not_told(call, now)
        except Exception:
            log.exception("a contact was not told of a call", extra={"fields": fields})
            self._not_told(call, now)
        else:
            self.calls.note(call, what="told", at=self.now())
            log.warning("nobody acknowledged a call: a contact was told", extra={"fields": fields})

    def _not_told(self, call: Call, now: datetime) -> None:
        """Try the same contact again, until the next one is due; the last one until somebody acknowledges."""
        if self._due(call, now) > call.told + 1:
            self.calls.note(call, what="failed", at=now)
        else:
            self.calls.release(call, until=now + AGAIN)
