"""Deliver conversations to the FHIR server while the service runs: those with a red flag at once, others when silent.

The red flag itself goes ahead of its conversation and takes another way: `bot/handover/urgent.py`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.errors import KlartextError, NotSent, UserFixable
from bot.handover.causes import NOT_BUILT
from bot.handover.handover import Handover, hand_over_new
from bot.handover.outbox import Manner, Pushed, push
from bot.outbox_ports import FhirServer, Group, Leaving, Outbox, pseudonym
from bot.ports import Interviews

log = logging.getLogger("klartext")

POLL_S = 5.0  # an alarm wakes at once; this finds what another process took in, or what a crash left
LONGEST_WAIT_S = 300.0  # while the server does not take what it is sent
SWEEP = timedelta(minutes=1)  # between looks for conversations that fell silent
TRUSTED = timedelta(minutes=10)  # what a server said that it can do


@dataclass(frozen=True, slots=True)
class Sources:
    """Where conversations come from, and where they go.

    Attributes:
        leaving: What is new.
        interviews: Their answers.
        handover: Makes the Bundle of a conversation.
        outbox: What waits to be sent.
        server: Who gets it.
    """

    leaving: Leaving
    interviews: Interviews
    handover: Callable[[str], Handover]
    outbox: Outbox
    server: FhirServer


@dataclass(slots=True)
class Delivery:
    """Runs in a thread of its own. What it has not done is seen in the database: another process or start does it.

    Attributes:
        idle: After so long without a word a conversation is handed over.
        now: The clock.
        report: Gets what every round achieved.
        stopping: Set when the service ends.
        beat: Called after each round without an error, and before each entry of a long one.
        fault: Why the server cannot be used at all, in one line; empty when it can.
        trouble: Why it took nothing in the last round, though nothing may have been sent; empty when it did.
    """

    sources: Sources
    idle: timedelta
    now: Callable[[], datetime]
    report: Callable[[Pushed], None]
    stopping: threading.Event = field(default_factory=threading.Event)
    beat: Callable[[], None] = field(default=lambda: None)
    fault: str = ""
    trouble: str = ""
    _checked: datetime | None = None
    _awake: threading.Event = field(default_factory=threading.Event)
    _swept: datetime | None = None
    _next_sweep: datetime | None = None
    _broken: dict[str, datetime] = field(default_factory=dict)  # since when there is something new in it
    _broken_before: dict[str, datetime] = field(default_factory=dict)  # those of the sweep under way

    def wake(self) -> None:
        """Look now: something urgent has happened. Returns at once."""
        self._awake.set()

    def stop(self) -> None:
        self.stopping.set()
        self._awake.set()

    @property
    def not_built(self) -> tuple[Group, ...]:
        """Conversations of which no Bundle can be made: they are not even in the outbox."""
        broken = {**self._broken_before, **self._broken}.values()
        return (Group("rest", NOT_BUILT, False, len(broken), min(broken)),) if broken else ()

    def run(self) -> None:
        """Deliver until told to stop."""
        wait_s = 0.0
        while not self.stopping.is_set():
            if self._awake.wait(wait_s):
                self._awake.clear()
            if self.stopping.is_set():
                return
            wait_s = POLL_S if self.round() else min(max(2 * wait_s, POLL_S), LONGEST_WAIT_S)

    def round(self) -> bool:
        """Hand over what is due, send what waits, and say whether the server takes anything. Errors end no thread."""
        try:
            self._hand_over_what_is_due()
            pushed = self._push()
            self.report(pushed)
        except KlartextError as error:
            log.error("nothing delivered: %s", error)  # holds no text
            return False
        except Exception:
            log.exception("nothing delivered")
            return False
        self.beat()
        for reason in dict.fromkeys(pushed.reasons):
            log.warning("not delivered: %s", reason)
        return not pushed.is_down

    def _push(self) -> Pushed:
        """Send everything but red flags."""
        known = self._checked is not None and self.now() - self._checked < TRUSTED
        manner = Manner(("rest",), due=True, check=not known)
        try:
            pushed = push(self.sources.outbox, self.sources.server, clock=self._tick, manner=manner)
        except UserFixable as error:
            self.fault = str(error)
            self.beat()  # it looked: that nothing can be sent there is told by its fault
            raise
        self.trouble = pushed.reasons[-1] if pushed.is_down and pushed.reasons else ""
        if pushed.is_down:
            self._checked = None
        elif pushed.sent or pushed.reasons:
            self._checked, self.fault = (self._checked if known else self.now()), ""
        return pushed

    def _tick(self) -> datetime:
        """Tell the time; whoever sends asks for it with each entry, so that a long round is none that hangs."""
        self.beat()
        return self.now()

    def _hand_over_what_is_due(self) -> None:
        now = self.now()
        sweeps = self._next_sweep is None or now >= self._next_sweep
        if sweeps:
            self._broken_before, self._broken = self._broken, {}  # tried again once a sweep
        for conversation in self.sources.leaving.urgent():
            self._hand_over(conversation)
        if sweeps:
            self._hand_over_quiet(now)
            self._broken_before = {}

    def _hand_over_quiet(self, now: datetime) -> None:
        until = now - self.idle
        for conversation in self.sources.leaving.quiet(since=self._swept, until=until):
            self._hand_over(conversation)
        self._next_sweep = now + SWEEP
        if not self._broken:
            self._swept = until - self.idle  # with a margin for turns that were being stored

    def _hand_over(self, conversation: str) -> None:
        at = self.sources.leaving.last_change(conversation)
        if at is None or conversation in self._broken:
            return
        try:
            handover = self.sources.handover(conversation)
            if hand_over_new(handover, self.sources.interviews, at=at):
                log.info("queued for the FHIR server", extra={"fields": {"conversation": pseudonym(conversation)}})
        except Exception:
            self._broken[conversation] = at
            log.exception("not handed over", extra={"fields": {"conversation": pseudonym(conversation)}})


def sleeper(stopping: threading.Event) -> Callable[[float], None]:
    """Return a sleep that ends when the delivery is told to stop: what was being sent waits in the outbox again."""

    def sleep(seconds: float) -> None:
        if stopping.wait(seconds):
            raise NotSent("stopped", verdict="down")

    return sleep
