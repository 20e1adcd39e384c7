"""Work that costs less together."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot import Assistant
from bot.batching import Together, _Waiting

MANY = 30


class Doubling:
    """Doubles numbers; 13 is refused. The first call waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()
        self.began = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        self.began.set()
        self.go.wait(30)
        if 13 in numbers:
            raise ValueError("13")
        return [2 * number for number in numbers]


def until_waiting(together: Together[int, int], count: int) -> None:
    while len(together._waiting) < count:
        threading.Event().wait(0.01)


def stop_who_waits(together: Together[int, int], stop: Callable[[], None]) -> None:
    until_waiting(together, 1)
    stop()


def test_who_asks_alone_is_served_at_once() -> None:
    doubling = Doubling()
    doubling.go.set()
    together = Together(doubling, at_most=8)

    assert [together.ask(1), together.ask(2)] == [2, 4]
    assert doubling.batches == [[1], [2]]


def test_who_waits_is_served_together_and_gets_the_own_result() -> None:
    doubling = Doubling()
    together = Together(doubling, at_most=8)

    with ThreadPoolExecutor(MANY) as pool:
        first = pool.submit(together.ask, 100)
        doubling.began.wait(30)
        others = [pool.submit(together.ask, number) for number in range(20, 20 + MANY - 1)]
        until_waiting(together, MANY - 1)
        doubling.go.set()
        assert first.result() == 200
        assert [each.result() for each in others] == [2 * number for number in range(20, 20 + MANY - 1)]

    assert [len(batch) for batch in doubling.batches] == [1, 8, 8, 8, 5]


def test_an_error_hits_only_who_caused_it() -> None:
    doubling = Doubling()
    together = Together(doubling, at_most=8)

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(together.ask, 1)
        doubling.began.wait(30)
        others = [pool.submit(together.ask, number) for number in (12, 13, 14)]
        until_waiting(together, 3)
        doubling.go.set()
        assert first.result() == 2
        assert others[0].result() == 24
        assert others[2].result() == 28
        with pytest.raises(ValueError, match="13"):
            others[1].result()

    assert together.ask(5) == 10


class Stopped(BaseException):
    """A thread is being stopped, as by Ctrl+C."""


@pytest.fixture
def stop() -> Iterator[Callable[[], None]]:
    """Stop the main thread in what it waits for, by a real signal."""

    def stopped(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGUSR1, stopped)
    yield lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_who_is_stopped_while_waiting_leaves_the_queue_and_the_others_are_served(stop: Callable[[], None]) -> None:
    doubling = Doubling()
    together = Together(doubling, at_most=8)

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(together.ask, 1)
        doubling.began.wait(30)
        stopper = pool.submit(stop_who_waits, together, stop)
        with pytest.raises(Stopped):
            together.ask(2)
        stopper.result(30)
        others = [pool.submit(together.ask, number) for number in (3, 4)]
        until_waiting(together, 2)
        doubling.go.set()
        assert [each.result(30) for each in (first, *others)] == [2, 6, 8]

    assert doubling.batches == [[1], [3, 4]]
    assert together.ask(5) == 10


class StopsWhoWasWoken(threading.Event):
    def wait(self, timeout: float | None = None) -> bool:
        super().wait(timeout)
        raise Stopped


def test_who_is_stopped_when_it_is_its_turn_to_serve_leaves_that_to_the_next() -> None:
    doubling = Doubling()
    together = Together(doubling, at_most=1)

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(together.ask, 1)
        doubling.began.wait(30)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bot.batching._Waiting", lambda asked: _Waiting(asked, woken=StopsWhoWasWoken()))
            stopped = pool.submit(together.ask, 2)
            until_waiting(together, 1)
        last = pool.submit(together.ask, 3)
        until_waiting(together, 2)
        doubling.go.set()
        assert [first.result(30), last.result(30)] == [2, 6]
        with pytest.raises(Stopped):
            stopped.result(30)

    assert doubling.batches == [[1], [3]]


def test_who_is_stopped_while_serving_keeps_nobody_waiting(stop: Callable[[], None]) -> None:
    doubling = Doubling()
    together = Together(doubling, at_most=8)

    with ThreadPoolExecutor(2) as pool:
        stopper = pool.submit(stop_who_waits, together, stop)
        other = pool.submit(lambda: (doubling.began.wait(30), together.ask(3))[1])
        with pytest.raises(Stopped):
            together.ask(2)
        doubling.go.set()
        stopper.result(30)
        assert other.result(30) == 6


def test_questions_asked_at_once_are_decided_as_one_by_one(small: Assistant) -> None:
    texts = ["tut das weh?", "was kostet das?", "does it hurt?", "dauer und kosten?", "Ich kriege keine Luft", ""] * 5
    alone = [small.answer(text) for text in texts]

    with ThreadPoolExecutor(12) as pool:
        at_once = list(pool.map(small.answer, texts))

    assert [(a.decision, a.pair_id, a.lang, a.flag) for a in at_once] == [
        (a.decision, a.pair_id, a.lang, a.flag) for a in alone
    ]
