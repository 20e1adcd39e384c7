"""What the dashboard counts: questions by day, how they were answered, and how soon staff came. Pure; no words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from statistics import median
from typing import Literal, Protocol

from bot.catalog.quiz import QuizStep, Quizzed, pair_of
from bot.staff.calls import CallKind

# How a question was answered, in the order of the columns; `talk` is no question.
Kind = Literal["answered", "clarify", "declined", "urgent", "flagged"]
KINDS: tuple[Kind, ...] = ("answered", "clarify", "declined", "urgent", "flagged")
QUESTIONS: tuple[Kind, ...] = KINDS[:-1]  # a flag is said of an answer, and is no question of its own


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many turns of one kind there were on one day of the place."""

    day: date
    kind: Kind
    count: int


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a period in which the clocks of the place do not change.

    Attributes:
        since: Its beginning.
        until: Its end, which is not part of it.
        ahead: What the place is ahead of UTC.
    """

    since: datetime
    until: datetime
    ahead: timedelta


@dataclass(frozen=True, slots=True)
class CallTimes:
    """When a call was opened, and when staff first did something and first wrote; None: not yet."""

    kind: CallKind
    opened: datetime
    seen: datetime | None
    answered: datetime | None


@dataclass(frozen=True, slots=True)
class AskedText:
    """A question as it was asked, to be measured and never shown."""

    text: str
    language: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the place."""

    day: date
    counts: Mapping[Kind, int] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        return sum(self.counts.get(kind, 0) for kind in QUESTIONS)

    def of(self, kind: Kind) -> int:
        return self.counts.get(kind, 0)


@dataclass(frozen=True, slots=True)
class Response:
    """How soon calls of one kind were answered, in minutes; None where none was.

    Attributes:
        calls: How many there were; their conversations may have been deleted since, and are then not among them.
        open: How many nobody has answered by a message.
    """

    kind: CallKind
    calls: int
    open: int
    median_seen: float | None
    worst_seen: float | None
    median_answered: float | None
    worst_answered: float | None


@dataclass(frozen=True, slots=True)
class QuizCount:
    """How often a quiz was offered, asked, and answered in each way; `name` as of `Quizzed`."""

    name: str
    counts: Mapping[QuizStep, int]

    @property
    def pair_id(self) -> str:
        return pair_of(self.name)

    def of(self, step: QuizStep) -> int:
        return self.counts.get(step, 0)


class Figures(Protocol):
    """Counts of what is stored, from one moment to another (without it)."""

    def of_exam(self, exam: str) -> Figures:
        """Return the same of one exam alone: of questions, the one that they were asked of; of calls, that of the
        conversation now.
        """
        ...

    def exams(self, since: datetime, until: datetime) -> list[str]:
        """Return the exams that questions were asked of, by name; those from before it was known under theirs."""
        ...

    def by_day(self, span: Span) -> list[DayCount]:
        """Return how many questions of each kind there were, and how many answers of the time were flagged."""
        ...

    def by_pair(self, since: datetime, until: datetime) -> Mapping[str, int]:
        """Return how often each pair was answered with."""
        ...

    def quizzed(self, since: datetime, until: datetime) -> Mapping[str, int]:
        """Return how often turns were each thing to a quiz, as `bot.catalog.quiz.Quizzed` is written."""
        ...

    def calls(self, since: datetime, until: datetime) -> list[CallTimes]:
        """Return the calls that were opened then, each as it stands last."""
        ...

    def newest_questions(self, since: datetime, until: datetime, *, most: int) -> list[AskedText]:
        """Return the newest questions."""
        ...


def days_of(figures: Figures, since: datetime, until: datetime, zone: tzinfo | None) -> list[Day]:
    """Return every day of a period in the time of the place, also those on which nobody asked."""
    found: dict[date, dict[Kind, int]] = {}
    day, last = since.astimezone(zone).date(), (until - timedelta(microseconds=1)).astimezone(zone).date()
    while day <= last:
        found[day] = {}
        day += timedelta(days=1)
    for span in spans(since, until, zone):
        for each in figures.by_day(span):
            own = found.setdefault(each.day, {})
            own[each.kind] = own.get(each.kind, 0) + each.count
    return [Day(day, own) for day, own in sorted(found.items())]


def spans(since: datetime, until: datetime, zone: tzinfo | None) -> list[Span]:
    """Return a period in parts: a database counts days without knowing when clocks change."""
    found: list[Span] = []
    begun, at = since.astimezone(UTC), since.astimezone(UTC)
    end = until.astimezone(UTC)
    while at < end:
        later = min(at + timedelta(hours=1), end)
        if later == end or _ahead(later, zone) != _ahead(begun, zone):
            found.append(Span(begun, later, _ahead(begun, zone)))
            begun = later
        at = later
    return found


def _ahead(at: datetime, zone: tzinfo | None) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


def quiz_counts(quizzed: Mapping[str, int]) -> list[QuizCount]:
    """Return what came of each quiz, in the order of pairs; `quizzed` as `Figures.quizzed` counts."""
    found: dict[str, dict[QuizStep, int]] = {}
    for written, count in quizzed.items():
        known = Quizzed.read(written)
        if known is not None:
            own = found.setdefault(known.name, {})
            own[known.step] = own.get(known.step, 0) + count
    return [QuizCount(name, own) for name, own in sorted(found.items())]


def responses(calls: Sequence[CallTimes]) -> list[Response]:
    """Return how soon staff came, for urgent calls and for others."""
    found = []
    kinds: tuple[CallKind, ...] = ("urgent", "asked")
    for kind in kinds:
        own = [call for call in calls if call.kind == kind]
        seen = [_minutes(call.opened, call.seen) for call in own if call.seen is not None]
        answered = [_minutes(call.opened, call.answered) for call in own if call.answered is not None]
        found.append(
            Response(
                kind,
                len(own),
                len(own) - len(answered),
                median(seen) if seen else None,
                max(seen, default=None),
                median(answered) if answered else None,
                max(answered, default=None),
            )
        )
    return found


def _minutes(begun: datetime, ended: datetime) -> float:
    return (ended - begun) / timedelta(minutes=1)
