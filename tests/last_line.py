"""The last line of a test run: what was skipped and why, and how many tests are left to `make proof`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import pytest

PROOF, LEFT_OUT = "proof", "klartext_left_to_proof"


def last_line(reasons: Iterable[str], left_out: int) -> str:
    """Return the line; reasons are those that pytest reports, with what would help behind a colon."""
    # "needs Chromium: apt-get install chromium" -> "needs Chromium"
    short = Counter(re.split(r": |\. ", reason.removeprefix("Skipped: "))[0] for reason in reasons)
    why = ", ".join(f"{reason}: {count}" for reason, count in short.most_common())
    return f"Skipped: {short.total()}{f' ({why})' if why else ''}. Left to make proof: {left_out}."


class LastLine:
    """Counts in every process that collects tests; the one that talks to the terminal writes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._left_out = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self._left_out += sum(1 for item in items if item.get_closest_marker(PROOF))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Of pytest-xdist: each of its processes has collected all tests.
        output: Mapping[str, int] = getattr(node, "workeroutput", {})
        self._left_out = max(self._left_out, output.get(LEFT_OUT, 0))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[LEFT_OUT] = self._left_out
        result = yield  # pytest's own closing line
        terminal: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            reports = terminal.stats.get("skipped", [])
            terminal.write_line(last_line((str(report.longrepr[2]) for report in reports), self._left_out))
        return result
