"""Ask on the workers of a Dask scheduler. What a worker that dies had under way is asked again by another."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from bot import BadData, MissingExtra, Settings, Unreachable
from harness.running.chunks import Batch
from harness.running.outcomes import Placed
from harness.running.workers import Errand, ask_elsewhere, forget, in_order, size_of

try:
    import distributed
    from distributed import Client
except ImportError as error:
    raise MissingExtra(feature="Asking on Dask", extra="scale") from error

CONNECT_S, WORKERS_S = 10, 30  # how long scheduler and first worker are waited for
AHEAD = 3  # batches for each thread: one is asked, the next is there already, one waits for an earlier one
# What a client whose scheduler is gone raises while it is tidied up; RuntimeError comes from its cut-off reconnecting.
GONE = (OSError, distributed.CancelledError, TimeoutError, RuntimeError)


@dataclass(frozen=True)
class OnDask:
    """Asks on a cluster.

    Attributes:
        address: Of the scheduler.
        errand: What its workers are told.
        count: How many questions will come.
    """

    address: str
    errand: Errand
    count: int

    def batches(self, questions: Iterable[Placed]) -> Iterator[Batch]:
        with _connected(self.address) as client:
            threads = sum(client.nthreads().values())  # type: ignore[no-untyped-call]
            limited = self.errand.recipe.per_second is not None
            # With a rate limit no more is under way than has a share of it.
            width = threads if limited else AHEAD * threads
            errand = replace(self.errand, recipe=self.errand.recipe.shared(width)) if limited else self.errand

            def submit(chunk: list[Placed]) -> Any:
                return client.submit(ask_elsewhere, errand, chunk, pure=False)

            size = size_of(self.count, threads, outside=errand.recipe.file is not None)
            try:
                yield from in_order(questions, submit, size=size, width=width)
            finally:
                _dismiss(client, errand)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    # Questions of a suite may once have been a patient's.
    Settings.from_environment().require_patient_text_allowed(address)
    try:
        with _silent():
            client = _client(address)
            try:
                client.wait_for_workers(1, timeout=WORKERS_S)
                yield client
            finally:
                with suppress(*GONE):
                    client.close()  # type: ignore[no-untyped-call]
    except distributed.KilledWorker as error:
        raise Unreachable(
            "Several workers died over the same questions: the system, or a lack of memory, may kill them. See their "
            "logs and run this again; what was answered is kept."
        ) from error
    except (OSError, distributed.CancelledError, TimeoutError) as error:
        raise Unreachable(
            f"The Dask scheduler {address!r} or its workers cannot be reached ({type(error).__name__}). Start them "
            "(`dask scheduler`, `dask worker ADDRESS`) and run this again; what was answered is kept."
        ) from error
    except ImportError as error:
        raise Unreachable(f"The workers lack something ({error}). Install the same klartext on them.") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Dask from logging tracebacks: what goes wrong is said in one line."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _client(address: str) -> Client:
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except ValueError as error:
        raise BadData(f"{address!r} is no address of a Dask scheduler, such as tcp://127.0.0.1:8786.") from error


def _dismiss(client: Client, errand: Errand) -> None:
    """Have the workers close what they opened; those that are gone have."""
    with suppress(*GONE):
        client.run(forget, errand, on_error="ignore")
