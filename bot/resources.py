"""What this program finds around it: the shipped data (in a wheel below ``bot/_data``), and the machine's cores."""

from __future__ import annotations

import os
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
