"""Conversations in a real SQLite database, and in a real PostgreSQL server."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from bot import BadData, Settings, Unreachable
from bot.adapters import sql_releases, sql_witness
from bot.adapters.sql_records import SqlRecords, migrate
from bot.adapters.sql_tables import Base
from bot.adapters.text_cipher import TextCipher
from bot.errors import AlreadyStored, Erased, UserFixable
from bot.ports import Exchange, Records, StoredConversation, StoredFlag, StoredTurn
from bot.wiring import make_records

NOW = datetime(2026, 11, 1, 12, 30, tzinfo=UTC)
OPENED = StoredConversation("c1", NOW, "de", "page", secret_hash="abc", consented=True, patient="P-4711")


def _turn(question: str, decision: str = "declined", pair_id: str | None = None, number: int = 0) -> StoredTurn:
    exchange = Exchange(number, f"t{number}", question, "{}", "{}") if number else None
    return StoredTurn("c1", NOW, "de", question, decision, pair_id, 0.25, "small@1", exchange)


def _close(records: Records) -> None:
    assert isinstance(records, SqlRecords)
    records.close()


@pytest.fixture
def records(url: str, cipher: TextCipher | None) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(url, cipher)
    yield opened
    opened.close()


def test_migrations_lead_from_nothing_to_the_tables_of_the_code(url_at_each_commit: str) -> None:
    engine = create_engine(url_at_each_commit)

    migrate(engine)

    found = inspect(engine)
    for name, table in Base.metadata.tables.items():
        columns = {column["name"]: column["nullable"] for column in found.get_columns(name)}
        assert columns == {column.name: bool(column.nullable) for column in table.columns}
        indexes = {
            (index["name"], bool(index["unique"]))
            for index in found.get_indexes(name)
            if "duplicates_constraint" not in index
        }
        assert indexes == {(index.name, index.unique) for index in table.indexes}
    for row in (sql_releases.ReleaseRow, sql_witness.WitnessRow):
        assert row.metadata is Base.metadata  # their tables are known, too
    assert set(found.get_table_names()) == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_a_database_of_the_first_version_keeps_its_turns_and_flags(url: str) -> None:
    from alembic import command
    from alembic.config import Config

    from bot.adapters import sql_records

    engine = create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(Path(sql_records.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        turn = "INSERT INTO turns VALUES (1, 'c1', '2026-11-01 12:30:00', 'de', 'weh?', 'answered', 'pain', 0.9, 's@1')"
        connection.execute(text(turn))
        for number in (1, 2):
            connection.execute(text(f"INSERT INTO flags VALUES ({number}, 1, 'wrong', '2026-11-01 12:30:00')"))
    engine.dispose()

    records = SqlRecords.open(url)

    assert [turn.question for turn in records.open_questions()] == ["weh?"]
    assert records.turns("c1")[0].exchange is None
    assert records.last_turn("c1") is None
    assert len(records.flags("c1")) == 1
    records.close()


def test_rows_survive_a_restart_and_a_second_migration(url_at_each_commit: str) -> None:
    first = SqlRecords.open(url_at_each_commit)
    first.begin(OPENED)
    first.add_turn(_turn("Quark?", number=1))
    first.close()

    second = SqlRecords.open(url_at_each_commit)

    assert second.open_questions() == [_turn("Quark?", number=1)]
    assert second.conversation("c1") == OPENED
    second.close()


def test_unanswered_and_flagged_turns_are_open_oldest_first(records: SqlRecords) -> None:
    records.begin(OPENED)
    records.add_turn(_turn("Tut es weh?", "answered", "pain", number=1))
    records.add_turn(_turn("Was kostet es?", "answered", "costs", number=2))
    records.add_turn(_turn("Kosten Dauer?", "clarify"))
    records.add_turn(_turn("Quark?", "declined"))
    records.add_turn(_turn("Keine Luft", "urgent"))
    records.add_turn(_turn("Hallo", "talk", number=3))

    records.flag("c1", StoredFlag("t1", "complicated", "", NOW))
    records.flag("c1", StoredFlag("t1", "wrong", "", NOW))

    assert [turn.question for turn in records.open_questions()] == ["Tut es weh?", "Kosten Dauer?", "Quark?"]


def test_a_complaint_sent_again_replaces_the_first(records: SqlRecords) -> None:
    records.begin(OPENED)
    records.add_turn(_turn("Tut es weh?", "answered", "pain", number=1))

    records.flag("c1", StoredFlag("t1", "wrong", "nein", NOW))
    records.flag("c1", StoredFlag("t1", "wrong", "doch nicht", NOW))

    assert records.flags("c1") == [StoredFlag("t1", "wrong", "doch nicht", NOW)]


@pytest.mark.parametrize("number", [1, 2])
def test_a_turn_id_or_a_place_is_given_once(records: SqlRecords, number: int) -> None:
    records.begin(OPENED)
    records.add_turn(_turn("a", number=1))
    same_id = replace(_turn("b", number=2), exchange=Exchange(2, "t1", "b", "{}", "{}"))

    with pytest.raises(AlreadyStored, match="Another request stored this first"):
        records.add_turn(_turn("b", number=1) if number == 1 else same_id)

    assert [turn.question for turn in records.turns("c1")] == ["a"]


def test_of_many_who_store_one_turn_at_once_one_succeeds(records: SqlRecords) -> None:
    records.begin(OPENED)

    def store(_: int) -> bool:
        try:
            records.add_turn(_turn("a", number=1))
        except AlreadyStored:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(store, range(24)))

    assert sum(stored) == 1
    assert len(records.turns("c1")) == 1


def test_one_conversation_begins_once(records: SqlRecords) -> None:
    records.begin(OPENED)

    with pytest.raises(AlreadyStored, match="Another request stored this first"):
        records.begin(OPENED)


def test_turns_come_back_in_order_and_one_by_one(records: SqlRecords) -> None:
    records.begin(OPENED)
    for number in (1, 2, 3):
        records.add_turn(_turn(f"question {number}", number=number))

    assert [turn.question for turn in records.turns("c1")] == ["question 1", "question 2", "question 3"]
    assert records.turn("c1", "t2") == _turn("question 2", number=2)
    assert records.last_turn("c1") == _turn("question 3", number=3)
    assert records.turn("c1", "t4") is None
    assert records.turn("c2", "t1") is None


def test_erasure_leaves_nothing_of_one_conversation_and_all_of_the_others(records: SqlRecords) -> None:
    records.begin(OPENED)
    records.begin(replace(OPENED, id="c2"))
    records.add_turn(_turn("weh?", number=1))
    records.add_turn(replace(_turn("dauer?", number=1), conversation="c2"))
    records.flag("c1", StoredFlag("t1", "wrong", "falsch", NOW))

    records.erase("c1")

    assert records.conversation("c1") is None
    assert (records.turns("c1"), records.flags("c1")) == ([], [])
    assert [turn.question for turn in records.turns("c2")] == ["dauer?"]
    with pytest.raises(Erased, match="deleted"):
        records.add_turn(_turn("noch da?", number=2))
    assert records.turns("c1") == []


def test_flagging_an_unknown_turn_is_refused(records: SqlRecords) -> None:
    with pytest.raises(BadData, match="There is no turn 't99'"):
        records.flag("c1", StoredFlag("t99", "wrong", "", NOW))


def test_times_come_back_with_their_zone(records: SqlRecords) -> None:
    records.add_turn(_turn("Quark?"))

    assert records.open_questions()[0].at == NOW


def test_a_time_of_another_zone_is_the_same_moment(records: SqlRecords) -> None:
    vienna = NOW.astimezone(timezone(timedelta(hours=1)))
    records.add_turn(StoredTurn("c1", vienna, "de", "Quark?", "declined", None, 0.0, "small@1"))

    assert records.open_questions()[0].at == vienna


def test_a_database_that_went_away_is_told_without_what_was_written(tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'gone.db'}")
    records.try_writing()
    records.close()
    (tmp_path / "gone.db").unlink()

    with pytest.raises(Unreachable, match="does not answer") as caught:
        records.add_turn(_turn("geheime Frage", number=1))

    assert "geheime" not in str(caught.value) + str(caught.value.__cause__)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysterydb://anna:geheim@db.example.org/klartext",
        "postgresql+psycopg2://anna:geheim@127.0.0.1:9/klartext?password=geheim",
        "oracle+oracledb://anna:geheim@127.0.0.1:9/klartext",
        "sqlite:////no/such/folder/klartext.db",
    ],
)
def test_a_wrong_url_is_told_in_one_line_without_the_password(url: str) -> None:
    with pytest.raises(Unreachable, match=r"^The database .* cannot be used.*KLARTEXT_DATABASE_URL") as caught:
        SqlRecords.open(url)

    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "klartext.db").write_bytes(b"This is no database. " * 100)

    with pytest.raises(Unreachable, match=r"klartext\.db cannot be used"):
        make_records(Settings(data=tmp_path))


def test_a_database_of_a_newer_version_is_told_in_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'newer.db'}"
    SqlRecords.open(url).close()
    with sqlite3.connect(tmp_path / "newer.db") as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    connection.close()

    with pytest.raises(UserFixable, match=r"newer\.db has schema 9999, which is newer than this version"):
        SqlRecords.open(url)


def test_without_a_url_records_lie_in_the_data_folder(tmp_path: Path) -> None:
    records = make_records(Settings(data=tmp_path / "deep" / "data"))

    assert (tmp_path / "deep" / "data" / "klartext.db").is_file()
    _close(records)


def test_a_data_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "a?b=c#d%20 ü"

    records = make_records(Settings(data=folder))

    assert (folder / "klartext.db").is_file()
    _close(records)


def test_thanks_for_an_answer_are_kept_but_are_no_complaint(records: SqlRecords) -> None:
    records.begin(OPENED)
    records.add_turn(_turn("Tut das weh?", "answered", "pain", number=1))

    records.flag("c1", StoredFlag("t1", "helpful", "", NOW))
    assert [flag.reason for flag in records.flags("c1")] == ["helpful"]
    assert records.open_questions() == []
    assert [kept.flags for kept in records.kept("c1")] == [()]

    records.flag("c1", StoredFlag("t1", "complicated", "", NOW))
    assert len(records.open_questions()) == 1
    assert [kept.flags for kept in records.kept("c1")] == [("complicated",)]


def test_commands_of_buttons_are_no_questions_for_curators(records: SqlRecords) -> None:
    for question in ("/english", " /Deutsch", "Darf ich km/h fahren?", "/ geht das", "/english bitte"):
        records.add_turn(_turn(question))

    assert [turn.question for turn in records.open_questions()] == [
        "Darf ich km/h fahren?", "/ geht das", "/english bitte",
    ]  # fmt: skip
