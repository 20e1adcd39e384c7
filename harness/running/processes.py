"""Ask this assistant in several processes of this machine; each opens it once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait

from bot import Unreachable, usable_cores
from harness.running.chunks import Batch, Placed
from harness.running.recipe import Errand, Refused, ask_elsewhere, in_order, size_of

# A process starts, imports and opens in the time in which another answers so many questions (2 s, 2.5 ms each).
WORTH_A_PROCESS = 2000


def processes_for(count: int) -> int:
    """Return how many processes are worth their start for so many questions."""
    return max(1, min(usable_cores(), count // WORTH_A_PROCESS))


@dataclass(frozen=True)
class Processes:
    """Asks in `jobs` processes; `count` says how many questions will come."""

    errand: Errand
    jobs: int
    count: int

    def batches(self, questions: Iterable[Placed]) -> Iterator[Batch]:
        cores = max(1, usable_cores() // self.jobs)
        # Not by fork: this process may run threads, and what a fork does to them is undefined.
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.jobs, spawn, initializer=_begin, initargs=(cores,))

        def submit(chunk: list[Placed]) -> Future[Batch | Refused]:
            return pool.submit(ask_elsewhere, self.errand, chunk)

        try:
            yield from in_order(
                questions, submit, size=size_of(self.count, self.jobs, outside=False), width=2 * self.jobs
            )
        except BrokenProcessPool as error:
            raise Unreachable(
                "A worker process ended (killed, or out of memory). What was answered is kept: run this again, "
                f"perhaps with less than `--jobs {self.jobs}`."
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(cores: int) -> None:
    """Make a worker that ends with its parent, and uses no more than its share of the cores."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when it is over
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "sched_setaffinity"):
        # Read when the assistant is opened: linear algebra then starts as many threads as this worker should have.
        mine = sorted(os.sched_getaffinity(0))
        number = int(multiprocessing.current_process().name.rpartition("-")[2]) - 1
        start = number * cores % len(mine)
        os.sched_setaffinity(0, mine[start : start + cores])


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
