"""The trail: every act of staff, who, what, before, after and when, each bound to the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

NOTHING = "0" * 64  # stands for the act before the first


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that somebody did.

    Attributes:
        at: When, with time zone.
        by: The name of the person, or of what acted by itself.
        action: In one word, such as ``sign`` or ``login``.
        what: What it was done to, such as ``pair duration de``.
        before, after: How that stood, as JSON values without patients' words; empty where it is not about content.
        request_id: Of the request.
        number: From 1; 0 before it is stored.
        hash: SHA-256 over the act and the hash of the one before it; empty before it is stored.
    """

    at: datetime
    by: str
    action: str
    what: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    number: int = 0
    hash: str = ""

    def hashed(self, previous: str) -> str:
        said = [self.at.isoformat(), self.by, self.action, self.what, self.before, self.after, self.request_id]
        written = json.dumps([previous, *said], ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(written.encode()).hexdigest()


class Acts(Protocol):
    """The trail as it is kept: acts are added with what they did, in one transaction, and never changed."""

    def note(self, *acts: Act) -> None:
        """Add acts that change nothing else: all, or none."""
        ...

    def read(self, *, what: str = "", by: str = "", before: int | None = None, most: int = 100) -> list[Act]:
        """Return the newest acts, newest first; `before`: only those with a smaller number."""
        ...

    def all(self) -> Iterator[Act]:
        """Yield all acts, oldest first."""
        ...

    def head(self) -> tuple[int, str]:
        """Return how many acts there are, and the hash of the last: whoever cuts off the end is found out by it."""
        ...


@dataclass(frozen=True, slots=True)
class TrailEnd:
    """The end of the trail as the audit log saw it, which lies outside the database and is keyed.

    Attributes:
        number, hash: Of the last act.
        at: When.
        restored: Whether a backup was restored then: what was seen behind it before is gone for a reason.
    """

    number: int
    hash: str
    at: datetime
    restored: bool = False


def first_lost(acts: Sequence[Act], seen: Sequence[TrailEnd]) -> TrailEnd | None:
    """Return the first end of the trail that was seen, in order, and is not there any more; None where all are.

    Whoever can write the database can make the whole trail anew, or cut off its end; this does not fit what was seen.
    """
    counting = list[TrailEnd]()
    for head in seen:
        if head.restored:
            counting = [each for each in counting if each.number <= head.number]
        counting.append(head)
    hashes = [NOTHING, *(act.hash for act in acts)]
    return next((each for each in counting if each.number >= len(hashes) or hashes[each.number] != each.hash), None)


def first_flaw(acts: Sequence[Act]) -> int | None:
    """Return the number of the first act that is not as it was written, or is missing; None where all are whole."""
    previous = NOTHING
    for number, act in enumerate(acts, 1):
        if act.number != number or act.hashed(previous) != act.hash:
            return number
        previous = act.hash
    return None
