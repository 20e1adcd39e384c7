"""Tables of the records, their column types, and sessions on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, DateTime, Dialect, ForeignKey, Index, Row, String, event, or_
from sqlalchemy.engine import Engine, ExceptionContext
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.types import TypeDecorator

from bot.adapters.text_cipher import TextCipher
from bot.errors import AlreadyStored, Unreachable
from bot.ports import Booking, Exchange, StoredConversation, StoredFlag, StoredTurn

PATIENT = "conversations.patient"  # the place of the text, and the purpose of its blind index
_CIPHER = "klartext_cipher"  # on an engine's dialect, of which every engine has its own


def use_cipher(engine: Engine, cipher: TextCipher) -> None:
    """From now on, encrypt and decrypt on this engine."""
    setattr(engine.dialect, _CIPHER, cipher)


class PatientText(TypeDecorator[str]):
    """A text of a patient. Rules and queries see it as it was written; comparing it in SQL is not possible."""

    impl = String
    cache_ok = True

    def __init__(self, place: str) -> None:
        """Take the column's table and name, which are authenticated: they must stay when the column is renamed."""
        super().__init__()
        self.place = place

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        cipher: TextCipher | None = getattr(dialect, _CIPHER, None)
        # That there is no text is no secret; and what was sent is emptied.
        return cipher.encrypt(value, self.place) if cipher is not None and value else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        cipher: TextCipher | None = getattr(dialect, _CIPHER, None)
        return cipher.decrypt(value, self.place) if cipher is not None and value else value


class Base(DeclarativeBase):
    """Tables of the assistant."""


class ConversationRow(Base):
    """One conversation."""

    __tablename__ = "conversations"

    id: Mapped[str] = mapped_column(primary_key=True)
    begun: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    language: Mapped[str]
    channel: Mapped[str]
    secret_hash: Mapped[str | None]
    consented: Mapped[bool]
    patient: Mapped[str | None] = mapped_column(PatientText(PATIENT))
    patient_blind: Mapped[str | None] = mapped_column(index=True)  # see `SqlFinder.index_patients`
    appointment: Mapped[str | None] = mapped_column(PatientText("conversations.appointment"))
    order_number: Mapped[str | None] = mapped_column(PatientText("conversations.order_number"))
    accession: Mapped[str | None] = mapped_column(PatientText("conversations.accession"))
    release: Mapped[int | None]
    exam: Mapped[str | None]


class TurnRow(Base):
    """One patient turn."""

    __tablename__ = "turns"
    # The unique ones, and nothing in memory, guarantee that a resend is stored once and that turns stay in order.
    # Turns from before conversations could be resumed have neither: nulls are never equal.
    __table_args__ = (
        Index("ix_turns_at", "at", "conversation"),
        Index("uq_turns_number", "conversation", "number", unique=True),
        Index("uq_turns_turn_id", "conversation", "turn_id", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    language: Mapped[str]
    question: Mapped[str] = mapped_column(PatientText("turns.question"))
    decision: Mapped[str] = mapped_column(index=True)
    pair_id: Mapped[str | None]
    score: Mapped[float]
    catalog: Mapped[str]
    number: Mapped[int | None]
    turn_id: Mapped[str | None]
    said: Mapped[str | None] = mapped_column(PatientText("turns.said"))
    choice: Mapped[int | None]
    reply: Mapped[str | None] = mapped_column(PatientText("turns.reply"))
    state: Mapped[str | None] = mapped_column(PatientText("turns.state"))
    release: Mapped[str | None]
    quizzed: Mapped[str | None]
    flags: Mapped[list[FlagRow]] = relationship(back_populates="turn", cascade="all, delete-orphan")


def answered_from(exam: str) -> ColumnElement[bool]:
    """Say whether a turn was answered from an exam's catalog, whichever version of it."""
    return or_(TurnRow.catalog == exam, TurnRow.catalog.startswith(f"{exam}@", autoescape=True))


class FlagRow(Base):
    """A patient's complaint about an answer."""

    __tablename__ = "flags"
    __table_args__ = (Index("uq_flags_reason", "turn_id", "reason", unique=True),)

    id: Mapped[int] = mapped_column(primary_key=True)
    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str]
    comment: Mapped[str] = mapped_column(PatientText("flags.comment"))
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    turn: Mapped[TurnRow] = relationship(back_populates="flags")


def conversation_row(conversation: StoredConversation) -> ConversationRow:
    return ConversationRow(
        id=conversation.id,
        begun=conversation.begun.astimezone(UTC),
        language=conversation.language,
        channel=conversation.channel,
        secret_hash=conversation.secret_hash,
        consented=conversation.consented,
        patient=conversation.patient,
        release=conversation.release,
        appointment=conversation.booking.appointment or None,
        order_number=conversation.booking.order or None,
        accession=conversation.booking.accession or None,
        exam=conversation.exam,
    )


def stored_conversation(row: ConversationRow | Row[Any]) -> StoredConversation:
    return StoredConversation(
        id=row.id,
        begun=in_utc(row.begun),
        language=row.language,
        channel=row.channel,  # type: ignore[arg-type]  # written by `conversation_row` only
        secret_hash=row.secret_hash,
        consented=row.consented,
        patient=row.patient,
        release=row.release,
        booking=Booking(row.appointment or "", row.order_number or "", row.accession or ""),
        exam=row.exam,
    )


def turn_values(turn: StoredTurn) -> dict[str, object]:
    """Return what is stored of a turn, by column."""
    exchange = turn.exchange
    return {
        "conversation": turn.conversation,
        "at": turn.at.astimezone(UTC),
        "language": turn.language,
        "question": turn.question,
        "decision": turn.decision,
        "pair_id": turn.pair_id,
        "score": turn.score,
        "catalog": turn.catalog,
        "number": exchange and exchange.number,
        "turn_id": exchange and exchange.turn_id,
        "said": exchange and exchange.said,
        "choice": exchange and exchange.choice,
        "reply": exchange and exchange.reply,
        "state": exchange and exchange.state,
        "release": turn.release or None,
        "quizzed": turn.quizzed or None,
    }


def stored_turn(row: TurnRow | Row[Any]) -> StoredTurn:
    return StoredTurn(
        conversation=row.conversation,
        at=in_utc(row.at),
        language=row.language,
        question=row.question,
        decision=row.decision,
        pair_id=row.pair_id,
        score=row.score,
        catalog=row.catalog,
        exchange=_exchange(row),
        release=row.release or "",
        quizzed=row.quizzed or "",
    )


def stored_flag(row: FlagRow) -> StoredFlag:
    return StoredFlag(
        turn_id=row.turn.turn_id or "",
        reason=row.reason,  # type: ignore[arg-type]  # written by `SqlRecords.flag` only
        comment=row.comment,
        at=in_utc(row.at),
    )


def _exchange(row: TurnRow | Row[Any]) -> Exchange | None:
    if row.number is None or row.turn_id is None:
        return None
    return Exchange(
        number=row.number,
        turn_id=row.turn_id,
        said=row.said or "",
        reply=row.reply or "",
        state=row.state or "",
        choice=row.choice,
    )


def in_utc(at: datetime) -> datetime:
    """SQLite forgets time zones; everything is stored in UTC."""
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


LOCKED_S = 5.0  # after one has waited in vain for a locked SQLite, others hardly wait for so long
HARDLY_MS = 200
WAITS = "klartext_waits_ms"  # of a connection: how long it waits for other writers


@contextmanager
def talking_to(engine: Engine) -> Iterator[Session]:
    """Open a session; what goes wrong with the database is raised as AlreadyStored or Unreachable."""
    try:
        with Session(engine) as session:
            yield session
    except IntegrityError as error:
        raise AlreadyStored("Another request stored this first.") from error
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise Unreachable(
            f"The database does not answer ({type(error).__name__}). Check that it runs and has space."
        ) from error


class SqlitePatience:
    """Lets the first wait for another writer to SQLite, and those that come while it is locked hardly.

    Else everybody who asks something waits as long as the first, and all threads of the service with them.
    """

    def __init__(self, engine: Engine, *, wait_s: float) -> None:
        self._usual_ms = int(wait_s * 1000)
        self._lock = threading.Lock()
        self._locked_until_s = 0.0
        event.listen(engine, "checkout", self._set)
        event.listen(engine, "handle_error", self._note)

    def _set(self, connection: object, record: ConnectionPoolEntry, _: object) -> None:
        with self._lock:
            is_locked = time.monotonic() < self._locked_until_s
        wait_ms = min(HARDLY_MS, self._usual_ms) if is_locked else self._usual_ms
        if record.info.get(WAITS) != wait_ms:
            connection.execute(f"PRAGMA busy_timeout = {wait_ms}")  # type: ignore[attr-defined]
            record.info[WAITS] = wait_ms

    def _note(self, context: ExceptionContext) -> None:
        if "locked" in str(context.original_exception):
            with self._lock:
                self._locked_until_s = time.monotonic() + LOCKED_S
