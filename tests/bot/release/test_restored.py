"""Stops and releases that a restored backup has lost, by what the audit log tells of them."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.release.release import Switch
from bot.release.restored import GIVEN_UP, Noted, taken_back
from bot.release.stops import Stop
from tests.bot.release.departments import Department
from tests.bot.release.exams import NOW
from tests.conftest import Run


def _at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def _noted(minutes: int, action: str, release: int = 0) -> Noted:
    return Noted(_at(minutes), "Anna", action, release)


def test_a_pair_that_was_withdrawn_after_the_backup_is_withdrawn_again_with_its_moment() -> None:
    lost = taken_back([_noted(0, "stop-pair pain"), _noted(9, "stop-pair costs")], [_withdrawn("pain", 0)], [])

    (again,) = lost.stops
    assert (again.pair_id, again.at, again.by) == ("costs", _at(9), "Anna")
    assert not taken_back([_noted(9, "stop-pair costs")], [again], [])


def test_what_the_log_tells_of_a_stop_comes_back_with_its_texts_unless_it_was_lifted_since() -> None:
    done = Noted(_at(3), "Anna", "stop-pair pain", texts=("a" * 64,), done_first=True)

    (again,) = taken_back([done], [], []).stops
    assert (again.at, again.texts) == (_at(3), ("a" * 64,))
    assert not taken_back([done, _noted(5, "stop-lift pain")], [], [])
    assert taken_back([_noted(1, "stop-lift pain"), done], [], []).stops == (again,)


def test_stops_that_the_log_lacks_are_found_by_their_moment() -> None:
    acts = [_withdrawn("pain", 1), Stop(_at(2), "Anna", "close")]
    noted = [
        Noted(_at(1), "Anna", "stop-pair pain", done_first=True),
        _noted(2, "stop-chat"),  # of an older version, which noted first
    ]

    assert taken_back(noted, acts, []).unnoted == ()
    assert taken_back(noted[:1], acts, []).unnoted == (acts[1],)
    assert taken_back(noted, [*acts, _withdrawn("pain", 3)], []).unnoted == (_withdrawn("pain", 3),)


def _withdrawn(pair_id: str, minutes: int) -> Stop:
    return Stop(_at(minutes), "Anna", "withdraw", pair_id)


@pytest.mark.parametrize(
    ("noted", "in_database", "again", "opened"),
    [
        (["stop-chat"], [], True, False),
        (["stop-chat", "stop-end"], [], False, False),
        (["stop-chat", "stop-end"], ["close"], False, True),
        (["stop-chat", "stop-end", "stop-chat"], ["close", "open"], True, False),
        (["stop-chat", "stop-end", "stop-chat"], ["close"], False, False),
        (["stop-chat"], ["close"], False, False),
    ],
)
def test_the_chat_is_closed_again_and_never_opened(
    noted: list[str], in_database: list[str], again: bool, opened: bool
) -> None:
    acts = [Stop(_at(at), "Anna", kind) for at, kind in enumerate(in_database)]  # type: ignore[arg-type]

    lost = taken_back([_noted(at, action) for at, action in enumerate(noted)], acts, [])

    assert [stop.kind for stop in lost.stops] == ["close"] * again
    assert (lost.opened is not None) == opened


def test_a_release_is_named_that_was_in_force_and_is_not() -> None:
    noted = [_noted(0, "release-activate", 1), _noted(5, "release-activate", 2)]
    first = Switch(_at(0), "Anna", "activate", 1)

    assert taken_back(noted, [], [first]).in_force == noted[1]
    assert taken_back(noted, [], [first, Switch(_at(5), "Anna", "activate", 2)]).in_force is None
    assert taken_back(noted, [], [first, Switch(_at(6), "Anna", "rollback", 1)]).in_force is None
    assert taken_back([*noted, _noted(6, GIVEN_UP, 2)], [], [first]).in_force is None


@pytest.mark.proof
def test_what_a_restored_backup_lost_is_done_again_by_one_command(tmp_path: Path, klartext: Run) -> None:
    department = Department(tmp_path, klartext)
    department.release()
    department.run("release", "activate", "1")
    database, backup = tmp_path / "klartext.db", tmp_path / "backup.db"
    shutil.copy(database, backup)
    department.release(answer="Vier Stunden.")
    department.run("release", "activate", "2")
    department.run("stop", "pair", "pain", "--by", "Bert", "--why", "the number is wrong", "--force")
    for left in tmp_path.glob("klartext.db*"):
        left.unlink()
    shutil.copy(backup, database)

    told = department.stopped("records", "after-restore", "--force", code=1).stdout

    assert "done again: pain is withdrawn, as on 20" in told
    assert "by Bert" in told
    assert "Release 2 was put into force on 20" in told
    assert "it is not in this database any more" in told
    listed = department.run("stop", "list")
    assert "withdrawn: pain (up to release 1, and the same text in later ones)" in listed.stdout
    assert "the number is wrong (done again: the database had lost it)" in listed.stdout
    assert f"on sqlite:///{database}: no service" in listed.stderr
    assert "why: the number is wrong" in department.run("records", "audit").stdout
    again = department.stopped("records", "after-restore", "--force", code=1).stdout
    assert "pain" not in again
