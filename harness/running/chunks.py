"""Chunks: what is asked together, and what is stored together. Whoever asks encodes; whoever stores only writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal

from bot import Catalog
from harness.running.dialogues import Conversations, goes_on, require_conversing
from harness.running.outcomes import ERROR, Equivalence, Outcome, Placed, Row
from harness.systems.system import NO_LINE, Failure, System

CHUNK = 128  # questions that a system gets at once: the same everywhere, so that batches are, too
MOST_FAILURES = 10  # in a row: then the system is down, and asking on would only mark every question as failed
Encode = Callable[[Sequence[Row]], bytes]
Format = Literal["jsonl", "parquet"]  # how outcomes are encoded


@dataclass(frozen=True, slots=True)
class Batch:
    """Outcomes as they will be stored, whole or not at all.

    Attributes:
        payload: Encoded outcomes.
        count: How many.
        down: What failed last, when the system failed so often in a row that it must be down.
    """

    payload: bytes
    count: int
    down: str | None = None


@dataclass(slots=True)
class Strikes:
    """Failures in a row; a dialogue fails once."""

    count: int = 0
    reason: str | None = None

    def note(self, unit: Sequence[Row]) -> None:
        last = unit[-1][1]
        # A file that lacks lines is not down.
        self.count = self.count + 1 if last.decision == ERROR and last.error != NO_LINE else 0
        self.reason = last.error

    @property
    def out(self) -> bool:
        return self.count >= MOST_FAILURES


@dataclass(frozen=True)
class Asking:
    """What is asked, about what, and how answers are encoded."""

    system: System
    catalog: Catalog
    encode: Encode

    def outcomes(self, chunk: Sequence[Placed]) -> Iterator[Row]:
        """Ask the questions of a chunk, in order; a slow system's outcomes come as they are there."""
        return (row for rows in self.units(chunk) for row in rows)

    def units(self, chunk: Sequence[Placed]) -> Iterator[list[Row]]:
        """Ask as `outcomes` does, and yield together what must be stored together: the turns of a dialogue."""
        for spoken, group in groupby(chunk, key=lambda placed: placed[1].expect is not None):
            if spoken:
                yield from self._talk.outcomes(list(group))
            else:
                yield from ([row] for row in self._asked(list(group)))

    def _asked(self, chunk: Sequence[Placed]) -> Iterator[Row]:
        replies = self.system.ask([question.text for _, question in chunk], self.catalog.language)
        for (place, question), reply in zip(chunk, replies, strict=True):
            if isinstance(reply, Failure):
                yield place, Outcome.failed(question, reply)
            else:
                yield place, Outcome.of(question, reply, self._same.accepted(question.pair_id))

    @cached_property
    def _talk(self) -> Conversations:
        return Conversations(require_conversing(self.system, turns=False), self.catalog, self._same)

    @cached_property
    def _same(self) -> Equivalence:
        return Equivalence.of(self.catalog)

    def whole(self, questions: Sequence[Placed]) -> Batch:
        """Ask all of several chunks, or as many as the system answers before it is down."""
        rows: list[Row] = []
        strikes = Strikes()
        for chunk in chunked(questions, CHUNK):
            for unit in self.units(chunk):
                rows += unit
                strikes.note(unit)
                if strikes.out:
                    return Batch(self.encode(rows), len(rows), strikes.reason)
        return Batch(self.encode(rows), len(rows))


@dataclass
class Here:
    """Asks in this process, and stores often enough that a kill costs little.

    Attributes:
        asking: What is asked.
        rows: A batch holds at most so many outcomes …
        pause_s: … and, when the system is slow, what came in so many seconds.
    """

    asking: Asking
    rows: int
    pause_s: float
    _strikes: Strikes = field(default_factory=Strikes)

    def batches(self, questions: Iterable[Placed]) -> Iterator[Batch]:
        kept: list[Row] = []
        since = time.monotonic()
        for chunk in chunked(questions, CHUNK):
            for unit in self.asking.units(chunk):
                kept += unit
                self._strikes.note(unit)
                late = time.monotonic() - since > self.pause_s
                if late or self._strikes.out:
                    yield self._batch(kept)
                    kept, since = [], time.monotonic()
                if self._strikes.out:
                    return
            if len(kept) + CHUNK > self.rows:  # another chunk would be too much
                yield self._batch(kept)
                kept, since = [], time.monotonic()
        if kept:
            yield self._batch(kept)

    def _batch(self, rows: list[Row]) -> Batch:
        return Batch(self.asking.encode(rows), len(rows), self._strikes.reason if self._strikes.out else None)


def chunked(questions: Iterable[Placed], size: int) -> Iterator[list[Placed]]:
    """Yield lists of `size` questions; the last may be shorter, and no dialogue is cut in two."""
    chunk: list[Placed] = []
    for placed in questions:
        if len(chunk) >= size and not goes_on(chunk[-1][1], placed[1]):
            yield chunk
            chunk = []
        chunk.append(placed)
    if chunk:
        yield chunk
