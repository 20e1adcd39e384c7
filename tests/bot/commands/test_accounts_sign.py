"""`klartext qa approve --login` and `klartext staff trail --verify`: what is proven, and what is found out."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pyotp
import pytest

from bot.editorial.people import Person
from bot.settings import Settings
from bot.web.staff.wiring import make_acts, make_people
from tests.bot.release.departments import Department
from tests.bot.web.staff.consoles import FIRST, now
from tests.conftest import Run

PASSWORDS = {"anna": "Sonne Wiese Ordner Kamm", "bert": "Lampe Ziegel Wolke Farn"}


class Office(Department):
    """Where people type passwords, each on a line."""

    def typed(self, *arguments: str, typed: str = "", code: int = 0) -> str:
        """Run a command with lines on its standard input; return all that it printed."""
        ran = self._klartext(*arguments, stdin=typed.encode(), environ=self.environ)
        said: str = (ran.stdout + ran.stderr).decode()
        assert ran.returncode == code, said
        return said


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Office:
    """One with two approvers who have logged in before, and an auditor who has not."""
    made = Office(tmp_path, klartext)
    made.run("records", "migrate")
    people = make_people(Settings.from_environment(made.environ), now)
    for login, password in PASSWORDS.items():
        person = people.add(Person(0, login, login.title(), frozenset({"approver"})), FIRST, by="x")
        people.change(person, by=person.name, password=password)
    people.add(Person(0, "cem", "Cem", frozenset({"auditor"})), FIRST, by="x")
    people.add(Person(0, "dora", "Dora", frozenset({"approver"})), FIRST, by="x")
    return made


def approve(department: Office, login: str, *, typed: str = "", code: int = 0) -> str:
    typed = typed or f"{PASSWORDS[login]}\n"
    until = ["--until", "2099-12-31"]
    arguments = ["qa", "approve", str(department.exam), "--login", login, *until]
    return department.typed(*arguments, typed=typed, code=code)


def test_where_staff_have_accounts_a_typed_name_is_no_signature(department: Office) -> None:
    exam = str(department.exam)

    said = department.typed("qa", "approve", exam, "--by", "Anna", "--until", "2099-12-31", code=2)
    assert "a name that is typed is no signature" in said
    assert "login, password or one-time code is wrong" in approve(department, "anna", typed="guessed\n", code=2)
    assert "cem may not approve" in approve(department, "cem", typed=f"{FIRST}\n", code=2)
    assert "choose your own" in approve(department, "dora", typed=f"{FIRST}\n", code=2)
    assert not (department.exam / "approvals.yaml").exists()


def test_an_approver_signs_with_password_and_one_time_code(department: Office) -> None:
    people = make_people(Settings.from_environment(department.environ), now)
    anna, secret = people.by_login("anna"), people.new_code()
    assert anna is not None
    people.confirm_code(anna, secret, pyotp.TOTP(secret).at(now().timestamp() - 30), now=now())

    assert "is wrong" in approve(department, "anna", typed=f"{PASSWORDS['anna']}\n000000\n", code=2)
    said = approve(department, "anna", typed=f"{PASSWORDS['anna']}\n{pyotp.TOTP(secret).now()}\n")

    assert "Anna signed" in said
    assert PASSWORDS["anna"] not in said
    assert [act.by for act in make_acts(Settings.from_environment(department.environ)).read(what="pair pain de")] == [
        "Anna"
    ]


@pytest.mark.proof
def test_a_file_that_was_edited_is_refused_by_the_name_of_its_line(department: Office) -> None:
    department.environ["KLARTEXT_APPROVALS"] = "accounts"
    for login in PASSWORDS:
        approve(department, login)
    path = department.exam / "approvals.yaml"
    whole = path.read_text()

    for old, new, name in (
        ("name: Anna", "name: Dr. Else", "Dr. Else"),
        ("until: 2100-", "until: 2101-", "Anna"),
        ("after_reset: true\n", "after_reset: false\n", "Anna"),
    ):
        path.write_text(whole.replace(old, new))
        said = department.typed("release", "make", str(department.exam), code=2)
        line = int(said.split("approvals.yaml:")[1].split(":")[0])
        assert f"the signature of {name} under " in said
        assert path.read_text().splitlines()[line - 1].strip().endswith(f"name: {name}"), line
    path.write_text("\n".join(each for each in whole.splitlines() if "proof:" not in each) + "\n")
    assert "nobody approved it" in department.typed("release", "make", str(department.exam), code=2)

    path.write_text(whole.replace("name: Anna", "name: Dr. Else"))
    shown = department.typed("qa", "approve", str(department.exam))
    assert " one signature" in shown
    assert "approved" not in shown
    assert "Else" not in shown

    path.write_text(whole)
    assert "approved" in department.typed("qa", "approve", str(department.exam))
    made = department.typed("release", "make", str(department.exam))
    assert "not verified" not in made
    reset = [line.strip() for line in made.splitlines() if "within 24 h after somebody else set" in line]
    assert [line.split()[0] for line in reset] == ["Anna", "Bert"]  # one line each, however many texts
    counted = re.search(r"signed (\d+) texts within .* and (\d+) more\. Ask this person in person\.", reset[0])
    assert counted is not None
    assert int(counted[1]) - int(counted[2]) == 3
    done = [line for line in made.splitlines() if not line.startswith("klartext: ")]  # without remarks
    assert done[-1].startswith("Put it into force with ")
    assert json.loads(department.typed("release", "list", "--json").splitlines()[0])["names"] == "verified"


@pytest.mark.proof
def test_typed_names_are_told_loudly_and_may_be_forbidden(tmp_path: Path, klartext: Run) -> None:
    department = Office(tmp_path, klartext)
    department.release()
    said = department.typed("release", "make", str(department.exam))
    assert "names not verified: " in said
    assert "names not verified" in department.typed("release", "list")

    department.environ["KLARTEXT_APPROVALS"] = "accounts"
    refused = department.typed("qa", "approve", str(department.exam), "--by", "Anna", "--until", "2099-12-31", code=2)
    assert "KLARTEXT_APPROVALS is `accounts`" in refused
    assert "names that were only typed" in department.typed("release", "activate", "1", code=2)
    assert "nobody approved it" in department.typed("release", "make", str(department.exam), code=2)


def test_a_trail_that_lost_its_end_is_found_out_until_a_restore_says_why(department: Office) -> None:
    assert ", all as they were written" in department.typed("staff", "trail", "--verify")
    file = department.environ["KLARTEXT_DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(file) as database:  # as whoever may write it
        for (name,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'staff_acts'"
        ).fetchall():
            database.execute(f"DROP TRIGGER {name}")
        number = database.execute("SELECT max(number) FROM staff_acts").fetchone()[0]
        database.execute("DELETE FROM staff_acts WHERE number = ?", (number,))
        last = database.execute("SELECT hash FROM staff_acts WHERE number = ?", (number - 1,)).fetchone()[0]
        database.execute("UPDATE staff_acts_head SET number = ?, hash = ?", (number - 1, last))
    database.close()

    said = department.typed("staff", "trail", "--verify", code=2)
    assert f"Act {number} is not what the audit log saw at {datetime.now():%Y-}" in said
    department.typed("records", "after-restore", "--force")

    assert f"{number - 1} acts, all as they were written" in department.typed("staff", "trail", "--verify")


def test_who_is_renamed_and_signs_again_is_still_one_person(department: Office) -> None:
    department.environ["KLARTEXT_APPROVALS"] = "accounts"
    approve(department, "anna")
    people = make_people(Settings.from_environment(department.environ), now)
    anna = people.by_login("anna")
    assert anna is not None
    people.change(replace(anna, name="Anna Maria"), by="Chief")

    said = approve(department, "anna")

    assert "(signed by Anna Maria)" in said
    assert " one signature" in said
    assert "approved" not in said
    assert "only one person approved it" in department.typed("release", "make", str(department.exam), code=2)
