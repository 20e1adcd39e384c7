"""Find what has happened in conversations since they were last handed over."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, exists, func, select, union
from sqlalchemy.engine import Engine
from sqlalchemy.orm import InstrumentedAttribute, aliased

from bot.adapters.sql_outbox import OutboxRow
from bot.adapters.sql_records import InterviewRow
from bot.adapters.sql_tables import ConversationRow, FlagRow, TurnRow, in_utc, talking_to
from bot.outbox_ports import RedFlag

URGENT = "urgent"
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class SqlLeaving:
    """Fulfils `bot.ports.Leaving`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def red_flags(self) -> list[RedFlag]:
        same = [OutboxRow.conversation == TurnRow.conversation, OutboxRow.turn == TurnRow.id]
        raised = exists().where(*same, OutboxRow.put_at == TurnRow.at)
        there = exists().where(ConversationRow.id == TurnRow.conversation)
        wanted = select(TurnRow.conversation, TurnRow.id, TurnRow.at).where(TurnRow.decision == URGENT, there, ~raised)
        with talking_to(self._engine) as session:
            return [
                RedFlag(id_, number, in_utc(at)) for id_, number, at in session.execute(wanted.order_by(TurnRow.id))
            ]

    def urgent(self) -> list[str]:
        wanted = select(TurnRow.conversation).where(TurnRow.decision == URGENT, _new(TurnRow.at)).distinct()
        with talking_to(self._engine) as session:
            return list(session.scalars(wanted))

    def quiet(self, *, since: datetime | None, until: datetime) -> list[str]:
        first, last = (since or LONG_AGO).astimezone(UTC), until.astimezone(UTC)
        later = aliased(TurnRow)
        silent = ~exists().where(later.conversation == TurnRow.conversation, later.at >= last)
        turns = select(TurnRow.conversation).where(TurnRow.at >= first, TurnRow.at < last, _new(TurnRow.at), silent)
        flags = (
            select(TurnRow.conversation)
            .join(FlagRow, FlagRow.turn_id == TurnRow.id)
            .where(FlagRow.at >= first, FlagRow.at < last, _new(FlagRow.at), silent)
        )
        with talking_to(self._engine) as session:
            return list(session.scalars(union(turns, flags)))

    def last_change(self, conversation: str) -> datetime | None:
        of_flags = select(func.max(FlagRow.at)).join(TurnRow, FlagRow.turn_id == TurnRow.id)
        moments = (
            select(func.max(TurnRow.at)).where(TurnRow.conversation == conversation),
            of_flags.where(TurnRow.conversation == conversation),
            select(InterviewRow.changed_at).where(InterviewRow.conversation == conversation),
        )
        with talking_to(self._engine) as session:
            found = [session.scalar(wanted) for wanted in moments]
            return max((in_utc(at) for at in found if at is not None), default=None)


def _new(at: InstrumentedAttribute[datetime]) -> ColumnElement[bool]:
    """Hold for what no state of its conversation in the outbox has; red flags are no states."""
    states = [OutboxRow.conversation == TurnRow.conversation, OutboxRow.turn.is_(None)]
    handed_over = exists().where(*states, OutboxRow.put_at >= at)
    return exists().where(ConversationRow.id == TurnRow.conversation) & ~handed_over
