"""Workers that take chunks: batches come back in the order of the questions, and few are under way at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from bot import BadData
from harness.running.chunks import CHUNK, Batch, Placed, chunked
from harness.running.recipe import Refused

MOST_CHUNKS = 8  # that a worker gets at once: 1,024 questions, also the outcomes of one Parquet part
ROUNDS = 8  # every worker gets at least so many turns, so that none waits long for the last


class Promised(Protocol):
    """What a worker will bring."""

    def result(self) -> Batch | Refused: ...


def in_order(
    questions: Iterable[Placed], submit: Callable[[list[Placed]], Promised], *, size: int, width: int
) -> Iterator[Batch]:
    """Yield batches as they are done, in order.

    Args:
        questions: To be asked.
        submit: Gives questions to a worker.
        size: Questions in one batch.
        width: Batches under way at once, those that wait for an earlier one among them.

    Raises:
        BadData: A worker cannot ask.
    """
    under_way: deque[Promised] = deque()
    for chunk in chunked(questions, size):
        under_way.append(submit(chunk))
        if len(under_way) >= width:
            yield _batch(under_way.popleft())
    while under_way:
        yield _batch(under_way.popleft())


def size_of(count: int, workers: int, *, outside: bool) -> int:
    """Return how many of `count` questions a worker gets at once.

    This assistant gets whole chunks, so that its batches are the same wherever it is asked. Systems outside get one
    question at a time and may be slow: a worker's death costs all that it has under way.
    """
    fair = count // (ROUNDS * workers)
    return max(1, min(CHUNK, fair)) if outside else CHUNK * max(1, min(MOST_CHUNKS, fair // CHUNK))


def _batch(promised: Promised) -> Batch:
    batch = promised.result()
    if isinstance(batch, Refused):
        raise BadData(batch.reason)
    return batch
