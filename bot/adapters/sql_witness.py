"""What the database has seen of the audit log, which lies outside: who cuts off its end has to write here, too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import DateTime
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_tables import Base, in_utc, talking_to
from bot.ports import SeenAudit


class WitnessRow(Base):
    """The one row."""

    __tablename__ = "audit_witness"

    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[int]
    last: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


@dataclass(frozen=True, slots=True)
class SqlWitness:
    """Fulfils `bot.ports.Witness`."""

    engine: Engine

    def seen(self) -> SeenAudit | None:
        with talking_to(self.engine) as session:
            row = session.get(WitnessRow, 1)
            return SeenAudit(row.lines, row.last, in_utc(row.at)) if row is not None else None

    def see(self, seen: SeenAudit) -> None:
        with talking_to(self.engine) as session:
            session.merge(WitnessRow(id=1, lines=seen.lines, last=seen.last, at=seen.at.astimezone(UTC)))
            session.commit()
