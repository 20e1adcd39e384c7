"""What Prometheus may know: how many, how fast, and what stops. No text, no ids; labels come from fixed lists only.

Every series that an alert looks at is there from the start: what appears with its first failure has not risen since.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from bot.catalog.quiz import Quizzed
from bot.handover.causes import CAUSES, Since, Undelivered
from bot.handover.urgent import Waiting
from bot.outbox_ports import Lane
from bot.ports import Purged
from bot.release.in_force import ChatState, Whole
from bot.sentences.reply import is_safe_reply
from bot.staff.calls import OPEN, Tally
from bot.talk.conversation import Taken

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LANES: tuple[Lane, ...] = ("urgent", "rest")
CHANNELS = ("webhook", "mail")
NOT_TOLD = ("refused", "unreachable", "failed")
LEVELS = ("error", "critical")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counters of one process, or of all workers together."""

    def __init__(self, *, shared_in: Path | None = None) -> None:
        """`shared_in`: the folder where all workers count; the process has to have been started for it."""
        registry = CollectorRegistry()
        self._registry = registry
        self._shared_in = shared_in
        self._conversations = Counter("klartext_conversations", "Conversations begun.", ["channel"], registry=registry)
        self._turns = Counter(
            "klartext_turns", "Turns answered, resends included.", ["channel", "decision"], registry=registry
        )
        self._exam_turns = Counter(
            "klartext_exam_turns",
            "Turns answered by the exam that they were about, where there are several; none: before it was known.",
            ["exam", "decision"],
            registry=registry,
        )
        self._exams: tuple[str, ...] = ()
        self._quizzes = Counter(
            "klartext_quizzes",
            "Checks whether an answer explained well, by what came of them.",
            ["step"],
            registry=registry,
        )
        self._turn_s = Histogram(
            "klartext_turn_seconds",
            "Time for a turn, stored.",
            ["decision"],
            buckets=SECONDS,
            registry=registry,
        )
        self._launches = Counter(
            "klartext_launches", "Patients who came from a portal or EHR.", ["outcome"], registry=registry
        )
        self._flags = Counter("klartext_flags", "Complaints about answers.", ["reason"], registry=registry)
        self._requests = Counter(
            "klartext_http_requests", "Requests.", ["method", "route", "status"], registry=registry
        )
        self._request_s = Histogram(
            "klartext_http_request_seconds", "Time for a request.", ["route"], buckets=SECONDS, registry=registry
        )
        self._waiting = Gauge(
            "klartext_outbox_waiting",
            "Entries that no FHIR server has taken yet.",
            registry=registry,
            multiprocess_mode="mostrecent",  # they all count the same outbox
        )
        self._urgent = Gauge(
            "klartext_outbox_urgent_waiting",
            "Red flags that no FHIR server has taken yet.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._urgent_s = Gauge(
            "klartext_outbox_urgent_oldest_seconds",
            "Age of the oldest red flag that no FHIR server has taken yet; 0 when there is none.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._usable = Gauge(
            "klartext_fhir_server_usable",
            "1 unless the FHIR server took nothing when it was last tried, or offers no transactions.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._sent = Counter("klartext_outbox_sent", "Entries that a FHIR server has taken.", registry=registry)
        self._failed = Counter("klartext_outbox_failed", "Attempts in vain to send an entry.", registry=registry)
        self._calls = Gauge(
            "klartext_staff_calls",
            "Calls for staff by where they stand; returned ones until their conversation is deleted.",
            ["state"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._call_s = Gauge(
            "klartext_staff_unacknowledged_oldest_seconds",
            "Age of the oldest urgent turn or call for staff that nobody has acknowledged; 0 when there is none.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._release = Gauge(
            "klartext_release",
            "1 for the release in force, 0 for those that were.",
            ["release"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._expiry_s = Gauge(
            "klartext_release_first_expiry_seconds",
            "Time until the first approval of the release in force ends; below 0 once it has; +Inf without a release.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._expiry_s.set(math.inf)  # 0 would be an approval that has ended
        self._closed = Gauge(
            "klartext_chat_closed",
            "1 while nothing but emergencies is answered.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._expired = Gauge(
            "klartext_release_expired",
            "1 where an approval in the release in force has ended: of the chat's sentences, the questions, the site.",
            ["what"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._known_releases: set[str] = set()
        self._purged = Counter("klartext_purged", "What was deleted for its age.", ["kind"], registry=registry)
        self._oldest_s = Gauge(
            "klartext_outbox_oldest_seconds",
            "Age of the oldest entry that has not reached the FHIR server, by why; 0 when there is none.",
            ["lane", "cause"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._entries = Gauge(
            "klartext_outbox_entries",
            "Entries that have not reached the FHIR server, by why.",
            ["lane", "cause"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._not_told = Counter(
            "klartext_staff_contact_failures",
            "Contacts that could not be told of a call for staff.",
            ["channel", "reason"],
            registry=registry,
        )
        self._purge_ok = Gauge(
            "klartext_purge_ok",
            "1 unless the last deletion of what is too old failed.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._database = Gauge(
            "klartext_database_writable",
            "1 while the database takes what is written to it.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._refused = Counter(
            "klartext_guard_violations", "Replies that the guard kept from a patient.", registry=registry
        )
        self._logged = Counter("klartext_log_errors", "Errors in the log.", ["level"], registry=registry)
        self._running = Gauge(
            "klartext_task_running",
            "1 while a thread beside the answers runs, 0 when it has died.",
            ["task"],
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._beaten = Gauge(
            "klartext_task_success_timestamp_seconds",
            "When a thread beside the answers last did its round without an error, since the epoch.",
            ["task"],
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._ready = Gauge(
            "klartext_ready", "1 when the catalog is trained.", registry=registry, multiprocess_mode="livemin"
        )
        self._alive = Gauge(
            "klartext_workers_alive", "Processes that run.", registry=registry, multiprocess_mode="livesum"
        )
        self._wanted = Gauge(
            "klartext_workers_wanted",
            "Processes that should; 0 until the first is ready.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._begin()

    def _begin(self) -> None:
        self._usable.set(1)
        self._database.set(1)
        self._purge_ok.set(1)
        self._ready.set(0)
        self._alive.set(1)
        self.undelivered({}, datetime.min.replace(tzinfo=UTC))
        for channel in CHANNELS:
            for reason in NOT_TOLD:
                self._not_told.labels(channel, reason)
        for level in LEVELS:
            self._logged.labels(level)

    def undelivered(self, waits: Undelivered, now: datetime) -> None:
        """Tell what has not reached the FHIR server."""
        none = Since(0, now)
        for lane in LANES:
            for cause in CAUSES:
                since = waits.get((lane, cause), none)
                self._entries.labels(lane, cause).set(since.count)
                self._oldest_s.labels(lane, cause).set(since.oldest_s(now))

    def not_told(self, reason: str) -> None:
        """Count a contact that could not be told; `reason` as in `NotTold`."""
        channel = "mail" if reason.startswith("mail") else "webhook"
        kind = next((each for each in NOT_TOLD if each in reason), "failed")
        self._not_told.labels(channel, kind).inc()

    def purge_failed(self) -> None:
        self._purge_ok.set(0)

    def database(self, *, writable: bool) -> None:
        self._database.set(1 if writable else 0)

    def logged(self, level: str) -> None:
        self._logged.labels(level).inc()

    def task(self, name: str, *, running: bool) -> None:
        self._running.labels(name).set(1 if running else 0)

    def beat(self, name: str) -> None:
        self._beaten.labels(name).set_to_current_time()

    def ready(self, *, workers: int) -> None:
        """Tell that the catalog is trained: only then are all processes started."""
        self._ready.set(1)
        self._wanted.set(workers)

    def released(self, releases: Sequence[str], first_expiry_s: float, state: ChatState) -> None:
        """Tell what is in force: one release, or one of each exam."""
        self._known_releases.update(releases)
        for each in self._known_releases:
            self._release.labels(each).set(each in releases)
        self._expiry_s.set(first_expiry_s)
        self._closed.set(bool(state.closed))
        for part in get_args(Whole):
            self._expired.labels(part).set(part in state.expired)

    def waits(self, waiting: Waiting, urgent_s: float) -> None:
        self._waiting.set(waiting.backlog.waiting)
        self._urgent.set(waiting.backlog.urgent)
        self._urgent_s.set(urgent_s)
        self._usable.set(0 if waiting.fault else 1)

    def calls(self, tally: Tally, oldest_s: float) -> None:
        for state in (*OPEN, "returned"):
            self._calls.labels(state).set(tally.by_state.get(state, 0))
        self._call_s.set(oldest_s)

    def delivered(self, sent: int, failed: int) -> None:
        self._sent.inc(sent)
        self._failed.inc(failed)

    def purged(self, purged: Purged) -> None:
        self._purge_ok.set(1)
        for kind, count in purged.counts():
            if kind != "unsent_kept":
                self._purged.labels(kind).inc(count)

    def serves(self, exams: Sequence[str]) -> None:
        """Count turns by exam from now on."""
        self._exams = tuple(exams)

    def conversation(self, channel: str) -> None:
        self._conversations.labels(channel).inc()

    def turn(self, channel: str, taken: Taken, elapsed_s: float) -> None:
        decision = taken.turn.decision
        if is_safe_reply(taken.reply):
            self._refused.inc()
        self._turns.labels(channel, decision).inc()
        if self._exams:
            name = taken.turn.catalog.partition("@")[0]
            self._exam_turns.labels(name if name in self._exams else "none", decision).inc()
        if (quizzed := Quizzed.read(taken.turn.quizzed)) is not None:
            self._quizzes.labels(quizzed.step).inc()
        self._turn_s.labels(decision).observe(elapsed_s)

    def launch(self, outcome: str) -> None:
        """Count a patient who came from a portal or EHR: `launched`, or why not."""
        self._launches.labels(outcome).inc()

    def flag(self, reason: str) -> None:
        self._flags.labels(reason).inc()

    def request(self, method: str, route: str, status: int, elapsed_s: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._request_s.labels(route).observe(elapsed_s)

    def as_text(self) -> bytes:
        if self._shared_in is None:
            return generate_latest(self._registry)
        everybody = CollectorRegistry()
        MultiProcessCollector(everybody, path=str(self._shared_in))  # type: ignore[no-untyped-call]
        return generate_latest(everybody)
