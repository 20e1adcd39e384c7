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
from bot.ports import StoredConversation
from tests.bot.handover.exports import NOW


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


def test_what_an_older_version_handed_over_is_not_handed_over_again(url: str) -> None:
    from alembic import command

    from bot.adapters.sql_leaving import SqlLeaving
    from bot.adapters.sql_records import alembic_config

    engine, config = create_engine(url), alembic_config()
    turn = "insert into turns (id, conversation, at, language, question, decision, score, catalog) values "
    put_ = "insert into outbox (conversation, put_at, bundle, attempts, accepted_at) values "
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0006")
        for number, name in enumerate(("sent", "waiting", "new", "calm"), 1):
            decision = "declined" if name == "calm" else "urgent"
            begun = "insert into conversations (id, begun, language, channel, consented) values (:c, :at, 'de', 'api', :yes)"
            connection.execute(text(begun), {"c": name, "at": NOW, "yes": True})
            values = {"id": number, "c": name, "at": NOW, "decision": decision}
            connection.execute(text(turn + "(:id, :c, :at, 'de', 'Frage', :decision, 0.5, 'small@1')"), values)
        later = NOW + timedelta(minutes=1)
        for name, accepted in (("sent", later), ("waiting", None), ("calm", None)):
            values = {"c": name, "at": later, "accepted": accepted}
            connection.execute(text(put_ + "(:c, :at, '{}', 0, :accepted)"), values)
    migrate(engine)
    outbox = SqlOutbox(engine)

    assert [flag.conversation for flag in SqlLeaving(engine).red_flags()] == ["new"]
    assert (outbox.backlog().waiting, outbox.backlog().urgent) == (2, 1)
    first = outbox.claim(at=NOW)
    assert first is not None
    assert first.is_urgent
    assert outbox.last_put("waiting") == later
    engine.dispose()


def test_red_flags_come_first_and_wait_for_nothing_of_their_conversation(url: str) -> None:
    records = SqlRecords.open(url)
    records.begin(StoredConversation("c1", NOW, "de", "api"))
    outbox = SqlOutbox(records.engine)
    outbox.put(_out("c1", "first"))
    outbox.put(_out("c1", "second"))

    assert [outbox.put_new(Outgoing("c1", "flag", NOW, turn=7)) for _ in range(2)] == [True, False]
    assert outbox.put_new(Outgoing("c1", "other flag", NOW, turn=8))

    claimed = [_claim(outbox).bundle for _ in range(3)]
    assert claimed == ["flag", "other flag", "first"]
    assert outbox.claim(at=NOW) is None
    records.close()


def test_what_was_not_taken_has_a_pause_and_then_comes_after_what_was_tried_less(outbox: SqlOutbox) -> None:
    for name in "ab":
        outbox.put(_out(name, name))
    due = Wanted(due=True)
    outbox.release(_claim(outbox), "busy (500)", retry_at=NOW + timedelta(seconds=2))

    assert _claim(outbox, due).bundle == "b"
    assert outbox.claim(at=NOW, wanted=due) is None
    later = outbox.claim(at=NOW + timedelta(seconds=2), wanted=due)
    assert later is not None
    assert (later.bundle, later.attempts) == ("a", 1)
