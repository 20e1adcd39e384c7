"""The emergency stop: one person withdraws a pair, or closes the chat, at once in all releases and all processes.

A stop is of texts: it remembers those that it withdrew, and holds for them in later releases too, whoever signs them
again. It ends for a text that was changed and signed since, and else only when somebody lifts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

StopKind = Literal["withdraw", "lift", "close", "open"]


@dataclass(frozen=True, slots=True)
class Stop:
    """One act of it.

    Attributes:
        at: When.
        by: Who; to open again takes two.
        kind: A pair is withdrawn, or that is lifted; the chat is closed, or opened again.
        pair_id: Which pair; empty for the chat.
        release: The last release that existed then.
        why: For the record.
        texts: SHA-256 of each text that was withdrawn: those of the pair in all releases and languages so far.
    """

    at: datetime
    by: str
    kind: StopKind
    pair_id: str = ""
    release: int = 0
    why: str = ""
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How a pair is withdrawn: when and by whom last, up to which release, and in which texts; as of `Stop`."""

    at: datetime
    by: str
    release: int
    texts: frozenset[str]

    def keeps(self, text: str, signed: datetime) -> bool:
        """Say whether a text stays stopped in a release made now; `signed`: when its first signature was given."""
        return text in self.texts or signed <= self.at


@dataclass(frozen=True, slots=True)
class Stops:
    """What is stopped now.

    Attributes:
        closed: Whether the chat answers nothing but emergencies.
        withdrawn: How pairs are withdrawn, by their ids.
    """

    closed: bool = False
    withdrawn: Mapping[str, Withdrawn] = field(default_factory=dict)

    @classmethod
    def of(cls, acts: Sequence[Stop]) -> Stops:
        """Return what acts in order have come to."""
        closed, withdrawn = False, dict[str, Withdrawn]()
        for act in acts:
            if act.kind == "withdraw":
                known = withdrawn.get(act.pair_id, Withdrawn(act.at, act.by, act.release, frozenset()))
                last = (act.at, act.by) if act.at >= known.at else (known.at, known.by)
                texts = known.texts.union(act.texts)
                withdrawn[act.pair_id] = Withdrawn(*last, max(act.release, known.release), texts)
            elif act.kind == "lift":
                withdrawn.pop(act.pair_id, None)
            else:
                closed = act.kind == "close"
        return cls(closed, withdrawn)

    def pairs(self, number: int, made: datetime, manifest: Mapping[str, Any], language: str) -> frozenset[str]:
        """Return the pairs that are withdrawn from a release in a language.

        In one that was made before the stop all of them are; in a later one those with a text that was withdrawn, or
        that were signed before it.
        """
        marked = manifest.get("stopped", {}).get(language, ())
        return frozenset(
            pair_id
            for pair_id, stopped in self.withdrawn.items()
            if number <= stopped.release
            or made <= stopped.at
            or pair_id in marked
            or manifest["texts"].get(f"pair {pair_id} {language}") in stopped.texts
        )
