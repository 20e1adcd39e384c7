"""The audit log: nobody changes it unseen, nobody reads in it who it is about, and several may write at once."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.audit_log import AuditLog, returned
from bot.adapters.blind_keys import BlindKeys
from bot.adapters.text_cipher import TextCipher, new_key, raw_keys
from bot.errors import Unreachable
from bot.ports import AuditEvent, Life

OLD, NEW = new_key(), new_key()
NOW = datetime(2026, 11, 25, 10, 15, tzinfo=UTC)


def _keys(*texts: str) -> BlindKeys:
    return BlindKeys.derived([*raw_keys(",".join(texts)), b"installation"])


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path / "logs" / "audit.jsonl", _keys(OLD), request_id=lambda: "R-1", now=lambda: NOW)


def _three(log: AuditLog) -> list[bytes]:
    for number in range(3):
        log.note(AuditEvent("erase", "anna", [f"c{number}"], patient="pat-4711", counts={"conversations": 1}))
    return log.path.read_bytes().splitlines()


def test_what_was_noted_is_read_back_and_names_nobody(log: AuditLog) -> None:
    _three(log)

    trail = log.read()

    assert (len(trail.lines), trail.flaws) == (3, [])
    first = trail.lines[0]
    assert (first.at, first.actor, first.action, first.request_id) == (NOW, "anna", "erase", "R-1")
    assert (first.vouched, first.counts) == (True, {"conversations": 1})
    assert first.conversations == (trail.blind(first.key, "c0"),)
    assert trail.lines[2].patient == first.patient != ""
    content = log.path.read_text(encoding="utf-8")
    assert "4711" not in content
    assert '"c0"' not in content
    assert log.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("tampered", "line"),
    [
        (lambda lines: [lines[0].replace(b"anna", b"ella"), *lines[1:]], 1),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
        (lambda lines: [lines[0], b"{}", *lines[2:]], 2),
        (lambda lines: [lines[0], b"\xff nonsense", *lines[2:]], 2),
    ],
    ids=["changed", "taken-out", "moved", "put-in", "emptied", "overwritten"],
)
def test_whoever_changes_the_log_is_found_out_with_the_line(log: AuditLog, tampered: object, line: int) -> None:
    lines = _three(log)

    log.path.write_bytes(b"".join(each + b"\n" for each in tampered(lines)))  # type: ignore[operator]

    assert log.read().flaws[0].number == line


def test_who_lacks_the_key_cannot_write_a_line_that_is_believed(log: AuditLog) -> None:
    forger = AuditLog(log.path, BlindKeys.derived([b"guessed"]))
    (blind,) = (key.blind("audit conversation", "c9") for key in log.keys.known[:1])
    log.note(AuditEvent("find", "anna"))
    forger.note(AuditEvent("erase", "anna", ["c9"]))
    raw = log.path.read_bytes().splitlines()
    said = json.loads(raw[1])
    forged = raw[1].replace(said["key"].encode(), log.keys.current.id.encode())
    log.path.write_bytes(raw[0] + b"\n" + forged.replace(said["conversations"][0].encode(), blind.encode()) + b"\n")

    trail = log.read()

    assert [line.number for line in trail.flaws] == [2]
    assert returned(trail, [Life("c9", NOW - timedelta(days=1), NOW)]).by_people == ()


def test_many_threads_and_processes_write_one_chain(log: AuditLog, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from bot.adapters.audit_log import AuditLog; "
        "from bot.adapters.blind_keys import BlindKeys; from bot.ports import AuditEvent\n"
        "log = AuditLog(Path(sys.argv[1]), BlindKeys.derived([b'other']))\n"
        "for _ in range(20): log.note(AuditEvent('find', 'other'))"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(log.path)])
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: log.note(AuditEvent("find", f"t{number}")), range(40)))

    assert other.wait(60) == 0
    trail = log.read()
    assert (len(trail.lines), trail.flaws) == (60, [])
    assert sum(line.vouched for line in trail.lines) == 40


def test_a_line_whose_writing_was_interrupted_counts_for_nothing_and_is_written_over(log: AuditLog) -> None:
    _three(log)
    with log.path.open("ab") as file:
        file.write(b'{"at":"2026-11')
    assert [(line.number, "incomplete" in line.flaw) for line in log.read().flaws] == [(4, True)]

    log.note(AuditEvent("find", "anna", counts={"long": 10**60}))
    log.note(AuditEvent("find", "anna"))

    trail = log.read()
    assert (len(trail.lines), trail.flaws) == (5, [])


def test_long_lines_keep_the_chain(log: AuditLog) -> None:
    for many in (1, 9000, 2):
        log.note(AuditEvent("purge", "retention", [f"c{number}" for number in range(many)]))

    assert log.read().flaws == []


def test_what_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    log = AuditLog(tmp_path / "file" / "audit.jsonl", _keys(OLD))

    with pytest.raises(Unreachable, match=r"audit log .* cannot be written .* so nothing was done\.") as caught:
        log.note(AuditEvent("erase", "anna", ["c1"]))

    assert "\n" not in str(caught.value)


def test_after_a_change_of_keys_the_old_lines_can_still_be_read(tmp_path: Path) -> None:
    path, before = tmp_path / "audit.jsonl", Life("c1", NOW - timedelta(days=1), NOW - timedelta(days=1))
    first = AuditLog(path, _keys(OLD), TextCipher.of(OLD), now=lambda: NOW)
    first.note(AuditEvent("erase", "patient", ["c1"]))
    AuditLog(path, _keys(NEW, OLD), TextCipher.of(f"{NEW},{OLD}")).hand_over(AuditEvent("rekey", "anna"))
    latest = new_key()
    AuditLog(path, _keys(latest, NEW), TextCipher.of(f"{latest},{NEW}")).hand_over(AuditEvent("rekey", "anna"))

    trail = AuditLog(path, _keys(latest), TextCipher.of(latest)).read()
    stranger = AuditLog(path, _keys(new_key()), TextCipher.of(new_key())).read()

    assert trail.flaws == stranger.flaws == []
    assert [line.vouched for line in trail.lines] == [True, True, True]
    assert returned(trail, [before]).by_people == ("c1",)
    assert (returned(stranger, [before]).by_people, returned(stranger, [before]).unreadable) == ((), 1)


def test_only_what_began_before_its_erasure_has_come_back(log: AuditLog) -> None:
    """A channel's user has the same id again; and who goes on after the age of deletion was not deleted."""
    log.note(AuditEvent("erase", "patient", ["erased", "again"]))
    log.note(AuditEvent("purge", "retention", ["aged", "revived"]))
    log.note(AuditEvent("find", "anna", ["looked-at"]))
    day = timedelta(days=1)
    lives = [
        Life("erased", NOW - day, NOW + day),
        Life("again", NOW + day, NOW + 2 * day),
        Life("aged", NOW - 40 * day, NOW - 31 * day),
        Life("revived", NOW - 40 * day, NOW + day),
        Life("looked-at", NOW - day, NOW - day),
    ]

    back = returned(log.read(), lives)

    assert (back.by_people, back.by_retention, back.unreadable) == (("erased",), ("aged",), 0)


def test_files_that_were_closed_are_one_chain_with_the_next(log: AuditLog) -> None:
    _three(log)
    with log.path.open("ab") as file:
        file.write(b'{"torn')
    first = log.rotate("anna")
    log.note(AuditEvent("find", "anna"))
    second = log.rotate("anna")

    trail = log.read()

    assert [each.name for each in (first, second) if each] == ["audit.jsonl.0001", "audit.jsonl.0002"]
    assert [line.action for line in trail.lines] == [*["erase"] * 3, "rotate", "find", "rotate"]
    assert ([line.number for line in trail.lines], trail.flaws) == ([1, 2, 3, 4, 5, 6], [])
    assert first is not None
    assert first.stat().st_mode & 0o777 == 0o600
    assert returned(trail, [Life("c1", NOW - timedelta(days=1), NOW)]).by_people == ("c1",)


def test_a_log_without_lines_is_not_rotated(log: AuditLog) -> None:
    assert log.rotate("anna") is None
    assert log.read().lines == ()


def test_a_rotation_that_was_interrupted_does_not_break_the_chain(log: AuditLog) -> None:
    _three(log)
    log.path.rename(log.path.with_name("audit.jsonl.0001"))  # killed before the next file was begun
    assert len(log.read().lines) == 3
    log.require()

    log.note(AuditEvent("find", "anna"))

    assert (len(log.read().lines), log.read().flaws) == (4, [])


@pytest.mark.parametrize("gone", ["audit.jsonl.0001", "audit.jsonl.0002", "line"])
def test_a_file_that_is_taken_away_or_shortened_breaks_the_chain(log: AuditLog, gone: str) -> None:
    for _ in range(2):
        _three(log)
        log.rotate("anna")
    if gone == "line":
        closed = log.path.with_name("audit.jsonl.0002")
        closed.write_bytes(b"".join(closed.read_bytes().splitlines(keepends=True)[:-1]))
    else:
        log.path.with_name(gone).unlink()

    assert len(log.read().flaws) == 1


def test_many_write_while_files_are_closed(log: AuditLog) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: log.rotate("r") if number % 7 == 3 else _three(log), range(28)))

    trail = log.read()
    assert trail.flaws == []
    assert sum(line.action == "erase" for line in trail.lines) == 24 * 3


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs two users")
def test_a_log_of_another_user_names_its_owner_and_what_to_do(log: AuditLog) -> None:
    _three(log)
    os.chown(log.path, 65534, 65534)

    said = str(log._cannot(PermissionError(errno.EACCES, "Permission denied")))  # root itself is never refused

    assert "audit.jsonl belongs to nobody, and this is root" in said
    assert "as the user of the service" in said
    assert f"`chown root {log.path}*`" in said
