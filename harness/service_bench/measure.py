"""What the service costs beside the floor: the figures of `klartext bench --service`."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import Assistant, Settings
from harness.figures import Figure, median_of, milliseconds
from harness.service_bench.load import Job, Measured
from harness.service_bench.load import measure as ask
from harness.service_bench.processes import KLARTEXT, Running, floor, let_ask, serving
from harness.suite import load_suite

ONE, MANY = 1, 50  # patients at once
TURNS_OF_ONE, TURNS_OF_MANY = 60, 12
MEMORY_MB = 450
STARTS = 3  # each takes seconds


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load on the floor and on the service, one directly after the other."""

    floor: Measured
    service: Measured

    def ratio(self, of: Callable[[Measured], float]) -> float:
        return of(self.service) / of(self.floor)


def measure_service(repeats: int, data: Path | None) -> list[Figure]:
    """Return the figures of the service; everything is measured in turn within this run, so that noise is shared."""
    texts = tuple(question.text for question in load_suite("mammography-de").paraphrases)
    assistant = Assistant.open(data=data, sample=True)
    assistant.prepare()
    folder = Settings.from_environment(data=data).data
    decision_s = _decision(assistant, texts, repeats)
    with tempfile.TemporaryDirectory() as kept:
        database = f"sqlite:///{kept}/klartext.db"
        start = _start(texts[0], folder, f"sqlite:///{kept}/start.db", repeats)
        with floor(database) as bare, serving(folder, database) as service:
            alone = [_pair(bare, service, ONE, TURNS_OF_ONE, texts) for _ in range(repeats)]
            crowded = [_pair(bare, service, MANY, TURNS_OF_MANY, texts) for _ in range(repeats)]
            peak_mb = service.peak_mb()
    return [_one_turn(alone, decision_s), *_crowd(crowded), start, _memory(peak_mb)]


def _decision(assistant: Assistant, texts: Sequence[str], repeats: int) -> float:
    some = texts[:: max(1, len(texts) // 60)]
    return median_of(lambda: [assistant.answer(text, "de") for text in some], repeats) / len(some)


def _pair(bare: Running, service: Running, patients: int, turns: int, texts: tuple[str, ...]) -> Pair:
    found = [let_ask(Job(each.url, patients, turns, texts)) for each in (bare, service)]
    return Pair(*found)


def _one_turn(pairs: Sequence[Pair], decision_s: float) -> Figure:
    service = statistics.median(_quantile(pair.service, 0.5) for pair in pairs)
    bare = statistics.median(_quantile(pair.floor, 0.5) for pair in pairs)
    allowed = bare + 2 * decision_s
    detail = f"{milliseconds(service, bare)}, a decision {decision_s * 1000:.2f} ms"
    return Figure("one turn, p50 / floor and two decisions", service / allowed, 1, "x", detail)


def _crowd(pairs: Sequence[Pair]) -> list[Figure]:
    def p95(measured: Measured) -> float:
        return _quantile(measured, 0.95)

    def rate(measured: Measured) -> float:
        return len(measured.seconds) / measured.elapsed_s

    slow, fast = _medians(pairs, p95)
    ours, theirs = _medians(pairs, rate)
    slower = statistics.median(pair.ratio(p95) for pair in pairs)
    fewer = 1 / statistics.median(pair.ratio(rate) for pair in pairs)
    return [
        Figure(f"{MANY} patients at once, p95 / floor's", slower, 2, "x", milliseconds(slow, fast)),
        Figure(
            f"{MANY} patients at once, floor's turns per second / ours",
            fewer,
            1 / 0.6,
            "x",
            f"{theirs:.0f} / {ours:.0f} per second",
        ),
    ]


def _start(question: str, data: Path, database: str, repeats: int) -> Figure:
    """Compare `klartext serve` until its first answer with `klartext answer`."""
    name = "start of the service to first answer / klartext answer"
    served, answered = list[float](), list[float]()
    for _ in range(min(repeats, STARTS)):
        started = time.perf_counter()
        with serving(data, database) as service:
            asyncio.run(ask(Job(service.url, 1, 1, (question,))))
            served.append(time.perf_counter() - started)
        answered.append(_answer(question, data))
    first, second = statistics.median(served), statistics.median(answered)
    return Figure(name, first / second, 2, "x", f"{first:.1f} s / {second:.1f} s")


def _answer(question: str, data: Path) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", KLARTEXT, "answer"],
        input=question + "\n",
        text=True,
        check=True,
        capture_output=True,
        env={**os.environ, "KLARTEXT_DATA": str(data)},
    )
    return time.perf_counter() - started


def _memory(peak_mb: float) -> Figure:
    return Figure("peak memory of a worker", peak_mb, MEMORY_MB, "MB", f"after {MANY} patients at once")


def _medians(pairs: Sequence[Pair], of: Callable[[Measured], float]) -> tuple[float, float]:
    return (
        statistics.median(of(pair.service) for pair in pairs),
        statistics.median(of(pair.floor) for pair in pairs),
    )


def _quantile(measured: Measured, share: float) -> float:
    ordered = sorted(measured.seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
