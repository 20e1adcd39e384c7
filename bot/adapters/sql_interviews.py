"""Interviews in the assistant's database: an append-only list of events each, and where the talk stands."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, ForeignKey, Text, UniqueConstraint, func, select
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_outbox import put
from bot.adapters.sql_tables import Base, PatientText, in_utc, talking_to
from bot.errors import AlreadyStored
from bot.ports import InterviewChange, StoredInterview


class InterviewRow(Base):
    """One interview."""

    __tablename__ = "interviews"

    conversation: Mapped[str] = mapped_column(primary_key=True)
    form: Mapped[str] = mapped_column(Text)
    head: Mapped[str] = mapped_column(PatientText("interviews.head"))
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class InterviewEventRow(Base):
    """One event of an interview; `said` was used before turns kept what the patient wrote."""

    __tablename__ = "interview_events"
    __table_args__ = (UniqueConstraint("conversation", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(ForeignKey("interviews.conversation", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    event: Mapped[str] = mapped_column(PatientText("interview_events.event"))
    said: Mapped[str | None] = mapped_column(PatientText("interview_events.said"))


class SqlInterviews:
    """Fulfils `bot.ports.Interviews`; `write_change` writes what a turn changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def interview(self, conversation: str) -> StoredInterview | None:
        wanted = (
            select(InterviewEventRow.event)
            .where(InterviewEventRow.conversation == conversation)
            .order_by(InterviewEventRow.number)
        )
        with talking_to(self._engine) as session:
            row = session.get(InterviewRow, conversation)
            if row is None:
                return None
            return StoredInterview(
                conversation, row.form, row.head, tuple(session.scalars(wanted)), in_utc(row.changed_at)
            )


def write_change(session: Session, change: InterviewChange) -> None:
    """Add to a transaction what a turn changed in an interview.

    Raises:
        AlreadyStored: Somebody else has gone on with it meanwhile.
    """
    interview = change.interview
    row = session.get(InterviewRow, interview.conversation)
    known = change.known or 0
    if change.known is None:
        row = InterviewRow(conversation=interview.conversation, form=interview.form)
        session.add(row)
    count = select(func.count()).where(InterviewEventRow.conversation == interview.conversation)
    with session.no_autoflush:
        if row is None or session.scalar(count) != known:
            raise AlreadyStored("This interview has gone on in another window.")
    row.head = interview.head
    row.changed_at = interview.changed_at.astimezone(UTC)
    session.flush()  # the interview before its events
    at = interview.changed_at.astimezone(UTC)
    session.add_all(
        InterviewEventRow(conversation=interview.conversation, number=number, at=at, event=event)
        for number, event in enumerate(interview.events[known:], known)
    )
    if change.outgoing is not None:
        put(session, change.outgoing)
