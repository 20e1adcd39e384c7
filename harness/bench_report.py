"""How long the page about a run takes, and how heavy it is."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from harness.comparison import load_run
from harness.figures import Figure, median_of
from harness.reporting.command import Sources, gather
from harness.reporting.page import render
from harness.run import run_suite
from harness.suite import Suite
from harness.systems import InProcess

MOST_S, MOST_MB = 2.0, 3.0


def measure_report(system: InProcess, suite: Suite, data: Path, repeats: int) -> list[Figure]:
    """Measure the page about a run beside itself as the baseline: everything is on it.

    These limits are absolute: a person waits, and a page is sent by mail.
    """
    only = Suite(suite.meta, suite.paraphrases)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_suite(only, system, system.assistant.catalog(suite.meta.language), folder)

        sources = Sources(suite.meta.catalog, data, baseline=folder)

        def page() -> str:
            return render(gather(load_run(folder), sources), made=datetime.now(UTC))

        seconds = median_of(page, repeats)
        size = len(page().encode()) / 1e6
    count = len(only.questions)
    return [
        Figure(f"page about a run of {count}", seconds, MOST_S, "s", f"{seconds * 1000:.0f} ms, with a baseline"),
        Figure(
            f"weight of a page about {count} questions", size, MOST_MB, "MB", f"{size * 1e6 / count:.0f} bytes each"
        ),
    ]
