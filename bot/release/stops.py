"""The emergency stop: one person withdraws a pair, or closes the chat, at once in all releases and all processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

StopKind = Literal["withdraw", "close", "open"]


@dataclass(frozen=True, slots=True)
class Stop:
    """One act of it.

    Attributes:
        at: When.
        by: Who; to open again takes two.
        kind: A pair is withdrawn, the chat is closed, or opened again.
        pair_id: Which pair; empty for the chat.
        release: The last release that existed then: in later ones the pair may be shown again.
        why: For the record.
    """

    at: datetime
    by: str
    kind: StopKind
    pair_id: str = ""
    release: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Stops:
    """What is stopped now.

    Attributes:
        closed: Whether the chat answers nothing but emergencies.
        withdrawn: Of each withdrawn pair, the last release in which it is not shown.
    """

    closed: bool = False
    withdrawn: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, acts: Sequence[Stop]) -> Stops:
        """Return what acts in order have come to."""
        closed, withdrawn = False, dict[str, int]()
        for act in acts:
            if act.kind == "withdraw":
                withdrawn[act.pair_id] = max(act.release, withdrawn.get(act.pair_id, 0))
            else:
                closed = act.kind == "close"
        return cls(closed, withdrawn)

    def pairs(self, release: int) -> frozenset[str]:
        """Return the pairs that are withdrawn from a release; 0: what is shown without one."""
        return frozenset(pair_id for pair_id, last in self.withdrawn.items() if release <= last)
