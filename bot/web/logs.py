"""Logs as JSON lines that never hold what a patient wrote.

Only our own messages are written out, and the web server's; of all others just their place is told. Of errors, the type
and the way through our code are written, not their text: libraries quote values in it. What is said while a request is
answered bears its id.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

from bot.errors import NotSent, Unreachable

SPOKEN = ("klartext", "uvicorn")
FRAMES = 12
OUTAGES = (Unreachable, NotSent)
REPEAT_S = 60.0


# Of the request that is being answered, in the thread that answers it; empty beside requests.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """Return the id of the request that is being answered; empty where there is none."""
    return REQUEST_ID.get()


class JsonLines(logging.Formatter):
    """One JSON object a record; `extra={"fields": {…}}` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if record.name.split(".")[0] in SPOKEN:
            line["event"] = record.getMessage().strip()
        else:
            line["event"] = "message withheld"
            line["place"] = f"{record.module}:{record.lineno}"
        line.update(getattr(record, "fields", {}))
        if request_id():
            line["request_id"] = request_id()
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            if not isinstance(record.exc_info[1], OUTAGES):  # where it was noticed says nothing of why
                line["frames"] = _frames(record.exc_info[2])
        return json.dumps(line)


class OncePerMinute(logging.Filter):
    """Lets one line a minute through of what cannot be reached, for each message and kind of error, with a count.

    While a database or server is away each request and each round says the same: what is new must not drown in it.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._told: dict[tuple[str, str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, OUTAGES):
            return True
        cause, now_s = (record.name, str(record.msg), type(error).__name__), self._clock_s()
        with self._lock:
            told_s, kept = self._told.get(cause, (float("-inf"), 0))
            if now_s - told_s < REPEAT_S:
                self._told[cause] = (told_s, kept + 1)
                return False
            self._told[cause] = (now_s, 0)
        if kept:
            record.fields = {**getattr(record, "fields", {}), "more_in_the_last_minute": kept}
        return True


def configure() -> None:
    """Send every log, warning and uncaught error of this process through `JsonLines` to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(OncePerMinute())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("klartext").setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # what is routine, we say ourselves
    logging.getLogger("uvicorn.access").disabled = True  # it writes whole addresses
    logging.captureWarnings(True)
    threading.excepthook = _thread_died


class _Counting(logging.Handler):
    """Tells how many lines there are of each level."""

    def __init__(self, count: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._count = count

    def emit(self, record: logging.LogRecord) -> None:
        self._count("critical" if record.levelno >= logging.CRITICAL else "error")


def count_errors(count: Callable[[str], None]) -> None:
    """Let `count` get the level of every error that is logged from now on, whoever logs it."""
    logging.getLogger().addHandler(_Counting(count))


def _thread_died(args: threading.ExceptHookArgs) -> None:
    logging.getLogger("klartext").critical(
        "a thread died", exc_info=(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
    )


def _frames(trace: TracebackType | None) -> list[str]:
    found: Iterable[traceback.FrameSummary] = traceback.extract_tb(trace)[-FRAMES:]
    return [f"{frame.filename.rsplit('/', 2)[-1]}:{frame.lineno} {frame.name}" for frame in found]
