"""A running service and its releases: made, put into force, taken back and stopped by commands beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot.sentences.reply import SENTENCES
from tests.bot.release.departments import Department
from tests.bot.release.exams import change_pairs
from tests.bot.web.serving import Patient
from tests.conftest import Run

DE = SENTENCES["de"]
PAIN = "Tut die Untersuchung weh?"
OLD, NEW = f"{PAIN} (pain, de)", "Es dauert vier Stunden."


@pytest.fixture
def department(tmp_path: Path, klartext: Run) -> Iterator[Department]:
    found = Department(tmp_path, klartext)
    yield found
    found.server.kill()


def _heard(patient: Patient) -> list[str]:
    return patient.say(PAIN)


@pytest.mark.proof  # its alarm is taught with all examples: two minutes
def test_a_department_makes_serves_takes_back_and_stops(department: Department) -> None:
    assert "No release is in force" in department.run("serve", "--port", "0", fails=True).stderr
    assert "nobody approved it" in department.run("release", "make", str(department.exam), fails=True).stderr
    made = department.release()
    assert "Release 1@" in made
    assert "klartext release activate 1" in made
    assert "is in force" in department.run("release", "activate", "1").stdout

    server = department.server
    server.start(sample=False)
    running = Patient(server)
    assert OLD in _heard(running)
    name = made.split()[1].rstrip(":")
    assert httpx.get(server.url + "/healthz").json()["release"] == name
    assert running.request("GET").json()["turns"][0]["release"] == name

    department.release(answer=NEW)
    assert f"+ {NEW}" in department.run("release", "diff", "2").stdout
    assert "Release 2@" in department.run("release", "activate", "2").stdout
    assert OLD in _heard(running)
    assert NEW in _heard(Patient(server))
    change_pairs(department.exam, "de", only="pain", answer="Halb geschrieben")
    server.kill()
    server.start(sample=False)
    assert OLD in _heard(running)
    assert NEW in _heard(Patient(server))

    assert "Release 1@" in department.run("release", "rollback").stdout
    assert OLD in _heard(Patient(server))
    listed = department.run("release", "list").stdout
    assert ["in force" in line and "was" not in line for line in listed.splitlines()] == [True, False]

    department.run("stop", "pair", "pain", "--by", "Anna", "--why", "wrong number")
    server.wait_for(lambda: _heard(Patient(server)) == [DE["withheld"]])
    assert "names 1 person" in department.run("stop", "end", "--by", "Anna", "--by", " anna", fails=True).stderr
    department.run("stop", "chat", "--by", "Anna")
    server.wait_for(lambda: Patient(server).say("Was kostet das?") == [DE["chat_closed"]])
    server.wait_for(lambda: "klartext_chat_closed 1.0" in httpx.get(server.url + "/metrics").text)
    assert Patient(server).send(text="Ich bekomme keine Luft mehr").json()["decision"] == "urgent"
    department.run("stop", "end", "--by", "Anna", "--by", "Bert")
    server.wait_for(lambda: Patient(server).say("Was kostet das?") != [DE["chat_closed"]])
    said = department.run("stop", "list").stdout
    assert "wrong number" in said
    assert (
        said.splitlines()[-1]
        == "Now: the chat is open; withdrawn: pain (up to release 2, and the same text in later ones)."
    )
