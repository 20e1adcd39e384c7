"""What the database has seen of each audit log, which lies outside: who cuts off its end has to write here, too."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import DateTime
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_tables import Base, in_utc, talking_to
from bot.ports import SeenAudit


class WitnessRow(Base):
    """One audit log: row 1 is that of a database with one machine."""

    __tablename__ = "audit_witness"

    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[int]
    last: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


@dataclass(frozen=True, slots=True)
class SqlWitness:
    """Fulfils `bot.ports.Witness`.

    Attributes:
        name: Of the log, where several machines have one each.
    """

    engine: Engine
    name: str = ""

    @property
    def _id(self) -> int:
        return int(hashlib.sha256(self.name.encode()).hexdigest()[:7], 16) + 2 if self.name else 1

    def seen(self) -> SeenAudit | None:
        with talking_to(self.engine) as session:
            row = session.get(WitnessRow, self._id)
            return SeenAudit(row.lines, row.last, in_utc(row.at)) if row is not None else None

    def see(self, seen: SeenAudit) -> None:
        with talking_to(self.engine) as session:
            session.merge(WitnessRow(id=self._id, lines=seen.lines, last=seen.last, at=seen.at.astimezone(UTC)))
            session.commit()
