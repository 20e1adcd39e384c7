"""The emergency stop: one person withdraws a pair, or closes the chat, at once in all releases and all processes.

A stop is of texts: it remembers those that it withdrew, and holds for them in later releases too, whoever signs them
again. It ends for a text that was changed and signed since, and else only when somebody lifts it. Where one service
answers for several exams, it holds for all of them, or for one that it names; it is ended as it was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
        exam: For which alone it holds, by the name of its releases; empty: for all.
    """

    at: datetime
    by: str
    kind: StopKind
    pair_id: str = ""
    release: int = 0
    why: str = ""
    texts: tuple[str, ...] = ()
    exam: str = ""

    @property
    def about(self) -> str:
        """What it is about, for people: a pair or the chat, and the exam that it names."""
        return f"{self.pair_id or 'the chat'}{f' of {self.exam}' if self.exam else ''}"


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

    def with_(self, other: Withdrawn) -> Withdrawn:
        """Return what holds where a pair is withdrawn twice: more."""
        last = max((self, other), key=lambda each: each.at)
        return Withdrawn(last.at, last.by, max(self.release, other.release), self.texts | other.texts)


@dataclass(frozen=True, slots=True)
class Stops:
    """What is stopped now: for all exams, and beside it in one of them.

    Attributes:
        closed: Whether the chat answers nothing but emergencies.
        withdrawn: How pairs are withdrawn, by their ids.
        lost: Which of it the database does not know any more (`StopMemory`): pairs, and `the chat`.
        exams: What is stopped in one exam alone, by its name.
    """

    closed: bool = False
    withdrawn: Mapping[str, Withdrawn] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    exams: Mapping[str, Stops] = field(default_factory=dict)

    @classmethod
    def of(cls, acts: Sequence[Stop]) -> Stops:
        """Return what acts in order have come to."""
        named = sorted({act.exam for act in acts} - {""})
        exams = {exam: cls._come_to([act for act in acts if act.exam == exam]) for exam in named}
        return replace(cls._come_to([act for act in acts if not act.exam]), exams=exams)

    @classmethod
    def _come_to(cls, acts: Sequence[Stop]) -> Stops:
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

    def in_exam(self, exam: str) -> Stops:
        """Return what holds in conversations about an exam."""
        own = self.exams.get(exam)
        if own is None:
            return replace(self, exams={})
        withdrawn = dict(self.withdrawn)
        for pair_id, stopped in own.withdrawn.items():
            known = withdrawn.get(pair_id)
            withdrawn[pair_id] = stopped.with_(known) if known is not None else stopped
        return Stops(self.closed or own.closed, withdrawn, self.lost)

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


@dataclass
class StopMemory:
    """Every act that a process has seen, in order: rows are only ever added, and one that vanishes ends no stop.

    What would end it is a later act, or a text that was changed and signed since. What is gone of acts that end a stop
    is not kept against the database, so that the stricter of the two holds.
    """

    _acts: list[Stop] = field(default_factory=list)
    _lost: set[_Mark] = field(default_factory=set)

    def see(self, found: Sequence[Stop]) -> Seen:
        """Take in what the database has now."""
        there, known = {_mark(act) for act in found}, {_mark(act) for act in self._acts}
        new = [act for act in found if _mark(act) not in known]
        gone = [act for act in self._acts if _mark(act) not in there]
        lost = [act for act in gone if _mark(act) not in self._lost]
        self._lost = {_mark(act) for act in gone}
        # The database's own order while it has them all: of two that are stored at once, either may be seen first.
        self._acts = [*self._acts, *new] if gone else list(found)
        return Seen(_stricter(Stops.of(self._acts), Stops.of(found)), new, lost)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at the database came to: what is stopped, and which acts are new, or gone, since the last one."""

    stops: Stops
    new: Sequence[Stop]
    lost: Sequence[Stop]


_Mark = tuple[datetime, str, str, str, str]


def _mark(act: Stop) -> _Mark:
    """Return what tells an act from others; a stop that is done again after it was lost is the same one."""
    return act.at, act.by, act.kind, act.pair_id, act.exam


def _stricter(remembered: Stops, found: Stops) -> Stops:
    lost = [pair for pair in remembered.withdrawn if pair not in found.withdrawn]
    chat = ["the chat"] if remembered.closed and not found.closed else []
    named = sorted({*remembered.exams, *found.exams})
    exams = {each: _stricter(remembered.exams.get(each, Stops()), found.exams.get(each, Stops())) for each in named}
    return Stops(
        remembered.closed or found.closed,
        {**found.withdrawn, **remembered.withdrawn},
        (*chat, *sorted(lost), *(f"{each} of {exam}" for exam, own in exams.items() for each in own.lost)),
        exams,
    )
