"""What the service does beside answering: deliver to a FHIR server, and delete what is too old."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from bot.delivery import Delivery, Sources, sleeper
from bot.handover import Handover
from bot.interview_wiring import Interviewers
from bot.ports import Presence
from bot.retention import Keeper
from bot.settings import Settings
from bot.web.metrics import Metrics
from bot.wiring import make_fhir_server, make_keeper, make_leaving, make_outbox, make_presence

log = logging.getLogger("klartext")
ATTEMPTS = 2  # in one round of the delivery, which has a patience of its own
LEASE = timedelta(minutes=3)  # longer than a round takes with one entry; who dies meanwhile holds it no longer
DAY_S = 24 * 60 * 60.0
STOP_S = 5.0
BEAT_S = 10.0  # between signs of life


@dataclass(slots=True)
class Background:
    """Threads that end with the service.

    Attributes:
        delivery: None without a FHIR server.
        tasks: What each thread runs, by the thread's name.
    """

    stopping: threading.Event
    delivery: Delivery | None
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
        delivery = _delivery(settings, interviewers, metrics, now, stopping) if settings.fhir.url else None
        if delivery is not None:
            tasks["delivery"] = delivery.run
        if settings.purge_daily:
            purge = partial(purge_once, make_keeper(settings), settings, metrics, now)
            tasks["purge"] = partial(_daily, purge, stopping)
        return cls(stopping, delivery, tasks)

    def start(self) -> None:
        for name, run in self.tasks.items():
            thread = threading.Thread(target=run, daemon=True, name=name)
            thread.start()
            self._threads.append(thread)

    def alarm(self) -> None:
        """Deliver now; returns at once."""
        if self.delivery is not None:
            self.delivery.wake()

    def stop(self) -> None:
        """Tell the threads to end, and wait a moment for what is being sent."""
        self.stopping.set()
        if self.delivery is not None:
            self.delivery.stop()
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


def _delivery(
    settings: Settings,
    interviewers: Interviewers,
    metrics: Metrics,
    now: Callable[[], datetime],
    stopping: threading.Event,
) -> Delivery:
    def handover(conversation: str) -> Handover:
        made = interviewers.handover(conversation)
        if made is None:
            raise ValueError("there is no FHIR server")
        return made

    server = make_fhir_server(settings, attempts=ATTEMPTS, sleep=sleeper(stopping))
    outbox = make_outbox(settings, lease=LEASE)
    sources = Sources(make_leaving(settings), interviewers.interviews, handover, outbox, server)
    return Delivery(sources, timedelta(minutes=settings.idle_minutes), now, metrics.delivered, stopping)


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
