"""What running costs beside the system, what a second worker brings, a million outcomes.

The million is synthetic: outcomes of a real run, drawn with a fixed seed and given ids of their own. It measures
counting, not answering. The system that is run needs 5 ms a question, waiting, as endpoints do. The cluster is a Dask
scheduler and workers of this machine, each a process of its own; tests use it, too.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot import Unreachable
from harness.measuring.figures import PEAK_MB, BenchFigure, python
from harness.patients.suites import Suite, load_suite
from harness.running.outcomes import Outcome
from harness.running.run import How, ask_suite, plan_of, run_suite
from harness.running.store import OUTCOMES, PARTS
from harness.running.workers import Recipe
from harness.scoring.score import summarise
from harness.systems.description import CommandFile
from harness.systems.system import InProcess, Opening

STARTS_S, ENDS_S = 60.0, 10.0
HERE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")
OUTCOMES_COUNTED, SEED, PART = 1_000_000, 20261122, 1024
NEEDS_MS = 5
SYSTEM = f"""\
import json, sys, time
for line in sys.stdin:
    time.sleep({NEEDS_MS / 1000})
    print(json.dumps({{"question": json.loads(line)["question"], "decision": "declined"}}), flush=True)
"""
COUNT = """\
import json, sys
from harness.running.store import find_store
from harness.scoring.score import summarise_tally
json.dumps(summarise_tally(find_store(Path(sys.argv[1])).tally()).as_json())
print(peak_mb())
"""


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


def measure_running(repeats: int, data: Path | None) -> list[BenchFigure]:
    """Return the figures of running; takes minutes."""
    suite = load_suite("mammography-de")
    opening = Opening("mammography", "embedded", "hybrid", data)
    recipe = Recipe(opening, "de", CommandFile(kind="command", name="waits", command=(sys.executable, "-c", SYSTEM)))
    with tempfile.TemporaryDirectory() as folder:
        return [
            _overhead(suite, recipe, Path(folder), repeats),
            _second_worker(suite, recipe, Path(folder), repeats),
            *_million(suite, opening, Path(folder)),
        ]


def _overhead(suite: Suite, recipe: Recipe, folder: Path, repeats: int) -> BenchFigure:
    """Compare a run, from the loaded suite to the score, with asking the same questions and keeping nothing."""
    texts = [question.text for question in suite.questions]
    with recipe.opened() as (system, catalog):
        alone, whole = _in_turn(
            repeats,
            lambda _: list(system.ask(texts, "de")),
            lambda run: summarise(run_suite(suite, system, catalog, folder / run)),
        )
    detail = f"{whole:.2f} / {alone:.2f} s, {len(texts)} questions"
    return BenchFigure(f"run / asking a system of {NEEDS_MS} ms", whole / alone, 1.1, "x", detail)


def _second_worker(suite: Suite, recipe: Recipe, folder: Path, repeats: int) -> BenchFigure:
    """Compare whole runs on a cluster of one worker and on one of two, taken in turn."""
    with _cluster(1, folder) as one, _cluster(2, folder) as two, recipe.opened() as (system, catalog):

        def run(address: str, out: Path) -> None:
            how = How(scheduler=address)
            ask_suite(suite, system, catalog, out, plan_of(how, recipe, system, lambda _: None)).tally()

        single, double = _in_turn(
            repeats, lambda name: run(one, folder / f"one-{name}"), lambda name: run(two, folder / f"two-{name}")
        )
    detail = f"{double:.2f} / {single:.2f} s: {single / double:.2f} times as fast"
    return BenchFigure("run on two Dask workers / on one", double / single, 1 / 1.7, "x", detail)


@contextmanager
def _cluster(workers: int, folder: Path) -> Iterator[str]:
    own = folder / f"cluster-{workers}"
    own.mkdir()
    with loopback_cluster(workers, own) as cluster:
        yield cluster.address


def _in_turn(repeats: int, first: Callable[[str], object], second: Callable[[str], object]) -> tuple[float, float]:
    """Return the median seconds of both, taken in turn, so that other work on the machine meets both alike."""
    times: list[tuple[float, float]] = []
    for number in range(repeats + 1):
        started = time.perf_counter()
        first(f"a{number}")
        between = time.perf_counter()
        second(f"b{number}")
        times.append((between - started, time.perf_counter() - between))
    warm = times[1:]  # the first of each opens files and starts processes
    return statistics.median(a for a, _ in warm), statistics.median(b for _, b in warm)


def _million(suite: Suite, opening: Opening, folder: Path) -> list[BenchFigure]:
    inside = InProcess.open(opening, "de")
    outcomes = run_suite(suite, inside, inside.assistant.catalog("de"), folder / "real")
    drawn = np.random.default_rng(SEED).integers(0, len(outcomes), OUTCOMES_COUNTED)
    write_jsonl(outcomes, drawn, folder / "jsonl")
    write_parquet(outcomes, drawn, folder / "parquet")
    return [
        figure
        for name, out in (("Parquet", folder / "parquet"), ("JSON lines", folder / "jsonl"))
        for figure in _counted(name, out)
    ]


def _counted(name: str, out: Path) -> list[BenchFigure]:
    started = time.perf_counter()
    printed, _ = python(PEAK_MB + COUNT, out)
    took = time.perf_counter() - started
    detail = "a new process, imports and intervals included"
    return [
        BenchFigure(f"{OUTCOMES_COUNTED:,} outcomes scored from {name}", took, 30, "s", detail),
        BenchFigure("its peak memory", float(printed), 1000, "MB", "drawn from a real run, seeded"),
    ]


def write_jsonl(outcomes: list[Outcome], drawn: np.ndarray[tuple[int], np.dtype[np.int64]], out: Path) -> None:
    """Write drawn outcomes as a run would, with ids of their own."""
    out.mkdir()
    rests = [
        outcome.as_line().removeprefix(json.dumps({"id": outcome.id}, ensure_ascii=False)[:-1]) for outcome in outcomes
    ]
    with (out / OUTCOMES).open("w", encoding="utf-8") as file:
        file.writelines(f'{{"id": "drawn-{number}"{rests[which]}' for number, which in enumerate(drawn))


def write_parquet(outcomes: list[Outcome], drawn: np.ndarray[tuple[int], np.dtype[np.int64]], out: Path) -> None:
    """Write drawn outcomes as parts of a run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from harness.running.parquet import encode

    (out / PARTS).mkdir(parents=True)
    table = pq.read_table(io.BytesIO(encode(list(enumerate(outcomes)))))
    for start in range(0, len(drawn), PART):
        places = range(start, min(start + PART, len(drawn)))
        part = table.take(pa.array(drawn[start : start + PART])).set_column(0, "place", pa.array(places))
        part = part.set_column(1, "id", pa.array([f"drawn-{place}" for place in places]))
        pq.write_table(part, out / PARTS / f"part-{start // PART + 1:06d}.parquet", compression="zstd")
