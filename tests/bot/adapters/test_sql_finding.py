"""Conversations are found by patient, moment, name in logs and shown text, whatever key the index is of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from bot.adapters.blind_keys import BlindKeys
from bot.adapters.sql_finding import SqlFinder
from bot.adapters.sql_records import SqlRecords
from bot.adapters.text_cipher import TextCipher
from bot.outbox_ports import pseudonym
from bot.ports import Exchange, Life, Sought, StoredConversation, StoredTurn

NOW = datetime(2026, 11, 25, 10, 15, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEYS, OTHER = BlindKeys.derived([b"one"]), BlindKeys.derived([b"two"])


@pytest.fixture
def records(url: str, cipher: TextCipher | None) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url, cipher, KEYS)
    yield opened
    opened.close()


def _begin(records: SqlRecords, id_: str, patient: str | None, *minutes: int, pair: str = "pain") -> None:
    records.begin(StoredConversation(id_, NOW, "de", "page", patient=patient))
    for number, minute in enumerate(minutes, 1):
        exchange = Exchange(number, f"t{number}", "weh?", f'{{"pair_id": "{pair}"}}', "{}")
        turn = StoredTurn(id_, NOW + minute * MINUTE, "de", "weh?", "answered", "pain", 0.9, "small@1")
        records.add_turn(replace(turn, exchange=exchange))


def _blinds(records: SqlRecords) -> dict[str, str | None]:
    with records.engine.connect() as connection:
        rows = connection.execute(text("SELECT id, patient_blind FROM conversations ORDER BY id")).all()
    return {id_: blind for id_, blind in rows}  # noqa: C416  # rows are no pairs to mypy


def _ids(finder: SqlFinder, sought: Sought) -> list[str]:
    return [each.conversation.id for each in finder.find(sought)]


def test_a_patient_is_found_by_the_index_alone(records: SqlRecords) -> None:
    _begin(records, "c1", "anna", 0, 5)
    _begin(records, "c2", "berta", 0)
    _begin(records, "c3", "anna")
    _begin(records, "c4", None, 0)
    blinds = _blinds(records)
    with records.engine.begin() as connection:  # who reads it is told by what is found, or by an error
        connection.execute(text("UPDATE conversations SET patient = 'k1:00000000:AAAA' WHERE id = 'c2'"))

    first, third = SqlFinder(records.engine, KEYS).find(Sought(patient="anna"))

    assert blinds["c4"] is None
    assert blinds["c1"] == blinds["c3"] != blinds["c2"]
    assert "anna" not in str(blinds)
    assert (first.conversation.id, first.turns, first.last_turn) == ("c1", 2, NOW + 5 * MINUTE)
    assert (third.conversation.id, third.turns, third.last_turn) == ("c3", 0, None)


def test_conversations_without_index_or_with_one_of_another_key_are_found_and_indexed_by_who_writes(
    records: SqlRecords, url: str, cipher: TextCipher | None
) -> None:
    _begin(records, "c1", "anna")
    older = SqlRecords.open(url, cipher)
    _begin(older, "c2", "anna")
    older.close()
    before = _blinds(records)
    both, other = BlindKeys((*OTHER.known, *KEYS.known)), SqlFinder(records.engine, OTHER)

    assert _ids(other, Sought(patient="anna")) == ["c1", "c2"]
    assert _ids(SqlFinder(records.engine, both), Sought(patient="anna")) == ["c1", "c2"]
    assert _blinds(records) == before
    assert (other.index_patients(), other.index_patients()) == (2, 0)
    after = _blinds(records)
    assert after["c1"] == after["c2"] == OTHER.current.marked("conversations.patient", "anna")
    assert _ids(other, Sought(patient="anna")) == ["c1", "c2"]


def test_moment_patient_and_name_in_logs_narrow_each_other(records: SqlRecords) -> None:
    _begin(records, "c1", "anna", 0, 60)
    _begin(records, "c2", "anna", 30)
    _begin(records, "c3", "berta", 1)
    finder, around = SqlFinder(records.engine, KEYS), Sought(since=NOW - 5 * MINUTE, until=NOW + 5 * MINUTE)

    assert _ids(finder, around) == ["c1", "c3"]
    assert _ids(finder, replace(around, patient="anna")) == ["c1"]
    assert _ids(finder, replace(around, patient="anna", pseudonym=pseudonym("c2"))) == []
    assert _ids(finder, Sought(pseudonym=pseudonym("c2"))) == ["c2"]
    assert _ids(finder, Sought(ids=frozenset({"c2", "c9"}))) == ["c2"]
    assert _ids(finder, Sought(patient="clara")) == []


def test_replies_are_found_by_what_they_hold(records: SqlRecords) -> None:
    _begin(records, "c1", "anna", 0, 60)
    _begin(records, "c2", "anna", 1, pair="duration")
    _begin(records, "c3", "berta", 2)
    finder = SqlFinder(records.engine, KEYS)

    def found(sought: Sought) -> list[tuple[str, datetime]]:
        return [(each.conversation, each.at) for each in finder.replies('"pain"', sought=sought)]

    assert found(Sought()) == [("c1", NOW), ("c1", NOW + 60 * MINUTE), ("c3", NOW + 2 * MINUTE)]
    assert found(Sought(patient="anna", until=NOW)) == [("c1", NOW)]
    assert found(Sought(since=NOW + MINUTE)) == [("c1", NOW + 60 * MINUTE), ("c3", NOW + 2 * MINUTE)]


def test_lives_tell_the_first_and_the_last_sign_of_each_conversation(records: SqlRecords) -> None:
    _begin(records, "c1", "anna", -5, 60)
    _begin(records, "c2", None)
    records.add_turn(StoredTurn("old", NOW, "de", "?", "declined", None, 0.0, "s@1"))
    records.add_turn(StoredTurn("", NOW, "de", "kept without a conversation", "declined", None, 0.0, "s@1"))

    assert SqlFinder(records.engine, KEYS).lives() == [
        Life("c1", NOW - 5 * MINUTE, NOW + 60 * MINUTE),
        Life("c2", NOW, NOW),
        Life("old", NOW, NOW),
    ]
