"""Counts for the dashboard, made in the database of the conversations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.engine import Engine

from bot.adapters.sql_staff import ActionRow, CallRow
from bot.adapters.sql_tables import ConversationRow, FlagRow, TurnRow, answered_from, in_utc, talking_to
from bot.editorial.figures import QUESTIONS, AskedText, CallTimes, DayCount, Span

BY_PEOPLE = ("acknowledge", "take", "message", "close")  # what staff do first; contacts are told by the program


class SqlFigures:
    """Fulfils `bot.editorial.figures.Figures`; `exam`: of which alone is counted; empty: of all."""

    def __init__(self, engine: Engine, exam: str = "") -> None:
        self._engine = engine
        self._exam = exam

    def of_exam(self, exam: str) -> SqlFigures:
        return SqlFigures(self._engine, exam)

    def exams(self, since: datetime, until: datetime) -> list[str]:
        wanted = select(TurnRow.catalog).where(*self._turns(since, until), TurnRow.decision.in_(QUESTIONS)).distinct()
        with talking_to(self._engine) as session:
            return sorted({catalog.partition("@")[0] for catalog in session.scalars(wanted)})

    def by_day(self, span: Span) -> list[DayCount]:
        day, within = self._day(span.ahead), self._turns(span.since, span.until)
        turns = select(day, TurnRow.decision, func.count()).where(*within, TurnRow.decision.in_(QUESTIONS))
        # Each answer once, whatever was said of it; that it was helpful is no complaint.
        flagged = select(day, func.count(FlagRow.turn_id.distinct())).join(FlagRow, FlagRow.turn_id == TurnRow.id)
        with talking_to(self._engine) as session:
            found = [
                DayCount(date.fromisoformat(on), decision, count)  # type: ignore[arg-type]  # one of QUESTIONS
                for on, decision, count in session.execute(turns.group_by(day, TurnRow.decision))
            ]
            complaints = session.execute(flagged.where(*within, FlagRow.reason != "helpful").group_by(day))
            return [*found, *(DayCount(date.fromisoformat(on), "flagged", count) for on, count in complaints)]

    def by_pair(self, since: datetime, until: datetime) -> Mapping[str, int]:
        answered = [TurnRow.decision == "answered", TurnRow.pair_id.is_not(None)]
        wanted = select(TurnRow.pair_id, func.count()).where(*self._turns(since, until), *answered)
        with talking_to(self._engine) as session:
            return {str(pair): count for pair, count in session.execute(wanted.group_by(TurnRow.pair_id))}

    def quizzed(self, since: datetime, until: datetime) -> Mapping[str, int]:
        own = [*self._turns(since, until), TurnRow.quizzed.is_not(None)]
        wanted = select(TurnRow.quizzed, func.count()).where(*own).group_by(TurnRow.quizzed)
        with talking_to(self._engine) as session:
            return {str(written): count for written, count in session.execute(wanted)}

    def calls(self, since: datetime, until: datetime) -> list[CallTimes]:
        seen, wrote = (
            func.min(case((condition, ActionRow.at)))
            for condition in (ActionRow.what.in_(BY_PEOPLE), ActionRow.what == "message")
        )
        # A call that was opened anew counts from then: what was done before is of another call.
        own = and_(ActionRow.conversation == CallRow.conversation, ActionRow.at >= CallRow.opened)
        wanted = select(CallRow.kind, CallRow.opened, seen, wrote).outerjoin(ActionRow, own)
        if self._exam:
            about = and_(ConversationRow.id == CallRow.conversation, ConversationRow.exam == self._exam)
            wanted = wanted.join(ConversationRow, about)
        grouped = wanted.where(*_within(CallRow.opened, since, until)).group_by(CallRow.conversation)
        with talking_to(self._engine) as session:
            return [
                CallTimes(kind, in_utc(opened), _maybe(first), _maybe(answer))
                for kind, opened, first, answer in session.execute(grouped)
            ]

    def newest_questions(self, since: datetime, until: datetime, *, most: int) -> list[AskedText]:
        wanted = (
            select(TurnRow.question, TurnRow.language, TurnRow.decision)
            .where(*self._turns(since, until), TurnRow.decision.in_(QUESTIONS))
            .order_by(TurnRow.at.desc())
            .limit(most)
        )
        with talking_to(self._engine) as session:
            return [AskedText(text, language, kind) for text, language, kind in session.execute(wanted)]  # type: ignore[arg-type]

    def _turns(self, since: datetime, until: datetime) -> list[ColumnElement[bool]]:
        return [*_within(TurnRow.at, since, until), *([answered_from(self._exam)] if self._exam else [])]

    def _day(self, ahead: timedelta) -> ColumnElement[str]:
        """Return the day of a turn where clocks are so much ahead of UTC, as ISO text."""
        minutes = ahead // timedelta(minutes=1)
        if self._engine.dialect.name == "sqlite":
            return func.date(TurnRow.at, f"{minutes:+d} minutes")
        there = func.timezone("UTC", TurnRow.at) + timedelta(minutes=minutes)
        return func.to_char(there, "YYYY-MM-DD")


def _within(at: Any, since: datetime, until: datetime) -> list[ColumnElement[bool]]:
    return [at >= since.astimezone(UTC), at < until.astimezone(UTC)]


def _maybe(at: datetime | str | None) -> datetime | None:
    """Return a moment; of what SQLite computes, the type is not known."""
    if at is None:
        return None
    return in_utc(datetime.fromisoformat(at) if isinstance(at, str) else at)
