"""Which texts of the content came from which conversation, and that the conversation is gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import DateTime, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_tables import Base
from bot.outbox_ports import pseudonym

ERASED, PURGED = "erased", "purged"  # by a patient or an operator; for its age


class OriginRow(Base):
    """Where a text came from; `gone`: when that conversation was deleted, `kept_by`: who lets the text stay."""

    __tablename__ = "draft_origins"

    id: Mapped[int] = mapped_column(primary_key=True)
    exam: Mapped[str]
    language: Mapped[str]
    pair: Mapped[str]
    text: Mapped[str]
    pseudonym: Mapped[str] = mapped_column(index=True)
    gone: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    gone_why: Mapped[str] = mapped_column(default="")
    kept_by: Mapped[str] = mapped_column(default="")


def note_gone(session: Session, conversations: Sequence[str], why: str, *, at: datetime) -> None:
    """Note in the transaction that deletes conversations that texts came from them: curators are told."""
    names = [pseudonym(each) for each in conversations]
    mine = update(OriginRow).where(OriginRow.pseudonym.in_(names), OriginRow.gone.is_(None))
    session.execute(
        mine.values(gone=at.astimezone(UTC), gone_why=why), execution_options={"synchronize_session": False}
    )
