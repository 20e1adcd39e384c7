"""The outbox in a real SQLite database."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.orm import Session

from bot.adapters.sql_outbox import LEASE, SqlOutbox, put
from bot.adapters.sql_records import SqlRecords, migrate
from bot.outbox_ports import ANY, Claimed, Outgoing, Wanted
from tests.bot.fhir_export.exports import NOW


@pytest.fixture
def outbox(records: SqlRecords) -> SqlOutbox:
    return SqlOutbox(records.engine)


def _out(conversation: str, bundle: str = "{}") -> Outgoing:
    return Outgoing(conversation, bundle, NOW)


def _claim(outbox: SqlOutbox, wanted: Wanted = ANY) -> Claimed:
    claimed = outbox.claim(at=NOW, wanted=wanted)
    assert claimed is not None
    return claimed


def test_the_oldest_waits_first_and_each_is_claimed_once(outbox: SqlOutbox) -> None:
    for name in "abc":
        outbox.put(_out(name, name))

    claimed = [_claim(outbox).bundle for _ in range(3)]

    assert claimed == ["a", "b", "c"]
    assert outbox.claim(at=NOW) is None
    assert outbox.waiting() == 3


def test_what_is_accepted_is_gone_and_its_content_deleted(outbox: SqlOutbox, records: SqlRecords) -> None:
    outbox.put(_out("a", "Geheimnis"))

    outbox.accept(_claim(outbox), at=NOW)

    assert outbox.waiting() == 0
    assert outbox.claim(at=NOW + 2 * LEASE) is None
    with records.engine.connect() as connection:
        assert connection.execute(text("select bundle, accepted_at is not null from outbox")).all() == [("", 1)]


def test_what_is_released_waits_with_its_reason_and_is_known_to_have_been_tried(outbox: SqlOutbox) -> None:
    outbox.put(_out("a"))
    first = _claim(outbox)

    outbox.release(first, "busy (500)")

    assert outbox.reasons() == [("a", "busy (500)")]
    assert (first.again, _claim(outbox).again) == (False, True)


def test_a_dead_process_holds_an_entry_only_for_a_while(outbox: SqlOutbox) -> None:
    outbox.put(_out("a"))
    dead = _claim(outbox)

    assert outbox.claim(at=NOW + LEASE - timedelta(seconds=1)) is None
    heir = outbox.claim(at=NOW + LEASE + timedelta(seconds=1))

    assert heir is not None
    assert heir.again
    outbox.release(dead, "too late")
    assert outbox.reasons() == []
    outbox.accept(heir, at=NOW)
    assert outbox.waiting() == 0


def test_a_later_state_waits_for_the_earlier_one(outbox: SqlOutbox) -> None:
    outbox.put(_out("a", "first"))
    outbox.put(_out("a", "second"))
    outbox.put(_out("b", "other"))

    first, other = _claim(outbox), _claim(outbox)
    assert (first.bundle, other.bundle) == ("first", "other")
    assert outbox.claim(at=NOW) is None

    outbox.accept(first, at=NOW)
    assert _claim(outbox).bundle == "second"


def test_a_push_does_not_meet_the_same_entry_twice(outbox: SqlOutbox) -> None:
    outbox.put(_out("a"))
    claimed = _claim(outbox)
    outbox.release(claimed, "refused (422)")

    assert outbox.claim(at=NOW, wanted=Wanted(without={claimed.number})) is None


def test_it_is_stored_with_the_callers_change_or_not_at_all(outbox: SqlOutbox, records: SqlRecords) -> None:
    with Session(records.engine) as session:
        put(session, _out("a"))
        session.rollback()
    assert outbox.waiting() == 0

    with Session(records.engine) as session:
        put(session, _out("a"))
        session.commit()
    assert outbox.waiting() == 1


def test_the_moment_of_the_latest_entry_is_known(outbox: SqlOutbox) -> None:
    assert outbox.last_put("a") is None
    outbox.put(_out("a"))
    outbox.put(Outgoing("a", "{}", NOW + timedelta(hours=1)))

    assert outbox.last_put("a") == NOW + timedelta(hours=1)


def test_migrations_have_one_head_and_lead_back_to_nothing(tmp_path: Path) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    import bot.adapters.migrations

    config = Config()
    config.set_main_option("script_location", str(Path(bot.adapters.migrations.__file__).parent))
    assert len(ScriptDirectory.from_config(config).get_heads()) == 1
    engine = create_engine(f"sqlite:///{tmp_path / 'down.db'}")
    migrate(engine)

    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    engine.dispose()
