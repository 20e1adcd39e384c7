"""Look at a database before it is used, and free the space of what was deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_tables import Base
from bot.errors import NotWritable, Unreachable

SOON_S = 0.5
LEAST_FREE_BYTES = 16 * 1024 * 1024  # SQLite's log alone grows to four before it is written back
WRITE = text("UPDATE write_probe SET written = (written + 1) % 1000000 WHERE id = 1")


class WriteProbeRow(Base):
    """One row that nobody reads."""

    __tablename__ = "write_probe"

    id: Mapped[int] = mapped_column(primary_key=True)
    written: Mapped[int]


def probe_of(engine: Engine) -> Engine:
    """Return a second way to the same database: one connection, which waits for nobody."""
    if engine.dialect.name == "sqlite":
        options: dict[str, object] = {"timeout": SOON_S}
    else:
        options = {"connect_timeout": 1, "options": f"-c statement_timeout={int(SOON_S * 1000)}"}
    quick = {"pool_size": 1, "max_overflow": 0, "pool_timeout": SOON_S, "pool_pre_ping": True}
    return create_engine(engine.url, hide_parameters=True, connect_args=options, **quick)


def try_writing(probe: Engine) -> None:
    """Write something.

    Raises:
        NotWritable: That cannot be done, or soon will not be: the disk is all but full.
        Unreachable: The database does not answer.
    """
    database = probe.url.database
    if probe.dialect.name == "sqlite" and database and shutil.disk_usage(Path(database).parent).free < LEAST_FREE_BYTES:
        raise NotWritable("The disk of the database is full.")
    try:
        with probe.connect() as connection:
            connection.execute(text("SELECT 1"))
            _write(connection)
    except SQLAlchemyError as error:
        raise Unreachable(f"The database does not answer ({type(error).__name__}).") from None


def _write(connection: Connection) -> None:
    try:
        connection.execute(WRITE)
        connection.commit()
    except SQLAlchemyError as error:
        raise NotWritable(f"The database stores nothing ({type(error).__name__}).") from None


WAIT_MS = 2000  # for readers of SQLite; those of this service read for milliseconds


def clean_up(engine: Engine, *, rewritten: bool = False) -> bool:
    """Leave nothing behind; False when somebody was reading all the time, so that a log still holds some of it.

    SQLite overwrites deleted rows in its file at once, and here empties its write-ahead log. PostgreSQL gets their
    space back; `rewritten` tables are copied there, and the old copies deleted.
    """
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            full = "(FULL) " if rewritten else ""
            connection.execute(text(f"VACUUM {full}turns, flags, interviews, interview_events, conversations, outbox"))
        return True
    with engine.connect() as connection:
        usual = connection.execute(text("PRAGMA busy_timeout")).scalar_one()
        connection.execute(text(f"PRAGMA busy_timeout = {WAIT_MS}"))
        busy = connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()[0]
        connection.execute(text(f"PRAGMA busy_timeout = {int(usual)}"))
        return not busy
