"""Releases and emergency stops in the SQL database of the records. Rows are added, never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import DateTime, ForeignKey, LargeBinary, Select, Text, func, select
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_tables import Base, in_utc, talking_to
from bot.errors import AlreadyStored, BadData, Unreachable
from bot.release.release import Release, Switch
from bot.release.stops import Stop

Chosen = TypeVar("Chosen", bound="Select[Any]")
TRIES = 5  # to find a free number, where several make releases at once


class ReleaseRow(Base):
    """One release."""

    __tablename__ = "releases"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    exam: Mapped[str | None]  # as in the manifest
    made: Mapped[str]  # as it was signed
    by: Mapped[str]
    note: Mapped[str]
    manifest: Mapped[str] = mapped_column(Text)
    signature: Mapped[str]
    files: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class SwitchRow(Base):
    """One switch to another release."""

    __tablename__ = "release_switches"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    by: Mapped[str]
    move: Mapped[str]
    number: Mapped[int] = mapped_column(ForeignKey("releases.number"))


class StopRow(Base):
    """One act of the emergency stop."""

    __tablename__ = "stops"

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    by: Mapped[str]
    kind: Mapped[str]
    pair_id: Mapped[str]
    release: Mapped[int]
    why: Mapped[str]
    texts: Mapped[str] = mapped_column(Text)  # hashes, by spaces
    exam: Mapped[str]  # empty: for all


@dataclass(frozen=True, slots=True)
class SqlReleases:
    """Fulfils `bot.release.release.Releases`; `exam`: of which alone releases and switches are told; empty: of all."""

    engine: Engine
    exam: str = ""

    def of_exam(self, exam: str) -> SqlReleases:
        return SqlReleases(self.engine, exam)

    def add(self, make: Callable[[int], Release], files: bytes) -> Release:
        for _ in range(TRIES):
            with suppress(AlreadyStored), talking_to(self.engine) as session:
                made = make((session.scalar(select(func.max(ReleaseRow.number))) or 0) + 1)
                row = ReleaseRow(
                    number=made.number,
                    exam=made.exam,
                    made=made.made.isoformat(),
                    by=made.by,
                    note=made.note,
                    manifest=made.manifest,
                    signature=made.signature,
                    files=files,
                )
                session.add(row)
                session.commit()
                return made
        raise Unreachable("Others are making releases at the same time. Run the command again.")

    def all(self) -> list[Release]:
        with talking_to(self.engine) as session:
            return [_release(row) for row in session.scalars(self._own(select(ReleaseRow)).order_by(ReleaseRow.number))]

    def newest(self) -> Release | None:
        with talking_to(self.engine) as session:
            newest = self._own(select(ReleaseRow)).order_by(ReleaseRow.number.desc()).limit(1)
            row = session.scalars(newest).first()
            return _release(row) if row is not None else None

    def get(self, number: int) -> Release | None:
        with talking_to(self.engine) as session:
            row = session.get(ReleaseRow, number)
            return _release(row) if row is not None else None

    def files(self, number: int) -> bytes:
        with talking_to(self.engine) as session:
            found = session.scalar(select(ReleaseRow.files).where(ReleaseRow.number == number))
        if found is None:
            raise BadData(f"There is no release {number}. See `klartext release list`.")
        return found

    def switch(self, switch: Switch) -> None:
        at = switch.at.astimezone(UTC)
        with talking_to(self.engine) as session:
            session.add(SwitchRow(at=at, by=switch.by, move=switch.move, number=switch.number))
            session.commit()

    def switches(self) -> list[Switch]:
        with talking_to(self.engine) as session:
            return [
                Switch(in_utc(row.at), row.by, row.move, row.number)  # type: ignore[arg-type]  # written by `switch` only
                for row in session.scalars(self._switched(select(SwitchRow)).order_by(SwitchRow.id))
            ]

    def in_force(self) -> int | None:
        wanted = self._switched(select(SwitchRow.number)).where(SwitchRow.move != "prepare")
        with talking_to(self.engine) as session:
            return session.scalar(wanted.order_by(SwitchRow.id.desc()).limit(1))

    def exams(self) -> list[str]:
        released = select(ReleaseRow.exam).join(SwitchRow, SwitchRow.number == ReleaseRow.number)
        with talking_to(self.engine) as session:
            return sorted({str(exam) for exam in session.scalars(released.where(SwitchRow.move != "prepare"))})

    def _own(self, wanted: Chosen) -> Chosen:
        return wanted.where(ReleaseRow.exam == self.exam) if self.exam else wanted

    def _switched(self, wanted: Chosen) -> Chosen:
        """Return what is wanted of switches, those of this exam only."""
        if not self.exam:
            return wanted
        return wanted.join(ReleaseRow, ReleaseRow.number == SwitchRow.number).where(ReleaseRow.exam == self.exam)

    def stop(self, stop: Stop) -> Stop:
        with talking_to(self.engine) as session:
            last = session.scalar(select(func.max(ReleaseRow.number))) or 0
            texts = set(stop.texts)
            if stop.kind == "withdraw":
                wanted = select(ReleaseRow.manifest)
                manifests = session.scalars(wanted.where(ReleaseRow.exam == stop.exam) if stop.exam else wanted)
                texts |= {text for each in manifests for text in _texts_of(stop.pair_id, each)}
            done = replace(stop, at=stop.at.astimezone(UTC), release=last, texts=tuple(sorted(texts)))
            row = StopRow(at=done.at, by=done.by, kind=done.kind, pair_id=done.pair_id, release=last, why=done.why)
            row.texts, row.exam = " ".join(done.texts), done.exam
            session.add(row)
            session.commit()
            return done

    def stops(self) -> list[Stop]:
        with talking_to(self.engine) as session:
            return [
                Stop(
                    in_utc(row.at),
                    row.by,
                    row.kind,  # type: ignore[arg-type]  # written by `stop` only
                    row.pair_id,
                    row.release,
                    row.why,
                    tuple(row.texts.split()),
                    row.exam,
                )
                for row in session.scalars(select(StopRow).order_by(StopRow.id))
            ]


def _texts_of(pair_id: str, manifest: str) -> list[str]:
    """Return the hashes of a pair's texts in a release, in whatever language."""
    texts: dict[str, str] = json.loads(manifest)["texts"]
    return [text for what, text in texts.items() if what.startswith(f"pair {pair_id} ")]


def _release(row: ReleaseRow) -> Release:
    return Release(row.number, datetime.fromisoformat(row.made), row.by, row.note, row.manifest, row.signature)
