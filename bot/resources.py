"""What this program finds around it: the shipped data (in a wheel below ``bot/_data``), and the machine's cores."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder `name` (``qa_pairs``, ``vignettes`` or ``fhir``)."""
    packaged = _HERE / "_data" / name
    return packaged if packaged.is_dir() else _HERE.parent / name


def operations_folder() -> Path:
    """Return the folder with the alerting rules for Prometheus and the dashboard for Grafana."""
    packaged = _HERE / "_data" / "operations"
    return packaged if packaged.is_dir() else _HERE.parent / "docs" / "operations"


def numeric_threads() -> int:
    """Threads for linear algebra: half the usable cores.

    Its libraries wait by spinning. With as many threads as cores, one other busy process made encoding 14 times slower
    (12.3 instead of 0.9 ms a question on two cores); alone on the machine, half the threads cost about a third.
    """
    return max(1, usable_cores() // 2)


def usable_cores() -> int:
    """Cores this process may use (a container or taskset may give fewer than the machine has)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def give_back_memory() -> None:
    """Return freed memory to the operating system, where the C library can be asked to (glibc).

    What loading a trained catalog takes and leaves again is as much as what stays, and lies between it.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return None
    return found
