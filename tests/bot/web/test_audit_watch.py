"""The database knows how far the audit log goes: its end cannot be cut off unseen."""

from __future__ import annotations

import json
import logging
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.ports import AuditEvent
from bot.settings import Settings
from bot.web.audit_watch import AuditWatch
from bot.wiring import make_audit, make_witness
from tests.conftest import Run

NOW = datetime(2026, 11, 26, 9, 30, tzinfo=UTC)


def _noted(tmp_path: Path, count: int) -> AuditWatch:
    settings = Settings.from_environment({}, data=tmp_path)
    log = make_audit(settings)
    for _ in range(count):
        log.note(AuditEvent("find", "anna"))
    return AuditWatch(log, make_witness(settings), lambda: NOW)


def _cut(path: Path, lines: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_what_is_cut_off_is_told_by_the_service_and_by_verify(
    tmp_path: Path, klartext: Run, caplog: pytest.LogCaptureFixture
) -> None:
    watch = _noted(tmp_path, 5)
    watch.look()
    seen = watch.witness.seen()
    whole = klartext("records", "audit", "--verify", "--data", tmp_path)

    _cut(watch.log.path, 3)
    with caplog.at_level(logging.ERROR):
        watch.look()
    watch.log.note(AuditEvent("find", "anna"))
    watch.look()
    cut = klartext("records", "audit", "--verify", "--json", "--data", tmp_path)

    assert seen is not None
    assert (seen.lines, seen.at) == (5, NOW)
    assert (whole.returncode, whole.stdout[:15], whole.stderr) == (0, b"whole: 5 lines,", b"")
    assert "the end of the audit log is missing" in caplog.text
    assert watch.witness.seen() == seen  # a shorter log is no new truth
    assert cut.returncode == 1
    assert json.loads(cut.stdout) | {"last": "", "without_key": 0} == {
        "cut_off": True,
        "unseen": False,
        "seen": {"lines": 5, "last": seen.last, "at": NOW.isoformat()},
        "lines": 4,
        "last": "",
        "without_key": 0,
        "flaws": [],
    }
    assert cut.stderr.decode().startswith(
        f"klartext: the end of the audit log is missing: at 2026-11-26 09:30 UTC it had 5 lines, the last one {seen.last}"
    )


@pytest.mark.proof
def test_a_witness_that_was_taken_away_is_missed_and_comes_back_after_a_restore_only(
    tmp_path: Path, klartext: Run, caplog: pytest.LogCaptureFixture
) -> None:
    watch = _noted(tmp_path, 5)
    first = klartext("records", "audit", "--verify", "--data", tmp_path)  # before any service has looked
    watch.look()
    with sqlite3.connect(tmp_path / "klartext.db") as database:
        database.execute("DELETE FROM audit_witness")
    database.close()
    _cut(watch.log.path, 3)

    with caplog.at_level(logging.ERROR):
        watch.look()
    told = klartext("records", "audit", "--verify", "--data", tmp_path)
    as_json = klartext("records", "audit", "--verify", "--json", "--data", tmp_path)
    trail = klartext("staff", "trail", "--verify", "--data", tmp_path)

    assert (first.returncode, first.stdout[:15]) == (0, b"whole: 5 lines,")
    assert "the database has not seen the audit log" in caplog.text
    assert watch.witness.seen() is None
    assert (told.returncode, told.stdout[:31]) == (1, b"not known to be whole: 3 lines,")
    assert told.stderr.decode().startswith("klartext: the database has not seen this log, or has lost what it saw")
    assert told.stderr.count(b"\n") == 1
    assert (as_json.returncode, json.loads(as_json.stdout)["unseen"]) == (1, True)
    assert trail.returncode == 2
    assert "the database has not seen this log" in trail.stderr.decode()

    restored = klartext("records", "after-restore", "--force", "--data", tmp_path)
    again = klartext("records", "audit", "--verify", "--data", tmp_path)

    assert restored.returncode == 0, restored.stderr
    assert "The database has seen the audit log now: 4 lines" in restored.stdout.decode()
    assert (again.returncode, again.stdout[:15], again.stderr) == (0, b"whole: 4 lines,", b"")


def test_a_log_that_is_rotated_goes_on_and_one_that_grows_is_seen_further(tmp_path: Path, klartext: Run) -> None:
    watch = _noted(tmp_path, 2)
    watch.look()

    rotated = klartext("records", "audit", "--rotate", "--data", tmp_path)
    watch.look()
    verified = klartext("records", "audit", "--verify", "--data", tmp_path)

    assert (rotated.returncode, rotated.stdout.decode()) == (0, f"closed {tmp_path / 'audit.jsonl.0001'}\n")
    seen = watch.witness.seen()
    assert seen is not None
    assert seen.lines == 3
    assert (verified.returncode, verified.stdout[:15]) == (0, b"whole: 3 lines,")


def test_each_of_several_machines_has_a_log_of_its_own_by_name(
    tmp_path: Path, klartext: Run, caplog: pytest.LogCaptureFixture
) -> None:
    here = _noted(tmp_path, 5)
    here.look()
    environ = {"KLARTEXT_AUDIT_NAME": "second", "KLARTEXT_AUDIT_LOG": str(tmp_path / "second.jsonl")}
    settings = Settings.from_environment(environ, data=tmp_path)
    there = AuditWatch(make_audit(settings), make_witness(settings), lambda: NOW)

    with caplog.at_level(logging.WARNING):
        there.look()  # as a service does when it starts
        there.log.note(AuditEvent("find", "berta"))
        there.look()
        here.look()
    verified = klartext("records", "audit", "--verify", "--data", tmp_path, environ=environ)
    assert caplog.text == ""
    assert (verified.returncode, verified.stdout[:14]) == (0, b"whole: 1 lines")

    there.log.path.write_bytes(b"")
    there.look()

    assert "the end of the audit log is missing" in caplog.text
    seen = here.witness.seen()
    assert seen is not None
    assert seen.lines == 5


def test_a_log_that_cannot_be_read_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch = _noted(tmp_path, 1)
    watch.log.path.unlink()
    watch.log.path.mkdir()

    watch.look()

    assert "the audit log cannot be looked at" in caplog.text
