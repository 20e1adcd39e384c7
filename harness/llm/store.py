"""Answers by content address, and what was spent on them: one SQLite file that several processes may share."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot import BadData, make_private_database
from harness.llm.contract import Completion, ModelCall, Request, text_of, usage_of, was_cut
from harness.llm.prices import PriceTable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, prompt_id TEXT NOT NULL, asked TEXT NOT NULL, response TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spending (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL, key TEXT NOT NULL, nanos INTEGER NOT NULL, state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS spending_by_job ON spending (job);
"""
_APPLICATION = 0x4B4C5458  # marks the file as ours
_VERSION = 1
_BUSY_S = 60.0  # another process may hold the file for as long as a commit takes on a slow disk


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it was kept.

    Attributes:
        key: Content address.
        prompt_id: The request that brought it; others with the same content share it.
        asked: The body as it was sent.
        response: The endpoint's whole answer.
    """

    key: str
    prompt_id: str
    asked: Mapping[str, Any]
    response: Mapping[str, Any]


def completion_of(record: StoredAnswer, request: Request, call: ModelCall, prices: PriceTable) -> Completion:
    """Return what a stored answer says to a request, at today's prices."""
    usage = usage_of(record.response, request.messages)
    price = prices.of(call.model)
    return Completion(
        id=request.id,
        text=text_of(record.response) or "",
        usage=usage,
        cost=price.of(usage) if price else None,
        replayed=True,
        response=record.response,
        key=record.key,
        cut=was_cut(record.response),
    )


class AnswerStore:
    """The file. Every change is one transaction on disk: a killed process leaves whole records only."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    @contextmanager
    def open(cls, path: Path | None, *, change: bool = True) -> Iterator[AnswerStore]:
        """Open a store, one in memory for None; raise BadData when the file is none or cannot be used."""
        try:
            connection = _connect(path) if change or path is None else _connect_to_read(path)
        except (sqlite3.Error, OSError) as error:
            raise BadData(
                f"{path} cannot be used as a store of answers ({error}). Choose another file with `--store`."
            ) from error
        try:
            yield cls(connection)
        finally:
            connection.close()

    def get(self, key: str) -> StoredAnswer | None:
        with self._lock:
            row = self._connection.execute(
                "SELECT prompt_id, asked, response FROM answers WHERE key = ?", (key,)
            ).fetchone()
        return StoredAnswer(key, row[0], json.loads(row[1]), json.loads(row[2])) if row else None

    def put(self, record: StoredAnswer) -> StoredAnswer:
        """Keep an answer and return the one that is kept: the first, if another process was faster."""
        row = (record.key, record.prompt_id, _json(record.asked), _json(record.response), datetime.now(UTC).isoformat())
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row)
        return self.get(record.key) or record

    def count(self) -> int:
        """Return how many answers it holds."""
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    def reserve(self, job: str, key: str, nanos: int, *, limit: int) -> int | None:
        """Set `nanos` aside for a request of a job and return the reservation; None when `limit` would be exceeded.

        What is set aside counts as spent until it is settled, also when the process is killed in between.
        """
        with self._transaction() as connection:
            spent = _spent(connection, job)
            if spent + nanos > limit:
                return None
            row = (job, key, nanos, "reserved")
            cursor = connection.execute("INSERT INTO spending (job, key, nanos, state) VALUES (?, ?, ?, ?)", row)
            return cursor.lastrowid

    def settle(self, reservation: int, nanos: int) -> None:
        """Say what a request did cost."""
        with self._transaction() as connection:
            connection.execute("UPDATE spending SET nanos = ?, state = 'spent' WHERE id = ?", (nanos, reservation))

    def spent(self, job: str) -> int:
        """Return what a job has spent and set aside, in billionths of the currency."""
        with self._lock:
            return _spent(self._connection, job)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._writable():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise BadData(
                f"The store of answers cannot be written ({error}). Mend that, then run this again."
            ) from error


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            make_private_database(path)  # answers may be about patients
    connection = sqlite3.connect(path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection)
        if path is not None:
            make_private_database(path)  # now that it is known to be ours
        with suppress(sqlite3.OperationalError):  # somebody else is at it: whoever opens it next does this
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or check that they are ours, in one transaction: two processes may open a new store at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall():
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        else:
            _require_ours(connection)
    except sqlite3.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a store that must exist and is not changed; it may lie in a folder that cannot be written."""
    if not path.is_file():
        raise FileNotFoundError("there is no such file")
    try:
        return _connect_by_uri(path, "mode=ro")
    except sqlite3.OperationalError:
        return _connect_by_uri(path, "immutable=1")


def _connect_by_uri(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=_BUSY_S)
    try:
        _require_ours(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _require_ours(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise sqlite3.DatabaseError("it is another program's database")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise sqlite3.DatabaseError(f"it has version {version}, this program reads {_VERSION}")


def _spent(connection: sqlite3.Connection, job: str) -> int:
    row = connection.execute("SELECT coalesce(sum(nanos), 0) FROM spending WHERE job = ?", (job,)).fetchone()
    return int(row[0])


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value)  # ASCII: half a surrogate pair in an answer survives as an escape
