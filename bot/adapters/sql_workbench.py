"""Drafts, signatures and the origins of texts in the SQL database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import DateTime, Text, delete, func, select, update
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import Mapped, Session, mapped_column

from bot.adapters.sql_acts import add_act
from bot.adapters.sql_origins import OriginRow
from bot.adapters.sql_tables import Base, in_utc, talking_to
from bot.catalog.catalog import NearMiss
from bot.editorial.acts import Act
from bot.editorial.people import Person
from bot.editorial.workbench import (
    UNFINISHED,
    AddedNearMiss,
    Draft,
    Origin,
    Provenance,
    Signature,
    Stale,
    text_digest,
)
from bot.errors import AlreadyStored

_PROVENANCE = TypeAdapter(Provenance)


class DraftRow(Base):
    """One draft."""

    __tablename__ = "drafts"

    exam: Mapped[str] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[str | None] = mapped_column(Text)
    base: Mapped[str]
    version: Mapped[int]
    editors: Mapped[str]
    changed_by: Mapped[str]
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    provenance: Mapped[str | None] = mapped_column(Text)


class NearMissRow(Base):
    """One text that a pair must not be taken for."""

    __tablename__ = "draft_near_misses"

    id: Mapped[int] = mapped_column(primary_key=True)
    exam: Mapped[str] = mapped_column(index=True)
    language: Mapped[str]
    pair: Mapped[str]
    author: Mapped[str]
    level: Mapped[str]
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    person: Mapped[int] = mapped_column(default=0)


class SignatureRow(Base):
    """One signature."""

    __tablename__ = "draft_signatures"

    id: Mapped[int] = mapped_column(primary_key=True)
    exam: Mapped[str] = mapped_column(index=True)
    what: Mapped[str]
    text: Mapped[str]
    person: Mapped[int]
    name: Mapped[str]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    until: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    seen: Mapped[str] = mapped_column(default="")
    after_reset: Mapped[bool] = mapped_column(default=False)
    proof: Mapped[str] = mapped_column(default="")


@dataclass(frozen=True, slots=True)
class SqlWorkbench:
    """Fulfils `bot.editorial.workbench.Workbench`."""

    engine: Engine
    request_id: Callable[[], str] = field(default=lambda: "")

    def drafts(self, exam: str) -> list[Draft]:
        wanted = select(DraftRow).where(DraftRow.exam == exam).order_by(DraftRow.changed_at.desc(), DraftRow.name)
        with talking_to(self.engine) as session:
            return [_draft(row) for row in session.scalars(wanted)]

    def state(self, exam: str) -> object:
        names = (DraftRow.language, DraftRow.name, DraftRow.version, DraftRow.changed_at)
        drafts = select(*names).where(DraftRow.exam == exam).order_by(DraftRow.language, DraftRow.name)
        with talking_to(self.engine) as session:
            found: list[object] = [tuple(row) for row in session.execute(drafts)]
            for row in (NearMissRow, SignatureRow):
                # A number is used again once the last row is gone: the moment tells the two apart.
                grown = select(func.count(), func.max(row.id), func.max(row.at)).where(row.exam == exam)
                found.append(tuple(session.execute(grown).one()))
        return tuple(found)

    def draft(self, exam: str, language: str, name: str) -> Draft | None:
        with talking_to(self.engine) as session:
            row = session.get(DraftRow, (exam, language, name))
            return _draft(row) if row is not None else None

    def save(self, draft: Draft, *, by: Person, now: datetime, origins: Sequence[Origin] = ()) -> Draft:
        key = (draft.exam, draft.language, draft.name)
        made = replace(
            draft,
            version=draft.version + 1,
            editors=draft.editors | {by.id},
            changed_by=by.name,
            changed_at=now.astimezone(UTC),
        )
        try:
            with talking_to(self.engine) as session:
                before = session.get(DraftRow, key)
                stood = json.loads(before.content) if before is not None and before.content is not None else {}
                if draft.version == 0:
                    session.add(DraftRow(**_columns(made), exam=key[0], language=key[1], name=key[2]))
                elif not _changed(session, draft, _columns(made)):
                    raise Stale(self.draft(*key))
                session.add_all(
                    OriginRow(exam=o.exam, language=o.language, pair=o.pair, text=o.text, pseudonym=o.pseudonym)
                    for o in origins
                )
                action = "edit" if made.content is not None else "remove"
                was, is_now = _difference(stood, dict(made.content) if made.content is not None else None)
                was, is_now = _told(was, asked=bool(origins)), _told(is_now, asked=bool(origins))
                add_act(session, Act(now, by.name, action, _named(draft), was, is_now, self.request_id()))
                session.commit()
        except AlreadyStored:
            raise Stale(self.draft(*key)) from None
        return made

    def add_all(self, drafts: Sequence[Draft], *, by: Person, now: datetime) -> None:
        more = {"version": 1, "editors": frozenset({by.id}), "changed_by": by.name, "changed_at": now.astimezone(UTC)}
        try:
            with talking_to(self.engine) as session:
                for draft in drafts:
                    made = replace(draft, **more)  # type: ignore[arg-type]
                    session.add(DraftRow(**_columns(made), exam=made.exam, language=made.language, name=made.name))
                    after = dict(made.content or {})
                    if made.provenance is not None:
                        after["written by"] = made.provenance.written_by
                    add_act(session, Act(now, by.name, "import", _named(made), {}, after, self.request_id()))
                session.commit()
        except AlreadyStored:
            raise Stale(None) from None

    def drop(self, draft: Draft, *, by: Person, now: datetime) -> None:
        mine = delete(DraftRow).where(*_same(draft))
        with talking_to(self.engine) as session:
            done = session.execute(mine)
            if isinstance(done, CursorResult) and done.rowcount == 0:
                raise Stale(self.draft(draft.exam, draft.language, draft.name))
            add_act(
                session,
                Act(
                    now,
                    by.name,
                    "give up",
                    _named(draft),
                    _told(draft.content or {}, asked=True),
                    request_id=self.request_id(),
                ),
            )
            session.commit()

    def near_misses(self, exam: str) -> list[AddedNearMiss]:
        with talking_to(self.engine) as session:
            rows = session.scalars(select(NearMissRow).where(NearMissRow.exam == exam).order_by(NearMissRow.id))
            return [_near_miss(row) for row in rows]

    def add_near_miss(self, exam: str, added: AddedNearMiss, *, by: Person, now: datetime, origin: str = "") -> None:
        told = added.near_miss.model_dump()
        with talking_to(self.engine) as session:
            at = now.astimezone(UTC)
            session.add(NearMissRow(exam=exam, language=added.language, at=at, person=by.id, **told))
            if origin:
                place = {"exam": exam, "language": added.language, "pair": added.near_miss.pair}
                session.add(OriginRow(**place, text=text_digest(added.near_miss.text), pseudonym=origin))
            what = f"near miss {added.near_miss.pair} {added.language}"
            hashed = {**told, "text": _hashes(told["text"])}
            add_act(session, Act(now, by.name, "add", what, after=hashed, request_id=self.request_id()))
            session.commit()

    def remove_near_miss(self, exam: str, added: AddedNearMiss, *, by: Person, now: datetime) -> None:
        told = added.near_miss.model_dump()
        same = [NearMissRow.exam == exam, NearMissRow.language == added.language]
        same += [getattr(NearMissRow, name) == value for name, value in told.items()]
        with talking_to(self.engine) as session:
            session.execute(delete(NearMissRow).where(*same))
            what = f"near miss {added.near_miss.pair} {added.language}"
            hashed = {**told, "text": _hashes(told["text"])}
            add_act(session, Act(now, by.name, "remove", what, before=hashed, request_id=self.request_id()))
            session.commit()

    def signatures(self, exam: str) -> list[Signature]:
        wanted = select(SignatureRow).where(SignatureRow.exam == exam).order_by(SignatureRow.id)
        with talking_to(self.engine) as session:
            return [
                Signature(
                    row.what,
                    row.text,
                    row.person,
                    row.name,
                    in_utc(row.at),
                    in_utc(row.until),
                    seen=row.seen,
                    after_reset=bool(row.after_reset),
                    proof=row.proof,
                )
                for row in session.scalars(wanted)
            ]

    def sign(self, exam: str, signatures: Sequence[Signature], *, after: Sequence[Signature] | None = None) -> None:
        with talking_to(self.engine) as session:
            for each in signatures:
                signed = {"text": each.text, "until": each.until.isoformat()}
                signed |= {"after": "a reset"} if each.after_reset else {}
                # First, since whoever adds an act waits for all others who do: what is counted next is all there is.
                add_act(session, Act(each.at, each.name, "sign", each.what, after=signed, request_id=self.request_id()))
                if after is not None:
                    mine = [SignatureRow.exam == exam, SignatureRow.what == each.what, SignatureRow.text == each.text]
                    there = session.scalar(select(func.count()).select_from(SignatureRow).where(*mine))
                    if there != sum(known.what == each.what and known.text == each.text for known in after):
                        raise Stale(None)
                row = SignatureRow(exam=exam, what=each.what, text=each.text, person=each.person, name=each.name)
                row.seen, row.after_reset, row.proof = each.seen, each.after_reset, each.proof
                row.at, row.until = each.at.astimezone(UTC), each.until.astimezone(UTC)
                session.add(row)
            session.commit()

    def origins(self, pseudonym: str) -> list[Origin]:
        wanted = select(OriginRow).where(OriginRow.pseudonym == pseudonym).order_by(OriginRow.id)
        with talking_to(self.engine) as session:
            return [
                Origin(row.exam, row.language, row.pair, row.text, row.pseudonym) for row in session.scalars(wanted)
            ]

    def released(self, exam: str, drafts: Sequence[Draft], near_misses: Sequence[AddedNearMiss]) -> None:
        with talking_to(self.engine) as session:
            for draft in drafts:
                session.execute(delete(DraftRow).where(*_same(draft)))
            for added in near_misses:
                told = added.near_miss.model_dump()
                same = [NearMissRow.exam == exam, NearMissRow.language == added.language]
                same += [getattr(NearMissRow, name) == value for name, value in told.items()]
                session.execute(delete(NearMissRow).where(*same))
            session.commit()


def _named(draft: Draft) -> str:
    return f"pair {draft.name} {draft.language}" if draft.language else draft.name.removeprefix("@")


def _same(draft: Draft) -> list[Any]:
    return [
        DraftRow.exam == draft.exam,
        DraftRow.language == draft.language,
        DraftRow.name == draft.name,
        DraftRow.version == draft.version,
    ]


def _changed(session: Session, draft: Draft, columns: Mapping[str, Any]) -> bool:
    done = session.execute(update(DraftRow).where(*_same(draft)).values(**columns))
    return isinstance(done, CursorResult) and done.rowcount == 1


def _columns(draft: Draft) -> dict[str, Any]:
    return {
        "content": json.dumps(dict(draft.content), ensure_ascii=False) if draft.content is not None else None,
        "base": draft.base,
        "version": draft.version,
        "editors": " ".join(str(each) for each in sorted(draft.editors)),
        "changed_by": draft.changed_by,
        "changed_at": draft.changed_at,
        "provenance": _PROVENANCE.dump_json(draft.provenance).decode() if draft.provenance is not None else None,
    }


def _difference(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what changed, before and after: of lists of texts, what went and what came."""
    if after is None:
        return dict(before), {}
    was, is_now = dict[str, Any](), dict[str, Any]()
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, list) and isinstance(new, list):
            old, new = _only(old, new), _only(new, old)
        was[key], is_now[key] = old, new
    return was, is_now


def _told(values: Mapping[str, Any], *, asked: bool) -> dict[str, Any]:
    """Return what the trail says of a pair: for what may be patients' words, their hashes. The trail is for ever.

    `asked`: whether the question, too, may have come from a patient.
    """
    hidden = ("variants", "question") if asked else ("variants",)
    if UNFINISHED in values:  # of fields, which may be patients' words as well, only which there are
        values = {**values, UNFINISHED: sorted(values[UNFINISHED] or ())}
    return {key: _hashes(value) if key in hidden and value else value for key, value in values.items()}


def _hashes(value: Any) -> Any:
    if isinstance(value, list):
        return [_hashes(each) for each in value]
    text = value.get("text", "") if isinstance(value, Mapping) else str(value)
    return f"SHA-256 {text_digest(text)[:16]}"


def _only(these: Iterable[Any], those: Sequence[Any]) -> list[Any]:
    return [each for each in these if each not in those]


def _draft(row: DraftRow) -> Draft:
    return Draft(
        exam=row.exam,
        language=row.language,
        name=row.name,
        content=json.loads(row.content) if row.content is not None else None,
        base=row.base,
        version=row.version,
        editors=frozenset(int(each) for each in row.editors.split()),
        changed_by=row.changed_by,
        changed_at=in_utc(row.changed_at),
        provenance=_PROVENANCE.validate_json(row.provenance) if row.provenance is not None else None,
    )


def _near_miss(row: NearMissRow) -> AddedNearMiss:
    return AddedNearMiss(
        row.language,
        NearMiss(author=row.author, pair=row.pair, level=row.level, text=row.text),  # type: ignore[arg-type]
        row.person,
    )
