"""Several processes on one socket: started one after the other, started again when one dies, stopped together.

They share nothing but the socket, the database and the index; metrics are counted in files of a folder that goes away.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

from bot.errors import UserFixable, friendly_errors
from bot.settings import Settings

log = logging.getLogger("klartext.web")

TOLD = 2  # exit code of a worker that has said what is wrong
LOOK_S = 0.2  # between looks for signals and for the dead
AGAIN_S = (1.0, 30.0)  # until a worker that died is started again: at first, and at most
STOP_S = 40  # until a worker that was told to stop is killed
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # read by prometheus_client when it is imported


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker knows of the others.

    Attributes:
        ready: Set once the first of them has trained the catalog.
        metrics: The folder where all of them count.
    """

    ready: Event
    metrics: Path


Work = Callable[[Worker], None]


def require_shareable(settings: Settings, workers: int) -> None:
    """Raise UserFixable unless database and index can be shared by several processes."""
    missing = []
    if settings.database_url is None or settings.database_url.startswith("sqlite"):
        missing.append("KLARTEXT_DATABASE_URL to a PostgreSQL database (SQLite lets one process write)")
    if settings.chroma_url is None:
        missing.append("KLARTEXT_CHROMA_URL to a Chroma server (`chroma run`)")
    if missing:
        raise UserFixable(f"{workers} workers need what they can share. Set {' and '.join(missing)}, or `--workers 1`.")


def supervise(work: Work, workers: int) -> None:
    """Run that many workers until a signal comes; `work` has to be picklable.

    Raises:
        SystemExit: The first worker could not start; it has said why.
    """
    with tempfile.TemporaryDirectory(prefix="klartext-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder  # for the workers: here nothing is counted
        Supervisor(work, workers, Path(folder)).run()


@dataclass(slots=True)
class _Place:
    """One worker, and when it may be started again if it dies."""

    process: SpawnProcess
    wait_s: float = AGAIN_S[0]
    since_s: float = field(default_factory=time.monotonic)


class Supervisor:
    """Keeps workers running."""

    def __init__(self, work: Work, workers: int, folder: Path) -> None:
        self._work = work
        self._workers = workers
        self._spawn = multiprocessing.get_context("spawn")
        self._worker = Worker(self._spawn.Event(), folder)
        self._places: list[_Place] = []
        self._stopping = False

    def run(self) -> None:
        """Keep everybody running until a signal comes, then stop everybody."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told)
        self._places.append(_Place(self._start()))
        while not self._stopping and not self._worker.ready.wait(LOOK_S):
            code = self._places[0].process.exitcode
            if code is not None:
                sys.exit(TOLD if code == TOLD else 1)
        self._places += [_Place(self._start()) for _ in range(self._workers - 1) if not self._stopping]
        while not self._stopping:
            time.sleep(LOOK_S)
            self._replace_dead()
        self._stop()

    def _told(self, _: int, __: object) -> None:
        self._stopping = True

    def _start(self) -> SpawnProcess:
        process = self._spawn.Process(target=_run, args=(self._work, self._worker))
        process.start()
        return process

    def _replace_dead(self) -> None:
        now_s = time.monotonic()
        for place in self._places:
            if place.process.is_alive():
                continue
            if place.process.pid is not None:
                mark_process_dead(place.process.pid, str(self._worker.metrics))  # type: ignore[no-untyped-call]
            if now_s - place.since_s < place.wait_s:
                continue
            lived_s = now_s - place.since_s
            log.error("a worker died", extra={"fields": {"exit_code": place.process.exitcode}})
            # Who dies young dies for a reason that will not go away at once.
            place.wait_s = AGAIN_S[0] if lived_s > AGAIN_S[1] else min(2 * place.wait_s, AGAIN_S[1])
            place.since_s = now_s
            place.process = self._start()

    def _stop(self) -> None:
        for place in self._places:
            place.process.terminate()
        until_s = time.monotonic() + STOP_S
        for place in self._places:
            place.process.join(max(0.0, until_s - time.monotonic()))
            place.process.kill()


def _run(work: Work, worker: Worker) -> None:
    """Work in a process of its own, for as long as the supervisor lives."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True, name="parent").start()
    with friendly_errors():
        work(worker)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
