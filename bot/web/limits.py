"""What is too much: sizes, and rates by key in token buckets of this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

MAX_BODY_BYTES = 64 * 1024
MAX_FIELDS = 64  # of what a page sends
MAX_QUESTION_FIELDS = 2000  # likewise a page of questions, which has some of each
MAX_HEAD_BYTES = 32 * 1024
FULL_FILES = 4  # a conversation holds so many files of the largest size: its Bundle must still be taken by a server
MAX_KEYS = 10_000  # the least recently seen are forgotten: memory stays bounded under attack


class RateLimit:
    """At most so many requests a minute of one key, in bursts of as many."""

    def __init__(self, per_minute: int, *, clock_s: Callable[[], float], max_keys: int = MAX_KEYS) -> None:
        self._per_s = per_minute / 60
        self._burst = float(per_minute)
        self._clock_s = clock_s
        self._max_keys = max_keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, key: str) -> float:
        """Return 0 and count the request if it may pass, else the seconds until it may."""
        with self._lock:
            now = self._clock_s()
            left, seen = self._buckets.pop(key, (self._burst, now))
            left = min(self._burst, left + (now - seen) * self._per_s)
            passes = left >= 1
            self._buckets[key] = (left - 1 if passes else left, now)
            if len(self._buckets) > self._max_keys:
                self._buckets.popitem(last=False)
            return 0.0 if passes else (1 - left) / self._per_s
