"""Work that costs less together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot import Assistant
from bot.together import Together

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
        while len(together._waiting) < MANY - 1:
            threading.Event().wait(0.01)
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
        while len(together._waiting) < 3:
            threading.Event().wait(0.01)
        doubling.go.set()
        assert first.result() == 2
        assert others[0].result() == 24
        assert others[2].result() == 28
        with pytest.raises(ValueError, match="13"):
            others[1].result()

    assert together.ask(5) == 10


def test_questions_asked_at_once_are_decided_as_one_by_one(small: Assistant) -> None:
    texts = ["tut das weh?", "was kostet das?", "does it hurt?", "dauer und kosten?", "Ich kriege keine Luft", ""] * 5
    alone = [small.answer(text) for text in texts]

    with ThreadPoolExecutor(12) as pool:
        at_once = list(pool.map(small.answer, texts))

    assert [(a.decision, a.pair_id, a.lang, a.flag) for a in at_once] == [
        (a.decision, a.pair_id, a.lang, a.flag) for a in alone
    ]
