"""Overwrite what was deleted or rewritten."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.engine import Engine

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
