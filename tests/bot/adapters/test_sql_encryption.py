"""Patients' texts at rest: unreadable without the key, and the same with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from bot import BadData, Settings, UserFixable
from bot.adapters.sql_encryption import rekey
from bot.adapters.sql_records import SqlRecords, connect
from bot.adapters.text_cipher import TextCipher, new_key
from bot.wiring import rekey_texts
from tests.bot.adapters.stored import fill, in_files, in_rows, texts_of
from tests.postgresql import emptied

NOW = datetime(2026, 11, 1, 12, 30, tzinfo=UTC)
WORD = "Hinterhuber"
OLD, NEW = new_key(), new_key()
TEXTS = {
    "flags.comment",
    "interview_events.event",
    "interviews.head",
    "outbox.bundle",
    "staff_actions.name",
    "staff_actions.text",
    "staff_calls.name",
    "turns.question",
    "turns.reply",
    "turns.said",
    "turns.state",
}
STORED = len(TEXTS) + 1  # staff did two things, each under a name


@pytest.mark.parametrize("key", [None, OLD], ids=["without a key", "with a key"])
def test_without_a_key_every_text_column_holds_the_words_and_with_one_none_does(url: str, key: str | None) -> None:
    records = SqlRecords.open(url, TextCipher.of(key) if key else None)

    fill(records, "c1", at=NOW, word=WORD)

    assert set(in_rows(records.engine, WORD)) == (set() if key else TEXTS)
    assert all(WORD in found for found in texts_of(records, "c1"))
    records.close()


def test_no_word_is_in_the_files_of_sqlite_while_and_after_it_runs(tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}", TextCipher.of(OLD))
    fill(records, "c1", at=NOW, word=WORD)
    records.turns("c1")

    assert len(list(tmp_path.glob("k.db*"))) == 3  # with its write-ahead log
    assert in_files(tmp_path, "k1:") != []
    assert in_files(tmp_path, WORD) == []
    records.close()
    assert in_files(tmp_path, WORD) == []


def test_no_word_is_in_the_files_of_postgresql(postgresql: str) -> None:
    records = SqlRecords.open(emptied(postgresql), TextCipher.of(OLD))
    fill(records, "c1", at=NOW, word=WORD)

    with records.engine.begin() as connection:
        connection.execute(text("CHECKPOINT"))
        tables = ("turns", "flags", "outbox", "interviews", "interview_events")
        files = [
            connection.scalar(
                text("SELECT pg_read_binary_file(pg_relation_filepath(CAST(:t AS regclass)))"), {"t": table}
            )
            for table in tables
        ]

    assert all(len(bytes(file)) > 0 for file in files)
    assert not any(WORD.encode() in bytes(file) for file in files)
    records.close()


def test_an_encrypted_database_without_its_key_is_told_in_one_line(url: str) -> None:
    SqlRecords.open(url, TextCipher.of(OLD)).close()

    with pytest.raises(UserFixable, match=r"encrypted with key [0-9a-f]{8}\. Set KLARTEXT_TEXT_KEY") as without:
        SqlRecords.open(url)
    with pytest.raises(UserFixable, match=r"holds [0-9a-f]{8}\. Add the missing key") as with_another:
        SqlRecords.open(url, TextCipher.of(NEW))

    assert "\n" not in str(without.value) + str(with_another.value)
    assert OLD not in str(with_another.value)


def test_a_database_that_is_not_encrypted_yet_becomes_so_by_rekeying_it(tmp_path: Path) -> None:
    plain = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    fill(plain, "c1", at=NOW, word=WORD)
    fill(plain, "c2", at=NOW, word="k1:00000000:Muster")  # looks encrypted, and is what a patient wrote
    before = texts_of(plain, "c1") + texts_of(plain, "c2")
    plain.close()
    with pytest.raises(UserFixable, match=r"not encrypted yet.*klartext records rekey"):
        SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}", TextCipher.of(OLD))

    changed = rekey_texts(Settings(data=tmp_path, text_keys=OLD))

    assert changed == 2 * STORED
    assert in_files(tmp_path, WORD) + in_files(tmp_path, "Muster") == []
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}", TextCipher.of(OLD))
    assert texts_of(records, "c1") + texts_of(records, "c2") == before
    records.close()


def test_keys_change_while_the_service_runs(url: str) -> None:
    old = SqlRecords.open(url, TextCipher.of(OLD))
    fill(old, "c1", at=NOW, word=WORD)
    both = SqlRecords.open(url, TextCipher.of(f"{NEW},{OLD}"))  # the restarted service writes with the new key
    fill(both, "c2", at=NOW, word=WORD)
    with pytest.raises(UserFixable, match="Add the missing key"):
        SqlRecords.open(url, TextCipher.of(NEW))

    raw = connect(url)
    assert rekey(raw, TextCipher.of(f"{NEW} {OLD}")) == STORED
    assert rekey(raw, TextCipher.of(NEW)) == 0
    raw.dispose()

    assert all(WORD in found for found in texts_of(both, "c1"))
    new = SqlRecords.open(url, TextCipher.of(NEW))
    assert all(WORD in found for id_ in ("c1", "c2") for found in texts_of(new, id_))
    for records in (old, both, new):
        records.close()


def test_rekeying_without_the_old_key_changes_nothing(url: str) -> None:
    records = SqlRecords.open(url, TextCipher.of(OLD))
    fill(records, "c1", at=NOW, word=WORD)
    raw = connect(url)

    with pytest.raises(UserFixable, match="Add the missing key"):
        rekey(raw, TextCipher.of(NEW))

    assert all(WORD in found for found in texts_of(records, "c1"))
    raw.dispose()
    records.close()


@pytest.mark.parametrize("edit", ["UPDATE turns SET said = question", "UPDATE turns SET said = 'nur Text'"])
def test_a_text_that_was_moved_or_planted_is_refused(tmp_path: Path, edit: str) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'k.db'}", TextCipher.of(OLD))
    fill(records, "c1", at=NOW, word=WORD)
    with closing(sqlite3.connect(tmp_path / "k.db", isolation_level=None)) as connection:
        connection.execute(edit)

    with pytest.raises(BadData, match="A stored text") as caught:
        records.turns("c1")

    assert "nur Text" not in str(caught.value)
    records.close()


def test_two_databases_in_one_process_keep_their_own_keys(tmp_path: Path) -> None:
    plain = SqlRecords.open(f"sqlite:///{tmp_path / 'plain.db'}")
    one = SqlRecords.open(f"sqlite:///{tmp_path / 'one.db'}", TextCipher.of(OLD))
    two = SqlRecords.open(f"sqlite:///{tmp_path / 'two.db'}", TextCipher.of(NEW))
    for records in (plain, one, two):
        fill(records, "c1", at=NOW, word=WORD)

    assert in_files(tmp_path, WORD) == ["plain.db-wal"]
    assert texts_of(plain, "c1") == texts_of(one, "c1") == texts_of(two, "c1")
    for records in (plain, one, two):
        records.close()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_and_no_two_ciphertexts_are_alike(written: str) -> None:
    cipher = TextCipher.of(f"{NEW},{OLD}")

    stored = [cipher.encrypt(written, "turns.said") for _ in range(2)]

    assert [cipher.decrypt(each, "turns.said") for each in stored] == [written, written]
    assert stored[0] != stored[1]
    assert TextCipher.of(OLD).key_of(stored[0]) == cipher.current


@pytest.mark.parametrize(
    "written",
    ["short", "", " , ", "ä" * 43, f"{OLD},nonsense"],
    ids=["short", "empty", "comma", "umlauts", "one of two"],
)
def test_what_is_no_key_is_told_without_quoting_it(written: str) -> None:
    with pytest.raises(UserFixable, match=r"KLARTEXT_TEXT_KEY.*klartext records new-key") as caught:
        TextCipher.of(written)

    assert "short" not in str(caught.value)
    assert "nonsense" not in str(caught.value)
    assert OLD not in repr(TextCipher.of(OLD))


def test_the_marker_of_a_key_is_written_once_by_workers_that_start_together(url: str) -> None:
    opened = [SqlRecords.open(url, TextCipher.of(OLD)) for _ in range(3)]

    engine = create_engine(url)
    with engine.connect() as connection:
        assert connection.scalar(text("select count(*) from text_keys")) == 1
    engine.dispose()
    for records in opened:
        records.close()
