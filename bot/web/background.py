"""What the service does beside answering: deliver to a FHIR server, and delete what is too old."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from bot.handover.causes import NO_SERVER, Standing, Undelivered, standing, undelivered
from bot.handover.delivery import Delivery, Sources, sleeper
from bot.handover.handover import Handover
from bot.handover.outbox import Pushed
from bot.handover.urgent import RedFlagDelivery, Waiting
from bot.interview_wiring import Interviewers
from bot.outbox_ports import FhirServer, Group, Leaving, Patience
from bot.ports import Finder, Keeper, Presence
from bot.release.in_force import together
from bot.settings import Settings
from bot.staff.calls import Tally
from bot.staff.escalation import Escalation
from bot.web.audit_watch import AuditWatch
from bot.web.editions import ByRelease, Editions
from bot.web.exams import ByExam, editions_of
from bot.web.health import StorageHealth
from bot.web.metrics import Metrics
from bot.web.pulse import Pulse
from bot.web.staff.wiring import make_absence
from bot.web.tracing import TracedFhirServer
from bot.wiring import (
    make_audit,
    make_calls,
    make_contacts,
    make_fhir_server,
    make_finder,
    make_keeper,
    make_leaving,
    make_outbox,
    make_presence,
    make_witness,
)

if TYPE_CHECKING:
    from bot.adapters.otlp_tracing import OtlpTracer

log = logging.getLogger("klartext")
LOOK_S = 5.0  # between looks for urgent turns that nobody gets
# One entry may take so long; the delivery has a patience of its own beside that.
PATIENCE = Patience(attempts=2, timeout_s=30.0, total_s=90.0)
LEASE = timedelta(minutes=3)  # longer than that; who dies meanwhile holds the entry no longer
URGENT_PATIENCE = Patience(attempts=1, timeout_s=20.0, total_s=30.0)  # shorter than `urgent.LEASE`
LAST_MOMENT_S = 1.0  # for red flags that are being sent when the service ends
DAY_S = 24 * 60 * 60.0
STOP_S = 5.0
BEAT_S = 10.0  # between signs of life
RELEASES_S = 1.0  # between looks at whether another release is to be made ready


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told of what goes on beside answering.

    Attributes:
        metrics: For Prometheus.
        pulse: Whether the threads run.
        now: The clock.
        tracer: For a collector; None where there is none.
    """

    metrics: Metrics
    pulse: Pulse
    now: Callable[[], datetime]
    tracer: OtlpTracer | None = None


@dataclass(slots=True)
class Background:
    """Threads that end with the service.

    Attributes:
        deliveries: To the FHIR server, or what is known where there is none.
        escalation: Of calls that no member of staff acknowledges; None where nobody reads them.
        tasks: What each thread runs, by the thread's name.
        storage: Whether anything can be stored.
        telling: What is told of all that, and when.
    """

    stopping: threading.Event
    deliveries: _Deliveries | _Nowhere
    escalation: Escalation | None
    tasks: dict[str, Callable[[], None]]
    storage: StorageHealth
    telling: Telling
    _threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        settings: Settings,
        interviewers: Interviewers | ByRelease | ByExam,
        storage: StorageHealth,
        telling: Telling,
        set_up: Mapping[str, str],
    ) -> Background:
        """Prepare what the settings ask for.

        Args:
            settings: Of this installation.
            interviewers: Make what is delivered.
            storage: Is asked again and again whether anything can be stored.
            telling: What is told of all that, and when.
            set_up: What other processes on the database must have alike.

        Raises:
            UserFixable: The FHIR server in the settings cannot work.
        """
        stopping = threading.Event()
        presence, finder = make_presence(settings, set_up), make_finder(settings)
        editions = editions_of(interviewers)
        watch = AuditWatch(make_audit(settings), make_witness(settings), telling.now)
        watch.look()  # before the first line: a log that begins is told from one whose witness is gone
        looks = (storage.look_now, watch.look)
        present = partial(_present, presence, looks, telling, stopping, editions)
        tasks: dict[str, Callable[[], None]] = {"presence": partial(_indexed, finder, present)}
        if editions:
            tasks["releases"] = partial(_keep_up, editions, presence, telling, stopping)
        deliveries: _Deliveries | _Nowhere
        if settings.fhir.url:
            deliveries = _deliveries(settings, interviewers, telling, stopping)
            tasks["red-flags"] = deliveries.red_flags.run
            tasks["delivery"] = deliveries.rest.run
        else:
            deliveries = _Nowhere(make_leaving(settings), telling, seen=settings.staff is not None)
            tasks["no-server"] = partial(deliveries.run, stopping)
        escalation = _escalation(settings, telling, stopping)
        if escalation is not None:
            tasks["staff-calls"] = escalation.run
        if settings.purge_daily:
            purge = partial(purge_once, make_keeper(settings), settings, telling)
            tasks["purge"] = partial(_daily, purge, stopping)
        return cls(stopping, deliveries, escalation, tasks, storage, telling)

    def start(self, inbox: str) -> None:
        """Begin; `inbox`: where staff see calls, unless the settings say where."""
        if self.escalation is not None:
            self.escalation.inbox = self.escalation.inbox or inbox
        for name, run in self.tasks.items():
            watched = self.telling.pulse.watched(name, run, ending=self.stopping.is_set)
            thread = threading.Thread(target=watched, daemon=True, name=name)
            thread.start()
            self._threads.append(thread)

    def alarm(self) -> None:
        """Deliver now; returns at once."""
        self.deliveries.wake()

    def waiting(self) -> Waiting | None:
        """Return what waits for the FHIR server; None without one."""
        return self.deliveries.waiting()

    def standing(self) -> Standing:
        """Return how delivery stands, from what is known: nothing is asked for it."""
        return self.deliveries.standing()

    def tell(self) -> None:
        """Tell the metrics how old what waits is by now, whatever its threads do."""
        self.deliveries.tell()

    def stop(self) -> None:
        """Tell the threads to end, and wait a moment for what is being sent."""
        self.stopping.set()
        self.deliveries.stop()
        for thread in self._threads:
            thread.join(STOP_S)
        if self.telling.tracer is not None:
            self.telling.tracer.end()


def purge_once(keeper: Keeper, settings: Settings, telling: Telling) -> None:
    """Delete what is too old; what goes wrong is logged and counted, and tried again the next day."""
    try:
        purged = keeper.purge(settings.retention.cutoffs(telling.now()))
    except Exception:
        log.exception("nothing purged")
        telling.metrics.purge_failed()
        return
    telling.metrics.purged(purged)
    telling.pulse.beat("purge")
    log.info("purged", extra={"fields": dict(purged.counts())})


@dataclass(frozen=True, slots=True)
class _Deliveries:
    """The two ways to the FHIR server, and what is told of them."""

    red_flags: RedFlagDelivery
    rest: Delivery
    servers: tuple[FhirServer, FhirServer]
    telling: Telling

    def waiting(self) -> Waiting:
        """Return what waits, and what is wrong on either way."""
        found = self.red_flags.waiting
        return replace(found, fault=found.fault or self.rest.fault)

    def standing(self) -> Standing:
        return standing(self._undelivered(), self.telling.now(), broken=self.telling.pulse.broken())

    def tell(self) -> None:
        waiting, now = self.waiting(), self.telling.now()
        self.telling.metrics.waits(waiting, waiting.urgent_s(now))
        self.telling.metrics.undelivered(self._undelivered(), now)

    def _undelivered(self) -> Undelivered:
        groups = [*self.red_flags.waiting.backlog.groups, *self.rest.not_built]
        return undelivered(groups, trouble="settings" if self.rest.fault else self.rest.trouble)

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


@dataclass(slots=True)
class _Nowhere:
    """What is known of urgent turns where there is no FHIR server.

    Attributes:
        leaving: Where they are.
        telling: What is told of them.
        seen: Whether staff see them among the calls.
    """

    leaving: Leaving
    telling: Telling
    seen: bool
    _groups: tuple[Group, ...] = ()

    def run(self, stopping: threading.Event) -> None:
        """Look whether there is an urgent turn that nobody gets, until told to stop."""
        while not stopping.is_set():
            try:
                flags = [] if self.seen else self.leaving.red_flags()
                moments = [flag.at for flag in flags]
                self._groups = (Group("urgent", NO_SERVER, False, len(flags), min(moments)),) if moments else ()
                self.tell()
                self.telling.pulse.beat("no-server")
            except Exception:
                log.exception("nobody can tell whether there are red flags")
            stopping.wait(LOOK_S)

    def waiting(self) -> Waiting | None:
        return None

    def standing(self) -> Standing:
        found = standing(undelivered(self._groups), self.telling.now())
        return replace(found, verdict="off")

    def tell(self) -> None:
        self.telling.metrics.undelivered(undelivered(self._groups), self.telling.now())

    def wake(self) -> None:
        """Nobody waits for it."""

    def stop(self) -> None:
        """It ends by itself."""


def _deliveries(
    settings: Settings, interviewers: Interviewers | ByRelease | ByExam, telling: Telling, stopping: threading.Event
) -> _Deliveries:
    metrics, now = telling.metrics, telling.now

    def handover(conversation: str) -> Handover:
        made = interviewers.handover(conversation)
        if made is None:
            raise ValueError("there is no FHIR server")
        return made

    def report_rest(pushed: Pushed) -> None:
        red_flags.note()
        metrics.delivered(pushed.sent, len(pushed.reasons))

    def report_urgent(_: Waiting, sent: int, failed: int) -> None:
        made.tell()
        metrics.delivered(sent, failed)

    def server(patience: Patience) -> FhirServer:
        found = make_fhir_server(settings, patience=patience, sleep=sleeper(stopping))
        return TracedFhirServer(found, telling.tracer) if telling.tracer is not None else found

    ordinary, urgent = server(PATIENCE), server(URGENT_PATIENCE)
    leaving, outbox = make_leaving(settings), make_outbox(settings, lease=LEASE)
    sources = Sources(leaving, interviewers.interviews, handover, outbox, ordinary)
    idle, beat = timedelta(minutes=settings.idle_minutes), telling.pulse.beat
    rest = Delivery(sources, idle, now, report_rest, stopping, partial(beat, "delivery"))
    red_flags = RedFlagDelivery(
        leaving, handover, outbox, urgent, now, report_urgent, stopping, partial(beat, "red-flags")
    )
    made = _Deliveries(red_flags, rest, (ordinary, urgent), telling)
    return made


def _escalation(settings: Settings, telling: Telling, stopping: threading.Event) -> Escalation | None:
    staff = settings.staff
    if staff is None:
        return None

    def report(tally: Tally) -> None:
        telling.metrics.calls(tally, tally.oldest_s(telling.now()))

    contacts, every = make_contacts(staff), timedelta(minutes=staff.minutes)
    if not contacts:
        log.warning("calls for staff are seen in the inbox only: KLARTEXT_STAFF_NEXT names nobody to be told")
    found = Escalation(make_calls(settings), contacts, every, telling.now, report, staff.inbox or "", stopping)
    found.is_gone = make_absence(settings)
    found.beat, found.failed = partial(telling.pulse.beat, "staff-calls"), telling.metrics.not_told
    return found


def _indexed(finder: Finder, run: Callable[[], None]) -> None:
    """Fill the blind index of conversations from before there was one, or under another key, once; then run."""
    try:
        finder.index_patients()
    except Exception:
        log.warning("the index of patients could not be filled; they are found by reading until the next start")
    run()


def _present(
    presence: Presence,
    looks: Sequence[Callable[[], object]],
    telling: Telling,
    stopping: threading.Event,
    editions: Sequence[Editions],
) -> None:
    """Say that this process runs until it ends, and look at what else has to be looked at again and again."""
    told: Sequence[str] = ()
    while True:
        try:
            for look in looks:
                look()
            differing = presence.beat(telling.now(), prepared=_prepared(editions))
            if differing and differing != told:
                log.error(
                    "another process on this database is set up otherwise: %s. Patients meet now one, now the other: "
                    "give all of them the same, or each a database of its own",
                    ", ".join(differing),
                    extra={"fields": {"differing": list(differing)}},
                )
            told = differing
            telling.pulse.beat("presence")
            if stopping.wait(BEAT_S):
                presence.leave()
                return
        except Exception:
            log.warning("no sign of life could be given")
            if stopping.wait(BEAT_S):
                return


def _prepared(editions: Sequence[Editions]) -> int | None:
    """Return the release that is ready of the exam for which somebody asked last."""
    asked = [(each.asked_at, each.prepared) for each in editions if each.asked_at is not None]
    last = max(asked, key=lambda each: each[0], default=None)
    return last[1] if last is not None else next((each.prepared for each in editions), None)


def _keep_up(editions: Sequence[Editions], presence: Presence, telling: Telling, stopping: threading.Event) -> None:
    """Make ready the releases that are asked for, and tell what is in force, until told to stop."""
    while not stopping.is_set():
        try:
            if sum(each.keep_up() for each in editions):
                presence.beat(telling.now(), prepared=_prepared(editions))
            serving = [each.of(None).assistant.release for each in editions]
            in_force = [each.serving for each in editions if each.serving is not None]
            if in_force:
                # An approval that ends soon has to be seen before patients miss the answer.
                left_s = min((each.first_expiry - telling.now()).total_seconds() for each in in_force)
                telling.metrics.released(serving, left_s, together([each.look() for each in editions]))
            telling.pulse.beat("releases")
        except Exception:
            log.exception("a release cannot be made ready")
        stopping.wait(RELEASES_S)


def _daily(run: Callable[[], None], stopping: threading.Event) -> None:
    while not stopping.is_set():
        run()
        stopping.wait(DAY_S)
