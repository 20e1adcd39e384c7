"""Conversations in a SQL database: SQLite by default, any other by SQLAlchemy URL. Migrated by Alembic on opening."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import URL, DateTime, ForeignKey, create_engine, event, select
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from bot.errors import BadData, Unreachable
from bot.ports import FlagReason, KeptTurn, StoredTurn

UNANSWERED = ("declined", "clarify")


class Base(DeclarativeBase):
    """Tables of the assistant."""


class TurnRow(Base):
    """One patient turn."""

    __tablename__ = "turns"

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(index=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    language: Mapped[str]
    question: Mapped[str]
    decision: Mapped[str] = mapped_column(index=True)
    pair_id: Mapped[str | None]
    score: Mapped[float]
    catalog: Mapped[str]
    flags: Mapped[list[FlagRow]] = relationship(back_populates="turn", cascade="all, delete-orphan")


class FlagRow(Base):
    """A patient's complaint about an answer."""

    __tablename__ = "flags"

    id: Mapped[int] = mapped_column(primary_key=True)
    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    turn: Mapped[TurnRow] = relationship(back_populates="flags")


class SqlRecords:
    """Records of conversations. Every write is committed before it returns."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def in_folder(cls, folder: Path) -> SqlRecords:
        """Open the SQLite database of a data folder, whatever characters its name has."""
        return cls.open(URL.create("sqlite", database=str(folder / "klartext.db")))

    @classmethod
    def open(cls, url: str | URL) -> SqlRecords:
        """Connect and migrate to the newest schema; raise Unreachable when the database cannot be used."""
        from alembic.util.exc import CommandError

        try:
            engine = create_engine(url)
            if engine.dialect.name == "sqlite":
                event.listen(engine, "connect", _durable_sqlite)
            migrate(engine)
        except (SQLAlchemyError, OSError, ImportError, CommandError) as error:
            raise Unreachable(
                f"The database {_shown(url)} cannot be used ({type(error).__name__}). "
                "Check KLARTEXT_DATABASE_URL, or choose another folder with `--data`."
            ) from error
        return cls(engine)

    def close(self) -> None:
        self._engine.dispose()

    def add_turn(self, turn: StoredTurn) -> int:
        row = TurnRow(
            conversation=turn.conversation,
            at=turn.at.astimezone(UTC),
            language=turn.language,
            question=turn.question,
            decision=turn.decision,
            pair_id=turn.pair_id,
            score=turn.score,
            catalog=turn.catalog,
        )
        with Session(self._engine) as session:
            session.add(row)
            session.commit()
            return row.id

    def flag(self, turn: int, reason: FlagReason, *, at: datetime) -> None:
        with Session(self._engine) as session:
            if session.get(TurnRow, turn) is None:
                raise BadData(f"There is no turn {turn}.")
            session.add(FlagRow(turn_id=turn, reason=reason, at=at.astimezone(UTC)))
            session.commit()

    @property
    def engine(self) -> Engine:
        """The connection, for what else lies in the same database."""
        return self._engine

    def conversation(self, id_: str, *, until: datetime | None = None) -> list[KeptTurn]:
        wanted = select(TurnRow).where(TurnRow.conversation == id_).order_by(TurnRow.id)
        last = (until or datetime.max.replace(tzinfo=UTC)).astimezone(UTC)
        with Session(self._engine) as session:
            rows = [row for row in session.scalars(wanted) if in_utc(row.at) <= last]
            return [KeptTurn(row.id, _stored(row), _reasons(row, last)) for row in rows]

    def open_questions(self) -> list[StoredTurn]:
        wanted = select(TurnRow).where(TurnRow.decision.in_(UNANSWERED) | TurnRow.flags.any()).order_by(TurnRow.id)
        with Session(self._engine) as session:
            return [_stored(row) for row in session.scalars(wanted)]


def migrate(engine: Engine) -> None:
    """Bring the schema up to date."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _shown(url: str | URL) -> str:
    """Return the URL without user, password and options: they may hold secrets."""
    if isinstance(url, URL):
        return url.database or url.drivername
    return url.rsplit("@", 1)[-1].split("?", 1)[0]


def _durable_sqlite(connection: object, _: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _reasons(row: TurnRow, last: datetime) -> tuple[FlagReason, ...]:
    said = [flag.reason for flag in row.flags if in_utc(flag.at) <= last]
    return tuple("complicated" if reason == "complicated" else "wrong" for reason in said)


def in_utc(at: datetime) -> datetime:
    """SQLite forgets time zones; everything is stored in UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _stored(row: TurnRow) -> StoredTurn:
    return StoredTurn(
        conversation=row.conversation,
        at=in_utc(row.at),
        language=row.language,
        question=row.question,
        decision=row.decision,
        pair_id=row.pair_id,
        score=row.score,
        catalog=row.catalog,
    )
