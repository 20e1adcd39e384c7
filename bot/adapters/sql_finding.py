"""Find conversations in the database by patient, moment, name in logs, or by what was shown in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC

from sqlalchemy import ColumnElement, bindparam, exists, func, not_, or_, select, union_all, update
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from bot.adapters.blind_keys import BlindKeys
from bot.adapters.sql_outbox import OutboxRow
from bot.adapters.sql_records import InterviewRow
from bot.adapters.sql_tables import PATIENT, ConversationRow, TurnRow, in_utc, stored_conversation, talking_to
from bot.outbox_ports import pseudonym
from bot.ports import FoundConversation, Life, Sought, StoredReply

BATCH = 500  # rows at a time: nobody who writes waits for a whole search


class SqlFinder:
    """Fulfils `bot.ports.Finder`."""

    def __init__(self, engine: Engine, keys: BlindKeys) -> None:
        self._engine = engine
        self._keys = keys

    def find(self, sought: Sought) -> list[FoundConversation]:
        with talking_to(self._engine) as session:
            ids = self._sought(session, sought)
            found = [each for batch in _batches(ids) for each in _found(session, batch)]
        return sorted(found, key=lambda each: (each.conversation.begun, each.conversation.id))

    def replies(self, holding: str, *, sought: Sought) -> Iterator[StoredReply]:
        wanted = select(TurnRow.id, TurnRow.conversation, TurnRow.at, TurnRow.reply).where(
            TurnRow.reply.is_not(None), *_moments(sought)
        )
        allowed = None
        if sought.ids is not None or sought.patient is not None or sought.pseudonym is not None:
            with talking_to(self._engine) as session:
                allowed = frozenset(self._sought(session, sought))
        last = -1
        while True:
            # One batch a session: a long look must not keep what was deleted meanwhile in SQLite's log.
            with talking_to(self._engine) as session:
                rows = session.execute(wanted.where(TurnRow.id > last).order_by(TurnRow.id).limit(BATCH)).all()
            if not rows:
                return
            last = rows[-1][0]
            for _, conversation, at, reply in rows:
                if (allowed is None or conversation in allowed) and holding in (reply or ""):
                    yield StoredReply(conversation, in_utc(at), reply or "")

    def lives(self) -> list[Life]:
        moments = union_all(
            select(ConversationRow.id.label("conversation"), ConversationRow.begun.label("at")),
            select(TurnRow.conversation, TurnRow.at),
            select(InterviewRow.conversation, InterviewRow.changed_at),
            select(OutboxRow.conversation, OutboxRow.put_at),
        ).subquery()
        id_, at = moments.c.conversation, moments.c.at
        wanted = select(id_, func.min(at), func.max(at)).where(id_ != "").group_by(id_).order_by(id_)
        with talking_to(self._engine) as session:
            return [Life(each, in_utc(first), in_utc(last)) for each, first, last in session.execute(wanted)]

    def index_patients(self) -> int:
        current = self._keys.current
        stale = _without_index([current.id])
        changed, last = 0, ""
        while True:
            with talking_to(self._engine) as session:
                wanted = select(ConversationRow.id, ConversationRow.patient).where(stale, ConversationRow.id > last)
                rows = session.execute(wanted.order_by(ConversationRow.id).limit(BATCH)).all()
                if not rows:
                    return changed
                last = rows[-1][0]
                values = [
                    {"own_id": id_, "blind": current.marked(PATIENT, patient)} for id_, patient in rows if patient
                ]
                if values:
                    own = ConversationRow.__table__.c.id == bindparam("own_id")
                    write = update(ConversationRow.__table__).where(own)  # type: ignore[arg-type]  # it is a Table
                    session.connection().execute(write.values(patient_blind=bindparam("blind")), values)
                    session.commit()
                changed += len(values)

    def _sought(self, session: Session, sought: Sought) -> list[str]:
        """Return the ids of conversations for which all holds."""
        wanted = select(ConversationRow.id)
        if sought.since is not None or sought.until is not None:
            wanted = wanted.where(exists().where(TurnRow.conversation == ConversationRow.id, *_moments(sought)))
        if sought.patient is None:
            ids = list(session.scalars(wanted))
        else:
            batches = _batches(self._of_patient(session, sought.patient))
            ids = [id_ for batch in batches for id_ in session.scalars(wanted.where(ConversationRow.id.in_(batch)))]
        return [
            id_
            for id_ in ids
            if (sought.ids is None or id_ in sought.ids) and sought.pseudonym in (None, pseudonym(id_))
        ]

    def _of_patient(self, session: Session, patient: str) -> list[str]:
        """Return the conversations of a patient: by the index, and, where it is missing, by reading."""
        known = self._keys.known
        marked = [key.marked(PATIENT, patient) for key in known]
        found = list(session.scalars(select(ConversationRow.id).where(ConversationRow.patient_blind.in_(marked))))
        rest = select(ConversationRow.id, ConversationRow.patient).where(_without_index([key.id for key in known]))
        return found + [id_ for id_, whose in session.execute(rest) if whose == patient]


def _without_index(keys: Sequence[str]) -> ColumnElement[bool]:
    """Hold for conversations of patients that no value under one of these keys stands for."""
    marks = [ConversationRow.patient_blind.startswith(f"{key}:", autoescape=True) for key in keys]
    missing = or_(ConversationRow.patient_blind.is_(None), not_(or_(*marks)))
    return ConversationRow.patient.is_not(None) & missing


def _moments(sought: Sought) -> list[ColumnElement[bool]]:
    since, until = sought.since, sought.until
    return [
        *([TurnRow.at >= since.astimezone(UTC)] if since is not None else []),
        *([TurnRow.at <= until.astimezone(UTC)] if until is not None else []),
    ]


def _found(session: Session, ids: Sequence[str]) -> Iterator[FoundConversation]:
    turns = (
        select(TurnRow.conversation, func.count().label("many"), func.max(TurnRow.at).label("last"))
        .where(TurnRow.conversation.in_(ids))
        .group_by(TurnRow.conversation)
        .subquery()
    )
    joined = select(ConversationRow, turns.c.many, turns.c.last).outerjoin(
        turns, turns.c.conversation == ConversationRow.id
    )
    for row, many, last in session.execute(joined.where(ConversationRow.id.in_(ids))):
        yield FoundConversation(stored_conversation(row), many or 0, in_utc(last) if last is not None else None)


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
