"""`klartext records` and `klartext purge` as processes, beside a database that is in use."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from alembic import command
from sqlalchemy import text

from bot.adapters.sql_encryption import SqlPresence
from bot.adapters.sql_outbox import SqlOutbox
from bot.adapters.sql_records import SqlRecords, alembic_config
from bot.adapters.summary_folders import SummaryFolders
from bot.adapters.text_cipher import TextCipher, new_key
from bot.outbox_ports import pseudonym
from bot.ports import StoredConversation
from bot.settings import Settings
from bot.web.background import Telling, _present
from bot.web.health import StorageHealth
from bot.web.metrics import Metrics
from bot.web.pulse import Pulse
from bot.wiring import close_databases, make_records, make_summaries, migrate_database
from tests.bot.adapters.stored import fill, in_files, in_rows
from tests.conftest import Run

WORD = "Hinterhuber"
NOW = datetime.now(UTC)
Staff = Callable[..., "CompletedProcess[bytes]"]


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    yield opened
    opened.close()


@pytest.fixture
def staff(klartext: Run, tmp_path: Path) -> Staff:
    """Run a command on the database of `records`, whatever else the environment says."""

    def run(*args: str | Path, **environ: str) -> CompletedProcess[bytes]:
        return klartext(*args, "--data", tmp_path, environ={"KLARTEXT_DATABASE_URL": "", **environ})

    return run


def test_a_conversation_is_exported_whole_and_without_the_key_to_it(
    staff: Staff, records: SqlRecords, tmp_path: Path
) -> None:
    fill(records, "c1", at=NOW, word=WORD)
    out = tmp_path / "c1.json"

    done = staff("records", "export", "c1", "--out", out)

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == (
        f"{out}: 1 turns, 1 flags, 1 events of an interview, 1 entries of the outbox (in logs: {pseudonym('c1')})\n"
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    assert out.stat().st_mode & 0o777 == 0o600
    assert found["conversation"]["consented"] is True
    (turn,) = found["turns"]
    assert (turn["said"], turn["question"], turn["state"]) == (f"said {WORD}", f"asked {WORD}", {"state": WORD})
    assert found["flags"][0]["comment"] == f"comment {WORD}"
    assert found["interview"]["events"] == [{"event": WORD}]
    assert found["outbox"][0]["bundle"] == {"bundle": WORD}
    assert (found["staff"]["call"]["name"], found["staff"]["actions"][1]["text"]) == (f"name {WORD}", f"message {WORD}")
    assert "abc" not in out.read_text(encoding="utf-8")


def test_a_conversation_is_erased_from_every_table_and_file(staff: Staff, records: SqlRecords, tmp_path: Path) -> None:
    fill(records, "c1", at=NOW, word=WORD)
    fill(records, "c2", at=NOW, word="Xaverl")
    outbox = SqlOutbox(records.engine)
    claimed = outbox.claim(at=NOW)
    assert claimed is not None
    outbox.accept(claimed, at=NOW)

    done = staff("records", "erase", "c1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith(f"erased {pseudonym('c1')}: 1 turns, 1 flags, ")
    assert b"still there: delete it there" in done.stderr
    assert in_rows(records.engine, WORD) == in_rows(records.engine, "c1") == []
    assert in_files(tmp_path, WORD) == []
    assert len(in_rows(records.engine, "Xaverl")) == 11
    again = staff("records", "erase", "c1")
    assert (again.returncode, again.stdout) == (2, b"")
    assert again.stderr.decode().startswith("klartext: There is no conversation 'c1'")


def test_what_models_wrote_about_a_conversation_is_named_and_erased_with_it(
    staff: Staff, records: SqlRecords, tmp_path: Path
) -> None:
    folders = SummaryFolders.in_data(tmp_path, None, lambda _: True)
    for id_ in ("c1", "c2"):
        fill(records, id_, at=NOW, word=WORD)
        (folders.claim("summary", [id_]) / "result.json").write_text(WORD, encoding="utf-8")
    folders.note_sent(folders.of("c1")[0], status="final", at="2026-11-26", host="fhir.example")
    out = tmp_path / "c1.json"

    staff("records", "export", "c1", "--out", out)
    dry = staff("records", "erase", "c1", "--dry-run")
    there = folders.of("c1")
    done = staff("records", "erase", "c1")

    assert json.loads(out.read_text(encoding="utf-8"))["summaries"] == [str(each) for each in there]
    assert b"1 entries of the outbox, 1 summaries\n" in dry.stdout
    assert done.returncode == 0, done.stderr
    assert b"still there: delete it there" in done.stderr
    assert (folders.of("c1"), len(folders.of("c2"))) == ([], 1)


def test_what_models_wrote_about_a_conversation_of_another_database_is_erased_by_its_id(
    staff: Staff, records: SqlRecords, tmp_path: Path
) -> None:
    fill(records, "c1", at=NOW, word=WORD)
    folders = SummaryFolders.in_data(tmp_path, None, lambda _: False)
    folders.claim("summary", ["elsewhere"])

    dry = staff("records", "erase", "elsewhere", "--dry-run")
    there = len(folders.of("elsewhere"))
    done, again = (staff("records", "erase", "elsewhere") for _ in range(2))

    assert (dry.returncode, done.returncode, again.returncode) == (0, 0, 2), done.stderr
    assert f"erased {pseudonym('elsewhere')}: 0 turns" in done.stdout.decode()
    assert "There is no such conversation in the database: only what models wrote" in done.stdout.decode()
    assert (there, folders.of("elsewhere")) == (1, [])


def test_a_patient_who_deletes_a_conversation_deletes_what_models_wrote_about_it(tmp_path: Path) -> None:
    settings = Settings.from_environment({"KLARTEXT_DATA": str(tmp_path)})
    migrate_database(settings)
    folders, records = make_summaries(settings), make_records(settings)
    records.begin(StoredConversation("c1", NOW, "de", "page"))
    folders.claim("summary", ["c1"])

    records.erase("c1", by_patient_at=NOW)

    assert list(folders.place.iterdir()) == []
    close_databases()


def test_purging_says_what_goes_and_deletes_it(staff: Staff, records: SqlRecords) -> None:
    fill(records, "old", at=NOW - timedelta(days=8), word=WORD)
    fill(records, "young", at=NOW, word="Xaverl")
    week = {"KLARTEXT_KEEP_CONVERSATIONS_DAYS": "7", "KLARTEXT_KEEP_SENT_DAYS": "7"}

    counts = [
        json.loads(staff("purge", "--json", *more, **week).stdout)["conversations"] for more in (["--dry-run"], [], [])
    ]
    done = staff("purge", "--dry-run", **week)

    assert counts == [1, 1, 0]
    assert done.stdout.decode().startswith("would be deleted:\n       0  conversations\n")
    assert b"1 entries of the outbox are too old and were never sent" in done.stderr
    assert in_rows(records.engine, WORD) == ["outbox.bundle"]
    assert len(records.turns("young")) == 1


def test_a_database_is_encrypted_by_three_commands(staff: Staff, tmp_path: Path, klartext: Run) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    fill(records, "c1", at=NOW, word=WORD)
    records.close()
    key = tmp_path / "key"
    key.write_bytes(klartext("records", "new-key").stdout)

    refused = staff("qa", "inbox", KLARTEXT_TEXT_KEY_FILE=str(key))
    done = staff("records", "rekey", KLARTEXT_TEXT_KEY_FILE=str(key))
    listed = staff("qa", "inbox", KLARTEXT_TEXT_KEY_FILE=str(key))
    unreadable = staff("qa", "inbox")

    assert refused.returncode == unreadable.returncode == 2
    assert len(refused.stderr.splitlines()) == len(unreadable.stderr.splitlines()) == 1
    assert b"klartext records rekey" in refused.stderr
    assert done.stdout == b"12 texts encrypted anew\n"
    assert f"asked {WORD}" in listed.stdout.decode()
    assert f"encrypted with key {TextCipher.of(key.read_text()).current}" in unreadable.stderr.decode()
    assert in_files(tmp_path, WORD) == []


def test_rekeying_needs_a_key(staff: Staff) -> None:
    done = staff("records", "rekey")

    assert done.returncode == 2
    assert done.stderr.startswith(b"klartext: KLARTEXT_TEXT_KEY is not set. Make a key with")


def _running(records: SqlRecords, keys: str | None, *, ago_s: float = 0) -> SqlPresence:
    presence = SqlPresence(records.engine, TextCipher.of(keys) if keys else None)
    presence.beat(datetime.now(UTC) - timedelta(seconds=ago_s))
    return presence


@pytest.mark.parametrize(
    ("stored_with", "known", "what_to_do"),
    [
        ("old", "old", b"Start every service with both keys"),
        (None, None, b"Stop it, run `klartext records rekey` again"),
    ],
)
def test_rekeying_is_refused_while_a_service_does_not_know_the_new_key(
    staff: Staff, tmp_path: Path, stored_with: str | None, known: str | None, what_to_do: bytes
) -> None:
    keys = {"old": new_key(), "new": new_key()}
    records = SqlRecords.open(
        f"sqlite:///{tmp_path / 'klartext.db'}", TextCipher.of(keys[stored_with]) if stored_with else None
    )
    fill(records, "c1", at=NOW, word=WORD)
    both = f"{keys['new']},{keys['old']}"
    service = _running(records, keys[known] if known else None)

    refused = staff("records", "rekey", KLARTEXT_TEXT_KEY=both)
    with records.engine.connect() as connection:
        stored = connection.exec_driver_sql("SELECT said FROM turns").scalar()
    service.leave()
    done = staff("records", "rekey", KLARTEXT_TEXT_KEY=both)

    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"1 running service does not know key" in refused.stderr
    assert what_to_do in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert TextCipher.of(both).key_of(str(stored)) == (TextCipher.of(keys["old"]).current if stored_with else "")
    assert (done.returncode, done.stdout) == (0, b"12 texts encrypted anew\n")
    records.close()


def test_services_that_know_the_new_key_or_died_do_not_hinder(staff: Staff, tmp_path: Path) -> None:
    old, new = new_key(), new_key()
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}", TextCipher.of(old))
    fill(records, "c1", at=NOW, word=WORD)
    _running(records, f"{old},{new}")
    _running(records, old, ago_s=61)
    records.close()

    assert staff("records", "rekey", KLARTEXT_TEXT_KEY=f"{new},{old}").returncode == 0


def test_a_service_gives_signs_of_life_until_it_stops(tmp_path: Path) -> None:
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    stopping, presence = threading.Event(), SqlPresence(records.engine, None)
    storage, metrics = StorageHealth(records.try_writing), Metrics()
    telling = Telling(metrics, Pulse(metrics), lambda: datetime.now(UTC))
    thread = threading.Thread(target=_present, args=(presence, [storage.look_now], telling, stopping, ()))

    def seen() -> int:
        with records.engine.connect() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM services").scalar() or 0)

    thread.start()
    until_s = time.monotonic() + 30
    while not seen() and time.monotonic() < until_s:
        time.sleep(0.01)
    running = seen()
    stopping.set()
    thread.join(30)

    assert (running, seen()) == (1, 0)
    records.close()


def test_only_a_command_of_its_own_changes_the_schema(tmp_path: Path, klartext: Run) -> None:
    url = f"sqlite:///{tmp_path / 'klartext.db'}"
    records, config = SqlRecords.open(url), alembic_config()
    with records.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0011")
    records.close()
    environ = {"KLARTEXT_DATABASE_URL": url}

    for arguments in (["release", "list"], ["serve", "--sample", "--port", "0"], ["purge"]):
        ran = klartext(*arguments, environ=environ)
        assert ran.returncode == 2
        assert b"has schema 0011, and this version of Klartext needs" in ran.stderr
        assert b"run `klartext records migrate`" in ran.stderr
    assert klartext("records", "migrate", environ=environ).returncode == 0
    assert klartext("release", "list", environ=environ).returncode == 0


def test_a_database_of_a_later_version_is_refused_by_name(tmp_path: Path, klartext: Run) -> None:
    url = f"sqlite:///{tmp_path / 'klartext.db'}"
    records = SqlRecords.open(url)
    with records.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    records.close()

    for arguments in (["release", "list"], ["records", "migrate"]):
        ran = klartext(*arguments, environ={"KLARTEXT_DATABASE_URL": url})
        assert ran.returncode == 2
        assert b"has schema 9999, which is newer than this version of Klartext" in ran.stderr
