"""Interviews in a real database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.adapters.sql_interviews import SqlInterviews
from bot.adapters.sql_records import SqlRecords
from bot.errors import BadData
from bot.ports import StoredInterview

AT = datetime(2026, 11, 22, 11, 30, tzinfo=timezone(timedelta(hours=1)))
BEGUN = StoredInterview("c1", '{"resourceType":"Questionnaire"}', '{"language":"de"}', ('{"event":"Shown"}',), AT)


@pytest.fixture
def interviews(records: SqlRecords) -> SqlInterviews:
    return SqlInterviews(records.engine)


def test_an_interview_comes_back_as_it_was_kept(interviews: SqlInterviews) -> None:
    interviews.begin_interview(BEGUN)
    later = replace(BEGUN, head="{}", events=(*BEGUN.events, "{1}", "{2}"), changed_at=AT + timedelta(minutes=1))

    interviews.keep_turn(later, known=1, said="ja, zwei")

    assert interviews.interview("c1") == later
    assert interviews.interview("c2") is None


def test_what_the_patient_said_stands_with_the_first_event_of_the_turn(
    interviews: SqlInterviews, records: SqlRecords
) -> None:
    interviews.begin_interview(BEGUN)
    interviews.keep_turn(replace(BEGUN, events=(*BEGUN.events, "{1}", "{2}")), known=1, said="ja, zwei")

    with records.engine.connect() as connection:
        rows = connection.execute(text("select number, said from interview_events order by id")).all()
    assert [tuple(row) for row in rows] == [(0, None), (1, "ja, zwei"), (2, None)]


def test_a_turn_without_an_event_keeps_where_the_talk_stands(interviews: SqlInterviews) -> None:
    interviews.begin_interview(BEGUN)

    interviews.keep_turn(replace(BEGUN, head='{"talk":1}'), known=1, said="wie bitte?")

    stored = interviews.interview("c1")
    assert stored is not None
    assert (stored.head, stored.events) == ('{"talk":1}', BEGUN.events)


def test_two_windows_cannot_both_go_on(interviews: SqlInterviews) -> None:
    interviews.begin_interview(BEGUN)
    interviews.keep_turn(replace(BEGUN, events=(*BEGUN.events, "{mine}")), known=1, said="a")

    with pytest.raises(BadData, match="another window"):
        interviews.keep_turn(replace(BEGUN, events=(*BEGUN.events, "{yours}")), known=1, said="b")
    with pytest.raises(BadData, match="another window"):
        interviews.begin_interview(BEGUN)
    with pytest.raises(BadData, match="another window"):
        interviews.keep_turn(replace(BEGUN, conversation="c9"), known=0, said="c")

    stored = interviews.interview("c1")
    assert stored is not None
    assert stored.events == (*BEGUN.events, "{mine}")


def test_interviews_of_two_conversations_do_not_mix(interviews: SqlInterviews) -> None:
    interviews.begin_interview(BEGUN)
    interviews.begin_interview(replace(BEGUN, conversation="c2", events=("{other}",)))

    assert [found.events for found in map(interviews.interview, ("c1", "c2")) if found] == [BEGUN.events, ("{other}",)]


def test_a_database_of_the_version_before_gets_the_tables(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    old = SqlRecords.open(url)
    with old.engine.begin() as connection:
        connection.execute(text("drop table interview_events"))
        connection.execute(text("drop table interviews"))
        connection.execute(text("update alembic_version set version_num = '0002'"))
    old.close()

    records = SqlRecords.open(url)
    interviews = SqlInterviews(records.engine)
    interviews.begin_interview(BEGUN)

    stored = interviews.interview("c1")
    records.close()
    assert stored is not None
    assert stored.changed_at.astimezone(UTC) == AT
