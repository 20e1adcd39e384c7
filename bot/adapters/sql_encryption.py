"""Whether a database is encrypted and with which keys, how to encrypt it (again), and which services run on it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    BindParameter,
    Connection,
    DateTime,
    Table,
    bindparam,
    delete,
    exists,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from bot.adapters.sql_probe import WriteProbeRow
from bot.adapters.sql_tables import Base, ConversationRow, PatientText, TurnRow, in_utc, use_cipher
from bot.adapters.text_cipher import TextCipher
from bot.errors import UserFixable

SAMPLE, YES = "--sample", "yes"  # in `set_up`, of a process that serves a sample
SILENT_AFTER = timedelta(seconds=25)  # two signs of life were missed
GONE_AFTER = timedelta(seconds=60)  # without a sign of life; longer than SQLite lets a writer wait


class ServiceRow(Base):
    """A process that serves patients."""

    __tablename__ = "services"

    id: Mapped[str] = mapped_column(primary_key=True)
    key_ids: Mapped[str]
    seen: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    release: Mapped[int | None]
    set_up: Mapped[str | None]  # JSON: digests by name, see `bot/web/surroundings.py`


@dataclass(frozen=True, slots=True)
class SqlPresence:
    """The sign of life of one process; `set_up`: what it shares a database with must have alike, as digests by name."""

    engine: Engine
    cipher: TextCipher | None
    set_up: Mapping[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def beat(self, now: datetime, *, prepared: int | None = None) -> list[str]:
        """Say that this process runs, which keys it knows, and which release it can serve at once.

        Returns:
            The names of what processes that run beside it have set up otherwise.
        """
        keys = ",".join(self.cipher.keys if self.cipher is not None else ())
        seen = {"key_ids": keys, "seen": now.astimezone(UTC), "release": prepared, "set_up": json.dumps(self.set_up)}
        with self.engine.begin() as connection:
            if not connection.execute(update(ServiceRow).where(ServiceRow.id == self.id).values(seen)).rowcount:
                connection.execute(insert(ServiceRow).values(id=self.id, **seen))
                connection.execute(delete(ServiceRow).where(ServiceRow.seen < now.astimezone(UTC) - GONE_AFTER))
            rows = connection.execute(select(ServiceRow.set_up, ServiceRow.seen).where(ServiceRow.id != self.id)).all()
        others = [_read_set_up(stored) for stored, at in rows if now - in_utc(at) < GONE_AFTER]
        # Another version may not know a name: what it does not say does not differ.
        return [name for name, own in self.set_up.items() if any(other.get(name, own) != own for other in others)]

    def leave(self) -> None:
        """Say that this process ends."""
        with self.engine.begin() as connection:
            connection.execute(delete(ServiceRow).where(ServiceRow.id == self.id))


def _read_set_up(stored: str | None) -> dict[str, str]:
    found: dict[str, str] = json.loads(stored or "{}")
    return found


def prepared_by(engine: Engine, now: datetime) -> list[int]:
    """Return of every process that serves releases which one it can serve at once.

    One that is just starting takes what is in force; one in sample mode serves none.
    """
    with engine.connect() as connection:
        rows = connection.execute(select(ServiceRow.release, ServiceRow.seen)).all()
    return [release for release, seen in rows if release is not None and now - in_utc(seen) < GONE_AFTER]


@dataclass(frozen=True, slots=True)
class Served:
    """What is known of the services on a database.

    Attributes:
        database: Its address, without what opens it.
        running: How many processes serve patients from it now; those that serve a sample are none of them.
        ever: Whether a service has run on it, or patients' conversations lie in it.
        samples: How many processes serve a sample from it.
        silent_s: Seconds since the last sign of life, where all have missed some: of a backup, or they were killed.
    """

    database: str
    running: int
    ever: bool
    samples: int = 0
    silent_s: int = 0


def services_on(engine: Engine, now: datetime) -> Served:
    """Return which services run on a database, or have run."""
    with engine.connect() as connection:
        rows = connection.execute(select(ServiceRow.set_up, ServiceRow.seen)).all()
        # Nobody but a service tries whether the database can be written.
        tried = connection.scalar(select(exists().where(WriteProbeRow.written > 0)))
        begun = connection.scalar(select(exists().select_from(ConversationRow)))
        talked = connection.scalar(select(exists().select_from(TurnRow)))
    alive = [(_read_set_up(stored), now - in_utc(seen)) for stored, seen in rows if now - in_utc(seen) < GONE_AFTER]
    samples = sum(set_up.get(SAMPLE) == YES for set_up, _ in alive)
    last = min((ago for set_up, ago in alive if set_up.get(SAMPLE) != YES), default=timedelta())
    url = engine.url.set(query={}).render_as_string(hide_password=True)
    silent_s = int(last.total_seconds()) if last > SILENT_AFTER else 0
    return Served(url, len(alive) - samples, bool(rows or tried or begun or talked), samples, silent_s)


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


BATCH = 500


class TextKeyRow(Base):
    """A key that texts in this database may be encrypted with; none: they are stored as they are."""

    __tablename__ = "text_keys"

    key_id: Mapped[str] = mapped_column(primary_key=True)
    since: Mapped[datetime] = mapped_column(DateTime(timezone=True))


def open_texts(engine: Engine, cipher: TextCipher | None) -> None:
    """Make the texts of a database readable, or refuse: it is encrypted as a whole, or not at all.

    Raises:
        UserFixable: A key is missing, or the database is not encrypted yet.
    """
    with engine.connect() as connection:
        known = set(connection.scalars(select(TextKeyRow.key_id)))
        require_keys(known, cipher)
        if cipher is None:
            return
        if not known and _has_texts(connection):
            raise UserFixable(
                "KLARTEXT_TEXT_KEY is set, and the texts in this database are not encrypted yet. "
                "Stop the service and run `klartext records rekey`."
            )
    if cipher.current not in known:
        _note(engine, cipher)
    use_cipher(engine, cipher)


def require_keys(known: set[str], cipher: TextCipher | None) -> None:
    """Raise UserFixable when texts are encrypted with keys that are not there."""
    missing = known - set(cipher.keys if cipher is not None else ())
    if not missing:
        return
    if cipher is None:
        raise UserFixable(
            f"The texts in this database are encrypted with key {', '.join(sorted(known))}. "
            "Set KLARTEXT_TEXT_KEY or KLARTEXT_TEXT_KEY_FILE."
        )
    raise UserFixable(
        f"The texts in this database are encrypted with key {', '.join(sorted(missing))}, and KLARTEXT_TEXT_KEY "
        f"holds {', '.join(cipher.keys)}. Add the missing key behind the others."
    )


def rekey(engine: Engine, cipher: TextCipher) -> int:
    """Encrypt all texts with the current key, in one transaction, and return how many were written anew.

    The engine must have no cipher of its own: it sees what is stored.

    Raises:
        UserFixable: A key is missing here, or a service runs that does not know the current one.
    """
    changed = 0
    with engine.begin() as connection:
        _shut_out_writers(connection)
        known = set(connection.scalars(select(TextKeyRow.key_id)))
        require_keys(known, cipher)
        require_known_to_all(connection, cipher.current, datetime.now(UTC), encrypted=bool(known))
        for table, places in _text_columns():
            changed += _rekey_table(connection, table, places, cipher, encrypted=bool(known))
        connection.execute(delete(TextKeyRow))
        connection.execute(insert(TextKeyRow).values(key_id=cipher.current, since=datetime.now(UTC)))
    return changed


def _rekey_table(
    connection: Connection, table: Table, places: Mapping[str, str], cipher: TextCipher, *, encrypted: bool
) -> int:
    (key,) = table.primary_key.columns
    new: dict[str, BindParameter[str]] = {name: bindparam(f"new_{name}") for name in places}
    update = table.update().where(key == bindparam("own_key")).values(new)
    wanted = select(key, *(table.columns[name] for name in places)).order_by(key).limit(BATCH)
    changed, rows = 0, connection.execute(wanted).all()
    while rows:
        values = []
        for own_key, *stored in rows:
            again = [_again(*each, cipher, encrypted) for each in zip(stored, places.values(), strict=True)]
            changed += sum(old != found for old, found in zip(stored, again, strict=True))
            values.append(
                {"own_key": own_key} | {f"new_{name}": each for name, each in zip(places, again, strict=True)}
            )
        connection.execute(update, values)
        rows = connection.execute(wanted.where(key > rows[-1][0])).all()
    return changed


def _again(stored: str | None, place: str, cipher: TextCipher, encrypted: bool) -> str | None:
    """Return a text under the current key; in a database that was never encrypted, all of them are plain."""
    key = cipher.key_of(stored) if stored and encrypted else ""
    if not stored or key == cipher.current:
        return stored
    return cipher.encrypt(cipher.decrypt(stored, place) if key in cipher.keys else stored, place)


def _text_columns() -> Iterator[tuple[Table, dict[str, str]]]:
    """Yield tables with their columns of texts, and what is authenticated as the place of each."""
    for table in Base.metadata.sorted_tables:
        places = {column.name: column.type.place for column in table.columns if isinstance(column.type, PatientText)}
        if places:
            yield table, places


def _has_texts(connection: Connection) -> bool:
    return any(connection.scalar(select(exists().select_from(table))) for table, _ in _text_columns())


def _note(engine: Engine, cipher: TextCipher) -> None:
    try:
        with engine.begin() as connection:
            connection.execute(insert(TextKeyRow).values(key_id=cipher.current, since=datetime.now(UTC)))
    except IntegrityError:
        pass  # another worker was faster


def _shut_out_writers(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        for table, _ in _text_columns():
            connection.execute(text(f'LOCK TABLE "{table.name}" IN SHARE ROW EXCLUSIVE MODE'))
    else:
        connection.execute(delete(TextKeyRow).where(TextKeyRow.key_id == ""))  # takes SQLite's one write lock
