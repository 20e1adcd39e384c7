"""`klartext stop`: what ends a stop and what does not, and a stop that meets a log or database that takes nothing."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.release.publishing import Standstill
from bot.release.stops import Withdrawn
from tests.bot.release.departments import Department
from tests.bot.release.exams import change_pairs
from tests.bot.web.serving import always_open
from tests.conftest import Run

# Root may write everything: without capabilities it may not.
WITHOUT_RIGHTS = (
    "import ctypes; ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())"
)
KILLED_BEFORE_THE_LOG = (
    "import os, signal; from bot.adapters.audit_log import AuditLog; "
    "AuditLog.note = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
)
STOP = ("stop", "pair", "pain", "--by", "Anna", "--why", "wrong number", "--force")


class Ward(Department):
    """A department with a release in force, and what its database and its audit log know."""

    def __init__(self, folder: Path, klartext: Run) -> None:
        super().__init__(folder, klartext)
        self.database = folder / "klartext.db"
        self.log = self.server.audit_log()
        self.environ["KLARTEXT_AUDIT_LOG"] = str(self.log)
        self.release()
        self.run("release", "activate", "1")

    def stops(self) -> list[str]:
        with closing(sqlite3.connect(self.database)) as connection:
            return [f"{kind} {pair}" for kind, pair in connection.execute("SELECT kind, pair_id FROM stops")]

    def noted(self) -> list[str]:
        return [json.loads(line)["action"] for line in self.log.read_text(encoding="utf-8").splitlines()]

    def ends(self, *arguments: str, before: str) -> Any:
        return self._klartext(*arguments, environ=self.environ, before=before)


@pytest.fixture
def ward(tmp_path: Path, klartext: Run) -> Ward:
    return Ward(tmp_path, klartext)


@contextmanager
def _read_only(path: Path) -> Iterator[None]:
    path.chmod(0o400)
    yield
    path.chmod(0o600)


def _wait_for_next_second() -> None:
    """Wait: signatures are kept to the second, and one of the second of a stop counts as given before it."""
    time.sleep(1 - time.time() % 1)


def _sign_anew(ward: Ward) -> str:
    for name in ("Dr. Cora Wald", "Dr. Dirk See"):
        ward.run("qa", "approve", ward.exam, "--by", name, "--until", "2099-12-31")
    return ward.run("release", "make", ward.exam).stdout


@pytest.mark.proof
def test_the_same_text_signed_by_everybody_again_stays_stopped_and_that_is_said(ward: Ward) -> None:
    ward.run(*STOP)

    made = _sign_anew(ward)
    put = ward.run("release", "activate", "2").stdout

    for said in (made, put):
        assert "STILL STOPPED: pain (de), withdrawn 20" in said
        assert "`klartext stop lift pain --why TEXT`" in said
    assert json.loads(ward.log.read_text().splitlines()[-1])["counts"] == {"release": 2, "still_stopped": 1}
    refused = ward.run("release", "fhir", "2", "--out", ward.exam.parent / "x.json", fails=True).stderr
    assert "holds pain, which was withdrawn" in refused

    assert "`--why` is empty" in ward.run("stop", "lift", "pain", "--why", " ", "--force", fails=True).stderr
    assert (
        "'costs' is not withdrawn (pain)"
        in ward.run("stop", "lift", "costs", "--why", "x", "--force", fails=True).stderr
    )
    lifted = ward.run("stop", "lift", "pain", "--why", "It was right", "--by", "Bert", "--force").stdout
    assert "is lifted" in lifted
    assert "withdrawn: nothing." in ward.run("stop", "list").stdout
    assert ward.noted()[-1] == "stop-lift pain"
    ward.run("release", "fhir", "2", "--out", ward.exam.parent / "x.json")


def test_a_stop_takes_an_id_as_it_is_typed_says_what_open_pages_show_and_names_the_nearest(ward: Ward) -> None:
    refused = ward.run("stop", "pair", "paine", "--by", "Anna", "--force", fails=True).stderr
    assert "No release shows a pair 'paine'. The nearest: pain, duration. See `klartext qa list`." in refused
    assert ward.stops() == []

    said = ward.run("stop", "pair", "PAIN", "--by", "Anna", "--force").stdout
    assert said.startswith("pain is withdrawn. ")
    assert "A page that stands open takes it back when its patient opens a part of an answer" in said
    assert ward.stops() == ["withdraw pain"]
    assert ward.run("stop", "lift", "Pain", "--why", "x", "--force").stdout.startswith("The stop of pain is lifted.")


@pytest.mark.proof
def test_times_of_stops_are_those_of_the_place_everywhere(ward: Ward, tmp_path: Path) -> None:
    ward.environ |= always_open(tmp_path)  # in Berlin, and the machine may be elsewhere
    ward.run(*STOP)

    listed = ward.run("stop", "list").stdout.splitlines()[0]
    made = _sign_anew(ward)
    put = ward.run("release", "activate", "2").stdout

    at = " ".join(listed.split()[:3])
    assert at.split()[2] in ("CET", "CEST")
    for said in (made, put):
        assert f"STILL STOPPED: pain (de), withdrawn {at} by Anna: " in said
        assert "UTC" not in said
    assert made.splitlines()[-1] == "Put it into force with `klartext release activate 2`."


def test_a_pair_that_stays_stopped_is_told_once_with_its_languages() -> None:
    stop = Withdrawn(datetime(2026, 11, 26, 9, 0, tzinfo=UTC), "Anna", 1, frozenset())
    held = tuple((pair, language, stop) for language in ("de", "en") for pair in ("pain", "costs"))

    told = list(Standstill(held, held[:1]).lines(UTC))

    assert [each.split(",")[0] for each in told] == [
        "STILL STOPPED: pain (de",
        "STILL STOPPED: costs (de",
        "THE STOP ENDS: pain (de)",
    ]
    assert "pain (de, en), withdrawn 2026-11-26 09:00 UTC by Anna" in told[0]


def test_a_new_text_that_two_sign_ends_the_stop_loudly_and_going_back_keeps_it(ward: Ward) -> None:
    ward.run(*STOP)
    _wait_for_next_second()
    change_pairs(ward.exam, "de", only="pain", answer="Vier Stunden.")

    made = _sign_anew(ward)
    put = ward.run("release", "activate", "2").stdout
    back = ward.run("release", "rollback").stdout

    for said in (made, put):
        assert "THE STOP ENDS: pain (de), withdrawn 20" in said
        assert "STILL STOPPED" not in said
    assert ward.noted()[-4:] == ["release-make", "release-activate", "stop-ended pain", "release-rollback"]
    assert "STILL STOPPED: pain (de)" in back
    assert "pain (up to release 1, and the same text in later ones)" in ward.run("stop", "list").stdout


@pytest.mark.proof
def test_a_log_that_cannot_be_written_is_in_the_way_of_no_stop(ward: Ward) -> None:
    with _read_only(ward.log):
        stopped = ward.ends(*STOP, before=WITHOUT_RIGHTS)
        lifted = ward.ends("stop", "lift", "pain", "--why", "x", "--force", before=WITHOUT_RIGHTS)

    assert stopped.returncode == 1
    assert b"pain is withdrawn." in stopped.stdout
    last = stopped.stderr.decode().splitlines()[-1]
    assert last.startswith("klartext: The stop is in force: pain is withdrawn. The audit log lacks it: it cannot be")
    assert "Then run `klartext stop note`" in last
    assert "nothing was done" not in last
    assert lifted.returncode == 2  # what comes back to patients is noted first
    assert ward.stops() == ["withdraw pain"]
    assert "stop-pair pain" not in ward.noted()
    assert "lacks the stop of pain: run `klartext stop note`" in ward.run("stop", "list").stderr

    assert "noted: stop-pair pain" in ward.run("stop", "note").stdout
    assert ward.noted()[-1] == "stop-pair pain"
    assert ward.run("stop", "note").stdout == "The audit log lacks no stop.\n"
    assert "lacks" not in ward.run("stop", "list").stderr


def test_a_chat_is_closed_though_there_is_no_place_for_the_log(ward: Ward) -> None:
    (ward.exam.parent / "file").write_text("", encoding="utf-8")
    ward.environ["KLARTEXT_AUDIT_LOG"] = str(ward.exam.parent / "file" / "audit.jsonl")

    told = ward.stopped("stop", "chat", "--by", "Anna", "--force", code=1)

    assert "The chat is closed." in told.stdout
    assert "The stop is in force: the chat is closed. The audit log lacks it" in told.stderr
    assert ward.stops() == ["close "]


@pytest.mark.proof
def test_a_stop_that_a_locked_database_does_not_take_stands_nowhere(ward: Ward) -> None:
    with closing(sqlite3.connect(ward.database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused = ward.run(*STOP, fails=True).stderr
        other.execute("ROLLBACK")

    assert "NOTHING IS STOPPED" in refused
    assert "Run the same command again" in refused
    assert "stop-pair pain" not in ward.noted()
    assert ward.stops() == []


def test_a_stop_that_is_killed_before_it_is_noted_is_in_force_and_its_line_is_made_good(ward: Ward) -> None:
    assert ward.ends(*STOP, before=KILLED_BEFORE_THE_LOG).returncode == -9

    assert ward.stops() == ["withdraw pain"]
    assert "lacks the stop of pain" in ward.run("stop", "list").stderr
    ward.run("stop", "note")
    assert ward.noted()[-1] == "stop-pair pain"


def _lose_the_stops(ward: Ward) -> None:
    with closing(sqlite3.connect(ward.database)) as connection:
        connection.execute("DELETE FROM stops")
        connection.commit()


def test_a_service_starts_with_the_stops_that_only_the_log_knows_and_says_what_to_run(ward: Ward) -> None:
    ward.run(*STOP)
    _lose_the_stops(ward)
    server = ward.server

    server.start(sample=False, until=lambda: "in force again" in server.stderr() + server.stdout())
    server.kill()

    said = server.stderr() + server.stdout()
    assert "Run `klartext records after-restore`" in said
    assert ward.stops() == ["withdraw pain"]
    with closing(sqlite3.connect(ward.database)) as connection:
        ((texts,),) = connection.execute("SELECT texts FROM stops")
    assert texts  # so that the same text stays stopped in later releases
    assert ward.noted()[-1] == "stop-again"
    assert "lacks" not in ward.run("stop", "list").stderr
