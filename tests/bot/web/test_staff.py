"""Calls for staff on a running service: the whole way, and what strangers, typing errors and two at once meet."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from bot.web.page.rendering import load_labels
from tests.bot.staff.sinks import Sink, webhook
from tests.bot.web.browser import Browser, Browsers
from tests.bot.web.serving import CHANNEL_TOKEN, Patient, Server, always_open
from tests.bot.web.staff_members import STAFF_TOKEN, Member

DE, LABELS = SENTENCES["de"], load_labels()["de"]
HOSTILE = "<script>alert(1)</script><b>{name}</b>"


@pytest.fixture(scope="module")
def hook() -> Iterator[Sink]:
    with webhook() as sink:
        yield sink


@pytest.fixture(scope="module")
def staffed(
    shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory, hook: Sink
) -> Iterator[Server]:
    """A service whose staff read calls."""
    assert shipped.sample
    folder = tmp_path_factory.mktemp("staffed")
    environ = {
        **always_open(folder),
        "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN,
        "KLARTEXT_STAFF_NEXT": hook.url,
        "KLARTEXT_CHANNEL_TOKEN": CHANNEL_TOKEN,
    }
    running = Server(folder, shipped_data, environ)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def member(staffed: Server) -> Member:
    return Member(staffed)


@pytest.fixture
def patient(staffed: Server) -> Patient:
    """A patient who has asked for a person."""
    found = Patient(staffed)
    assert found.say("/staff")[0] == DE["staff_is_called"]
    return found


@pytest.fixture
def open_browser(staffed: Server) -> Iterator[Browsers]:
    opened: list[Browser] = []

    def browser(language: str) -> Browser:
        opened.append(Browser(staffed.url, language))
        return opened[-1]

    yield browser
    for each in opened:
        each.client.close()


def _decision(answer: httpx.Response) -> tuple[str, list[str]]:
    return answer.json()["decision"], [part["key"] for part in answer.json()["reply"]["parts"]]


def _figure(server: Server, name: str) -> float:
    lines = httpx.get(server.url + "/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1])


def _until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.1)


def test_a_person_takes_over_writes_and_hands_back(patient: Patient, member: Member) -> None:
    call = member.inbox()[patient.id]
    assert {name: call[name] for name in ("kind", "state", "name", "language")} == {
        "kind": "asked", "state": "waiting", "name": "", "language": "de",
    }  # fmt: skip
    live = member.live(patient.id)
    assert [turn["said"] for turn in live["turns"]] == ["/staff"]

    assert member.do(patient.id, "take").json()["state"] == "taken"
    assert member.do(patient.id, "message", text="Guten Tag!\n\nWas kann ich\u200b für Sie tun?").status_code == 200
    assert _decision(patient.send(text="Tut das weh?")) == ("talk", ["staff_reads"])
    new = member.live(patient.id, after=live["next"])
    assert [turn["said"] for turn in new["turns"]] == ["Tut das weh?"]
    assert [action["what"] for action in new["actions"]] == ["take", "message"]
    assert member.live(patient.id, after=new["next"])["turns"] == []
    assert member.do(patient.id, "return").json()["state"] == "returned"

    seen = patient.request("GET").json()["staff"]
    assert [(each["name"], each["what"], each["text"], each["turn"]) for each in seen] == [
        ("Anna Keller", "take", "", 1),
        ("Anna Keller", "message", "Guten Tag! Was kann ich für Sie tun?", 1),
        ("Anna Keller", "return", "", 2),
    ]
    polled = patient.request("GET", f"/staff?after={seen[1]['number']}").json()
    assert (polled["state"], [each["what"] for each in polled["lines"]]) == ("returned", ["return"])
    assert _decision(patient.send(text="Tut das weh?"))[0] == "answered"
    assert member.ask("GET", f"conversations/{patient.id}").status_code == 404  # what follows is not for staff


def test_an_emergency_alarms_while_a_person_writes_and_must_be_seen_before_handing_back(
    patient: Patient, member: Member
) -> None:
    member.do(patient.id, "take")

    decision, keys = _decision(patient.send(text="Ich kriege keine Luft"))
    assert (decision, keys[0]) == ("urgent", "urgent")
    call = member.inbox()[patient.id]
    assert (call["state"], call["kind"], call["since"] is None) == ("taken", "urgent", False)
    assert member.do(patient.id, "return").status_code == 409
    going_on = patient.send(text="Das ist aber nett von Ihnen")
    assert [each["text"] for each in going_on.json()["reply"]["choices"]] == [DE["no_emergency"]]
    assert _decision(patient.send(choice=1)) == (
        "talk",
        ["look_today", "calmed"],
    )  # and no question of the program after it
    assert member.do(patient.id, "message", text="Wir kommen").json()["since"] is None
    assert member.do(patient.id, "return").status_code == 200


def test_a_red_flag_opens_a_call_and_nobody_is_promised_anything(staffed: Server, member: Member) -> None:
    patient = Patient(staffed)
    assert patient.say("Tut das weh?")
    assert patient.id not in member.inbox()
    assert member.ask("GET", f"conversations/{patient.id}").status_code == 404  # it waits for nobody

    patient.say("Ich kriege keine Luft")

    assert member.inbox()[patient.id]["kind"] == "urgent"
    assert member.do(patient.id, "acknowledge").json()["state"] == "acknowledged"
    assert member.do(patient.id, "acknowledge").status_code == 409


def test_what_staff_were_told_in_between_is_no_answer_to_the_form(staffed: Server, member: Member) -> None:
    patient = Patient(staffed)
    patient.say("/interview")
    patient.say("/staff")
    member.do(patient.id, "take")
    member.do(patient.id, "message", text="Haben Sie noch eine Frage?")
    member.do(patient.id, "return")

    patient.say("ja")

    resumed = patient.say("/interview")
    begun = Patient(staffed)
    assert begun.say("/interview")[-1] == resumed[-1]  # the first question is open as before


def test_of_two_who_take_at_once_one_wins(patient: Patient, staffed: Server) -> None:
    members = [Member(staffed, name) for name in ("Anna", "Berta", "Carla", "Dora")]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda each: each.do(patient.id, "take"), members))

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    (won,) = [answer.json()["name"] for answer in answers if answer.status_code == 200]
    assert members[0].inbox()[patient.id]["name"] == won


@pytest.mark.parametrize("token", ["", STAFF_TOKEN[:-1], STAFF_TOKEN + "x", CHANNEL_TOKEN, "ü"])
def test_without_the_token_nothing_is_told_or_done(patient: Patient, member: Member, token: str) -> None:
    stranger = Member(member.server, token=token)

    asked = [("GET", "inbox"), ("GET", f"conversations/{patient.id}"), ("POST", f"conversations/{patient.id}/take")]
    for method, path in asked:
        answer = stranger.ask(method, path, json={"name": "Eve"}) if method == "POST" else stranger.ask(method, path)
        assert answer.status_code in (401, 429), answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert "/staff" not in answer.text
    assert member.inbox()[patient.id]["state"] == "waiting"


def test_guessing_is_slowed_down_and_staff_are_not(member: Member) -> None:
    stranger = Member(member.server, token="guess")

    assert 429 in {stranger.ask("GET", "inbox").status_code for _ in range(30)}
    assert member.inbox() is not None


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "203.0.113.7"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"X-Forwarded-Proto": "https"},
        {"X-Forwarded": "for=127.0.0.1"},
        {"X-Original-Host": "chat.example.org"},
        {"X-Original-Forwarded-For": "203.0.113.7"},
        {"CF-Connecting-IP": "203.0.113.7"},
        {"True-Client-IP": "203.0.113.7"},
        {"X-Envoy-External-Address": "203.0.113.7"},
        {"Host": "chat.example.org"},
        {"Host": "localhost@evil.example"},
        {"Host": "127.0.0.1:80@evil.example"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1:"},
        {"Host": "::1"},
        {"Host": ""},
    ],
)
def test_what_a_proxy_passes_on_finds_nothing(member: Member, headers: dict[str, str]) -> None:
    assert member.ask("GET", "inbox", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("hosts", "is_heard"),
    [
        (["localhost"], True),
        (["[::1]:8000"], True),
        (["LOCALHOST:80"], True),
        (["127.0.0.1:1", "127.0.0.1:1"], False),
        (["localhost", "chat.example.org"], False),
        (["chat.example.org", "localhost"], False),
    ],
)
def test_whom_a_request_is_for_is_this_machine_and_is_said_once(
    member: Member, hosts: list[str], is_heard: bool
) -> None:
    host, port = member.server.url.removeprefix("http://").split(":")
    lines = ["GET /staff/inbox HTTP/1.1", *(f"Host: {each}" for each in hosts), f"Authorization: Bearer {member.token}"]
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        answer = connection.makefile("rb").readline()

    assert (answer.split()[1] == b"200") is is_heard


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("message", {"text": "Hallo"}, 409),  # not taken
        ("return", {}, 409),
        ("take", {"name": ""}, 422),
        ("take", {"name": "\u200b \u2060"}, 422),
        ("take", {"name": "x" * 81}, 422),
        ("take", {"name": "\ufdfa" * 80}, 422),  # 18 characters each, once they are plain
        ("take", {"name": 7}, 422),
        ("take", {"name": "Eve", "admin": True}, 422),
        ("acknowledge", {}, 200),
        ("unknown", {}, 404),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    patient: Patient, member: Member, what: str, body: dict[str, Any], status: int
) -> None:
    answer = member.do(patient.id, what, **body)

    assert answer.status_code == status
    assert status == 200 or "\n" not in answer.json()["detail"]


@pytest.mark.parametrize("text", ["", " \u200b ", "x" * 1001, "\ufdfa" * 100, None, ["Hallo"]])
def test_a_message_that_is_none_or_too_long_is_refused(patient: Patient, member: Member, text: Any) -> None:
    member.do(patient.id, "take")

    assert member.do(patient.id, "message", text=text).status_code == 422
    assert [each["what"] for each in patient.request("GET").json()["staff"]] == ["take"]


@pytest.mark.parametrize("id_", ["0" * 32, "x", "..", "%27%3B--", "0" * 31 + "G"])
def test_another_conversation_is_not_found(patient: Patient, member: Member, id_: str) -> None:
    assert member.ask("GET", f"conversations/{id_}").status_code in (404, 422)
    assert member.do(id_, "take").status_code in (404, 422)
    assert member.inbox()[patient.id]["state"] == "waiting"


def test_on_the_page_without_scripts_everything_is_escaped_and_marked(
    staffed: Server, member: Member, open_browser: Browsers
) -> None:
    browser = open_browser("de")
    browser.open("/")
    browser.press(LABELS["begin"], consent="yes")
    browser.press(LABELS["call_staff"])
    assert LABELS["staff_waiting"] in browser.text
    assert LABELS["staff_reload"] in browser.text
    browser.say("Wo ist der Eingang?")
    (id_,) = set(member.inbox()) & {browser.client.cookies["klartext-session"].split(".")[0]}
    hostile = Member(staffed, HOSTILE)
    hostile.do(id_, "take")
    hostile.do(id_, "message", text=HOSTILE)

    page = browser.follow(LABELS["staff_reload_link"])

    assert LABELS["staff_taken"].format(name=HOSTILE) in browser.text
    taken, message = page.all("article", class_="of-staff")
    assert taken.text == LABELS["staff_takes"].format(name=HOSTILE)
    assert message.text == f"{LABELS['staff_from'].format(name=HOSTILE)} {HOSTILE}"
    assert not page.all("b")
    assert all(str(each.get("src")).startswith("/static/") for each in page.all("script"))  # our own files
    assert [
        button for button in browser.labels if button in (LABELS["interview_begin"], LABELS["interview_go_on"])
    ] == []
    assert browser.say("Danke") is not None
    assert DE["staff_reads"] in browser.newest.text
    assert hostile.do(id_, "return").status_code == 200
    browser.open("/copy")
    assert browser.text.count(HOSTILE) == 3  # who has come, who wrote, and what
    browser.open("/chat")
    assert LABELS["staff_returns"] in browser.text


def test_a_channel_hears_from_staff_with_its_next_message(staffed: Server, member: Member) -> None:
    def say(text: str) -> list[str]:
        body = {"sender": "widget-1", "message": text}
        headers = {"Authorization": f"Bearer {CHANNEL_TOKEN}"}
        answer = httpx.post(staffed.url + "/webhooks/rest/webhook", json=body, headers=headers, timeout=60)
        return [bubble["text"] for bubble in answer.json()]

    before = set(member.inbox())
    say("/staff")
    (id_,) = set(member.inbox()) - before
    member.do(id_, "take")
    member.do(id_, "message", text="Grüß Gott")

    assert say("ok") == [
        LABELS["staff_takes"].format(name="Anna Keller"),
        f"{LABELS['staff_from'].format(name='Anna Keller')}: Grüß Gott",
        DE["staff_reads_rest"],
        DE["sample_label"],
    ]
    assert say("ok") == [DE["staff_reads_rest"], DE["sample_label"]]


def test_a_call_that_nobody_acknowledges_is_told_and_counted_without_a_word_of_it(
    staffed: Server, hook: Sink, member: Member
) -> None:
    patient = Patient(staffed)
    patient.say("Ich kriege keine Luft")
    with closing(sqlite3.connect(staffed.database())) as database:  # five minutes pass
        database.execute(
            "UPDATE staff_calls SET since = datetime(since, '-6 minutes') || '.000000' WHERE conversation = ?",
            [patient.id],
        )
        database.commit()

    _until(lambda: any(patient.id in got for got in hook.got))
    (got,) = [json.loads(got) for got in hook.got if patient.id in got]
    assert got.pop("minutes") in (0, 6)  # of an emergency the first one is told at once
    assert got == {
        "conversation": patient.id, "kind": "urgent", "inbox": f"{staffed.url}/staff/inbox",
        "taken": False, "patient_left": False, "deleted": False,
    }  # fmt: skip
    # It may have been told before the five minutes passed; the age is measured from time to time.
    _until(lambda: _figure(staffed, "klartext_staff_unacknowledged_oldest") >= 360)
    assert 'klartext_staff_calls{state="waiting"}' in httpx.get(staffed.url + "/metrics").text
    member.do(patient.id, "acknowledge")
    assert "told" in [each["what"] for each in member.live(patient.id)["actions"]]
    assert not [
        secret for secret in ("keine Luft", "secret-path", STAFF_TOKEN, patient.id) if secret in staffed.stderr()
    ]


def test_only_who_has_taken_a_call_writes_and_hands_back_and_a_colleague_can_take_it(
    patient: Patient, staffed: Server, member: Member
) -> None:
    berta = Member(staffed, "Berta Kuhn")
    member.do(patient.id, "take")

    for what, body in (("message", {"text": "Hallo"}), ("return", {}), ("take", {}), ("take", {"from": "Carla"})):
        refused = berta.do(patient.id, what, **body)
        assert (refused.status_code, "Anna Keller" in refused.json()["detail"]) == (409, True)
    assert berta.do(patient.id, "take", **{"from": "anna keller"}).json()["name"] == "Berta Kuhn"
    assert member.do(patient.id, "message", text="Hallo").status_code == 409
    assert berta.do(patient.id, "message", text="Hallo").status_code == 200
    seen = patient.request("GET").json()["staff"]
    assert [(each["name"], each["what"]) for each in seen] == [
        ("Anna Keller", "take"), ("Berta Kuhn", "take"), ("Berta Kuhn", "message"),
    ]  # fmt: skip


def test_what_a_patient_writes_waits_until_who_has_taken_the_call_answers(patient: Patient, member: Member) -> None:
    member.do(patient.id, "take")
    assert member.inbox()[patient.id]["since"] is None

    patient.send(text="Sind Sie noch da?")
    patient.send(text="Haben Sie das gelesen?")

    call = member.inbox()[patient.id]
    assert (call["pressing"], call["unanswered"], call["since"] is None) == ("message", 2, False)
    call = member.do(patient.id, "message", text="Ja").json()
    assert (call["pressing"], call["unanswered"], call["since"]) == ("", 0, None)


def test_what_was_urgent_stays_so_when_the_patient_calls_again(staffed: Server, member: Member) -> None:
    patient = Patient(staffed)
    patient.say("Ich kriege keine Luft")
    member.do(patient.id, "acknowledge")

    patient.say("/staff")

    call = member.inbox()[patient.id]
    assert (call["kind"], call["state"], call["pressing"]) == ("urgent", "waiting", "asked")
    assert next(iter(member.inbox())) in {id_ for id_, each in member.inbox().items() if each["kind"] == "urgent"}


def _called(browser: Browser) -> str:
    """Begin a conversation, call staff, and return its id."""
    browser.open("/")
    browser.press(LABELS["begin"], consent="yes")
    browser.press(LABELS["call_staff"])
    return browser.client.cookies["klartext-session"].split(".")[0]


def test_who_has_left_is_warned_before_and_not_written_to_after(member: Member, open_browser: Browsers) -> None:
    browser = open_browser("de")
    id_ = _called(browser)
    member.do(id_, "take")

    browser.open("/end")
    assert LABELS["staff_left"] in browser.text
    browser.press(LABELS["end_yes"])

    assert member.inbox()[id_]["patient_left"] is True
    refused = member.do(id_, "message", text="Sind Sie da?")
    assert (refused.status_code, "left" in refused.json()["detail"]) == (409, True)
    assert member.do(id_, "return").status_code == 200


def test_of_an_emergency_that_was_deleted_unseen_staff_hear_without_a_word_of_it(
    staffed: Server, member: Member, hook: Sink, open_browser: Browsers
) -> None:
    browser = open_browser("de")
    id_ = _called(browser)
    browser.say("Ich kriege keine Luft")

    browser.open("/delete")
    assert LABELS["staff_left"] in browser.text
    browser.press(LABELS["delete_yes"])

    _until(lambda: any(json.loads(got)["deleted"] for got in hook.got))
    (got,) = [json.loads(got) for got in hook.got if json.loads(got)["deleted"]]
    assert got["kind"] == "urgent"
    assert got["conversation"] != id_
    answer = member.ask("GET", f"conversations/{id_}")
    assert (answer.status_code, "deleted" in answer.json()["detail"]) == (404, True)
    assert "deleted an urgent call before anybody saw it" in staffed.stderr()


def test_pages_of_the_form_say_that_staff_are_called(open_browser: Browsers) -> None:
    browser = open_browser("de")
    _called(browser)

    browser.open("/form")

    assert LABELS["staff_waiting"] in browser.text
    assert LABELS["not_watched"] not in browser.text
    browser.follow(LABELS["staff_to_chat"])
    assert browser.page.one("div", id="handoff")


def test_when_nobody_has_come_for_long_the_patient_is_told_whom_to_call(
    staffed: Server, open_browser: Browsers
) -> None:
    browser = open_browser("de")
    id_ = _called(browser)
    assert LABELS["staff_late"] not in browser.text
    with closing(sqlite3.connect(staffed.database())) as database:  # the only contact was told, and its time is over
        database.execute(
            "UPDATE staff_calls SET told = 1, rings = datetime(rings, '-9 minutes') || '.000000' WHERE conversation = ?",
            [id_],
        )
        database.commit()

    news = browser.client.get(f"{staffed.url}/news").json()
    browser.open("/chat")

    assert LABELS["staff_late"] in browser.text
    assert news["status"].startswith(LABELS["staff_late"])
    browser.say("Ich bin gehörlos")  # then not to the telephone
    browser.open("/chat")
    assert LABELS["staff_late_writes"] in browser.text
    assert LABELS["staff_late"] not in browser.text


def test_the_api_is_documented_where_it_is_on_only(staffed: Server, server: Server) -> None:
    on, off = (httpx.get(each.url + "/api/v1/openapi.json").json()["paths"] for each in (staffed, server))

    assert set(on) - set(off) == {
        "/api/v1/conversations/{conversation_id}/staff",
        "/staff/inbox",
        "/staff/conversations/{conversation_id}",
        *(f"/staff/conversations/{{conversation_id}}/{what}" for what in ("acknowledge", "take", "message", "return")),
    }
    assert {"401", "404", "409", "422", "429"} <= set(
        on["/staff/conversations/{conversation_id}/take"]["post"]["responses"]
    )


def test_off_as_by_default_the_sentence_is_the_honest_one_and_there_is_no_staff_api(server: Server) -> None:
    patient = Patient(server)

    assert patient.say("/staff")[0] == DE["staff_called"]
    assert Member(server).ask("GET", "inbox").status_code == 404
    assert patient.request("GET", "/staff").status_code == 404
    assert "staff" not in patient.request("GET").json()


@pytest.mark.proof
def test_who_listens_to_others_than_this_machine_is_refused_staff_calls(shipped_data: Path, tmp_path: Path) -> None:
    environ = {
        "KLARTEXT_DATA": str(shipped_data),
        "KLARTEXT_DATABASE_URL": f"sqlite:///{tmp_path / 'k.db'}",
        "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN,
    }
    code = "from bot.commands.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "--sample", "--host", "0.0.0.0", "--port", "0"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        "klartext: KLARTEXT_STAFF_TOKEN is set, and the service would listen on 0.0.0.0"
    )
