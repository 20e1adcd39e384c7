"""A real service for two exams: over the API, on the page, by a link, and after a restart with other exams."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.web.links import invite, seal
from tests.alarm_examples import FEW
from tests.bot.web.browser import Browser
from tests.bot.web.serving import CHANNEL_TOKEN, Server
from tests.two_exams import write_exam

KEY = "a-key-for-links-in-the-tests"
TEACH = "from tests.alarm_examples import teach_few_if_told; teach_few_if_told()"
STAFF_TOKEN = "a-token-for-the-tests-of-staff-and-their-calls"
ENVIRON = {
    FEW: "1",
    "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN,
    "KLARTEXT_STAFF_CALLS": "on",
    "KLARTEXT_LINK_KEY": KEY,
    "KLARTEXT_CHANNEL_TOKEN": CHANNEL_TOKEN,
}
DE = INTERFACE_TEXTS["de"]
ASKED = ["Mammographie", "MRT", DE["exam_unknown"]]
CONVERSATIONS = "/api/v1/conversations"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exams")


@pytest.fixture(scope="module")
def options(folder: Path) -> list[str]:
    """Name both exams, as `serve` takes them."""
    return [part for name in ("mammo", "mri") for part in ("--catalog", str(write_exam(folder, name)))]


@pytest.fixture(scope="module")
def server(folder: Path, options: list[str]) -> Iterator[Server]:
    running = Server(folder, folder / "data", ENVIRON, faults=TEACH)
    running.start(*options)
    yield running
    running.kill()


@pytest.fixture
def browser(server: Server) -> Iterator[Browser]:
    found = Browser(server.url)
    yield found
    found.client.close()


class Patient:
    """Somebody who writes over the API."""

    def __init__(self, server: Server, **body: Any) -> None:
        self.server, self.turns = server, 0
        answer = httpx.post(server.url + CONVERSATIONS, json={"consent": True, "language": "de", **body})
        assert answer.status_code == 201, answer.text
        self.begun = answer.json()

    def say(self, **body: Any) -> dict[str, Any]:
        self.turns += 1
        answer = httpx.post(
            f"{self.server.url}{CONVERSATIONS}/{self.begun['id']}/turns",
            json={"turn_id": f"t{self.turns}", **body},
            headers={"Authorization": f"Bearer {self.begun['token']}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def texts(reply: dict[str, Any]) -> list[str]:
    return [part["text"] for part in reply["parts"]]


def choices(reply: dict[str, Any]) -> list[str]:
    return [choice["text"] for choice in reply["choices"]]


def test_the_api_lists_the_exams_and_begins_with_one(server: Server) -> None:
    listed = httpx.get(server.url + "/api/v1/exams").json()
    assert listed == [
        {"name": "mammo", "titles": {"de": "Mammographie", "en": "Mammogram"}},
        {"name": "mri", "titles": {"de": "MRT", "en": "MRI"}},
    ]

    patient = Patient(server, exam="mri")
    assert patient.begun["exam"] == "mri"
    assert "MRT: Was kostet die Untersuchung?" in texts(patient.say(text="Was kostet die Untersuchung?")["reply"])
    refused = httpx.post(server.url + CONVERSATIONS, json={"consent": True, "exam": "ct"})
    assert refused.status_code == 422
    assert "There is no exam 'ct' here. Served are: mammo, mri." in refused.text


def test_over_the_api_the_exam_is_asked_for_and_emergencies_are_heard_first(server: Server) -> None:
    patient = Patient(server)

    assert "exam" not in patient.begun
    assert choices(patient.begun["welcome"]) == ASKED
    alarm = patient.say(text="Ich kriege keine Luft")
    assert alarm["decision"] == "urgent"
    assert [part["kind"] for part in alarm["reply"]["parts"]].count("content") == 0
    assert choices(patient.say(choice=1)["reply"]) == ASKED
    asked = patient.say(text="Was kostet die Untersuchung?")
    assert texts(asked["reply"]) == [DE["exam_noted"], DE["exam_question"]]
    answered = patient.say(text="die Röhre")
    assert answered["decision"] == "answered"
    assert texts(answered["reply"])[0] == "Gut, es geht um: MRT."
    assert "MRT: Was kostet die Untersuchung?" in texts(answered["reply"])


def test_channels_without_memory_ask_too(server: Server) -> None:
    def say(text: str) -> list[dict[str, Any]]:
        answer = httpx.post(
            server.url + "/webhooks/rest/webhook",
            json={"sender": "somebody", "message": text},
            headers={"Authorization": f"Bearer {CHANNEL_TOKEN}"},
        )
        found: list[dict[str, Any]] = answer.json()
        return found

    assert [button["title"] for button in say("Was kostet die Untersuchung?")[-1]["buttons"]] == ASKED
    assert any("Mammographie: Was kostet" in bubble["text"] for bubble in say("Mammographie"))


def test_the_page_offers_the_exams_as_buttons(browser: Browser) -> None:
    browser.open("/")
    assert {"Mammographie", "MRT", "Das weiß ich nicht"} <= set(browser.labels)
    browser.press("MRT", consent="yes")
    assert "MRT: Was kostet die Untersuchung?" in browser.say("Was kostet die Untersuchung?").text


def test_on_the_page_who_does_not_know_is_asked_in_the_chat(browser: Browser) -> None:
    browser.open("/")

    browser.press("Das weiß ich nicht", consent="yes")
    assert DE["exam_question"] in browser.text
    browser.say("Was kostet die Untersuchung?")
    assert "Mammographie: Was kostet" in browser.press("Mammographie").text


def test_a_link_says_which_exam_it_is(browser: Browser) -> None:
    until = datetime.now(UTC) + timedelta(days=1)

    browser.open("/start/" + seal(invite("P-1", exam="mri", language="de", expires=until), KEY))
    assert "MRT" not in browser.labels
    browser.press("Gespräch beginnen", consent="yes")
    assert "MRT: Was kostet die Untersuchung?" in browser.say("Was kostet die Untersuchung?").text
    browser.open("/start/" + seal(invite("P-1", exam="ct", language="de", expires=until), KEY))
    assert browser.answer.status_code == 404


def test_on_the_page_who_is_in_the_wrong_exam_presses_the_other_or_begins_anew(
    server: Server, browser: Browser
) -> None:
    browser.open("/")
    browser.press("MRT", consent="yes")
    browser.say("Was kostet die Untersuchung?")
    browser.say("Ich habe doch eine Mammographie, keine MRT")
    assert "Gut, es geht um: Mammographie." in browser.press("Mammographie").text
    assert "Mammographie: Was kostet" in browser.say("Was kostet die Untersuchung?").text
    # What was said before is still shown as the other exam's.
    assert "MRT: Was kostet" in browser.open("/chat").text
    assert "Neues Gespräch beginnen" not in browser.text
    # Where the form has begun, its answers are that exam's.
    patient = Patient(server, exam="mri")
    patient.say(text="/interview")
    told = texts(patient.say(text="falsche Untersuchung")["reply"])
    assert told[0].startswith("In diesem Gespräch geht es um: MRT. Das bleibt so")
    assert patient.say(text="MRT, keine Mammographie")["decision"] == "talk"

    until = datetime.now(UTC) + timedelta(days=1)
    browser.open("/start/" + seal(invite("P-2", exam="mri", language="de", expires=until), KEY))
    browser.press("Gespräch beginnen", consent="yes")
    assert "Ihre Einladung zu diesem Gespräch gilt für: MRT." in browser.say("falsche Untersuchung").text
    assert "/" in [link.get("href") for link in browser.page.all("a") if link.text == "Neues Gespräch beginnen"]


def test_easier_after_another_exams_answer_is_about_that_answer(server: Server, browser: Browser) -> None:
    patient = Patient(server, exam="mammo")
    patient.say(text="was kostet die röhre?")
    assert texts(patient.say(choice=1)["reply"])[0] == "Die Antwort aus „MRT“:"
    parts = patient.say(text="einfacher")["reply"]["parts"]
    assert parts[0]["text"] == "Die Antwort aus „MRT“:"
    assert [(part["exam"], part["field"]) for part in parts if part["kind"] == "content"] == [("mri", "easy_answer")]

    browser.open("/")
    browser.press("Mammographie", consent="yes")
    browser.say("was kostet die röhre?")
    browser.press("Antwort aus „MRT“ zeigen")
    shown = browser.say("/easy").text
    assert shown.count("Die Antwort aus „MRT“:") == 2
    assert "Mammographie: Was kostet" not in shown


def test_after_a_restart_with_other_exams_nobody_goes_on_in_another(
    server: Server, browser: Browser, options: list[str]
) -> None:
    patient = Patient(server, exam="mri")
    patient.say(text="Was kostet die Untersuchung?")
    browser.open("/")
    browser.press("MRT", consent="yes")
    asked = Patient(server)
    asked.say(text="Was kostet die Untersuchung?")

    server.stop()
    server.start(*options[:2])

    gone = patient.say(text="Was kostet die Untersuchung?")
    assert texts(gone["reply"])[0] == DE["exam_gone"]
    assert patient.say(text="Ich kriege keine Luft")["decision"] == "urgent"
    assert DE["exam_gone"] in browser.open("/chat").text
    assert "/" in [link.get("href") for link in browser.page.all("a") if link.text == "Neues Gespräch beginnen"]
    # Asked of two, nobody is taken for a patient of the one that is left.
    told = asked.say(text="MRT")["reply"]
    assert "Hier beantworte ich inzwischen nur noch Fragen zu: Mammographie." in str(told)
    assert choices(told) == ["Mammographie", DE["exam_unknown"]]
    assert "Mammographie: Was kostet" in str(asked.say(choice=1))
    server.stop()
    server.start(*options)
    patient.say(choice=1)  # the way out of the alarm is still there
    assert "MRT: Was kostet" in str(patient.say(text="Was kostet die Untersuchung?"))
    with closing(sqlite3.connect(server.database())) as database:
        kept = dict(database.execute("SELECT id, exam FROM conversations"))
    assert (kept[patient.begun["id"]], kept[asked.begun["id"]]) == ("mri", "mammo")


def test_exams_that_cannot_be_served_together_are_refused(klartext: Any, options: list[str], tmp_path: Path) -> None:
    done = klartext("serve", "--sample", *options[:2], *options[:2])
    assert done.returncode == 2
    assert "twice" in done.stderr.decode()
    done = klartext("serve", "--sample", *options, "--questionnaire", str(tmp_path / "form.json"))
    assert (done.returncode, b"each asks its own" in done.stderr) == (2, True)
    done = klartext("serve", "--sample", environ={"KLARTEXT_CATALOG": "mammography,nothing"})
    assert (done.returncode, b"No catalog at 'nothing'" in done.stderr) == (2, True)


def test_what_was_said_is_found_and_counted_by_exam(server: Server, klartext: Any) -> None:
    patients = {name: Patient(server, exam=name) for name in ("mammo", "mri")}
    for patient in patients.values():
        patient.say(text="Blumenkohl und Fahrrad")
    Patient(server).say(text="Blumenkohl und Fahrrad")
    environ = {"KLARTEXT_DATABASE_URL": f"sqlite:///{server.database()}"}

    def run(*arguments: str) -> list[str]:
        done = klartext(*arguments, environ=environ)
        assert done.returncode == 0, done.stderr
        lines: list[str] = done.stdout.decode().splitlines()
        return lines

    found = json.loads("\n".join(run("records", "find", "--exam", "mri", "--json")))
    assert patients["mri"].begun["id"] in [each["id"] for each in found]
    assert {each["exam"] for each in found} == {"mri"}
    nothing = klartext("records", "find", "--exam", "ct", environ=environ)
    assert b"No conversation is about an exam of the name 'ct'. What was sought is about mammo, mri." in nothing.stderr
    patients["mri"].say(text="/staff")
    called = httpx.get(f"{server.url}/staff/inbox?exam=mri", headers={"Authorization": f"Bearer {STAFF_TOKEN}"}).json()
    assert {each["exam"] for each in called["calls"]} == {"mri"}
    open_ = [json.loads(line)["question"] for line in run("qa", "inbox", "--exam", "mri", "--json")]
    assert "Blumenkohl und Fahrrad" in open_
    assert len(open_) < len(run("qa", "inbox", "--json"))
    counted = httpx.get(server.url + "/metrics").text
    assert 'exam="mri"} ' in counted
    assert 'exam="none"' in counted
