"""Work that costs less together than one by one: threads that wait for the same thing are served in one go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Found = TypeVar("Found")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Asked, Found]):
    """One thread that asks; it is woken when it has its result, or when it is its turn to serve."""

    asked: Asked
    found: list[Found] = field(default_factory=list)
    error: BaseException | None = None
    woken: threading.Event = field(default_factory=threading.Event)

    @property
    def is_served(self) -> bool:
        return bool(self.found) or self.error is not None


class Together(Generic[Asked, Found]):
    """Gathers what threads ask while another thread is at work, and lets the first of them do all of it.

    There is no thread of its own and nobody waits for company: who asks alone is served at once.
    """

    def __init__(self, serve: Callable[[Sequence[Asked]], Sequence[Found]], *, at_most: int) -> None:
        """`serve` returns one result for each thing asked, in order; it is never called by two threads at once."""
        self._serve = serve
        self._at_most = at_most
        self._lock = threading.Lock()
        self._waiting: list[_Waiting[Asked, Found]] = []
        self._is_serving = False

    def ask(self, asked: Asked) -> Found:
        """Return the result for one thing; errors are raised in the thread that asked."""
        mine: _Waiting[Asked, Found] = _Waiting(asked)
        try:
            with self._lock:
                self._waiting.append(mine)
                if not self._is_serving:
                    self._is_serving = True
                    mine.woken.set()
            mine.woken.wait()
            if not mine.is_served:
                self._serve_waiting()
        except BaseException:
            self._leave(mine)
            raise
        if mine.error is not None:
            raise mine.error
        return mine.found[0]

    def _serve_waiting(self) -> None:
        """Serve the first in the queue, this thread among them, and let the next in the queue serve the others."""
        some: list[_Waiting[Asked, Found]] = []
        try:
            with self._lock:
                some = self._waiting[: self._at_most]
                del self._waiting[: len(some)]
            self._serve_some(some)
        except BaseException as error:  # this thread is being stopped: nobody may wait for it for ever
            for each in some:
                each.error = each.error or error
            raise
        finally:
            for each in some:
                each.woken.set()
            with self._lock:
                self._wake_next()

    def _leave(self, mine: _Waiting[Asked, Found]) -> None:
        """Take a thread that was stopped out of the queue; if it was its turn to serve, it is the next one's."""
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
                if mine.woken.is_set():
                    self._wake_next()

    def _wake_next(self) -> None:
        self._is_serving = bool(self._waiting)
        if self._waiting:
            self._waiting[0].woken.set()

    def _serve_some(self, some: Sequence[_Waiting[Asked, Found]]) -> None:
        try:
            self._take(some)
        except Exception:
            # One of them may be at fault: the others must not suffer for it.
            for each in some:
                self._take_alone(each)

    def _take(self, some: Sequence[_Waiting[Asked, Found]]) -> None:
        found = self._serve([each.asked for each in some])
        for each, result in zip(some, found, strict=True):
            each.found = [result]

    def _take_alone(self, each: _Waiting[Asked, Found]) -> None:
        try:
            self._take([each])
        except Exception as error:
            each.error = error
