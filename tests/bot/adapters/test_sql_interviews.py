"""Interviews in a real database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import text

from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlInterviews, SqlRecords, alembic_config
from bot.adapters.text_cipher import TextCipher
from bot.errors import AlreadyStored
from bot.outbox_ports import Outgoing
from bot.ports import Exchange, InterviewChange, StoredConversation, StoredInterview, StoredTurn

AT = datetime(2026, 11, 22, 11, 30, tzinfo=timezone(timedelta(hours=1)))
BEGUN = StoredInterview("c1", '{"resourceType":"Questionnaire"}', '{"language":"de"}', ('{"event":"Shown"}',), AT)


Keep = Callable[..., None]


@pytest.fixture
def records(url: str, cipher: TextCipher | None) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url, cipher)
    yield opened
    opened.close()


@pytest.fixture
def interviews(records: SqlRecords) -> SqlInterviews:
    return SqlInterviews(records.engine)


@pytest.fixture
def keep(records: SqlRecords) -> Keep:
    """Store an interview with a turn of its conversation."""
    return lambda interview, known=None, outgoing=None: keep_in(records, interview, known, outgoing)


def keep_in(
    records: SqlRecords, interview: StoredInterview, known: int | None = None, outgoing: Outgoing | None = None
) -> None:
    id_ = interview.conversation
    if records.conversation(id_) is None:
        records.begin(StoredConversation(id_, AT, "de", "terminal"))
    number = len(records.turns(id_)) + 1
    place = Exchange(number=number, turn_id=f"t{number}", said="ja", reply="{}", state="{}")
    turn = StoredTurn(id_, AT, "de", "ja", "talk", None, 0.0, "small@1", place)
    records.add_turn(turn, interview=InterviewChange(interview, known, outgoing))


def test_an_interview_comes_back_as_it_was_kept(interviews: SqlInterviews, keep: Keep) -> None:
    keep(BEGUN)
    later = replace(BEGUN, head="{}", events=(*BEGUN.events, "{1}", "{2}"), changed_at=AT + timedelta(minutes=1))

    keep(later, 1)

    assert interviews.interview("c1") == later
    assert interviews.interview("c2") is None


def test_a_turn_without_an_event_keeps_where_the_talk_stands(interviews: SqlInterviews, keep: Keep) -> None:
    keep(BEGUN)

    keep(replace(BEGUN, head='{"talk":1}'), 1)

    stored = interviews.interview("c1")
    assert stored is not None
    assert (stored.head, stored.events) == ('{"talk":1}', BEGUN.events)


def test_two_windows_cannot_both_go_on_and_a_turn_that_came_second_is_not_stored(
    interviews: SqlInterviews, records: SqlRecords, keep: Keep
) -> None:
    keep(BEGUN)
    outgoing = Outgoing("c1", "{}", AT)
    keep(replace(BEGUN, events=(*BEGUN.events, "{mine}")), 1)

    for interview, known in (
        (replace(BEGUN, events=(*BEGUN.events, "{yours}")), 1),
        (BEGUN, None),
        (replace(BEGUN, conversation="c9"), 0),
    ):
        with pytest.raises(AlreadyStored):
            keep(interview, known, outgoing)

    stored = interviews.interview("c1")
    assert stored is not None
    assert stored.events == (*BEGUN.events, "{mine}")
    assert len(records.turns("c1")) == 2
    assert not records.turns("c9")
    assert SqlOutbox(records.engine).waiting() == 0


def test_what_leaves_the_house_is_stored_with_the_turn(records: SqlRecords, keep: Keep) -> None:
    keep(BEGUN, None, Outgoing("c1", "{}", AT))

    assert SqlOutbox(records.engine).waiting() == 1


def test_erasing_a_conversation_takes_its_interview_and_what_waits_with_it(
    interviews: SqlInterviews, records: SqlRecords, keep: Keep
) -> None:
    keep(BEGUN, None, Outgoing("c1", "{}", AT))
    keep(replace(BEGUN, conversation="c2"), None, Outgoing("c2", "{}", AT))

    records.erase("c1")

    assert interviews.interview("c1") is None
    assert interviews.interview("c2") is not None
    assert SqlOutbox(records.engine).waiting() == 1
    with records.engine.connect() as connection:
        assert connection.execute(text("select distinct conversation from interview_events")).all() == [("c2",)]


def test_interviews_of_two_conversations_do_not_mix(interviews: SqlInterviews, keep: Keep) -> None:
    keep(BEGUN)
    keep(replace(BEGUN, conversation="c2", events=("{other}",)))

    assert [found.events for found in map(interviews.interview, ("c1", "c2")) if found] == [BEGUN.events, ("{other}",)]


def test_a_database_of_an_older_version_gets_the_tables(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    old = SqlRecords.open(url)
    config = alembic_config()
    with old.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0002")
    old.close()

    records = SqlRecords.open(url)
    keep_in(records, BEGUN)

    stored = SqlInterviews(records.engine).interview("c1")
    records.close()
    assert stored is not None
    assert stored.changed_at.astimezone(UTC) == AT
