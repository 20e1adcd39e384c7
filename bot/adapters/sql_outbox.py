"""The outbox in the assistant's database: what waits for a FHIR server."""

from __future__ import annotations

import logging
import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    Index,
    Select,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, Session, aliased, mapped_column
from sqlalchemy.types import DateTime

from bot.adapters.sql_tables import Base, ConversationRow, PatientText, in_utc, talking_to
from bot.outbox_ports import ANY, Backlog, Claimed, Group, OutboxEntry, Outgoing, Wanted

log = logging.getLogger("klartext")
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
    # The urgent turn that this is the red flag of: there once. Rows of turns may get the number of a deleted one again,
    # so the moment counts, too. Nulls (all other entries) are never equal.
    turn: Mapped[int | None]
    # Also without a turn: entries of earlier versions that hold red flags among all else.
    urgent: Mapped[bool] = mapped_column(default=False)
    retry_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))

    __table_args__ = (Index("uq_outbox_turn", "conversation", "turn", "put_at", unique=True),)


def put(session: Session, outgoing: Outgoing) -> None:
    """Add to the outbox within the caller's transaction: it is stored with the conversation's last change, or not."""
    session.add(OutboxRow(**_values(outgoing)))


def _values(outgoing: Outgoing) -> dict[str, object]:
    return {
        "conversation": outgoing.conversation,
        "put_at": outgoing.at.astimezone(UTC),
        "bundle": outgoing.bundle,
        "attempts": 0,
        "turn": outgoing.turn,
        "urgent": outgoing.turn is not None,
    }


class SqlOutbox:
    """Fulfils `bot.ports.Outbox`. Every write is committed before it returns."""

    def __init__(self, engine: Engine, *, lease: timedelta = LEASE) -> None:
        self._engine = engine
        self._lease = lease

    def put(self, outgoing: Outgoing) -> None:
        with talking_to(self._engine) as session:
            put(session, outgoing)
            session.commit()

    def put_new(self, outgoing: Outgoing) -> bool:
        values, at = _values(outgoing), outgoing.at.astimezone(UTC)
        same = [OutboxRow.turn.is_(None), OutboxRow.put_at >= at]
        if outgoing.turn is not None:
            same = [OutboxRow.turn == outgoing.turn, OutboxRow.put_at == at]
        there = exists().where(OutboxRow.conversation == outgoing.conversation, *same)
        open_ = exists().where(ConversationRow.id == outgoing.conversation)
        row = select(*(literal(value, OutboxRow.__table__.c[name].type) for name, value in values.items()))
        with talking_to(self._engine) as session:
            # Locked where there are locks: other workers wait, and then see this entry; an erasure waits, and takes it.
            session.get(ConversationRow, outgoing.conversation, with_for_update=True)
            new = insert(OutboxRow).from_select(list(values), row.where(open_, ~there)).returning(OutboxRow.id)
            stored = session.scalars(new).all()
            session.commit()
            return len(stored) == 1

    def claim(self, *, at: datetime, wanted: Wanted = ANY, lease: timedelta | None = None) -> Claimed | None:
        now = at.astimezone(UTC)
        free = _free(now, wanted)
        with talking_to(self._engine) as session:
            for number in session.scalars(free).all():
                if number in wanted.without:
                    continue
                token = secrets.token_hex(16)
                # Whoever changes the row first has it: the condition is checked again where it is written.
                mine = update(OutboxRow).where(OutboxRow.id == number, _unclaimed(now), OutboxRow.accepted_at.is_(None))
                # Counted before it is sent: a process that dies meanwhile has possibly sent it.
                values = {"claimed_until": now + (lease or self._lease), "attempts": OutboxRow.attempts + 1}
                done = session.execute(mine.values(claimed_by=token, **values))
                session.commit()
                if isinstance(done, CursorResult) and done.rowcount == 1:
                    claimed = self._claimed(session, number, token)
                    if claimed is not None:
                        return claimed
        return None

    def _claimed(self, session: Session, number: int, token: str) -> Claimed | None:
        counted = select(OutboxRow.attempts, OutboxRow.urgent).where(OutboxRow.id == number)
        row = session.execute(counted).one_or_none()
        if row is None:
            return None  # its conversation has just been erased
        attempts, urgent = row
        claimed = Claimed(number, token, "", attempts - 1, is_urgent=urgent)
        try:
            bundle = session.scalars(select(OutboxRow.bundle).where(OutboxRow.id == number)).one()
        except Exception as error:
            # One text that cannot be decrypted must not hold up all behind it.
            log.error("an entry of the outbox cannot be read: %s", type(error).__name__)
            session.rollback()
            self.release(claimed, "unreadable")
            return None
        return replace(claimed, bundle=bundle)

    def accept(self, claimed: Claimed, *, at: datetime) -> None:
        self._change(claimed, accepted_at=at.astimezone(UTC), bundle="", reason=None)

    def release(self, claimed: Claimed, reason: str, *, retry_at: datetime | None = None) -> None:
        self._change(claimed, reason=reason, retry_at=retry_at.astimezone(UTC) if retry_at else None)

    def _change(self, claimed: Claimed, **values: object) -> None:
        own = update(OutboxRow).where(OutboxRow.id == claimed.number, OutboxRow.claimed_by == claimed.token)
        with talking_to(self._engine) as session:
            session.execute(own.values(claimed_by=None, claimed_until=None, **values))
            session.commit()

    def last_put(self, conversation: str) -> datetime | None:
        states = [OutboxRow.conversation == conversation, OutboxRow.turn.is_(None)]
        wanted = select(func.max(OutboxRow.put_at)).where(*states)
        with talking_to(self._engine) as session:
            found = session.scalar(wanted)
            return in_utc(found) if found is not None else None

    def entries(self, conversation: str) -> list[OutboxEntry]:
        wanted = select(OutboxRow).where(OutboxRow.conversation == conversation).order_by(OutboxRow.id)
        with talking_to(self._engine) as session:
            return [
                OutboxEntry(in_utc(row.put_at), in_utc(row.accepted_at) if row.accepted_at else None, row.bundle)
                for row in session.scalars(wanted)
            ]

    def waiting(self) -> int:
        wanted = select(func.count()).select_from(OutboxRow).where(OutboxRow.accepted_at.is_(None))
        with talking_to(self._engine) as session:
            return session.scalars(wanted).one()

    def backlog(self) -> Backlog:
        kind = (OutboxRow.urgent, OutboxRow.reason, OutboxRow.claimed_by.is_not(None))
        counted = select(*kind, func.count(), func.min(OutboxRow.put_at))
        with talking_to(self._engine) as session:
            rows = session.execute(counted.where(OutboxRow.accepted_at.is_(None)).group_by(*kind)).all()
            return Backlog.of(
                [
                    Group("urgent" if urgent else "rest", reason or "", held, count, in_utc(oldest))
                    for urgent, reason, held, count, oldest in rows
                ]
            )

    def reasons(self) -> list[tuple[str, str]]:
        """Return conversation and reason of what was tried in vain, oldest first."""
        tried = select(OutboxRow).where(OutboxRow.accepted_at.is_(None), OutboxRow.reason.is_not(None))
        with talking_to(self._engine) as session:
            return [(row.conversation, row.reason or "") for row in session.scalars(tried.order_by(OutboxRow.id))]


def _unclaimed(now: datetime) -> ColumnElement[bool]:
    return or_(OutboxRow.claimed_until.is_(None), OutboxRow.claimed_until < now)


def _free(now: datetime, wanted: Wanted) -> Select[int]:
    """Select what waits and is not being sent, without later states of what still waits."""
    earlier = aliased(OutboxRow)
    held_up = exists().where(
        and_(
            earlier.conversation == OutboxRow.conversation,
            earlier.id < OutboxRow.id,
            earlier.accepted_at.is_(None),
            earlier.turn.is_(None),
        )
    )
    found = [OutboxRow.accepted_at.is_(None), _unclaimed(now), or_(OutboxRow.turn.is_not(None), ~held_up)]
    if wanted.lane is not None:
        found.append(OutboxRow.urgent.is_(wanted.lane == "urgent"))
    if wanted.fresh:
        found.append(OutboxRow.attempts == 0)
    if wanted.due:
        found.append(or_(OutboxRow.retry_at.is_(None), OutboxRow.retry_at <= now))
    order = (OutboxRow.urgent.desc(), OutboxRow.attempts, OutboxRow.id)
    return select(OutboxRow.id).where(*found).order_by(*order)
