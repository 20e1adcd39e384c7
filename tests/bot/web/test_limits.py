"""Token buckets."""

from __future__ import annotations

from dataclasses import dataclass

from bot.web.limits import RateLimit


@dataclass
class Clock:
    """A clock that a test sets."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_passes_and_the_rest_waits() -> None:
    clock = Clock()
    limit = RateLimit(60, clock_s=clock)

    assert [limit.wait_s("a") for _ in range(60)] == [0.0] * 60
    assert limit.wait_s("a") == 1.0
    assert limit.wait_s("b") == 0.0
    clock.now_s = 1.0
    assert [limit.wait_s("a"), limit.wait_s("a")] == [0.0, 1.0]


def test_a_long_pause_gives_no_more_than_one_burst() -> None:
    clock = Clock()
    limit = RateLimit(2, clock_s=clock)
    limit.wait_s("a")
    clock.now_s = 1e6

    assert [limit.wait_s("a") > 0 for _ in range(3)] == [False, False, True]


def test_many_keys_do_not_fill_the_memory() -> None:
    limit = RateLimit(1, clock_s=Clock(), max_keys=3)

    for key in "abcd":
        limit.wait_s(key)

    assert limit.wait_s("d") > 0
    assert limit.wait_s("a") == 0.0  # forgotten
