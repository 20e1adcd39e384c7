"""Work that costs less together than one by one: threads that wait for the same thing are served in one go."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Found = TypeVar("Found")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Asked, Found]):
    """One thread that asks; it is woken when it has its result, or is called to serve."""

    asked: Asked
    found: list[Found] = field(default_factory=list)
    error: BaseException | None = None
    is_called: bool = False  # to serve; nobody else will then
    woken: threading.Event = field(default_factory=threading.Event)


class Together(Generic[Asked, Found]):
    """Gathers what threads ask while another thread is at work, and lets the first of them do all of it.

    There is no thread of its own and nobody waits for company: who asks alone is served at once.
    """

    def __init__(self, serve: Callable[[Sequence[Asked]], Sequence[Found]], *, at_most: int, at_work: int = 1) -> None:
        """Serve with `serve`, which returns one result for each thing asked, in order.

        `at_most` things go into one call, and up to `at_work` threads are in it at once.
        """
        self._serve = serve
        self._at_most = at_most
        self._free = at_work
        self._lock = threading.Lock()
        self._waiting: deque[_Waiting[Asked, Found]] = deque()

    def ask(self, asked: Asked) -> Found:
        """Return the result for one thing; errors are raised in the thread that asked."""
        mine: _Waiting[Asked, Found] = _Waiting(asked)
        try:
            with self._lock:
                self._waiting.append(mine)
                self._call_next()
            mine.woken.wait()
            if mine.is_called:
                self._serve_with(mine)
        except BaseException:
            self._leave(mine)
            raise
        if mine.error is not None:
            raise mine.error
        return mine.found[0]

    def _call_next(self) -> None:
        """Call who waits longest to serve, where one more may; it is in the queue no longer."""
        if self._free and self._waiting:
            self._free -= 1
            called = self._waiting.popleft()
            called.is_called = True
            called.woken.set()

    def _serve_with(self, mine: _Waiting[Asked, Found]) -> None:
        """Serve this thread and the first in the queue, and let the next in the queue serve the others."""
        some = [mine]
        try:
            with self._lock:
                some += [self._waiting.popleft() for _ in range(min(self._at_most - 1, len(self._waiting)))]
            self._serve_some(some)
        except BaseException as error:  # this thread is being stopped: nobody may wait for it for ever
            for each in some:
                each.error = each.error or error
            raise
        finally:
            for each in some:
                each.woken.set()
            self._done(mine)

    def _leave(self, mine: _Waiting[Asked, Found]) -> None:
        """Take a thread that was stopped out of the queue; if it was its turn to serve, it is the next one's."""
        with self._lock, suppress(ValueError):  # it is in the queue no longer
            self._waiting.remove(mine)
        self._done(mine)

    def _done(self, mine: _Waiting[Asked, Found]) -> None:
        """Give back, once, that this thread may serve."""
        with self._lock:
            if mine.is_called:
                mine.is_called = False
                self._free += 1
                self._call_next()

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
