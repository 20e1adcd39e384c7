"""Conversations with something in every column that holds text, and what can be found in a database's files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sqlalchemy import inspect, text
from sqlalchemy.engine import Engine

from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.outbox_ports import Outgoing
from bot.ports import Exchange, InterviewChange, StoredConversation, StoredFlag, StoredInterview, StoredTurn


def fill(records: SqlRecords, id_: str, *, at: datetime, word: str, decision: str = "declined") -> None:
    """Store a conversation of one turn whose texts all hold `word`; what it sent waits in the outbox."""
    records.begin(StoredConversation(id_, at, "de", "api", secret_hash="abc", consented=True))
    long = f"{word} " * 2000  # more than a page of the database
    exchange = Exchange(1, "t1", f"said {word}", f'{{"reply": "{long}"}}', f'{{"state": "{word}"}}')
    turn = StoredTurn(id_, at, "de", f"asked {word}", decision, None, 0.5, "small@1", exchange)
    interview = StoredInterview(id_, "{}", f'{{"head": "{word}"}}', (f'{{"event": "{word}"}}',), at)
    outgoing = Outgoing(id_, f'{{"bundle": "{word}"}}', at)
    records.add_turn(turn, interview=InterviewChange(interview, None, outgoing), call="asked")
    calls = SqlCalls(records.engine)
    calls.take(id_, f"name {word}", at=at)
    calls.write(id_, f"name {word}", f"message {word}", at=at)
    records.flag(id_, StoredFlag("t1", "wrong", f"comment {word}", at))


def texts_of(records: SqlRecords, id_: str) -> list[str]:
    """Return every text that `fill` stored, as the rules read it."""
    (turn,), (flag,) = records.turns(id_), records.flags(id_)
    interview = SqlInterviews(records.engine).interview(id_)
    (entry,) = SqlOutbox(records.engine).entries(id_)
    call, (_, message) = SqlCalls(records.engine).call(id_), SqlCalls(records.engine).actions(id_)
    assert turn.exchange is not None
    assert interview is not None
    assert call is not None
    exchange = turn.exchange
    return [
        turn.question,
        exchange.said,
        exchange.reply,
        exchange.state,
        flag.comment,
        interview.head,
        *interview.events,
        entry.bundle,
        call.name,
        message.name,
        message.text,
    ]


def in_files(folder: Path, word: str) -> list[str]:
    """Return the database files of a folder that hold a word anywhere, also where rows were deleted."""
    return [path.name for path in sorted(folder.glob("*.db*")) if word.encode() in path.read_bytes()]


def in_rows(engine: Engine, word: str) -> list[str]:
    """Return the columns that hold a word, as the database itself reads them."""
    found = []
    with engine.connect() as connection:
        for table in inspect(engine).get_table_names():
            for row in connection.execute(text(f'SELECT * FROM "{table}"')).mappings():
                found += [f"{table}.{name}" for name, value in row.items() if word in str(value)]
    return sorted(set(found))
