"""The live desk on a running service: a patient waits, staff take over in the console, answer, and hand back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from bot.editorial.people import Person
from bot.outbox_ports import pseudonym
from bot.sentences.reply import SENTENCES
from bot.settings import Settings
from bot.web.middleware import CONSOLE
from bot.web.staff.wiring import make_acts, make_people
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Patient, Server, always_open
from tests.bot.web.staff.consoles import PASSWORD, add_known, now

DE = SENTENCES["de"]
HOSTILE = "<script>alert(1)</script> & {name}"
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def service(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service with the console, and without a token for the staff API."""
    assert shipped.sample
    folder = tmp_path_factory.mktemp("desk")
    running = Server(folder, shipped_data, always_open(folder))
    running.start("--staff")
    people = make_people(settings_of(running), now)
    for name, role in (("Anna Keller", "frontdesk"), ("Berta Kuhn", "frontdesk"), ("Curt Rath", "curator")):
        login = name.split()[0].lower()
        add_known(people, Person(0, login, name, frozenset({role})))  # type: ignore[arg-type]
    yield running
    running.kill()


def settings_of(server: Server) -> Settings:
    return Settings(data=server.database().parent, database_url=f"sqlite:///{server.database()}")


def log_in(server: Server, login: str, opened: list[Browser]) -> Browser:
    browser = Browser(server.url, "en")
    opened.append(browser)
    browser.open(f"{CONSOLE}/login")
    browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login=login, password=PASSWORD)
    assert browser.answer.url.path == CONSOLE, browser.text
    return browser


@pytest.fixture
def opened() -> Iterator[list[Browser]]:
    found: list[Browser] = []
    yield found
    for each in found:
        each.client.close()


@pytest.fixture
def anna(service: Server, opened: list[Browser]) -> Browser:
    return log_in(service, "anna", opened)


@pytest.fixture
def berta(service: Server, opened: list[Browser]) -> Browser:
    return log_in(service, "berta", opened)


@pytest.fixture
def patient(service: Server) -> Patient:
    """A patient who has asked for a person."""
    found = Patient(service)
    assert found.say("/staff")[0] == DE["staff_is_called"]
    return found


def _lines(patient: Patient) -> list[tuple[str, str, str]]:
    seen = patient.request("GET").json()["staff"]
    return [(each["name"], each["what"], each["text"]) for each in seen]


def test_who_waits_is_listed_with_what_was_promised_and_answered_without_a_script(
    service: Server, anna: Browser, patient: Patient
) -> None:
    patient.say(f"Ist Parken frei? {HOSTILE}")

    anna.open(CONSOLE)
    anna.follow("Live desk 1")
    assert "Asked for a person waits" in anna.text
    assert DE["staff_is_called"] in anna.text
    assert "Parken" not in anna.text  # the list has no word of a patient
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    assert f"Ist Parken frei? {HOSTILE}" in anna.text
    assert "<script>alert" not in anna.answer.text

    anna.press("Take over")
    anna.press("Send", text="Guten Tag,\n\nja, im Hof.")
    assert "Anna Keller took over" in anna.text
    assert patient.send(text="Danke!").json()["reply"]["parts"][0]["key"] == "staff_reads"
    anna.press("Hand back to the program")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    assert "Done." in anna.text

    written = [("Anna Keller", "take", ""), ("Anna Keller", "message", "Guten Tag, ja, im Hof.")]
    assert _lines(patient) == [*written, ("Anna Keller", "return", "")]
    acts = make_acts(settings_of(service)).read(what=f"conversation {pseudonym(patient.id)}")
    assert [(act.by, act.action) for act in reversed(acts) if act.action != "read"] == [
        ("Anna Keller", "take"), ("Anna Keller", "message"), ("Anna Keller", "return"),
    ]  # fmt: skip
    assert [act.action for act in acts].count("read") >= 1
    everything = json.dumps([[act.before, act.after] for act in acts])
    assert "Parken" not in everything
    assert "Hof" not in everything
    anna.open(f"{CONSOLE}/desk/{patient.id}")  # what follows is not for staff
    assert anna.answer.status_code == 410


def test_an_emergency_stands_first_and_is_seen_before_it_can_be_handed_back(
    service: Server, anna: Browser, patient: Patient
) -> None:
    urgent = Patient(service)
    urgent.say("ich krieg keine luft mehr")

    anna.open(f"{CONSOLE}/desk")
    assert "Emergency described" in anna.page.all("li", class_="desk-call")[0].text
    said = anna.client.get(f"{CONSOLE}/desk", headers=JSON).json()
    assert said["urgent"] == 1
    assert said["waiting"] >= 2
    assert "luft" not in said["html"]
    anna.open(f"{CONSOLE}/desk/{urgent.id}")
    anna.press("Take over")
    urgent.say("ich krieg keine luft mehr, bitte")
    anna.press("Hand back to the program")
    assert anna.answer.status_code == 409
    assert "nobody has confirmed yet" in anna.text
    anna.press("I have seen it")
    anna.press("Hand back to the program")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    anna.press("I have seen it")
    anna.press("Close")
    assert patient.id not in anna.answer.text


def test_of_two_who_take_over_one_does_and_the_other_is_told_who_and_keeps_what_was_typed(
    anna: Browser, berta: Browser, patient: Patient
) -> None:
    for browser in (anna, berta):
        browser.open(f"{CONSOLE}/desk/{patient.id}")
    anna.press("Take over")
    berta.press("Take over")
    assert berta.answer.status_code == 409
    assert "Anna Keller was faster" in berta.text

    berta.press("Take over from Anna Keller")
    berta.press("Send", text="Hier ist Berta.")
    anna.press("Send", text="Ich komme gleich.")
    assert anna.answer.status_code == 409
    assert "Berta Kuhn was faster" in anna.text
    assert anna.page.one("textarea", id="desk-kept").text == "Ich komme gleich."
    assert _lines(patient)[-1] == ("Berta Kuhn", "message", "Hier ist Berta.")
    # A page that was open since before names somebody who does not write there any more.
    form = berta.page.one("form", action=f"{CONSOLE}/desk/{patient.id}/return")
    old = anna.page.one("form", action=f"{CONSOLE}/desk/{patient.id}/take")
    berta.send(form)
    anna.send(old)
    assert anna.answer.status_code == 410
    assert "does not wait for a person any more" in anna.text


def test_a_patient_who_has_left_or_deleted_is_said_kindly(service: Server, anna: Browser, patient: Patient) -> None:
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    anna.press("Take over")
    assert patient.request("DELETE").status_code == 204
    anna.press("Send", text="Guten Tag")

    assert anna.answer.status_code == 410
    assert "has deleted this conversation" in anna.text
    assert not Patient(service).request("GET", "/staff").json()["lines"]


def test_what_is_new_comes_as_json_once_and_reading_on_is_one_act(
    service: Server, anna: Browser, patient: Patient
) -> None:
    address = f"{CONSOLE}/desk/{patient.id}"
    before = anna.open(address).one("div", id="desk-one").get("data-next")
    patient.say("Wo ist der Eingang?")

    news = anna.client.get(f"{address}?after={before}", headers=JSON).json()
    assert "Wo ist der Eingang?" in news["lines"]
    assert anna.client.get(f"{address}?after={news['next']}", headers=JSON).json()["lines"] == ""
    assert anna.client.get(f"{address}?after=x", headers=JSON).status_code == 400
    acts = make_acts(settings_of(service)).read(what=f"conversation {pseudonym(patient.id)}")
    assert [(act.by, act.action) for act in acts] == [("Anna Keller", "read")]


def test_others_than_the_front_desk_read_no_conversation(
    service: Server, opened: list[Browser], patient: Patient
) -> None:
    curt = log_in(service, "curt", opened)
    for address in ("/desk", f"/desk/{patient.id}"):
        curt.open(CONSOLE + address)
        assert curt.answer.status_code == 403


def test_the_staff_api_stays_off_without_a_token(service: Server) -> None:
    assert httpx.get(f"{service.url}/staff/inbox").status_code == 404
