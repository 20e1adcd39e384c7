"""Deliver red flags while the service runs: each in a thread of its own, so that none waits for any other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.handover.causes import NOT_BUILT
from bot.handover.handover import Handover
from bot.handover.outbox import send
from bot.outbox_ports import Backlog, Claimed, FhirServer, Group, Leaving, Outbox, RedFlag, Wanted, pseudonym

log = logging.getLogger("klartext")

POLL_S = 1.0  # an alarm wakes at once; this finds what is due again, what others left, and how old it is
AT_ONCE = 32  # deliveries at a time
REPEATED_AT_ONCE = 16  # of these, of what was tried before: what hangs again and again leaves room for what is new
LEASE = timedelta(seconds=60)  # longer than one delivery takes; who dies meanwhile holds it no longer
LATE = timedelta(seconds=10)  # a red flag that waits longer is told
TELL = timedelta(minutes=1)  # between two lines in the log about that


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for the FHIR server as far as it is known.

    Attributes:
        backlog: Entries of the outbox; red flags that are not even there count, too.
        fault: Why the server took nothing when it was last tried; empty when it did, or was not tried.
    """

    backlog: Backlog = field(default_factory=Backlog)
    fault: str = ""

    def urgent_s(self, now: datetime) -> float:
        """Return the age of the oldest red flag in seconds; 0 when none waits."""
        oldest = self.backlog.oldest_urgent
        return max(0.0, (now - oldest).total_seconds()) if oldest is not None else 0.0


@dataclass(slots=True)
class RedFlagDelivery:
    """Runs in a thread of its own, and sends in others. What it has not done is seen in the database.

    Attributes:
        leaving: What is new.
        handover: Makes the Task of a red flag.
        outbox: What waits to be sent.
        server: Who gets it. Many threads send at the same time.
        now: The clock.
        report: Gets what waits, whenever that was looked at, how many were sent since, and how many in vain.
        stopping: Set when the service ends.
        beat: Called after each look without an error.
    """

    leaving: Leaving
    handover: Callable[[str], Handover]
    outbox: Outbox
    server: FhirServer
    now: Callable[[], datetime]
    report: Callable[[Waiting, int, int], None]
    stopping: threading.Event = field(default_factory=threading.Event)
    beat: Callable[[], None] = field(default=lambda: None)
    waiting: Waiting = field(default_factory=Waiting)
    _awake: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _sending: dict[int, Claimed] = field(default_factory=dict)
    _done: list[str] = field(default_factory=list)  # since the last report: reasons, empty where it was taken
    _stuck: list[RedFlag] = field(default_factory=list)  # cannot even be put into the outbox
    _told_at: datetime | None = None

    def wake(self) -> None:
        """Look now: something urgent has happened. Returns at once."""
        self._awake.set()

    def run(self) -> None:
        """Deliver until told to stop."""
        while not self.stopping.is_set():
            self.look()
            self._awake.wait(POLL_S)
            self._awake.clear()

    def look(self) -> None:
        """Begin to send what is new or due, and note what waits. Errors do not end the thread."""
        failed = False
        for step in (self._raise_new, self._begin, self.note):
            try:
                step()
            except Exception:
                failed = True
                log.exception("red flags are held up")
        if not failed:
            self.beat()

    def stop(self) -> None:
        self.stopping.set()
        self._awake.set()

    def join(self, timeout_s: float) -> bool:
        """Wait until nothing is being sent any more; say whether that is so."""
        end = threading.Event()
        waited_s = 0.0
        while self._sending and waited_s < timeout_s:
            end.wait(0.02)
            waited_s += 0.02
        return not self._sending

    def _raise_new(self) -> None:
        flags, stuck = self.leaving.red_flags(), list[RedFlag]()
        for flag in flags:
            try:
                self._raise(flag)
            except Exception:
                stuck.append(flag)
                fields = {"conversation": pseudonym(flag.conversation)}
                log.exception("a red flag cannot be handed over", extra={"fields": fields})
        self._stuck = stuck

    def _raise(self, flag: RedFlag) -> None:
        if self.outbox.put_new(self.handover(flag.conversation).red_flag(flag)):
            log.info("red flag", extra={"fields": {"conversation": pseudonym(flag.conversation)}})

    def _begin(self) -> None:
        """Send what is free in threads of their own, what was never tried first."""
        while len(self._sending) < AT_ONCE and not self.stopping.is_set():
            wanted = Wanted("urgent", due=True, fresh=self._is_crowded())
            claimed = self.outbox.claim(at=self.now(), wanted=wanted, lease=LEASE)
            if claimed is None:
                return
            with self._lock:
                self._sending[claimed.number] = claimed
            threading.Thread(target=self._send, args=[claimed], daemon=True, name="red-flag").start()

    def _is_crowded(self) -> bool:
        with self._lock:
            return sum(each.again for each in self._sending.values()) >= REPEATED_AT_ONCE

    def _send(self, claimed: Claimed) -> None:
        reason = "interrupted"
        try:
            failure = send(self.outbox, self.server, claimed, self.now)
            reason = failure.reason if failure is not None else ""
        except Exception:
            log.exception("what became of a red flag cannot be noted")  # it is tried again when its lease has ended
        finally:
            with self._lock:
                self._sending.pop(claimed.number, None)
                self._done.append(reason)
            self.wake()

    def note(self) -> None:
        """Look what waits, and report it."""
        backlog, new = self.outbox.backlog(), self._stuck
        stuck = [Group("urgent", NOT_BUILT, False, len(new), min(flag.at for flag in new))] if new else []
        counted = Backlog.of([*backlog.groups, *stuck])
        with self._lock:
            done, self._done = self._done, []
        failed = [reason for reason in done if reason]
        fault = failed[-1] if failed else "" if done or not counted.urgent else self.waiting.fault
        self.waiting = Waiting(counted, fault)
        self.report(self.waiting, len(done) - len(failed), len(failed))
        self._tell()

    def _tell(self) -> None:
        now, waiting = self.now(), self.waiting
        late = waiting.urgent_s(now) >= LATE.total_seconds()
        if late and (self._told_at is None or now - self._told_at >= TELL):
            self._told_at = now
            fields = {
                "waiting": waiting.backlog.urgent,
                "oldest_s": round(waiting.urgent_s(now)),
                "reason": waiting.fault or "no answer yet",
            }
            log.error("red flags wait for the FHIR server", extra={"fields": fields})
        elif not waiting.backlog.urgent and self._told_at is not None:
            self._told_at = None
            log.info("no red flag waits any more")
