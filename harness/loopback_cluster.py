"""A Dask scheduler and workers of this machine, each a process of its own, for measurements and tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot import Unreachable

STARTS_S, ENDS_S = 60.0, 10.0
HERE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")


@dataclass(frozen=True, slots=True)
class LoopbackCluster:
    """What was started: the scheduler with its address, and the workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]


@contextmanager
def loopback_cluster(workers: int, folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[LoopbackCluster]:
    """Start a scheduler and workers of one thread on free ports of 127.0.0.1; end them afterwards.

    Args:
        workers: How many.
        folder: For logs and for what workers spill.
        environ: Set for the workers, beside this process's variables.
    """
    told = folder / "scheduler.json"
    with ExitStack() as stack:
        scheduler = stack.enter_context(
            _process("scheduler", folder, ("--port", "0", "--scheduler-file", str(told)), {})
        )
        address = _wait_for(told)
        options = (address, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder), "--death-timeout", "60")
        started = [
            stack.enter_context(_process("worker", folder, (*options, "--name", f"worker-{number}"), environ or {}))
            for number in range(workers)
        ]
        yield LoopbackCluster(address, scheduler, tuple(started))


@contextmanager
def _process(
    kind: str, folder: Path, options: tuple[str, ...], environ: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, *HERE]
    with (folder / f"{kind}.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **environ}
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(told: Path) -> str:
    deadline = time.monotonic() + STARTS_S
    while time.monotonic() < deadline:
        try:
            return str(json.loads(told.read_text(encoding="utf-8"))["address"])
        except (OSError, ValueError, KeyError):  # not yet, or only half
            time.sleep(0.05)
    raise Unreachable(f"The Dask scheduler did not start within {STARTS_S:g} s; its log is {told.parent}.")
