"""Conversations and interviews in a SQL database: SQLite by default, any other by SQLAlchemy URL."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sqlalchemy import (
    URL,
    DateTime,
    ForeignKey,
    Text,
    UniqueConstraint,
    create_engine,
    delete,
    event,
    func,
    insert,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column, selectinload

from bot.adapters.blind_keys import BlindKeys
from bot.adapters.sql_encryption import open_texts
from bot.adapters.sql_faults import cannot_use
from bot.adapters.sql_origins import ERASED, note_gone
from bot.adapters.sql_outbox import OutboxRow, put
from bot.adapters.sql_probe import clean_up, probe_of, try_writing
from bot.adapters.sql_staff import note_deleted, stir_call
from bot.adapters.sql_tables import (
    PATIENT,
    Base,
    ConversationRow,
    FlagRow,
    PatientText,
    SqlitePatience,
    TurnRow,
    conversation_row,
    in_utc,
    stored_conversation,
    stored_flag,
    stored_turn,
    talking_to,
    turn_values,
)
from bot.adapters.summary_folders import SummaryFolders
from bot.adapters.text_cipher import TextCipher
from bot.batching import Together
from bot.errors import AlreadyStored, BadData, Erased, Unreachable, UserFixable
from bot.outbox_ports import pseudonym
from bot.ports import (
    COMPLAINTS,
    Complaint,
    InterviewChange,
    KeptTurn,
    StoredConversation,
    StoredFlag,
    StoredInterview,
    StoredTurn,
)
from bot.private_files import make_private_database
from bot.staff.calls import Stir

if TYPE_CHECKING:
    from alembic.config import Config


# What every turn reads and writes goes by the tables: rows as objects of a session cost three times as much.
CONVERSATIONS, TURNS = Base.metadata.tables["conversations"], Base.metadata.tables["turns"]
_COMMAND = re.compile(r"/[a-zäöü]{1,20}", re.IGNORECASE)


class InterviewRow(Base):
    """One interview."""

    __tablename__ = "interviews"

    conversation: Mapped[str] = mapped_column(primary_key=True)
    form: Mapped[str] = mapped_column(Text)
    head: Mapped[str] = mapped_column(PatientText("interviews.head"))
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class InterviewEventRow(Base):
    """One event of an interview; `said` was used before turns kept what the patient wrote."""

    __tablename__ = "interview_events"
    __table_args__ = (UniqueConstraint("conversation", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(ForeignKey("interviews.conversation", ondelete="CASCADE"), index=True)
    number: Mapped[int]
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    event: Mapped[str] = mapped_column(PatientText("interview_events.event"))
    said: Mapped[str | None] = mapped_column(PatientText("interview_events.said"))


class InterviewFileRow(Base):
    """One file that a patient sent."""

    __tablename__ = "interview_files"

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(ForeignKey("interviews.conversation", ondelete="CASCADE"), index=True)
    size: Mapped[int]
    data: Mapped[str] = mapped_column(PatientText("interview_files.data"))


class SqlInterviews:
    """Fulfils `bot.ports.Interviews`; `write_change` writes what a turn changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def interview(self, conversation: str) -> StoredInterview | None:
        wanted = (
            select(InterviewEventRow.event, InterviewEventRow.at)
            .where(InterviewEventRow.conversation == conversation)
            .order_by(InterviewEventRow.number)
        )
        with talking_to(self._engine) as session:
            row = session.get(InterviewRow, conversation)
            if row is None:
                return None
            stored = session.execute(wanted).all()
            events = tuple(event for event, _ in stored)
            begun_at = in_utc(stored[0][1]) if stored else None
            return StoredInterview(conversation, row.form, row.head, events, in_utc(row.changed_at), begun_at)

    def latest_of(self, patient: str, *, besides: str) -> StoredInterview | None:
        wanted = (
            select(ConversationRow.id, ConversationRow.patient)
            .join(InterviewRow, InterviewRow.conversation == ConversationRow.id)
            .where(ConversationRow.patient.is_not(None), ConversationRow.id != besides)
            .order_by(InterviewRow.changed_at.desc())
        )
        with talking_to(self._engine) as session:
            # Pseudonyms may be encrypted, so that the database cannot compare them.
            found = next((id_ for id_, whose in session.execute(wanted) if whose == patient), None)
        return self.interview(found) if found is not None else None


def write_change(session: Session, change: InterviewChange) -> None:
    """Add to a transaction what a turn changed in an interview.

    Raises:
        AlreadyStored: Somebody else has gone on with it meanwhile.
    """
    interview = change.interview
    row = session.get(InterviewRow, interview.conversation)
    known = change.known or 0
    if change.known is None:
        row = InterviewRow(conversation=interview.conversation, form=interview.form)
        session.add(row)
    count = select(func.count()).where(InterviewEventRow.conversation == interview.conversation)
    with session.no_autoflush:
        if row is None or session.scalar(count) != known:
            raise AlreadyStored("This interview has gone on in another window.")
    if change.anew:
        session.execute(delete(InterviewEventRow).where(InterviewEventRow.conversation == interview.conversation))
        row.form, known = interview.form, 0
    row.head = interview.head
    row.changed_at = interview.changed_at.astimezone(UTC)
    session.flush()  # the interview before its events
    at = interview.changed_at.astimezone(UTC)
    session.add_all(
        InterviewEventRow(conversation=interview.conversation, number=number, at=at, event=event)
        for number, event in enumerate(interview.events[known:], known)
    )
    for file in change.files:
        session.merge(InterviewFileRow(id=file.id, conversation=interview.conversation, size=file.size, data=file.data))
    if change.dropped:
        mine = InterviewFileRow.conversation == interview.conversation
        session.execute(delete(InterviewFileRow).where(mine, InterviewFileRow.id.in_(change.dropped)))
    if change.outgoing is not None:
        put(session, change.outgoing)


log = logging.getLogger("klartext")
UNANSWERED = ("declined", "clarify")
ASKED = ("answered", *UNANSWERED)
TALK = "talk"  # what is no question
_NewTurn = tuple[StoredTurn, InterviewChange | None, Stir | None]
WAIT_S = 30.0  # for another writer to SQLite, or a free connection
POOL = (10, 30)  # connections to a database server that one process keeps, and opens at most
COMMITTED_TOGETHER = 64
ALWAYS = datetime.max.replace(tzinfo=UTC)
MIGRATION_LOCK = 0x6B6C6172  # any number, the same in every worker


class SqlRecords:
    """Records of conversations. Every write is committed before it returns."""

    def __init__(self, engine: Engine, keys: BlindKeys | None = None, summaries: SummaryFolders | None = None) -> None:
        """`summaries` go with their conversation when that is erased; None: nobody looks for any."""
        self._summaries = summaries
        self._engine = engine
        self._keys = keys
        self._probe = probe_of(engine)
        # SQLite lets one write at a time, and waits for the disk each time: turns that wait are committed together.
        self._together = Together(self._add_together, at_most=COMMITTED_TOGETHER)

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Open the SQLite database of a data folder, whatever characters its name has."""
        return cls.open(in_folder(folder))

    @classmethod
    def open(
        cls,
        url: str | URL,
        cipher: TextCipher | None = None,
        keys: BlindKeys | None = None,
        *,
        wait_s: float = WAIT_S,
        upgrade: bool = True,
    ) -> Self:
        """Connect to a database with today's schema; an empty one gets it.

        Args:
            url: Of the database; that of a data folder's: `in_folder`.
            cipher: Encrypts and decrypts texts.
            keys: Of the blind index of patients; None: it is left empty, and filled by who has them.
            wait_s: For other writers, before `Unreachable` is raised.
            upgrade: Whether an older schema is brought up to date; else it is refused.

        Raises:
            Unreachable: The database cannot be used.
            UserFixable: Its texts are encrypted with another key, or not yet; or its schema is another.
        """
        engine = connect(url, wait_s=wait_s, upgrade=upgrade)
        try:
            open_texts(engine, cipher)
        except UserFixable:
            engine.dispose()
            raise
        return cls(engine, keys)

    def close(self) -> None:
        self._engine.dispose()
        self._probe.dispose()

    def try_writing(self) -> None:
        try_writing(self._probe)

    def begin(self, conversation: StoredConversation) -> None:
        with self._session() as session:
            row = conversation_row(conversation)
            if self._keys is not None and conversation.patient:
                row.patient_blind = self._keys.current.marked(PATIENT, conversation.patient)
            session.add(row)
            session.commit()

    def conversation(self, id_: str) -> StoredConversation | None:
        with self._session() as session:
            row = session.execute(select(CONVERSATIONS).where(CONVERSATIONS.c.id == id_)).first()
            return stored_conversation(row) if row else None

    def add_turn(self, turn: StoredTurn, *, interview: InterviewChange | None = None, call: Stir | None = None) -> None:
        if self._engine.dialect.name == "sqlite":
            failure = self._together.ask((turn, interview, call))
            if failure is not None:
                raise failure
        else:  # other databases do this themselves
            self._add_turns([(turn, interview, call)])

    def _add_together(self, turns: Sequence[_NewTurn]) -> Sequence[Unreachable | None]:
        """Store turns; a database that does not answer is said to all at once, for it would let each wait anew."""
        try:
            return self._add_turns(turns)
        except Unreachable as error:
            return [error] * len(turns)

    def _add_turns(self, turns: Sequence[_NewTurn]) -> list[None]:
        """Store turns in one transaction: all, or none."""
        with self._session() as session:
            for new in turns:
                _write_turn(session, *new)
            session.commit()
        return [None] * len(turns)

    def turn(self, conversation: str, turn_id: str) -> StoredTurn | None:
        with self._session() as session:
            wanted = select(TURNS).where(TURNS.c.conversation == conversation, TURNS.c.turn_id == turn_id)
            row = session.execute(wanted).first()
            return stored_turn(row) if row else None

    def turns(self, conversation: str) -> list[StoredTurn]:
        wanted = select(TurnRow).where(TurnRow.conversation == conversation).order_by(TurnRow.number, TurnRow.id)
        with self._session() as session:
            return [stored_turn(row) for row in session.scalars(wanted)]

    def last_turn(self, conversation: str) -> StoredTurn | None:
        mine = select(TURNS).where(TURNS.c.conversation == conversation, TURNS.c.number.is_not(None))
        with self._session() as session:
            row = session.execute(mine.order_by(TURNS.c.number.desc()).limit(1)).first()
            return stored_turn(row) if row else None

    def flag(self, conversation: str, flag: StoredFlag) -> None:
        with self._session() as session:
            turn = _find(session, conversation, flag.turn_id)
            if turn is None:
                raise BadData(f"There is no turn {flag.turn_id!r} in this conversation.")
            known = next((row for row in turn.flags if row.reason == flag.reason), None)
            row = known or FlagRow(turn_id=turn.id, reason=flag.reason)
            row.comment, row.at = flag.comment, flag.at.astimezone(UTC)
            session.add(row)
            session.commit()

    def flags(self, conversation: str) -> list[StoredFlag]:
        wanted = select(FlagRow).join(TurnRow).where(TurnRow.conversation == conversation).order_by(FlagRow.id)
        with self._session() as session:
            return [stored_flag(row) for row in session.scalars(wanted)]

    def close_session(self, id_: str) -> None:
        with self._session() as session:
            session.execute(update(ConversationRow).where(ConversationRow.id == id_).values(secret_hash=None))
            session.commit()

    def erase(self, conversation: str, *, by_patient_at: datetime | None = None) -> None:
        gone = None
        with self._session() as session:
            if by_patient_at is not None:
                # Locked first: a turn that calls for a person now is seen, or is not stored.
                closed = update(ConversationRow).where(ConversationRow.id == conversation).values(secret_hash=None)
                session.execute(closed)
                gone = note_deleted(session, conversation, at=by_patient_at)
            # The conversation first: it waits for turns that are being added, and none can be added after it.
            session.execute(delete(ConversationRow).where(ConversationRow.id == conversation))
            session.execute(delete(TurnRow).where(TurnRow.conversation == conversation))  # flags go with them
            session.execute(delete(InterviewRow).where(InterviewRow.conversation == conversation))  # and its events
            session.execute(delete(OutboxRow).where(OutboxRow.conversation == conversation))
            note_gone(session, [conversation], ERASED, at=by_patient_at or datetime.now(UTC))
            session.commit()
        if self._summaries is not None:
            self._summaries.erase(conversation)
        log.info("erased", extra={"fields": {"conversation": pseudonym(conversation)}})
        if gone is not None and gone.kind == "urgent" and gone.since is not None:
            fields = {"conversation": gone.pseudonym, "since": gone.since.isoformat()}
            log.warning("a patient deleted an urgent call before anybody saw it", extra={"fields": fields})
        if self._engine.dialect.name == "sqlite" and not clean_up(self._engine):
            log.warning("what was erased is still in the database's log; the next purge clears it")

    @property
    def engine(self) -> Engine:
        """The connection, for what else lies in the same database."""
        return self._engine

    def kept(self, id_: str, *, until: datetime | None = None) -> list[KeptTurn]:
        decided = select(TurnRow).where(TurnRow.conversation == id_, TurnRow.decision != TALK).order_by(TurnRow.id)
        last = (until or ALWAYS).astimezone(UTC)
        with self._session() as session:
            rows = [row for row in session.scalars(decided) if in_utc(row.at) <= last]
            return [KeptTurn(row.id, stored_turn(row), _reasons(row, last)) for row in rows]

    def files(self, id_: str) -> dict[str, str]:
        wanted = select(InterviewFileRow.id, InterviewFileRow.data).where(InterviewFileRow.conversation == id_)
        with self._session() as session:
            return {name: content for name, content in session.execute(wanted)}  # noqa: C416  # rows are no pairs to mypy

    def open_questions(self) -> list[StoredTurn]:
        return [each.turn for each in self.inbox()]

    def inbox(self, *, since: datetime | None = None) -> list[KeptTurn]:
        complained = TurnRow.flags.any(FlagRow.reason.in_(COMPLAINTS))
        wanted = select(TurnRow).where(TurnRow.decision.in_(UNANSWERED) | complained).order_by(TurnRow.id)
        if since is not None:
            wanted = wanted.where(TurnRow.at >= since.astimezone(UTC))
        with self._session() as session:
            rows = session.scalars(wanted.options(selectinload(TurnRow.flags)))
            # What a button sends is no question, where the program does not know it: "/english" for a German catalog.
            asked = [row for row in rows if row.flags or not _COMMAND.fullmatch(row.question.strip())]
            return [KeptTurn(row.id, stored_turn(row), _reasons(row, ALWAYS)) for row in asked]

    def asked(self, *, most: int) -> list[StoredTurn]:
        wanted = select(TurnRow).where(TurnRow.decision.in_(ASKED)).order_by(TurnRow.id.desc()).limit(most)
        with self._session() as session:
            return [stored_turn(row) for row in session.scalars(wanted)]

    def _session(self) -> AbstractContextManager[Session]:
        return talking_to(self._engine)


def in_folder(folder: Path) -> URL:
    """Return the address of the SQLite database of a data folder."""
    return URL.create("sqlite", database=str(folder / "klartext.db"))


def connect(url: str | URL, *, wait_s: float = WAIT_S, upgrade: bool = True) -> Engine:
    """Connect to a database with today's schema; an empty one gets it.

    Args:
        url: Of the database.
        wait_s: For other writers.
        upgrade: Whether an older schema is brought up to date; else it is refused.

    Raises:
        Unreachable: The database cannot be used.
        UserFixable: Its schema is newer than this program, or older and not to be changed.
    """
    from alembic.util.exc import CommandError

    try:
        engine = _engine(url, wait_s)
        try:
            if not _has_schema(engine, _shown(url), upgrade=upgrade):
                migrate(engine)
        except UserFixable:
            engine.dispose()
            raise
    except (SQLAlchemyError, OSError, ImportError, CommandError) as error:
        raise cannot_use(_shown(url), error) from error
    return engine


def is_new(url: str | URL) -> bool:
    """Say whether a database has no schema yet: whoever opens it makes one.

    Raises:
        Unreachable: It cannot be used.
    """
    from alembic.runtime.migration import MigrationContext

    try:
        engine = _engine(url, WAIT_S)
        try:
            with engine.connect() as connection:
                return MigrationContext.configure(connection).get_current_revision() is None
        finally:
            engine.dispose()
    except (SQLAlchemyError, OSError, ImportError) as error:
        raise cannot_use(_shown(url), error) from error


def _has_schema(engine: Engine, shown: str, *, upgrade: bool) -> bool:
    """Say whether a database has today's schema; raise UserFixable when it has one that cannot be used."""
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config())
    head = scripts.get_current_head()
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found not in {each.revision for each in scripts.walk_revisions()}:
        raise UserFixable(
            f"The database {shown} has schema {found}, which is newer than this version of Klartext ({head}). Install "
            "the version that wrote it, or restore the backup from before the upgrade."
        )
    if found not in (None, head) and not upgrade:
        raise UserFixable(
            f"The database {shown} has schema {found}, and this version of Klartext needs {head}. Make a backup, then "
            "run `klartext records migrate`."
        )
    return found == head


def migrate(engine: Engine) -> None:
    """Bring the schema up to date."""
    from alembic import command

    config = alembic_config()
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # several workers start at once
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATION_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def alembic_config() -> Config:
    """Return where Alembic finds the migrations; put a connection into its attributes."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _engine(url: str | URL, wait_s: float) -> Engine:
    # Errors must not quote what patients wrote, and a server that was restarted must not fail the next turn.
    if make_url(url).get_backend_name() != "sqlite":
        kept, most = POOL
        return create_engine(
            url, hide_parameters=True, pool_pre_ping=True, pool_size=kept, max_overflow=most - kept, pool_timeout=wait_s
        )
    file = make_url(url).database
    if file and not file.startswith((":", "file:")):
        make_private_database(Path(file))
    waiting = {"connect_args": {"timeout": wait_s}, "pool_timeout": wait_s}
    engine = create_engine(url, hide_parameters=True, pool_size=20, max_overflow=30, **waiting)
    event.listen(engine, "connect", _durable_sqlite)
    SqlitePatience(engine, wait_s=wait_s)
    return engine


def _write_turn(session: Session, turn: StoredTurn, interview: InterviewChange | None, call: Stir | None) -> None:
    session.execute(insert(TURNS).values(turn_values(turn)))
    if turn.joins is not None:
        exam, release = turn.joins
        mine = update(CONVERSATIONS).where(CONVERSATIONS.c.id == turn.conversation)
        session.execute(mine.values(exam=exam, release=release))
    if interview is not None:
        write_change(session, interview)
    # After the insert, and locked: a turn that crosses its conversation's erasure must not be left behind.
    known = select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.id == turn.conversation).with_for_update(key_share=True)
    if turn.exchange and session.scalar(known) is None:
        raise Erased("The conversation was deleted.")
    if call is not None:
        stir_call(session, turn, call)


def _find(session: Session, conversation: str, turn_id: str) -> TurnRow | None:
    return session.scalars(
        select(TurnRow).where(TurnRow.conversation == conversation, TurnRow.turn_id == turn_id)
    ).first()


def _shown(url: str | URL) -> str:
    """Return the URL without user, password and options: they may hold secrets."""
    if isinstance(url, URL):
        return url.database or url.drivername
    return url.rsplit("@", 1)[-1].split("?", 1)[0]


def _durable_sqlite(connection: object, _: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged turn survives a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # erased means overwritten
    cursor.close()


def _reasons(row: TurnRow, last: datetime) -> tuple[Complaint, ...]:
    said = [flag.reason for flag in row.flags if in_utc(flag.at) <= last]
    return tuple(complaint for reason in said for complaint in COMPLAINTS if complaint == reason)
