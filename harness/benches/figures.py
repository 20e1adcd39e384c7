"""One measured figure beside its limit, and how times are taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


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
