"""Commands that act on a running installation say on which, and do nothing where no patient would see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from bot.adapters.sql_encryption import SqlPresence
from bot.adapters.sql_faults import cannot_use
from bot.adapters.sql_records import SqlRecords
from bot.errors import Unreachable
from bot.settings import Settings
from bot.web.server import Serving
from bot.web.surroundings import set_up
from tests.conftest import Run

COMMANDS = [
    ("stop", "pair", "pain"),
    ("stop", "chat"),
    ("stop", "end", "--by", "A", "--by", "B"),
    ("records", "find", "--shown", "pain"),
    ("records", "erase", "x"),
    ("records", "erase-again"),
    ("records", "after-restore"),
    ("purge",),
]


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    yield opened
    opened.close()


@pytest.fixture
def staff(klartext: Run, tmp_path: Path) -> Callable[..., CompletedProcess[bytes]]:
    def run(*arguments: str) -> CompletedProcess[bytes]:
        return klartext(*arguments, "--data", tmp_path, environ={"KLARTEXT_DATABASE_URL": ""})

    return run


def _serving(records: SqlRecords, *ago: timedelta) -> None:
    for each in ago:
        SqlPresence(records.engine, None).beat(datetime.now(UTC) - each, prepared=1)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_done_on_a_database_from_which_nobody_was_ever_served(
    staff: Callable[..., CompletedProcess[bytes]], tmp_path: Path, command: tuple[str, ...]
) -> None:
    ran = staff(*command)

    said = ran.stderr.decode()
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert said.startswith("klartext: Nothing was done: no service has ever served anybody from sqlite:///")
    assert str(tmp_path / "klartext.db") in said
    assert "klartext-admin" in said
    assert said.count("\n") == 1


def test_a_stop_says_on_which_database_it_acts_and_how_many_processes_hear_of_it(
    staff: Callable[..., CompletedProcess[bytes]], records: SqlRecords, tmp_path: Path
) -> None:
    _serving(records, timedelta(), timedelta(seconds=30))

    ran = staff("stop", "chat")

    assert f"{tmp_path / 'klartext.db'}: 2 processes serve from it." in ran.stderr.decode()
    assert "serve patients from this database: 2." in ran.stdout.decode()


def test_a_process_that_serves_a_sample_serves_no_release(
    staff: Callable[..., CompletedProcess[bytes]], records: SqlRecords, tmp_path: Path
) -> None:
    _serving(records, timedelta())
    flags = Serving("127.0.0.1", 0, ("mammography",), None, sample=True).flags
    SqlPresence(records.engine, None, set_up(Settings(data=tmp_path), flags)).beat(datetime.now(UTC))

    ran = staff("stop", "chat")

    assert ": 1 process serves from it; 1 in sample mode." in ran.stderr.decode()
    assert "serve patients from this database: 1." in ran.stdout.decode()


def test_signs_of_life_of_a_restored_backup_count_for_no_process_that_hears(
    staff: Callable[..., CompletedProcess[bytes]], records: SqlRecords
) -> None:
    _serving(records, timedelta(seconds=30), timedelta(seconds=35))

    ran = staff("stop", "chat")

    assert re.search(r"2 processes served from it and have been silent for 3\d s", ran.stderr.decode())
    assert "no process serves patients from this database just now" in ran.stderr.decode()
    assert "serve patients from this database: " not in ran.stdout.decode()


def test_a_stop_that_no_process_hears_of_says_so(
    staff: Callable[..., CompletedProcess[bytes]], records: SqlRecords
) -> None:
    records.try_writing()  # as a service does that has run once

    assert "no process serves patients from this database just now" in staff("stop", "chat").stderr.decode()


def test_who_insists_stops_before_a_service_has_ever_run(staff: Callable[..., CompletedProcess[bytes]]) -> None:
    assert b"The chat is closed" in staff("stop", "chat", "--force").stdout


def test_passwords_of_databases_are_not_shown(klartext: Run, tmp_path: Path) -> None:
    url = "postgresql+psycopg://u:hushhush@127.0.0.1:1/nowhere"
    ran = klartext("stop", "chat", "--data", tmp_path, environ={"KLARTEXT_DATABASE_URL": url})

    said = ran.stderr.decode()
    assert ran.returncode == 2
    assert "nobody answers there. Check that the server runs" in said
    assert "hushhush" not in said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('FATAL:  password authentication failed for user "x"', "does not let this user in"),
        ('FATAL:  database "nix" does not exist', "no database of this name"),
        ('root certificate file "/root/.postgresql/root.crt" does not exist', "sslrootcert="),
        ("SSL error: certificate verify failed", "`sslmode` and `sslrootcert`"),
        ("server does not support SSL, but SSL was required", "`sslmode` and `sslrootcert`"),
        ("connection to server at 10.0.0.1, port 5432 failed: Connection refused", "nobody answers there"),
        ("unable to open database file", "as the user of the service"),
        ("database or disk is full", "the disk is full"),
        ("some 'secret' of a driver", "(RuntimeError). Check KLARTEXT_DATABASE_URL"),
    ],
)
def test_what_is_wrong_with_a_database_is_told_apart_and_no_driver_is_quoted(told: str, said: str) -> None:
    found = cannot_use("postgresql://u:***@h/d", RuntimeError(told))

    assert isinstance(found, Unreachable)
    assert said in str(found)
    assert "secret" not in str(found)
    assert "10.0.0.1" not in str(found)


LOOKING = (("stop", "list"), ("release", "list"), ("staff", "list"), ("staff", "trail"))


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_who_looks_is_told_which_database_was_looked_at(
    staff: Callable[..., CompletedProcess[bytes]], records: SqlRecords, tmp_path: Path, command: tuple[str, ...]
) -> None:
    _serving(records, timedelta())

    said = staff(*command).stderr.decode()

    assert said.endswith(f" on sqlite:///{tmp_path / 'klartext.db'}: 1 process serves from it.\n")
    assert "new database" not in said


def test_an_account_in_a_folder_without_a_database_says_that_it_made_one(
    staff: Callable[..., CompletedProcess[bytes]], tmp_path: Path
) -> None:
    secret = tmp_path / "password"
    secret.write_text("Sonne Wiese Ordner Kamm", encoding="utf-8")
    account = ("--name", "Anna Berg", "--role", "admin", "--password-file", str(secret))

    first, second = staff("staff", "add", "anna", *account), staff("staff", "list")

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    where = f"sqlite:///{tmp_path / 'klartext.db'}"
    assert f"{where}: a new database, which this command made: no service has run on it yet." in first.stderr.decode()
    assert f"{where}: no service has run on it yet." in second.stderr.decode()
    minute = staff("staff", "trail").stdout.decode().splitlines()[0].split()
    assert re.fullmatch(r"[A-Z]{2,5}|[+-]\d{2,4}", minute[3])  # the zone of the time before it
