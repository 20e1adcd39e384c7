"""What the service costs beside the floor: the service as a user starts it, the floor, and the patients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

from bot import Assistant, Settings, Unreachable
from harness.measuring.figures import KLARTEXT, BenchFigure, median_of, milliseconds, python
from harness.measuring.service_load import Job, LoadTimes
from harness.measuring.service_load import measure as ask
from harness.patients.suites import load_suite

START_S = 120
UNLIMITED = {"KLARTEXT_REQUESTS_PER_MINUTE": "100000000", "KLARTEXT_TURNS_PER_MINUTE": "100000000"}
ONE, MANY = 1, 50  # patients at once
TURNS_OF_ONE, TURNS_OF_MANY = 60, 12
MEMORY_MB = 450
STARTS = 3  # each takes seconds
INTERVIEW = ("/interview", *("nein", "weiß ich nicht") * 15)  # what a patient says to the questions of the form


@dataclass(frozen=True, slots=True)
class Running:
    """A process that listens."""

    process: subprocess.Popen[str]
    url: str

    def peak_mb(self) -> float:
        """Return the most memory it has held so far, in megabytes, with what it has started and still runs."""
        return sum(_peak_mb(pid) for pid in _tree(self.process.pid))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):  # each thread knows those that it has started
        for child in thread.read_text(encoding="utf-8").split():
            yield from _tree(int(child))


def _peak_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else 0.0


def end(process: subprocess.Popen[str]) -> None:
    """Ask a process to end, and do not wait for ever."""
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def serving(
    data: Path, database: str, settings: Mapping[str, str] | None = None, *, catalog: Path | None = None
) -> Iterator[Running]:
    """Run `klartext serve --sample` until the block ends; it is ready when this yields."""
    environ = {**UNLIMITED, "KLARTEXT_DATA": str(data), "KLARTEXT_DATABASE_URL": database, **(settings or {})}
    chosen = ["--catalog", str(catalog)] if catalog is not None else []
    with _listening(["-c", KLARTEXT, "serve", "--sample", "--port", "0", *chosen], environ) as running:
        _wait_until_ready(running)
        yield running


@contextmanager
def floor(database: str) -> Iterator[Running]:
    """Run the bare endpoint until the block ends."""
    with _listening(["-m", "harness.measuring.service_floor", database], {}) as running:
        yield running


def let_ask(job: Job) -> LoadTimes:
    """Run patients in a process of their own."""
    return LoadTimes(**load_in_a_process("harness.measuring.service_load", asdict(job)))


def load_in_a_process(module: str, told: object, *, timeout_s: float | None = None) -> dict[str, Any]:
    """Run a module that reads JSON and writes what it measured, and return that.

    Raises:
        Unreachable: It failed; with the last line that it wrote.
    """
    done = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise Unreachable(f"The load could not be measured ({done.stderr.strip().splitlines()[-1]}). Run it again.")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@contextmanager
def _listening(arguments: list[str], environ: Mapping[str, str]) -> Iterator[Running]:
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **environ},
        )
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.search(r"listens on (http\S+)", line)
            if found is None:
                errors.seek(0)
                raise Unreachable(f"The service did not start ({errors.read().strip()[-200:]}).")
            yield Running(process, found[1])
        finally:
            end(process)
            if process.stdout:
                process.stdout.close()


def _wait_until_ready(running: Running) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and running.process.poll() is None:
        try:
            with urllib.request.urlopen(running.url + "/healthz", timeout=START_S):
                return
        except URLError:  # also while it is starting
            time.sleep(0.01)
    raise Unreachable(f"The service did not get ready in {START_S} s. Run `klartext serve --sample` to see why.")


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load on the floor and on the service, one directly after the other."""

    floor: LoadTimes
    service: LoadTimes

    def ratio(self, of: Callable[[LoadTimes], float]) -> float:
        return of(self.service) / of(self.floor)


def measure_service(repeats: int, data: Path | None) -> list[BenchFigure]:
    """Return the figures of the service; everything is measured in turn within this run, so that noise is shared."""
    texts = tuple(question.text for question in load_suite("mammography-de").paraphrases)
    assistant = Assistant.open(data=data, sample=True)
    assistant.prepare()
    folder = Settings.from_environment(data=data).data
    some = texts[:: max(1, len(texts) // 60)]
    decision_s = median_of(lambda: [assistant.answer(text, "de") for text in some], repeats) / len(some)
    with tempfile.TemporaryDirectory() as kept:
        database = f"sqlite:///{kept}/klartext.db"
        start = _start(texts[0], folder, f"sqlite:///{kept}/start.db", repeats)
        with floor(database) as bare, serving(folder, database) as service:
            alone = [_pair(bare, service, ONE, TURNS_OF_ONE, texts) for _ in range(repeats)]
            asked = [let_ask(Job(service.url, ONE, len(INTERVIEW), INTERVIEW)) for _ in range(repeats)]
            crowded = [_pair(bare, service, MANY, TURNS_OF_MANY, texts) for _ in range(repeats)]
            peak_mb = service.peak_mb()
    return [
        _one_turn(alone, decision_s),
        _interview(asked, alone),
        *_crowd(crowded),
        start,
        BenchFigure("peak memory of a worker", peak_mb, MEMORY_MB, "MB", f"after {MANY} patients at once"),
    ]


def _pair(bare: Running, service: Running, patients: int, turns: int, texts: tuple[str, ...]) -> Pair:
    return Pair(*(let_ask(Job(each.url, patients, turns, texts)) for each in (bare, service)))


def _one_turn(pairs: Sequence[Pair], decision_s: float) -> BenchFigure:
    service = statistics.median(quantile(pair.service, 0.5) for pair in pairs)
    bare = statistics.median(quantile(pair.floor, 0.5) for pair in pairs)
    allowed = bare + 2 * decision_s
    detail = f"{milliseconds(service, bare)}, a decision {decision_s * 1000:.2f} ms"
    return BenchFigure("one turn, p50 / floor and two decisions", service / allowed, 1, "x", detail)


def _interview(asked: Sequence[LoadTimes], alone: Sequence[Pair]) -> BenchFigure:
    ours = statistics.median(quantile(one, 0.5) for one in asked)
    plain = statistics.median(quantile(pair.service, 0.5) for pair in alone)
    return BenchFigure("interview turn / plain turn, p50", ours / plain, 3, "x", milliseconds(ours, plain))


def _crowd(pairs: Sequence[Pair]) -> list[BenchFigure]:
    def p95(measured: LoadTimes) -> float:
        return quantile(measured, 0.95)

    def rate(measured: LoadTimes) -> float:
        return len(measured.seconds) / measured.elapsed_s

    slow, fast = _medians(pairs, p95)
    ours, theirs = _medians(pairs, rate)
    slower = statistics.median(pair.ratio(p95) for pair in pairs)
    fewer = 1 / statistics.median(pair.ratio(rate) for pair in pairs)
    return [
        BenchFigure(f"{MANY} patients at once, p95 / floor's", slower, 2, "x", milliseconds(slow, fast)),
        BenchFigure(
            f"{MANY} patients at once, floor's turns per second / ours",
            fewer,
            1 / 0.6,
            "x",
            f"{theirs:.0f} / {ours:.0f} per second",
        ),
    ]


def _start(question: str, data: Path, database: str, repeats: int) -> BenchFigure:
    """Compare `klartext serve` until its first answer with `klartext answer`."""
    name = "start of the service to first answer / klartext answer"
    served, answered = list[float](), list[float]()
    for _ in range(min(repeats, STARTS)):
        started = time.perf_counter()
        with serving(data, database) as service:
            asyncio.run(ask(Job(service.url, 1, 1, (question,))))
            served.append(time.perf_counter() - started)
        started = time.perf_counter()
        python(KLARTEXT, "answer", environ={"KLARTEXT_DATA": str(data)}, told=question + "\n")
        answered.append(time.perf_counter() - started)
    first, second = statistics.median(served), statistics.median(answered)
    return BenchFigure(name, first / second, 2, "x", f"{first:.1f} s / {second:.1f} s")


def _medians(pairs: Sequence[Pair], of: Callable[[LoadTimes], float]) -> tuple[float, float]:
    return (
        statistics.median(of(pair.service) for pair in pairs),
        statistics.median(of(pair.floor) for pair in pairs),
    )


def quantile(measured: LoadTimes, share: float) -> float:
    """Return the seconds that a share of the turns took at the most."""
    ordered = sorted(measured.seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
