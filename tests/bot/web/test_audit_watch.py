"""The database knows how far the audit log goes: its end cannot be cut off unseen."""

from __future__ import annotations

import json
import logging
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
        "seen": {"lines": 5, "last": seen.last, "at": NOW.isoformat()},
        "lines": 4,
        "last": "",
        "without_key": 0,
        "flaws": [],
    }
    assert cut.stderr.decode().startswith(
        f"klartext: the end of the audit log is missing: at 2026-11-26 09:30 UTC it had 5 lines, the last one {seen.last}"
    )


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


def test_a_log_that_cannot_be_read_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch = _noted(tmp_path, 1)
    watch.log.path.unlink()
    watch.log.path.mkdir()

    watch.look()

    assert "the audit log cannot be looked at" in caplog.text
