"""What the service does beside answering: deliver to a FHIR server, and delete what is too old."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.handover.delivery import Delivery, Sources, sleeper
from bot.handover.handover import Handover
from bot.handover.outbox import Pushed
from bot.handover.urgent import RedFlagDelivery, Waiting
from bot.interview_wiring import Interviewers
from bot.outbox_ports import FhirServer, Patience
from bot.ports import Finder, Presence
from bot.settings import Keeper, Settings
from bot.staff.calls import Tally
from bot.staff.escalation import Escalation
from bot.web.metrics import Metrics
from bot.wiring import (
    make_calls,
    make_contacts,
    make_fhir_server,
    make_finder,
    make_keeper,
    make_leaving,
    make_outbox,
    make_presence,
)

log = logging.getLogger("klartext")
# One entry may take so long; the delivery has a patience of its own beside that.
PATIENCE = Patience(attempts=2, timeout_s=30.0, total_s=90.0)
LEASE = timedelta(minutes=3)  # longer than that; who dies meanwhile holds the entry no longer
URGENT_PATIENCE = Patience(attempts=1, timeout_s=20.0, total_s=30.0)  # shorter than `urgent.LEASE`
LAST_MOMENT_S = 1.0  # for red flags that are being sent when the service ends
DAY_S = 24 * 60 * 60.0
STOP_S = 5.0
BEAT_S = 10.0  # between signs of life


@dataclass(slots=True)
class Background:
    """Threads that end with the service.

    Attributes:
        deliveries: To the FHIR server; None without one.
        escalation: Of calls that no member of staff acknowledges; None where nobody reads them.
        tasks: What each thread runs, by the thread's name.
    """

    stopping: threading.Event
    deliveries: _Deliveries | None
    escalation: Escalation | None
    tasks: dict[str, Callable[[], None]]
    _threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def of(
        cls, settings: Settings, interviewers: Interviewers, metrics: Metrics, now: Callable[[], datetime]
    ) -> Background:
        """Prepare what the settings ask for.

        Raises:
            UserFixable: The FHIR server in the settings cannot work.
        """
        stopping = threading.Event()
        tasks: dict[str, Callable[[], None]] = {"presence": partial(_present, make_presence(settings), stopping, now)}
        tasks["patient-index"] = partial(_index_patients, make_finder(settings))
        deliveries = _deliveries(settings, interviewers, metrics, now, stopping) if settings.fhir.url else None
        if deliveries is not None:
            tasks["red-flags"] = deliveries.red_flags.run
            tasks["delivery"] = deliveries.rest.run
        escalation = _escalation(settings, metrics, now, stopping)
        if escalation is not None:
            tasks["staff-calls"] = escalation.run
        if settings.purge_daily:
            purge = partial(purge_once, make_keeper(settings), settings, metrics, now)
            tasks["purge"] = partial(_daily, purge, stopping)
        return cls(stopping, deliveries, escalation, tasks)

    def start(self, address: str) -> None:
        """Begin; `address`: that the service listens on."""
        if self.escalation is not None:
            self.escalation.inbox = self.escalation.inbox or f"{address}/staff/inbox"
        for name, run in self.tasks.items():
            thread = threading.Thread(target=run, daemon=True, name=name)
            thread.start()
            self._threads.append(thread)

    def alarm(self) -> None:
        """Deliver now; returns at once."""
        if self.deliveries is not None:
            self.deliveries.wake()

    def waiting(self) -> Waiting | None:
        """Return what waits for the FHIR server; None without one."""
        return self.deliveries.waiting() if self.deliveries is not None else None

    def stop(self) -> None:
        """Tell the threads to end, and wait a moment for what is being sent."""
        self.stopping.set()
        if self.deliveries is not None:
            self.deliveries.stop()
        for thread in self._threads:
            thread.join(STOP_S)


def purge_once(keeper: Keeper, settings: Settings, metrics: Metrics, now: Callable[[], datetime]) -> None:
    """Delete what is too old; what goes wrong is logged, and tried again the next day."""
    try:
        purged = keeper.purge(settings.retention.cutoffs(now()))
    except Exception:
        log.exception("nothing purged")
        return
    metrics.purged(purged)
    log.info("purged", extra={"fields": dict(purged.counts())})


@dataclass(frozen=True, slots=True)
class _Deliveries:
    """The two ways to the FHIR server, and what is told of them."""

    red_flags: RedFlagDelivery
    rest: Delivery
    servers: tuple[FhirServer, FhirServer]

    def waiting(self) -> Waiting:
        """Return what waits, and what is wrong on either way."""
        found = self.red_flags.waiting
        return replace(found, fault=found.fault or self.rest.fault)

    def wake(self) -> None:
        self.red_flags.wake()
        self.rest.wake()

    def stop(self) -> None:
        """Break off what hangs: it waits in the outbox again, and is free at once for who comes next."""
        self.red_flags.stop()
        self.rest.stop()
        self.red_flags.join(LAST_MOMENT_S)
        for server in self.servers:
            server.close()
        self.red_flags.join(STOP_S)


def _deliveries(
    settings: Settings,
    interviewers: Interviewers,
    metrics: Metrics,
    now: Callable[[], datetime],
    stopping: threading.Event,
) -> _Deliveries:
    def handover(conversation: str) -> Handover:
        made = interviewers.handover(conversation)
        if made is None:
            raise ValueError("there is no FHIR server")
        return made

    def report_rest(pushed: Pushed) -> None:
        red_flags.note()
        metrics.delivered(pushed.sent, len(pushed.reasons))

    def report_urgent(waiting: Waiting, sent: int, failed: int) -> None:
        metrics.waits(replace(waiting, fault=waiting.fault or rest.fault), waiting.urgent_s(now()))
        metrics.delivered(sent, failed)

    ordinary = make_fhir_server(settings, patience=PATIENCE, sleep=sleeper(stopping))
    urgent = make_fhir_server(settings, patience=URGENT_PATIENCE, sleep=sleeper(stopping))
    leaving, outbox = make_leaving(settings), make_outbox(settings, lease=LEASE)
    sources = Sources(leaving, interviewers.interviews, handover, outbox, ordinary)
    rest = Delivery(sources, timedelta(minutes=settings.idle_minutes), now, report_rest, stopping)
    red_flags = RedFlagDelivery(leaving, handover, outbox, urgent, now, report_urgent, stopping)
    return _Deliveries(red_flags, rest, (ordinary, urgent))


def _escalation(
    settings: Settings, metrics: Metrics, now: Callable[[], datetime], stopping: threading.Event
) -> Escalation | None:
    staff = settings.staff
    if staff is None:
        return None

    def report(tally: Tally) -> None:
        metrics.calls(tally, tally.oldest_s(now()))

    contacts, every = make_contacts(staff), timedelta(minutes=staff.minutes)
    if not contacts:
        log.warning("calls for staff are seen in the inbox only: KLARTEXT_STAFF_NEXT names nobody to be told")
    return Escalation(make_calls(settings), contacts, every, now, report, staff.inbox or "", stopping)


def _index_patients(finder: Finder) -> None:
    """Fill the blind index of conversations from before there was one, or under another key; once."""
    try:
        finder.index_patients()
    except Exception:
        log.warning("the index of patients could not be filled; they are found by reading until the next start")


def _present(presence: Presence, stopping: threading.Event, now: Callable[[], datetime]) -> None:
    """Say that this process runs until it ends; a database that is away is others' business."""
    while True:
        try:
            presence.beat(now())
            if stopping.wait(BEAT_S):
                presence.leave()
                return
        except Exception:
            log.warning("no sign of life could be given")
            if stopping.wait(BEAT_S):
                return


def _daily(run: Callable[[], None], stopping: threading.Event) -> None:
    while not stopping.is_set():
        run()
        stopping.wait(DAY_S)
