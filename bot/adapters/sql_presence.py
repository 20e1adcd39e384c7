"""Which services run on a database and which keys they know, so that nobody takes the texts away from them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, DateTime, delete, insert, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_tables import Base, in_utc
from bot.adapters.text_cipher import TextCipher
from bot.errors import UserFixable

GONE_AFTER = timedelta(seconds=60)  # without a sign of life; longer than SQLite lets a writer wait


class ServiceRow(Base):
    """A process that serves patients."""

    __tablename__ = "services"

    id: Mapped[str] = mapped_column(primary_key=True)
    key_ids: Mapped[str]
    seen: Mapped[datetime] = mapped_column(DateTime(timezone=True))


@dataclass(frozen=True, slots=True)
class SqlPresence:
    """The sign of life of one process."""

    engine: Engine
    cipher: TextCipher | None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def beat(self, now: datetime) -> None:
        """Say that this process runs, and which keys it knows."""
        seen = {"key_ids": ",".join(self.cipher.keys if self.cipher is not None else ()), "seen": now.astimezone(UTC)}
        with self.engine.begin() as connection:
            if not connection.execute(update(ServiceRow).where(ServiceRow.id == self.id).values(seen)).rowcount:
                connection.execute(insert(ServiceRow).values(id=self.id, **seen))
                connection.execute(delete(ServiceRow).where(ServiceRow.seen < now.astimezone(UTC) - GONE_AFTER))

    def leave(self) -> None:
        """Say that this process ends."""
        with self.engine.begin() as connection:
            connection.execute(delete(ServiceRow).where(ServiceRow.id == self.id))


def require_known_to_all(connection: Connection, key: str, now: datetime, *, encrypted: bool) -> None:
    """Raise UserFixable when a service runs that could not read texts encrypted with a key."""
    rows = connection.execute(select(ServiceRow.key_ids, ServiceRow.seen)).all()
    missing = [
        now - in_utc(seen) for keys, seen in rows if key not in keys.split(",") and now - in_utc(seen) < GONE_AFTER
    ]
    if not missing:
        return
    what_to_do = (
        "Start every service with both keys (KLARTEXT_TEXT_KEY=NEW,OLD), then run `klartext records rekey` again"
        if encrypted
        else "Stop it, run `klartext records rekey` again, and start it with the key"
    )
    many, ago_s = len(missing), max(0, int(min(missing).total_seconds()))
    raise UserFixable(
        f"{many} running service{'s do' if many > 1 else ' does'} not know key {key} and could read nothing any more "
        f"(last seen {ago_s} s ago; who was killed counts for {int(GONE_AFTER.total_seconds())} s). {what_to_do}."
    )
