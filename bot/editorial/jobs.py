"""Long work that staff ask for: queued in the database, done by a process that is free, begun again if that dies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
LOST_AFTER = timedelta(seconds=30)  # without a sign of life, whoever did it is taken for dead


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work.

    Attributes:
        id: Number in this database.
        kind: Which work; whoever does it is looked up by this.
        by: The name of the person who asked.
        asked: When.
        state: How it stands.
        wanted: What was asked for, as JSON values.
        share: How much of it is done, 0 to 1.
        told: What is going on now, in a few words; of a failure, one clear line.
        result: What came of it, as JSON values.
        ended: When it ended.
    """

    id: int
    kind: str
    by: str
    asked: datetime
    state: JobState
    wanted: Mapping[str, Any] = field(default_factory=dict)
    share: float = 0.0
    told: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    ended: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


class Cancelled(Exception):
    """Somebody cancelled the job: whoever does it stops."""


class Jobs(Protocol):
    """The queue."""

    def ask(self, kind: str, wanted: Mapping[str, Any], *, by: str, now: datetime) -> Job:
        """Queue work; the same work that still waits or runs is returned instead."""
        ...

    def get(self, id_: int) -> Job | None: ...

    def newest(self, kind: str = "", *, most: int = 20) -> list[Job]:
        """Return the newest jobs, newest first."""
        ...

    def claim(self, kinds: frozenset[str], *, now: datetime) -> Job | None:
        """Take the oldest that waits, or whose worker is lost; None where there is nothing to do."""
        ...

    def tell(self, id_: int, share: float, told: str, *, now: datetime) -> None:
        """Say how far it is, which is also a sign of life.

        Raises:
            Cancelled: It is no longer wanted.
        """
        ...

    def end(self, id_: int, state: JobState, told: str, result: Mapping[str, Any], *, now: datetime) -> None:
        """Say what came of it; a job that was cancelled meanwhile stays so."""
        ...

    def cancel(self, id_: int, *, by: str, now: datetime) -> bool:
        """Stop a job that waits or runs; say whether there was something to stop."""
        ...
