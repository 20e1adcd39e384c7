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
from bot.web.page.rendering import load_labels
from bot.web.staff.wiring import make_acts, make_people
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Patient, Server, always_open
from tests.bot.web.staff.consoles import PASSWORD, add_known, now

DE, PAGE = SENTENCES["de"], load_labels()["de"]
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
    for name, role in (
        ("Anna Keller", "frontdesk"),
        ("Berta Kuhn", "frontdesk"),
        ("Curt Rath", "curator"),
        ("Emil Adam", "admin"),
    ):
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
    assert "„Ist Parken frei?" in anna.text  # what the patient said last, as rules scrubbed it
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    assert f"Ist Parken frei? {HOSTILE}" in anna.text
    assert "/staff" not in anna.text
    assert "Called staff (pressed the button)" in anna.text
    assert not anna.page.all("div", class_="urgent")
    assert "<script>alert" not in anna.answer.text

    anna.press("Take over")
    anna.press("Send", text="Guten Tag,\n\nja, im Hof.")
    assert "Anna Keller took over" in anna.text
    assert patient.send(text="Danke!").json()["reply"]["parts"][0]["key"] == "staff_reads"
    anna.press("Hand back to the program")
    assert anna.answer.status_code == 409
    assert "1 message has no answer" in anna.text
    patient.send(text="Noch etwas!")
    anna.press("Yes, hand back without an answer")  # to one, not to two
    assert "2 messages have no answer" in anna.text
    anna.press("Yes, hand back without an answer")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    assert "Done." in anna.text

    written = [("Anna Keller", "take", ""), ("Anna Keller", "message", "Guten Tag,\n\nja, im Hof.")]
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
    assert "luft" not in json.dumps(anna.client.get(f"{CONSOLE}/desk/news", headers=JSON).json())
    anna.open(f"{CONSOLE}/desk/{urgent.id}")
    anna.press("Take over")
    urgent.say("ich krieg keine luft mehr, bitte")
    anna.press("Hand back to the program")
    assert anna.answer.status_code == 409
    assert "nobody has confirmed yet" in anna.text
    anna.press("I have seen it")
    anna.press("Hand back to the program")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    urgent.say("ich krieg keine luft mehr, bitte")  # nobody is there any more: they are called again
    anna.open(f"{CONSOLE}/desk")
    assert "Emergency described waits again" in anna.text
    anna.open(f"{CONSOLE}/desk/{urgent.id}")
    anna.press("I have seen it")
    anna.press("Close")
    assert "What was done?" in anna.text
    anna.press("Close like this", outcome="spoke")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    assert _lines(urgent)[-1] == ("Anna Keller", "close", "")  # they are told, and not what was noted
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
    assert berta.answer.url.path == f"{CONSOLE}/desk/{patient.id}"
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
    assert anna.page.one("textarea", id="desk-kept").text == "Guten Tag"
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


def test_what_can_be_chosen_is_shown_as_offered_until_it_is_gone(service: Server, anna: Browser) -> None:
    urgent = Patient(service)
    urgent.say("ich krieg keine luft mehr")
    address = f"{CONSOLE}/desk/{urgent.id}"

    anna.open(address)
    assert [each.text for each in anna.page.all("span", class_="desk-choice")] == [DE["no_emergency"]]
    assert "not answered yet" in anna.page.one("p", class_="desk-offered").text
    assert DE["no_emergency"] not in anna.page.one("section", id="desk-lines").text

    urgent.send(choice=1)
    assert DE["no_emergency"] not in anna.client.get(f"{address}?after=1.0", headers=JSON).json()["known"]


def test_what_was_closed_by_mistake_is_found_and_opened_again(service: Server, anna: Browser, patient: Patient) -> None:
    patient.say("Wo ist der Eingang?")
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    anna.press("I have seen it")
    anna.press("Close")
    anna.follow("Closed in the last 24 hours")
    assert "Eingang" not in anna.text
    form = anna.page.one("form", action=f"{CONSOLE}/desk/{patient.id}/reopen")

    anna.send(form)

    assert anna.answer.url.path == f"{CONSOLE}/desk/{patient.id}"
    assert "Anna Keller opened it again" in anna.text
    assert "Wo ist der Eingang?" in anna.text
    anna.send(form)  # twice is once
    assert anna.answer.url.path == f"{CONSOLE}/desk/{patient.id}"
    other = Patient(service)
    other.say("Tut das weh?")
    form.attributes["action"] = f"{CONSOLE}/desk/{other.id}/reopen"  # who has called nobody is read by nobody
    anna.send(form)
    assert anna.answer.status_code == 410


def test_who_logs_out_is_told_what_they_hold_and_it_waits_again_for_others(
    service: Server, opened: list[Browser], berta: Browser, patient: Patient
) -> None:
    anna = log_in(service, "anna", opened)
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    anna.press("Take over")

    anna.press("Log out")
    assert anna.answer.status_code == 409
    assert "still writing with patients" in anna.text
    assert any(patient.id in link.get("href") for link in anna.page.all("a"))
    berta.open(f"{CONSOLE}/desk/{patient.id}")
    assert "Anna Keller is writing" in berta.text or "Anna Keller" in berta.page.one("section", id="desk-acts").text
    anna.press("Log out all the same")
    assert anna.answer.url.path == f"{CONSOLE}/login"

    berta.open(f"{CONSOLE}/desk/{patient.id}")
    assert "waits again" in berta.page.one("section", id="desk-acts").text
    assert _lines(patient)[-1] == ("Anna Keller", "away", "")
    assert patient.send(text="Tut das weh?").json()["reply"]["parts"][0]["key"] != "staff_reads"


def test_whose_password_changes_holds_nothing_any_more(
    service: Server, opened: list[Browser], patient: Patient
) -> None:
    people = make_people(settings_of(service), now)
    dora = people.by_login("dora") or add_known(people, Person(0, "dora", "Dora Lind", frozenset({"frontdesk"})))
    browser = log_in(service, "dora", opened)
    browser.open(f"{CONSOLE}/desk/{patient.id}")
    browser.press("Take over")

    people.change(dora, by="a test", password=f"{PASSWORD} neu")

    assert _lines(patient)[-1] == ("Dora Lind", "away", "")
    people.change(dora, by=dora.name, password=PASSWORD)
    browser.press("Send", text="Ich komme")  # the session has ended: what was typed is kept, however short
    assert browser.answer.status_code == 409
    assert any(each.get("value") == "Ich komme" for each in browser.page.all("input", name="text"))
    browser.open(f"{CONSOLE}/desk/{patient.id}")
    assert browser.answer.url.path == f"{CONSOLE}/login"
    assert "session has ended" in browser.text
    browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login="dora", password=PASSWORD)
    assert browser.answer.url.path == f"{CONSOLE}/desk/{patient.id}"


def test_pages_lead_nowhere_else_after_logging_in(service: Server, opened: list[Browser]) -> None:
    browser = Browser(service.url, "en")
    opened.append(browser)
    for back in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"):
        browser.open(f"{CONSOLE}/login?back={back}")
        browser.send(browser.page.one("form", action=f"{CONSOLE}/login"), login="berta", password=PASSWORD)
        assert browser.answer.url.host == "127.0.0.1"
        assert browser.answer.url.path.startswith(CONSOLE)
        browser.press("Log out")


def test_an_emergency_whose_patient_has_left_stays_urgent_until_it_is_said_what_was_done(
    service: Server, anna: Browser, opened: list[Browser]
) -> None:
    browser = Browser(service.url, "de")
    opened.append(browser)
    browser.open("/")
    browser.press(PAGE["begin"], consent="yes")
    browser.say("ich habe vielleicht zu viele tabletten genommen")
    browser.say("ich krieg keine luft mehr")
    id_ = browser.client.cookies["klartext-session"].split(".")[0]
    anna.open(f"{CONSOLE}/desk/{id_}")
    anna.press("I have seen it")
    browser.open("/end")
    browser.press(PAGE["end_yes"])

    anna.open(f"{CONSOLE}/desk")
    listed = anna.page.all("li", class_="desk-call")
    place, left = next((at, one) for at, one in enumerate(listed) if id_ in one.all("a")[0].get("href"))
    assert all("urgent" in one.get("class") for one in listed[: place + 1])
    assert "Emergency described: overdose" in left.text  # the most urgent that was said, not what came last
    assert "nobody has said what was done" in left.text
    anna.open(f"{CONSOLE}/desk/{id_}")
    assert "Neither name nor number is known here" in anna.text
    anna.press("Close")
    assert anna.answer.status_code == 409
    anna.press("Close like this", outcome="rescue")
    assert anna.answer.url.path == f"{CONSOLE}/desk"
    assert id_ not in anna.answer.text


def test_every_page_of_who_sees_to_calls_hears_of_new_ones_and_no_other_persons(
    service: Server, anna: Browser, opened: list[Browser], patient: Patient
) -> None:
    for address in ("", "/account"):
        anna.open(CONSOLE + address)
        assert anna.page.one("div", id="bell").get("data-at") == f"{CONSOLE}/desk/news"
    news = anna.client.get(f"{CONSOLE}/desk/news", headers=JSON).json()
    assert news["waiting"] >= 1
    assert set(news) == {"waiting", "urgent", "rings"}
    curt = log_in(service, "curt", opened)
    assert not curt.page.all("div", id="bell")
    assert curt.client.get(f"{CONSOLE}/desk/news", headers=JSON).status_code == 403


def test_the_language_that_was_heard_is_named_and_what_was_answered_in_the_form_is_shown(
    service: Server, anna: Browser
) -> None:
    patient = Patient(service)
    patient.say("Göğsüm çok ağrıyor, nefes alamıyorum")
    patient.say("/staff")
    anna.open(f"{CONSOLE}/desk/{patient.id}")
    assert "probably written in Turkish" in anna.text
    anna.open(f"{CONSOLE}/desk")
    assert "Turkish (recognised" in anna.text

    other = Patient(service)
    other.say("/interview")
    other.say("ja")
    other.say("ja")
    other.say("/staff")
    anna.open(f"{CONSOLE}/desk/{other.id}")
    assert "Answered in the form so far" in anna.text


def test_others_than_the_front_desk_read_no_conversation(
    service: Server, opened: list[Browser], patient: Patient
) -> None:
    curt = log_in(service, "curt", opened)
    for address in ("/desk", f"/desk/{patient.id}"):
        curt.open(CONSOLE + address)
        assert curt.answer.status_code == 403


def test_the_staff_api_stays_off_without_a_token(service: Server) -> None:
    assert httpx.get(f"{service.url}/staff/inbox").status_code == 404
