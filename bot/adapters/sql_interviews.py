"""Interviews in the assistant's database: an append-only list of events each, and where the talk stands."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, ForeignKey, Text, UniqueConstraint, func, select
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_outbox import put
from bot.adapters.sql_records import Base
from bot.errors import BadData
from bot.ports import Outgoing, StoredInterview


class InterviewRow(Base):
    """One interview."""

    __tablename__ = "interviews"

    conversation: Mapped[str] = mapped_column(primary_key=True)
    form: Mapped[str] = mapped_column(Text)
    head: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class InterviewEventRow(Base):
    """One event of an interview; `said` is what the patient wrote in that turn, at its first event."""

    __tablename__ = "interview_events"
    __table_args__ = (UniqueConstraint("conversation", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(ForeignKey("interviews.conversation", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    event: Mapped[str] = mapped_column(Text)
    said: Mapped[str | None] = mapped_column(Text)


class SqlInterviews:
    """Fulfils `bot.ports.Interviews`. Every write is committed before it returns."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin_interview(self, interview: StoredInterview) -> None:
        at = interview.changed_at.astimezone(UTC)
        row = InterviewRow(conversation=interview.conversation, form=interview.form, head=interview.head, changed_at=at)
        self._write(row, _rows(interview, 0, None))

    def keep_turn(self, change: StoredInterview, *, known: int, said: str, outgoing: Outgoing | None = None) -> None:
        with Session(self._engine) as session:
            row = session.get(InterviewRow, change.conversation)
            count = select(func.count()).where(InterviewEventRow.conversation == change.conversation)
            if row is None or session.scalar(count) != known:
                raise _elsewhere()
            row.head = change.head
            row.changed_at = change.changed_at.astimezone(UTC)
            if outgoing is not None:
                put(session, outgoing)
            self._commit(session, _rows(change, known, said))

    def interview(self, conversation: str) -> StoredInterview | None:
        wanted = (
            select(InterviewEventRow.event)
            .where(InterviewEventRow.conversation == conversation)
            .order_by(InterviewEventRow.number)
        )
        with Session(self._engine) as session:
            row = session.get(InterviewRow, conversation)
            if row is None:
                return None
            # SQLite forgets time zones; everything is stored in UTC.
            at = row.changed_at if row.changed_at.tzinfo else row.changed_at.replace(tzinfo=UTC)
            return StoredInterview(conversation, row.form, row.head, tuple(session.scalars(wanted)), at)

    def _write(self, row: InterviewRow, events: list[InterviewEventRow]) -> None:
        with Session(self._engine) as session:
            session.add(row)
            self._commit(session, events)

    def _commit(self, session: Session, events: list[InterviewEventRow]) -> None:
        try:
            session.flush()  # the interview before its events
            session.add_all(events)
            session.commit()
        except IntegrityError:
            # Two processes with the same conversation: the numbers of events collide.
            raise _elsewhere() from None


def _rows(interview: StoredInterview, known: int, said: str | None) -> list[InterviewEventRow]:
    at = interview.changed_at.astimezone(UTC)
    return [
        InterviewEventRow(
            conversation=interview.conversation,
            number=number,
            at=at,
            event=event,
            said=said if number == known else None,
        )
        for number, event in enumerate(interview.events[known:], known)
    ]


def _elsewhere() -> BadData:
    return BadData("This interview has gone on in another window. Open the conversation again.")
