"""Conversations in a real SQLite database."""

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from bot import BadData, Settings, Unreachable
from bot.adapters.sql_records import Base, SqlRecords, migrate
from bot.ports import Records, StoredTurn
from bot.wiring import make_records

NOW = datetime(2026, 11, 1, 12, 30, tzinfo=UTC)


def _turn(question: str, decision: str = "declined", pair_id: str | None = None) -> StoredTurn:
    return StoredTurn("c1", NOW, "de", question, decision, pair_id, 0.25, "small@1")


def _close(records: Records) -> None:
    assert isinstance(records, SqlRecords)
    records.close()


def test_migrations_lead_from_nothing_to_the_tables_of_the_code(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'new.db'}")

    migrate(engine)

    found = inspect(engine)
    for name, table in Base.metadata.tables.items():
        columns = {column["name"]: column["nullable"] for column in found.get_columns(name)}
        assert columns == {column.name: bool(column.nullable) for column in table.columns}
    assert set(found.get_table_names()) == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_rows_survive_a_restart_and_a_second_migration(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    first = SqlRecords.open(url)
    first.add_turn(_turn("Quark?"))
    first.close()

    second = SqlRecords.open(url)

    assert second.open_questions() == [_turn("Quark?")]
    second.close()


def test_unanswered_and_flagged_turns_are_open_oldest_first(records: SqlRecords) -> None:
    flagged = records.add_turn(_turn("Tut es weh?", "answered", "pain"))
    records.add_turn(_turn("Was kostet es?", "answered", "costs"))
    records.add_turn(_turn("Kosten Dauer?", "clarify"))
    records.add_turn(_turn("Quark?", "declined"))
    records.add_turn(_turn("Keine Luft", "urgent"))

    records.flag(flagged, "complicated", at=NOW)
    records.flag(flagged, "wrong", at=NOW)

    assert [turn.question for turn in records.open_questions()] == ["Tut es weh?", "Kosten Dauer?", "Quark?"]


def test_turns_are_numbered_upwards(records: SqlRecords) -> None:
    assert records.add_turn(_turn("a")) < records.add_turn(_turn("b"))


def test_flagging_an_unknown_turn_is_refused(records: SqlRecords) -> None:
    with pytest.raises(BadData, match="There is no turn 99"):
        records.flag(99, "wrong", at=NOW)


def test_times_come_back_with_their_zone(records: SqlRecords) -> None:
    records.add_turn(_turn("Quark?"))

    assert records.open_questions()[0].at == NOW


def test_a_time_of_another_zone_is_the_same_moment(records: SqlRecords) -> None:
    vienna = NOW.astimezone(timezone(timedelta(hours=1)))
    records.add_turn(StoredTurn("c1", vienna, "de", "Quark?", "declined", None, 0.0, "small@1"))

    assert records.open_questions()[0].at == vienna


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
    with pytest.raises(Unreachable, match=r"^The database .* cannot be used .*KLARTEXT_DATABASE_URL") as caught:
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

    with pytest.raises(Unreachable, match=r"newer\.db cannot be used \(CommandError\)"):
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
