"""Send requests at a pace, and again after faults that may pass."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx

from harness.external.file import EndpointFile

TOO_MANY, BUSY = 429, 503
LONGEST_WAIT_S = 60.0  # that a server's Retry-After is heeded


class Failed(Exception):
    """A request that failed for good; the message never quotes the question."""


class Pace:
    """At most so many starts a second, by all threads together."""

    def __init__(self, per_second: float | None) -> None:
        self._between_s = 1 / per_second if per_second else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self) -> None:
        """Sleep until the next start is due."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._between_s
        time.sleep(start - now)


class Caller:
    """Sends requests, and sends them again after no connection, a time-out, 429 and 5xx. Threads may share it."""

    def __init__(self, client: httpx.Client, system: EndpointFile, pace: Pace) -> None:
        self.client = client
        self.pace = pace
        self._system = system

    def send(self, request: httpx.Request) -> Any:
        """Return the JSON that came back, None for an empty answer; raise Failed when there is none in the end."""
        reason, wait_s = "", 0.0
        for attempt in range(self._system.retries + 1):
            if attempt:
                time.sleep(max(wait_s, self._system.backoff_s * 2 ** (attempt - 1)))
                self.pace.wait()
            wait_s = 0.0
            try:
                response = self.client.send(request)
            except httpx.TimeoutException:
                reason = f"no answer within {self._system.timeout_s:g} s"
                continue
            except httpx.TransportError as error:
                reason = f"no connection ({type(error).__name__})"
                continue
            if response.status_code != TOO_MANY and response.status_code < 500:
                return _json(response)
            reason = f"status {response.status_code}"
            wait_s = _asked_to_wait_s(response)
        raise Failed(reason)


def _json(response: httpx.Response) -> Any:
    if not response.is_success:
        raise Failed(f"status {response.status_code}")
    if not response.content:
        return None
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise Failed("no JSON") from error


def _asked_to_wait_s(response: httpx.Response) -> float:
    """Return the seconds of Retry-After; 0 where there are none, or only a date."""
    said = response.headers.get("retry-after", "")
    if response.status_code not in (TOO_MANY, BUSY) or not said.isdecimal():
        return 0.0
    return min(float(said), LONGEST_WAIT_S)
