"""The outbox in the assistant's database: what waits for a FHIR server."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, CursorResult, Select, and_, exists, func, insert, literal, or_, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, Session, aliased, mapped_column
from sqlalchemy.types import DateTime

from bot.adapters.sql_tables import Base, ConversationRow, in_utc
from bot.adapters.sql_text import PatientText
from bot.ports import Claimed, OutboxEntry, Outgoing

# Longer than sending with all its repetitions takes: then whoever claimed it is dead, and somebody else may send it.
LEASE = timedelta(minutes=15)


class OutboxRow(Base):
    """One state of a conversation on its way. Once a server has it, `bundle` is empty."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(index=True)
    put_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    bundle: Mapped[str] = mapped_column(PatientText("outbox.bundle"))
    attempts: Mapped[int]
    reason: Mapped[str | None]
    claimed_by: Mapped[str | None]
    claimed_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    accepted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True), index=True)


def put(session: Session, outgoing: Outgoing) -> None:
    """Add to the outbox within the caller's transaction: it is stored with the conversation's last change, or not."""
    session.add(
        OutboxRow(
            conversation=outgoing.conversation, put_at=outgoing.at.astimezone(UTC), bundle=outgoing.bundle, attempts=0
        )
    )


class SqlOutbox:
    """Fulfils `bot.ports.Outbox`. Every write is committed before it returns."""

    def __init__(self, engine: Engine, *, lease: timedelta = LEASE) -> None:
        self._engine = engine
        self._lease = lease

    def put(self, outgoing: Outgoing) -> None:
        with Session(self._engine) as session:
            put(session, outgoing)
            session.commit()

    def put_new(self, outgoing: Outgoing) -> bool:
        at = outgoing.at.astimezone(UTC)
        there = exists().where(OutboxRow.conversation == outgoing.conversation, OutboxRow.put_at >= at)
        open_ = exists().where(ConversationRow.id == outgoing.conversation)
        values = {"conversation": outgoing.conversation, "put_at": at, "bundle": outgoing.bundle, "attempts": 0}
        row = select(*(literal(value, OutboxRow.__table__.c[name].type) for name, value in values.items()))
        with Session(self._engine) as session:
            # Locked where there are locks: other workers wait, and then see this entry; an erasure waits, and takes it.
            session.get(ConversationRow, outgoing.conversation, with_for_update=True)
            done = session.execute(insert(OutboxRow).from_select(list(values), row.where(open_, ~there)))
            session.commit()
            return isinstance(done, CursorResult) and done.rowcount == 1

    def claim(self, *, at: datetime, after: int = 0) -> Claimed | None:
        now = at.astimezone(UTC)
        with Session(self._engine) as session:
            for number in session.scalars(_free(now).where(OutboxRow.id > after)).all():
                token = secrets.token_hex(16)
                # Whoever changes the row first has it: the condition is checked again where it is written.
                mine = update(OutboxRow).where(OutboxRow.id == number, _unclaimed(now), OutboxRow.accepted_at.is_(None))
                done = session.execute(mine.values(claimed_by=token, claimed_until=now + self._lease))
                session.commit()
                if isinstance(done, CursorResult) and done.rowcount == 1:
                    return self._claimed(session, number, token)
        return None

    def _claimed(self, session: Session, number: int, token: str) -> Claimed:
        row = session.get_one(OutboxRow, number)
        claimed = Claimed(number, token, row.bundle, again=row.attempts > 0)
        # Counted before it is sent: a process that dies meanwhile has possibly sent it.
        row.attempts += 1
        session.commit()
        return claimed

    def accept(self, claimed: Claimed, *, at: datetime) -> None:
        self._change(claimed, accepted_at=at.astimezone(UTC), bundle="", reason=None)

    def release(self, claimed: Claimed, reason: str) -> None:
        self._change(claimed, reason=reason)

    def _change(self, claimed: Claimed, **values: object) -> None:
        own = update(OutboxRow).where(OutboxRow.id == claimed.number, OutboxRow.claimed_by == claimed.token)
        with Session(self._engine) as session:
            session.execute(own.values(claimed_by=None, claimed_until=None, **values))
            session.commit()

    def last_put(self, conversation: str) -> datetime | None:
        wanted = select(func.max(OutboxRow.put_at)).where(OutboxRow.conversation == conversation)
        with Session(self._engine) as session:
            found = session.scalar(wanted)
            return in_utc(found) if found is not None else None

    def entries(self, conversation: str) -> list[OutboxEntry]:
        wanted = select(OutboxRow).where(OutboxRow.conversation == conversation).order_by(OutboxRow.id)
        with Session(self._engine) as session:
            return [
                OutboxEntry(in_utc(row.put_at), in_utc(row.accepted_at) if row.accepted_at else None, row.bundle)
                for row in session.scalars(wanted)
            ]

    def waiting(self) -> int:
        wanted = select(func.count()).select_from(OutboxRow).where(OutboxRow.accepted_at.is_(None))
        with Session(self._engine) as session:
            return session.scalars(wanted).one()

    def reasons(self) -> list[tuple[str, str]]:
        """Return conversation and reason of what was tried in vain, oldest first."""
        tried = select(OutboxRow).where(OutboxRow.accepted_at.is_(None), OutboxRow.reason.is_not(None))
        with Session(self._engine) as session:
            return [(row.conversation, row.reason or "") for row in session.scalars(tried.order_by(OutboxRow.id))]


def _unclaimed(now: datetime) -> ColumnElement[bool]:
    return or_(OutboxRow.claimed_until.is_(None), OutboxRow.claimed_until < now)


def _free(now: datetime) -> Select[int]:
    """Select what waits and is not being sent, oldest first, without later states of what still waits."""
    earlier = aliased(OutboxRow)
    held_up = exists().where(
        and_(
            earlier.conversation == OutboxRow.conversation,
            earlier.id < OutboxRow.id,
            earlier.accepted_at.is_(None),
        )
    )
    return select(OutboxRow.id).where(OutboxRow.accepted_at.is_(None), _unclaimed(now), ~held_up).order_by(OutboxRow.id)
