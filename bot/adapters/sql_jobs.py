"""The queue of long work in the SQL database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Text, and_, or_, select, update
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_acts import add_act
from bot.adapters.sql_tables import Base, in_utc, talking_to
from bot.editorial.acts import Act
from bot.editorial.jobs import LOST_AFTER, Cancelled, Job, JobState

GOING = ("queued", "running")


class JobRow(Base):
    """One job; `beat` is the last sign of life of whoever does it."""

    __tablename__ = "jobs"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    by: Mapped[str]
    asked: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    state: Mapped[str] = mapped_column(index=True)
    wanted: Mapped[str] = mapped_column(Text)
    share: Mapped[float]
    told: Mapped[str]
    result: Mapped[str] = mapped_column(Text)
    beat: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    ended: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


@dataclass(frozen=True, slots=True)
class SqlJobs:
    """Fulfils `bot.editorial.jobs.Jobs`."""

    engine: Engine

    def ask(self, kind: str, wanted: Mapping[str, Any], *, by: str, now: datetime) -> Job:
        written = json.dumps(dict(wanted), ensure_ascii=False, sort_keys=True)
        same = select(JobRow).where(JobRow.kind == kind, JobRow.wanted == written, JobRow.state.in_(GOING))
        with talking_to(self.engine) as session:
            known = session.scalars(same).first()
            if known is not None:
                return _job(known)
            row = JobRow(
                kind=kind,
                by=by,
                asked=now.astimezone(UTC),
                state="queued",
                wanted=written,
                share=0,
                told="",
                result="{}",
            )
            session.add(row)
            add_act(session, Act(now, by, "job", kind, after=wanted))
            session.commit()
            return _job(row)

    def get(self, id_: int) -> Job | None:
        with talking_to(self.engine) as session:
            row = session.get(JobRow, id_)
            return _job(row) if row is not None else None

    def newest(self, kind: str = "", *, most: int = 20) -> list[Job]:
        wanted = select(JobRow).order_by(JobRow.id.desc()).limit(most)
        if kind:
            wanted = wanted.where(JobRow.kind == kind)
        with talking_to(self.engine) as session:
            return [_job(row) for row in session.scalars(wanted)]

    def claim(self, kinds: frozenset[str], *, now: datetime) -> Job | None:
        lost = and_(JobRow.state == "running", JobRow.beat < now.astimezone(UTC) - LOST_AFTER)
        free = or_(JobRow.state == "queued", lost)
        wanted = select(JobRow.id, JobRow.state, JobRow.beat).where(JobRow.kind.in_(kinds), free).order_by(JobRow.id)
        with talking_to(self.engine) as session:
            for id_, state, beat in session.execute(wanted).all():
                # Another process may be taking it at this moment: only one finds it as it was.
                mine = update(JobRow).where(
                    JobRow.id == id_,
                    JobRow.state == state,
                    JobRow.beat.is_(None) if beat is None else JobRow.beat == beat,
                )
                done = session.execute(mine.values(state="running", beat=now.astimezone(UTC), share=0))
                session.commit()
                if isinstance(done, CursorResult) and done.rowcount == 1:
                    row = session.get(JobRow, id_)
                    return _job(row) if row is not None else None
        return None

    def tell(self, id_: int, share: float, told: str, *, now: datetime) -> None:
        going = update(JobRow).where(JobRow.id == id_, JobRow.state == "running")
        with talking_to(self.engine) as session:
            done = session.execute(going.values(share=share, told=told, beat=now.astimezone(UTC)))
            session.commit()
            if isinstance(done, CursorResult) and done.rowcount == 0:
                raise Cancelled

    def end(self, id_: int, state: JobState, told: str, result: Mapping[str, Any], *, now: datetime) -> None:
        going = update(JobRow).where(JobRow.id == id_, JobRow.state == "running")
        written = json.dumps(dict(result), ensure_ascii=False)
        with talking_to(self.engine) as session:
            share = {"share": 1.0} if state == "done" else {}
            session.execute(going.values(state=state, told=told, result=written, ended=now.astimezone(UTC), **share))
            session.commit()

    def cancel(self, id_: int, *, by: str, now: datetime) -> bool:
        going = update(JobRow).where(JobRow.id == id_, JobRow.state.in_(GOING))
        with talking_to(self.engine) as session:
            done = session.execute(going.values(state="cancelled", ended=now.astimezone(UTC)))
            stopped = isinstance(done, CursorResult) and done.rowcount == 1
            if stopped:
                add_act(session, Act(now, by, "cancel", f"job {id_}"))
            session.commit()
            return stopped


def _job(row: JobRow) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        by=row.by,
        asked=in_utc(row.asked),
        state=row.state,  # type: ignore[arg-type]  # written here only
        wanted=json.loads(row.wanted),
        share=row.share,
        told=row.told,
        result=json.loads(row.result),
        ended=in_utc(row.ended) if row.ended is not None else None,
    )
