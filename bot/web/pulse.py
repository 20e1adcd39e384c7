"""Whether the threads beside the answers run: none of them may die, or hang, and nobody see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.web.metrics import Metrics

# After so long without a round that went well, a thread counts as one that hangs. The delivery of ordinary entries
# waits for five minutes when the server is away, and beats with each entry that it sends.
STALLED_S: Mapping[str, float] = {"red-flags": 60.0, "delivery": 30 * 60.0}


@dataclass(slots=True)
class Pulse:
    """What is known of each thread, by its name.

    Attributes:
        metrics: Are told the same.
    """

    metrics: Metrics
    _beaten_s: dict[str, float] = field(default_factory=dict)
    _dead: set[str] = field(default_factory=set)

    def watched(self, name: str, run: Callable[[], None], *, ending: Callable[[], bool]) -> Callable[[], None]:
        """Return `run` for a thread whose end is told, unless the service ends."""

        def watched_run() -> None:
            self._dead.discard(name)
            self.metrics.task(name, running=True)
            self.beat(name)
            try:
                run()
            finally:
                if not ending():
                    self._dead.add(name)
                    self.metrics.task(name, running=False)

        return watched_run

    def beat(self, name: str) -> None:
        """Note that a thread has done its round without an error."""
        self._beaten_s[name] = time.monotonic()
        self.metrics.beat(name)

    def broken(self) -> str:
        """Say whether a thread that delivers has died (`dead_thread`) or hangs (`stalled`); empty when all is well."""
        now_s = time.monotonic()
        if self._dead & set(STALLED_S):
            return "dead_thread"
        late = [name for name, most_s in STALLED_S.items() if now_s - self._beaten_s.get(name, now_s) > most_s]
        return "stalled" if late else ""
