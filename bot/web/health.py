"""Whether anything can be stored: that is tried, in a thread of its own, and the answer comes within a second."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

from bot.errors import KlartextError, NotWritable

log = logging.getLogger("klartext")
ANSWER_S = 0.8
PATIENT_S = 5.0  # where nobody waits: a busy machine is no database that takes nothing
GOOD_FOR_S = 1.0  # several who ask at the same time get one answer
TELL_S = 60.0  # between two lines in the log that say the same

Storage = Literal["", "no database", "cannot write"]


class StorageHealth:
    """Tries to write; never by two threads at once, however many ask and however long it takes."""

    def __init__(self, try_writing: Callable[[], None], report: Callable[[Storage], None] = lambda _: None) -> None:
        """`report` gets what was found, whoever asked."""
        self._try_writing = try_writing
        self._report = report
        self._lock = threading.Lock()
        self._trial: Future[Storage] | None = None
        self._done_s = 0.0
        self._told: tuple[str, float] = ("", 0.0)

    async def look(self) -> Storage:
        """Return what is wrong; empty when turns can be stored."""
        trial = asyncio.wrap_future(self._current())
        try:
            found = await asyncio.wait_for(asyncio.shield(trial), ANSWER_S)
        except TimeoutError:
            found = "cannot write"
        self._tell(found)
        return found

    def look_now(self) -> Storage:
        """Do the same in a thread of its own that may wait."""
        try:
            found = self._current().result(PATIENT_S)
        except TimeoutError:
            found = "cannot write"
        self._tell(found)
        return found

    def _current(self) -> Future[Storage]:
        with self._lock:
            trial = self._trial
            if trial is None or (trial.done() and time.monotonic() - self._done_s > GOOD_FOR_S):
                trial = self._trial = Future()
                threading.Thread(target=self._try, args=[trial], daemon=True, name="health").start()
            return trial

    def _try(self, trial: Future[Storage]) -> None:
        found: Storage = ""
        try:
            self._try_writing()
        except NotWritable:
            found = "cannot write"
        except KlartextError:
            found = "no database"
        except Exception:
            log.exception("nobody can tell whether anything can be stored")
            found = "no database"
        self._done_s = time.monotonic()
        trial.set_result(found)

    def _tell(self, found: Storage) -> None:
        self._report(found)
        said, at_s = self._told
        if found != said or (found and time.monotonic() - at_s > TELL_S):
            self._told = (found, time.monotonic())
            if found:
                log.error("not healthy: %s", found)
            else:
                log.info("healthy again")
