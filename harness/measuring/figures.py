"""One measured figure beside its limit; how times are taken, and what a process of its own tells."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KLARTEXT = "from bot.commands.main import main; main()"
# For programs that tell their peak. Not getrusage: its peak is inherited from the process that started this one.
PEAK_MB = """\
import re
from pathlib import Path
def peak_mb():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
"""


@dataclass(frozen=True, slots=True)
class BenchFigure:
    """One measured figure and its limit.

    Attributes:
        name: What was measured.
        value: Ratio, or in the unit.
        limit: At most this.
        unit: ``x`` for ratios, ``MB``, ``s``, or nothing for counts and shares.
        detail: The medians behind it.
    """

    name: str
    value: float
    limit: float
    unit: str
    detail: str

    @property
    def holds(self) -> bool:
        return self.value <= self.limit


def median_of(act: Callable[[], object], repeats: int) -> float:
    """Return the median time in seconds, after one call that does not count."""
    act()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def milliseconds(first: float, second: float) -> str:
    """Return two times in seconds as text."""
    return f"{first * 1000:.2f} ms / {second * 1000:.2f} ms"


def ratio(name: str, first: float, second: float, limit: float) -> BenchFigure:
    """Return the figure for two times in seconds, which must be at most `limit` times each other."""
    return BenchFigure(name, first / second, limit, "x", milliseconds(first, second))


def python(code: str, *arguments: object, environ: Mapping[str, str] | None = None, told: str = "") -> tuple[str, str]:
    """Run a program in a process of its own; return what it wrote to standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        input=told,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **(environ or {})},
    )
    return done.stdout, done.stderr
