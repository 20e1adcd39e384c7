"""Ask several questions at once: each lane has one under way, and answers come in the order of the questions."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.systems import Answer, Failure, System


@dataclass(frozen=True)
class Lanes:
    """One system that is asked in parallel.

    Attributes:
        identity: What it is.
        lanes: Each takes one question at a time; threads that may share a system have the same one in several lanes.
    """

    identity: dict[str, str]
    lanes: Sequence[System]

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Answer | Failure]:
        free: queue.SimpleQueue[System] = queue.SimpleQueue()
        for lane in self.lanes:
            free.put(lane)

        def one(text: str) -> Answer | Failure:
            lane = free.get()
            try:
                (answer,) = lane.ask([text], language)
            finally:
                free.put(lane)
            return answer

        pool = ThreadPoolExecutor(len(self.lanes), thread_name_prefix="asking")
        try:
            yield from pool.map(one, texts)
        finally:
            # Who asks stops early when the system is down: what has not begun is not asked then.
            pool.shutdown(cancel_futures=True)
