"""Delete what is too old, while the service goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    Subquery,
    Update,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    union,
    update,
)
from sqlalchemy.engine import CursorResult, Engine
from sqlalchemy.orm import Session

from bot.adapters.sql_origins import PURGED, note_gone
from bot.adapters.sql_outbox import OutboxRow
from bot.adapters.sql_probe import clean_up
from bot.adapters.sql_records import UNANSWERED, InterviewRow
from bot.adapters.sql_staff import DeletedRow
from bot.adapters.sql_tables import ConversationRow, FlagRow, TurnRow, talking_to
from bot.adapters.summary_folders import SummaryFolders
from bot.ports import COMPLAINTS, Audit, AuditEvent, Cutoffs, Purged

log = logging.getLogger("klartext")
BATCH = 200  # conversations in one transaction: a turn waits for no longer than that
OF_THE_REST = ("questions", "comments", "interviews", "sent", "summaries")  # what goes without its conversation
RETENTION = "retention"  # who has it done, in the audit log
PURGE_LOCK = 0x70757267  # any number, the same in every process
DETACHED = ""  # the conversation of questions that are kept without one


class SqlRetention:
    """Fulfils `bot.settings.Keeper`."""

    def __init__(self, engine: Engine, audit: Audit | None = None, summaries: SummaryFolders | None = None) -> None:
        """`audit` is told of conversations before they go; `summaries` go with these; None: nobody is, nothing goes."""
        self._engine = engine
        self._audit = audit
        self._summaries = summaries

    def purge(self, cutoffs: Cutoffs, *, dry_run: bool = False) -> Purged:
        with _alone(self._engine):
            return self._purge(_in_utc(cutoffs), dry_run=dry_run)

    def _purge(self, cutoffs: Cutoffs, *, dry_run: bool) -> Purged:
        old = _old_conversations(cutoffs.conversations)
        with talking_to(self._engine) as session:
            ids = list(session.scalars(old))
            detached = _count(session, _kept_questions(old)) if cutoffs.questions_stay else 0
            unsent = _count(session, select(OutboxRow.id).where(_unsent(cutoffs)))
        if dry_run:
            counted = Purged(conversations=len(ids), questions_detached=detached, unsent_kept=unsent)
            if self._summaries is not None:
                going = set(ids)
                counted = replace(counted, summaries=self._summaries.count_all_but(lambda: self._known() - going))
            return self._the_rest(cutoffs, counted, dry_run=True)
        purged = Purged(unsent_kept=unsent)
        for start in range(0, len(ids), BATCH):
            gone, kept = self._erase(ids[start : start + BATCH], cutoffs)
            purged = replace(
                purged,
                conversations=purged.conversations + gone,
                questions_detached=purged.questions_detached + kept,
            )
        purged = self._the_rest(cutoffs, purged, dry_run=False)
        if self._summaries is not None:
            # Not only of those that went now: another machine, or a patient, may have erased others.
            purged = replace(purged, summaries=self._summaries.erase_all_but(self._known))
        rest = {name: count for name, count in purged.counts() if count and name in OF_THE_REST}
        if self._audit is not None and rest:
            self._audit.note(AuditEvent("purge", RETENTION, counts=rest))
        return replace(purged, residue=not clean_up(self._engine))

    def purge_again(self, conversations: Sequence[str], cutoffs: Cutoffs) -> int:
        gone = 0
        for start in range(0, len(conversations), BATCH):
            gone += self._erase(conversations[start : start + BATCH], _in_utc(cutoffs), "purge-again")[0]
        if self._summaries is not None:
            self._summaries.erase_all_but(self._known)
        clean_up(self._engine)
        return gone

    def _known(self) -> set[str]:
        """Return the ids of all conversations that are there."""
        with talking_to(self._engine) as session:
            return set(session.scalars(select(_every_conversation().c[0])))

    def _erase(self, batch: Sequence[str], cutoffs: Cutoffs, action: str = "purge") -> tuple[int, int]:
        """Delete conversations that are still old, and return how many went and how many questions stay."""
        while batch:
            with talking_to(self._engine) as session:
                # The conversations first: this waits for turns that are being added, and none can be added after it.
                session.execute(delete(ConversationRow).where(ConversationRow.id.in_(batch)))
                revived = set(session.scalars(_revived(batch, cutoffs.conversations)))
                if revived:  # somebody has just written again
                    session.rollback()
                    batch = [id_ for id_ in batch if id_ not in revived]
                    continue
                kept = _detach(session, batch) if cutoffs.questions_stay else 0
                session.execute(delete(TurnRow).where(TurnRow.conversation.in_(batch)))  # flags go with them
                session.execute(delete(InterviewRow).where(InterviewRow.conversation.in_(batch)))  # and its events
                note_gone(session, batch, PURGED, at=datetime.now(UTC))
                if self._audit is not None:
                    # Last, and before it is final: nothing goes that the log does not name.
                    self._audit.note(AuditEvent(action, RETENTION, batch, counts={"conversations": len(batch)}))
                session.commit()
                return len(batch), kept
        return 0, 0

    def _the_rest(self, cutoffs: Cutoffs, purged: Purged, *, dry_run: bool) -> Purged:
        """Delete what is too old in conversations that stay."""
        old = _old_conversations(cutoffs.conversations)  # gone by now, unless this is a dry run
        there = exists().where(TurnRow.conversation == OutboxRow.conversation)
        questions = [TurnRow.conversation == DETACHED, TurnRow.at < cutoffs.questions]
        comments = [
            FlagRow.at < cutoffs.comments,
            FlagRow.comment != "",
            FlagRow.turn_id.in_(select(TurnRow.id).where(TurnRow.conversation.not_in(old))),
        ]
        interviews = [InterviewRow.changed_at < cutoffs.interviews, InterviewRow.conversation.not_in(old)]
        # Without the note a conversation that is still there would be sent once more.
        sent = [OutboxRow.accepted_at < cutoffs.sent, or_(~there, OutboxRow.conversation.in_(old))]
        kinds: dict[str, tuple[Select[int] | Select[str], Delete | Update]] = {
            "questions": (select(TurnRow.id).where(*questions), delete(TurnRow).where(*questions)),
            "comments": (select(FlagRow.id).where(*comments), update(FlagRow).where(*comments).values(comment="")),
            "interviews": (
                select(InterviewRow.conversation).where(*interviews),
                delete(InterviewRow).where(*interviews),
            ),
            "sent": (select(OutboxRow.id).where(*sent), delete(OutboxRow).where(*sent)),
        }
        with talking_to(self._engine) as session:
            counts = {name: _count(session, found) for name, (found, _) in kinds.items()}
            if not dry_run:
                counts = {name: _changed(session, change) for name, (_, change) in kinds.items()}
                session.execute(delete(DeletedRow).where(DeletedRow.at < cutoffs.conversations))
                session.commit()
        return replace(
            purged,
            questions=counts["questions"],
            comments=counts["comments"],
            interviews=counts["interviews"],
            sent=counts["sent"],
        )


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Wait until no other process purges: services that start together would all count, and note, the same ones."""
    if engine.dialect.name != "postgresql":  # only there several services share a database
        yield
        return
    number = {"number": PURGE_LOCK}
    # Outside of any transaction: one that stays open would keep back the space of what is deleted.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT pg_advisory_lock(:number)"), number)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:number)"), number)


def _in_utc(cutoffs: Cutoffs) -> Cutoffs:
    return Cutoffs(**{name: getattr(cutoffs, name).astimezone(UTC) for name in Cutoffs.__slots__})


def _old_conversations(before: datetime) -> Select[str]:
    """Select conversations without a sign of life since a moment; those of older versions have turns only."""
    id_ = _every_conversation().c[0]
    return select(id_).where(id_ != DETACHED, ~_alive(id_, before)).order_by(id_)


def _every_conversation() -> Subquery:
    return union(select(ConversationRow.id), select(TurnRow.conversation)).subquery()


def _alive(id_: ColumnElement[str], since: datetime) -> ColumnElement[bool]:
    return or_(
        exists().where(ConversationRow.id == id_, ConversationRow.begun >= since),
        exists().where(TurnRow.conversation == id_, TurnRow.at >= since),
        exists().where(InterviewRow.conversation == id_, InterviewRow.changed_at >= since),
    )


def _revived(batch: Sequence[str], since: datetime) -> Select[str]:
    """Select those of a batch with a new turn."""
    return select(TurnRow.conversation).where(TurnRow.conversation.in_(batch), TurnRow.at >= since)


def _kept_questions(old: Sequence[str] | Select[str]) -> Select[int]:
    complained = TurnRow.flags.any(FlagRow.reason.in_(COMPLAINTS))
    return select(TurnRow.id).where(TurnRow.conversation.in_(old), TurnRow.decision.in_(UNANSWERED) | complained)


def _detach(session: Session, batch: Sequence[str]) -> int:
    """Leave of questions that curators need their wording, verdict and day: nothing that leads to the patient."""
    wanted = select(TurnRow).where(TurnRow.id.in_(_kept_questions(batch)))
    rows = session.scalars(wanted).all()
    for row in rows:
        row.conversation = DETACHED
        row.at = row.at.replace(hour=0, minute=0, second=0, microsecond=0)
        row.number = row.turn_id = row.said = row.choice = row.reply = row.state = None
        for flag in row.flags:
            flag.at, flag.comment = row.at, ""
    session.flush()
    return len(rows)


def _unsent(cutoffs: Cutoffs) -> ColumnElement[bool]:
    return OutboxRow.accepted_at.is_(None) & (OutboxRow.put_at < cutoffs.sent)


def _count(session: Session, wanted: Select[int] | Select[str]) -> int:
    return session.scalar(select(func.count()).select_from(wanted.subquery())) or 0


def _changed(session: Session, change: Delete | Update) -> int:
    done = session.execute(change, execution_options={"synchronize_session": False})
    return done.rowcount if isinstance(done, CursorResult) else 0
