"""Figures are counted in the database, in both kinds of it, and soon enough for a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, insert

from bot.adapters.sql_figures import SqlFigures
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_staff import SqlCalls
from bot.adapters.sql_tables import FlagRow, TurnRow
from bot.editorial.figures import QuizCount, Response, days_of, quiz_counts, responses
from bot.ports import Exchange, StoredConversation, StoredTurn
from tests.bot.web.staff.consoles import put_to
from tests.postgresql import emptied

VIENNA = ZoneInfo("Europe/Vienna")
SINCE, UNTIL = datetime(2026, 10, 24, tzinfo=VIENNA), datetime(2026, 10, 27, tzinfo=VIENNA)
NIGHT = datetime(2026, 10, 25, 0, 30, tzinfo=VIENNA)  # still the day before in UTC


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    url = f"sqlite:///{tmp_path / 'k.db'}"
    if request.param == "postgresql":
        url = emptied(request.getfixturevalue("postgresql"))
    found = SqlRecords.open(url).engine
    yield found
    found.dispose()


def turn(at: datetime, decision: str = "answered", **more: object) -> dict[str, object]:
    usual: dict[str, object] = {
        "conversation": "c", "at": at.astimezone(UTC), "language": "de", "question": "Tut das weh?",
        "decision": decision, "pair_id": None, "score": 0.9, "catalog": "mammography",
    }  # fmt: skip
    return {**usual, **more}


def store(engine: Engine, turns: list[dict[str, object]]) -> None:
    with engine.begin() as connection:
        connection.execute(insert(TurnRow), turns)


def test_questions_are_counted_by_the_day_of_the_place_and_flags_once_an_answer(engine: Engine) -> None:
    store(
        engine,
        [
            turn(NIGHT, pair_id="pain"),
            turn(NIGHT, "declined"),
            turn(NIGHT + timedelta(days=1), "urgent"),
            turn(NIGHT, "talk"),  # no question
            turn(UNTIL, "clarify"),  # after the period
        ],
    )
    with engine.begin() as connection:
        for reason in ("wrong", "complicated", "helpful"):
            connection.execute(insert(FlagRow).values(turn_id=1, reason=reason, comment="", at=NIGHT))
        connection.execute(insert(FlagRow).values(turn_id=2, reason="helpful", comment="", at=NIGHT))
    figures = SqlFigures(engine)

    days = days_of(figures, SINCE, UNTIL, VIENNA)

    assert [(day.day, day.questions, dict(day.counts)) for day in days] == [
        (date(2026, 10, 24), 0, {}),
        (date(2026, 10, 25), 2, {"answered": 1, "declined": 1, "flagged": 1}),
        (date(2026, 10, 26), 1, {"urgent": 1}),
    ]
    assert figures.by_pair(SINCE, UNTIL) == {"pain": 1}
    newest = figures.newest_questions(SINCE, UNTIL, most=2)
    assert newest[0].kind == "urgent"
    assert len(newest) == 2


def test_the_time_to_the_first_answer_counts_from_the_call_and_what_the_program_did_is_no_answer(
    engine: Engine,
) -> None:
    records, calls = SqlRecords(engine), SqlCalls(engine)
    for number, minutes in ((1, 4), (2, 10), (3, None)):
        id_ = f"{number:032x}"
        records.begin(StoredConversation(id_, NIGHT, "de", "rest"))
        exchange = Exchange(1, "t1", "/staff", "{}", "")
        raised = StoredTurn(id_, NIGHT, "de", "", "talk", None, 0.0, "mammography", exchange)
        records.add_turn(raised, call="asked")
        call = calls.call(id_)
        assert call is not None
        calls.note(call, what="told", at=NIGHT + timedelta(minutes=1), told=1, contact=1)
        if minutes is not None:
            calls.take(id_, "Anna", at=NIGHT + timedelta(minutes=2))
            calls.write(id_, "Anna", "Guten Tag", at=NIGHT + timedelta(minutes=minutes))

    urgent, asked = responses(SqlFigures(engine).calls(SINCE, UNTIL))

    assert urgent == Response("urgent", 0, 0, None, None, None, None)
    assert asked == Response("asked", 3, 1, 2.0, 2.0, 7.0, 10.0)
    assert SqlFigures(engine).calls(UNTIL, UNTIL + timedelta(days=1)) == []


def test_twenty_thousand_questions_are_counted_by_the_database_and_not_fetched(engine: Engine) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    decisions = ("answered", "answered", "clarify", "declined", "urgent")
    store(
        engine,
        [
            turn(begun + timedelta(minutes=20 * n), decisions[n % 5], pair_id=f"p{n % 300}", conversation=f"c{n // 4}")
            for n in range(20_000)
        ],
    )
    figures, until = SqlFigures(engine), begun + timedelta(days=365)

    with put_to(engine) as found:
        days = days_of(figures, begun, until, VIENNA)
        asked = figures.newest_questions(begun, until, most=1000)
        pairs = figures.by_pair(begun, until)
        figures.calls(begun, until)

    assert sum(day.questions for day in days) == 20_000
    assert (len(asked), sum(pairs.values())) == (1000, 8_000)
    # However many questions there are: what takes as long as they are many is done by the database.
    assert len(found) < 10, found


def test_what_turns_were_to_quizzes_is_counted_by_quiz_and_step(engine: Engine) -> None:
    steps = ["offered", "asked", "wrong 2", "wrong 1", "offered"]
    store(engine, [turn(NIGHT, "talk", quizzed=f"pain@1 {step}") for step in steps])
    store(engine, [turn(NIGHT, quizzed=None), turn(UNTIL, "talk", quizzed="pain@1 right 0")])

    counted = quiz_counts(SqlFigures(engine).quizzed(SINCE, UNTIL))

    assert counted == [QuizCount("pain@1", {"offered": 2, "asked": 1, "wrong": 2})]
    assert [counted[0].of(step) for step in ("wrong", "declined")] == [2, 0]
