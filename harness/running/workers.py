"""Ask in other processes: what they need to open the same system, batches in order, and processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from bot import BadData, Catalog, Settings, Unreachable, UserFixable, usable_cores
from harness.running.chunks import CHUNK, Asking, Batch, Format, chunked
from harness.running.outcomes import Placed
from harness.running.store import encoder_of
from harness.systems.system import InProcess, Opening, System

if TYPE_CHECKING:
    from harness.systems.description import SystemFile

MOST_CHUNKS = 8  # that a worker gets at once: 1,024 questions, also the outcomes of one Parquet part
ROUNDS = 8  # every worker gets at least so many turns, so that none waits long for the last
# A process starts, imports and opens in the time in which another answers so many questions (2 s, 2.5 ms each).
WORTH_A_PROCESS = 2000


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a system is opened. Travels to other processes, so it holds no secrets: headers name variables.

    Attributes:
        opening: Catalog, encoder, method and data folder.
        language: Of the questions.
        file: What describes a system outside; None: this assistant.
        parallel: Questions under way at once in one process, for systems outside.
        share: Of the rate limit, when several processes ask the same system.
        spoken: Whether this assistant is talked with, as patients do: then it has all languages of its catalog.
    """

    opening: Opening
    language: str
    file: SystemFile | None = None
    parallel: int = 1
    share: float = 1.0
    spoken: bool = False

    @property
    def per_second(self) -> float | None:
        """How many questions a second this recipe's share of the rate limit allows; None: no limit."""
        limit: float | None = getattr(self.file, "per_second", None)
        return None if limit is None else limit * self.share

    def shared(self, parts: int) -> Recipe:
        """Return the recipe for one of several processes."""
        return replace(self, share=self.share / parts)

    @contextmanager
    def opened(self) -> Iterator[tuple[System, Catalog]]:
        """Yield the system, and the catalog whose answers it should give."""
        if self.file is None:
            inside = InProcess.open(self.opening, self.language, spoken=self.spoken)
            yield inside, inside.assistant.catalog(self.language)
            return
        from harness.systems.opening import Traffic, open_described  # httpx and jsonpath, for those who ask elsewhere

        with open_described(
            self.file,
            self.opening,
            self.language,
            settings=Settings.from_environment(data=self.opening.data),
            environ=os.environ,
            traffic=Traffic(self.parallel, self.share),
        ) as opened:
            yield opened


@dataclass(frozen=True, slots=True)
class Errand:
    """What a worker is told with every chunk.

    Attributes:
        recipe: How the system is opened.
        identity: What it must turn out to be.
        format: How its answers are to be stored.
        run: Tells runs apart that ask the same system at once: each closes what was opened for it alone.
    """

    recipe: Recipe
    identity: dict[str, str]
    format: Format
    run: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a worker cannot ask; errors with arguments of their own do not survive the way home."""

    reason: str


_KEPT: dict[str, tuple[Asking, ExitStack]] = {}
_LOCK = threading.Lock()


def ask_elsewhere(errand: Errand, questions: list[Placed]) -> Batch | Refused:
    """Ask a chunk in a worker: each process opens this assistant once, each of its threads a system outside."""
    try:
        asking = _kept(errand)
        if errand.recipe.per_second is not None:
            # Another worker may have asked just now in this worker's place.
            time.sleep(1 / errand.recipe.per_second)
        return asking.whole(questions)
    except UserFixable as error:
        return Refused(str(error))


def _kept(errand: Errand) -> Asking:
    whose = "" if errand.recipe.file is None else threading.get_ident()
    key = f"{errand!r} {whose}"
    with _LOCK:
        if key not in _KEPT:
            with ExitStack() as stack:
                system, catalog = stack.enter_context(errand.recipe.opened())
                for name, value in errand.identity.items():
                    if system.identity.get(name) != value:
                        raise BadData(
                            f"A worker's {name} is {system.identity.get(name)!r}, but this run's is {value!r}. "
                            "Give the workers the same release, catalog and settings."
                        )
                _KEPT[key] = Asking(system, catalog, encoder_of(errand.format)), stack.pop_all()
        return _KEPT[key][0]


def forget(errand: Errand) -> None:
    """Close what this process has opened for an errand."""
    with _LOCK:
        for key in [key for key in _KEPT if key.startswith(f"{errand!r} ")]:
            _KEPT.pop(key)[1].close()


class Promised(Protocol):
    """What a worker will bring."""

    def result(self) -> Batch | Refused: ...


def in_order(
    questions: Iterable[Placed], submit: Callable[[list[Placed]], Promised], *, size: int, width: int
) -> Iterator[Batch]:
    """Yield batches as they are done, in order.

    Args:
        questions: To be asked.
        submit: Gives questions to a worker.
        size: Questions in one batch.
        width: Batches under way at once, those that wait for an earlier one among them.

    Raises:
        BadData: A worker cannot ask.
    """
    under_way: deque[Promised] = deque()

    def next_one() -> Batch:
        batch = under_way.popleft().result()
        if isinstance(batch, Refused):
            raise BadData(batch.reason)
        return batch

    for chunk in chunked(questions, size):
        under_way.append(submit(chunk))
        if len(under_way) >= width:
            yield next_one()
    while under_way:
        yield next_one()


def size_of(count: int, workers: int, *, outside: bool) -> int:
    """Return how many of `count` questions a worker gets at once.

    This assistant gets whole chunks, so that its batches are the same wherever it is asked. Systems outside get one
    question at a time and may be slow: a worker's death costs all that it has under way.
    """
    fair = count // (ROUNDS * workers)
    return max(1, min(CHUNK, fair)) if outside else CHUNK * max(1, min(MOST_CHUNKS, fair // CHUNK))


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
        pool = ProcessPoolExecutor(self.jobs, spawn, initializer=_begin_worker, initargs=(cores,))

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


def _begin_worker(cores: int) -> None:
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
