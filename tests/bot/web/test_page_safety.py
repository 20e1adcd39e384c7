"""Sessions, forged forms, hostile text, links and errors of the page."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from bot import Assistant
from bot.sentences.reply import SENTENCES
from bot.testing import HOSTILE_TEXTS
from bot.web.links import invite, seal
from bot.web.page.rendering import load_labels
from tests.bot.web.browser import Browser, Browsers
from tests.bot.web.serving import Server

LABELS = load_labels()
DE = LABELS["de"]
KEY = "a-key-for-links-in-the-tests"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def browser(browsers: Browsers) -> Browser:
    """Somebody in a conversation."""
    opened = browsers("de")
    opened.open("/")
    opened.press(DE["begin"], consent="yes")
    return opened


@dataclass
class Hospital:
    """A service that takes links and tells Swiss numbers."""

    server: Server

    def link(self, *, hours: float = 1, exam: str = "mammography", language: str = "de", key: str = KEY) -> str:
        expires = datetime.now(UTC) + timedelta(hours=hours)
        return f"/start/{seal(invite('P-4711', exam=exam, language=language, expires=expires), key)}"


@pytest.fixture(scope="module")
def hospital(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hospital]:
    assert shipped.sample
    environ = {
        "KLARTEXT_LINK_KEY": KEY,
        "KLARTEXT_COUNTRY": "CH",
        "KLARTEXT_TURNS_PER_MINUTE": "3",
        "KLARTEXT_FRAME_ANCESTORS": "https://www.spital.example",
        "KLARTEXT_DICTATION": "off",
    }
    running = Server(tmp_path_factory.mktemp("hospital"), shipped_data, environ)
    running.start()
    yield Hospital(running)
    running.kill()


@pytest.fixture
def invited(hospital: Hospital) -> Iterator[Browser]:
    browser = Browser(hospital.server.url, "en")
    yield browser
    browser.client.close()


def test_errors_name_the_numbers_of_the_country_and_no_others(hospital: Hospital, invited: Browser) -> None:
    address = httpx.URL(hospital.server.url)
    with socket.create_connection((address.host, address.port)) as line:
        line.sendall(b"this is no HTTP\r\n\r\n")
        garbled = b"".join(iter(lambda: line.recv(4096), b"")).decode()
    missing = httpx.get(hospital.server.url + "/api/v1/nothing").json()["emergency_notice"]
    page = invited.client.get("/nothing").text

    for language in ("de", "en"):
        notice = SENTENCES[language]["emergency_notice_ch"]
        assert missing[language] == notice
        assert notice in json.loads(garbled.partition("\r\n\r\n")[2])["emergency_notice"][language]
    assert 'href="tel:144"' in page
    for other in ("112", "999"):
        assert other not in json.dumps(missing)
        assert f"tel:{other}" not in page


@contextmanager
def without_database(server: Server) -> Iterator[None]:
    """Let the service store nothing meanwhile."""
    with closing(sqlite3.connect(server.database(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


def test_while_the_database_is_away_what_was_written_is_kept_and_an_emergency_is_told_whom_to_call(
    browsers: Browsers, server: Server
) -> None:
    opened = {said: browsers("de") for said in ("Tut <b>das</b> weh?", "Ich kriege keine Luft")}
    for each in opened.values():
        each.open("/")
        each.press(DE["begin"], consent="yes")

    with without_database(server):
        threads = [threading.Thread(target=each.say, args=[said]) for said, each in opened.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    calm, urgent = opened.values()
    for said, each in opened.items():
        assert each.answer.status_code == 503
        assert DE["error_heading"] in each.text
        assert DE["error_503"] in each.text
        assert each.page.one("textarea", name="text").children == [said]
    assert not calm.page.all(id="alarm")
    assert SENTENCES["de"]["urgent"] in urgent.page.one(id="alarm").text
    assert "tel:112" in [link.get("href") for link in urgent.page.one(id="alarm").all("a")]

    calm.send(calm.page.one("form", class_="again"), text="Tut das weh?")  # the same button, once it is back
    assert calm.answer.status_code == 200
    assert calm.page.all("article", class_="turn")[-1].one(class_="said").one("p", class_="text").text == "Tut das weh?"


def test_pages_allow_no_script_or_style_of_their_own(browser: Browser) -> None:
    policy = browser.answer.headers["content-security-policy"]

    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert browser.answer.headers["cache-control"] == "no-store"
    assert browser.answer.headers["x-content-type-options"] == "nosniff"
    assert {script.text for script in browser.page.all("script")} == {""}
    assert not browser.page.all("style")
    assert not [
        node for node in browser.page.all() if any(name.startswith(("on", "style")) for name in node.attributes)
    ]


def test_files_come_from_here_and_may_be_kept(browser: Browser) -> None:
    scripts, links = browser.page.all("script"), browser.page.all("link")
    addresses = [*(script.get("src") for script in scripts), *(link.get("href") for link in links)]

    for address in addresses:
        assert address.startswith("/static/")
        answer = browser.client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert browser.client.get("/static/../app.py").status_code == 404
    assert browser.client.get("/static/nothing.css").status_code == 404


def test_cookies_are_closed_to_scripts_and_other_hosts(server: Server) -> None:
    near = httpx.get(server.url)
    far = httpx.get(server.url, headers={"Host": "chat.example.org"})

    assert near.headers["set-cookie"].startswith("klartext-session=new.")
    assert far.headers["set-cookie"].startswith("__Host-klartext-session=new.")
    assert "; Secure" in far.headers["set-cookie"]
    for answer in (near, far):
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert "SameSite=lax" in answer.headers["set-cookie"]
        assert "Path=/" in answer.headers["set-cookie"]


@pytest.mark.parametrize("address", ["/chat", "/feedback", "/delete", "/end", "/begin"])
def test_a_form_without_its_token_does_nothing(browser: Browser, address: str) -> None:
    fields = {"turn": "t1", "text": "Tut das weh?", "consent": "yes", "reason": "wrong"}

    for token in ({}, {"token": "0" * 64}, {"token": "ü"}):
        answer = browser.client.post(address, data={**fields, **token})
        assert answer.status_code == 403
        assert DE["error_403"] in answer.text
    assert len(browser.open("/chat").all("article", class_="turn")) == 1


def test_a_form_from_another_site_does_nothing(browser: Browser) -> None:
    form = browser.page.one("form", id="say")
    data = browser.filled(form, text="Tut das weh?")

    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert browser.client.post("/chat", data=data, headers=headers).status_code == 403
    same = {"Origin": str(browser.client.base_url).rstrip("/")}
    assert browser.client.post("/chat", data=data, headers=same).status_code == 200


def test_a_token_of_one_session_is_not_for_another(browser: Browser, browsers: Browsers) -> None:
    other = browsers("de")
    other.open("/")
    other.press(DE["begin"], consent="yes")

    stolen = other.page.one("form", id="say").all("input", name="token")[0].get("value")

    assert browser.client.post("/chat", data={"token": stolen, "turn": "t1", "text": "Hallo"}).status_code == 403


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_text_is_shown_as_text_or_kindly_refused(browser: Browser, hostile: str) -> None:
    body = hostile.encode("utf-8", "replace").decode()

    browser.say(body)

    assert browser.answer.status_code in (200, 413)
    assert {script.text for script in browser.page.all("script")} == {""}
    assert DE["call"].format(number="112") in [link.get("aria-label") for link in browser.page.all("a", class_="call")]


@pytest.mark.parametrize(
    "markup",
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "</textarea><b>x", "&lt;b&gt;"],
)
def test_markup_stays_what_was_typed(browser: Browser, markup: str) -> None:
    browser.say(markup)

    said = browser.page.all("article", class_="turn")[-1].one(class_="said").one("p", class_="text")
    assert said.children == [markup]
    assert markup in browser.open("/copy").one("dl", class_="talk").one("dt").text


def test_nothing_a_patient_says_stands_in_an_address(browser: Browser) -> None:
    browser.say("Unterwegsskennwort")

    steps = [*browser.answer.history, browser.answer]

    assert browser.answer.url.path == "/chat"
    assert not any("Unterwegs" in str(step.url) or "Unterwegs" in str(step.headers) for step in steps)


def test_what_is_deleted_is_gone_and_the_session_with_it(browser: Browser, server: Server) -> None:
    browser.say("Einmaligkeitsnachweis Quark")

    browser.follow(DE["delete"])
    browser.press(DE["delete_yes"])

    assert browser.answer.url.path == "/goodbye"
    assert DE["deleted_heading"] in browser.text
    assert not any(cookie.name == "klartext-session" for cookie in browser.client.cookies.jar)
    assert browser.open("/chat").one("main").all("input", name="consent")
    for path in (server.database(), server.database().with_name("klartext.db-wal")):
        assert b"Einmaligkeitsnachweis" not in path.read_bytes()


def test_after_the_end_nobody_reads_on_but_the_answers_stay(browser: Browser, server: Server) -> None:
    browser.say("Bleibendes Kennwort Zwei")

    browser.follow(DE["end"])
    browser.press(DE["end_yes"])

    assert DE["ended_heading"] in browser.text
    assert "Bleibendes" not in browser.open("/chat").text
    with sqlite3.connect(server.database()) as database:
        (found,) = database.execute("SELECT count(*) FROM turns WHERE said LIKE '%Kennwort Zwei%'").fetchone()
    database.close()
    assert found == 1


def test_a_conversation_that_was_deleted_elsewhere_is_told_kindly(browser: Browser) -> None:
    form = browser.page.one("form", id="say")
    browser.follow(DE["delete"])
    cookie = browser.client.cookies["klartext-session"]
    browser.press(DE["delete_yes"])

    browser.client.cookies.set("klartext-session", cookie)
    browser.send(form, text="noch da?")

    assert browser.answer.status_code == 410
    assert DE["error_410"] in browser.text


def test_a_link_begins_a_conversation_of_its_patient(hospital: Hospital, invited: Browser) -> None:
    labels = LABELS["de"]
    invited.open(hospital.link())

    assert invited.answer.url.path == "/"
    assert invited.answer.history[0].status_code == 303
    assert labels["invited"] in invited.text
    invited.press(labels["begin"], consent="yes")
    invited.say("Tut das weh?")

    with sqlite3.connect(hospital.server.database()) as database:
        (patient,) = database.execute("SELECT patient FROM conversations ORDER BY begun DESC LIMIT 1").fetchone()
    database.close()
    assert patient == "P-4711"
    assert "P-4711" not in invited.answer.text + hospital.server.stderr() + hospital.server.stdout()
    assert hospital.link().removeprefix("/start/")[:20] not in hospital.server.stderr()


def test_links_that_open_nothing_say_what_to_do(hospital: Hospital, invited: Browser) -> None:
    good = hospital.link()
    cases = [
        (hospital.link(hours=-1), 410, "link_expired"),
        (hospital.link(key="another-key-for-the-links"), 404, "link_unreadable"),
        (good[:-2], 404, "link_unreadable"),
        ("/start/" + "x" * 5000, 404, "link_unreadable"),
        (hospital.link(exam="mri"), 404, "link_exam"),
    ]
    for address, status, key in cases:
        invited.open(address)
        assert (invited.answer.status_code, LABELS["en"][key] in invited.text) == (status, True), key
        assert LABELS["en"]["link_anonymous"] in invited.text
    assert LABELS["en"]["anonymous"] in invited.open("/").text


def test_without_a_key_no_link_opens_anything(browser: Browser, hospital: Hospital) -> None:
    browser.open(hospital.link())

    assert (browser.answer.status_code, DE["link_unreadable"] in browser.text) == (404, True)


def test_another_patients_conversation_is_not_offered_to_who_has_a_link(hospital: Hospital, invited: Browser) -> None:
    invited.open("/")
    invited.press(LABELS["en"]["begin"], consent="yes")
    assert LABELS["en"]["go_on"] in invited.open("/").text

    invited.open(hospital.link(language="en"))

    assert LABELS["en"]["go_on"] not in invited.text
    assert invited.open("/chat").one("main").all("input", name="consent")


ELSEWHERE = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Referer": "https://www.example.org/"}]


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_a_link_on_another_site_does_not_replace_a_running_conversation(
    hospital: Hospital, invited: Browser, headers: dict[str, str]
) -> None:
    invited.open("/")
    invited.press(LABELS["en"]["begin"], consent="yes")
    session = invited.client.cookies["klartext-session"]

    invited._show(invited.client.get(hospital.link(language="de"), headers=headers))
    asked = invited.text
    invited.open("/")

    assert LABELS["en"]["unfinished_heading"] in asked
    assert LABELS["en"]["anonymous"] in invited.text  # the link was not taken up
    assert invited.client.cookies["klartext-session"] == session
    assert invited.open("/chat").one("form", id="say")


def test_who_wants_to_begin_anew_with_the_link_does(hospital: Hospital, invited: Browser) -> None:
    invited.open("/")
    invited.press(LABELS["en"]["begin"], consent="yes")
    invited._show(invited.client.get(hospital.link(language="en"), headers=ELSEWHERE[0]))

    invited.follow(LABELS["en"]["begin_new"])

    assert LABELS["en"]["invited"] in invited.text
    invited.press(LABELS["en"]["begin"], consent="yes")
    assert invited.open("/chat").one("form", id="say")


def _is_open(browser: Browser, session: str) -> list[int]:
    """Return what a copy of a session's cookie gets: from the page, and from the API."""
    id_, _, secret = session.partition(".")
    page = httpx.get(browser.client.base_url.join("/chat"), cookies={"klartext-session": session})
    address = browser.client.base_url.join(f"/api/v1/conversations/{id_}")
    return [page.status_code, httpx.get(address, headers={"Authorization": f"Bearer {secret}"}).status_code]


def test_a_copy_of_the_cookie_opens_nothing_after_the_end(browser: Browser) -> None:
    session = browser.client.cookies["klartext-session"]
    assert _is_open(browser, session) == [200, 200]

    browser.follow(DE["end"])
    browser.press(DE["end_yes"])

    assert _is_open(browser, session) == [303, 401]


def test_a_new_conversation_closes_the_one_before(browser: Browser) -> None:
    session = browser.client.cookies["klartext-session"]

    browser.open("/")
    browser.press(DE["begin"], consent="yes")

    assert _is_open(browser, session) == [303, 401]
    assert browser.open("/chat").one("form", id="say")


def test_numbers_are_those_of_the_country(hospital: Hospital, invited: Browser) -> None:
    invited.open("/")
    assert [link.get("href") for link in invited.page.all("a", class_="call")] == ["tel:144"]
    invited.press(LABELS["en"]["begin"], consent="yes")
    invited.say("I cannot breathe")

    assert SENTENCES["en"]["urgent_ch"] in invited.newest.text
    assert "112" not in invited.text
    assert [link.get("href") for link in invited.newest.all("a")] == ["tel:144"]


def test_where_nobody_may_dictate_the_microphone_is_closed(hospital: Hospital, invited: Browser) -> None:
    invited.open("/")
    invited.press(LABELS["en"]["begin"], consent="yes")

    assert "microphone=()" in invited.answer.headers["permissions-policy"]
    assert invited.page.one("form", id="say").get("data-dictation") == "off"


def test_only_named_sites_may_frame_the_page(hospital: Hospital) -> None:
    answer = httpx.get(hospital.server.url)

    assert answer.headers["content-security-policy"].endswith("frame-ancestors https://www.spital.example")
    assert "x-frame-options" not in answer.headers


@pytest.mark.parametrize(
    ("method", "address", "body", "headers", "status"),
    [
        ("GET", "/nothing", b"", {}, 404),
        ("GET", "/docs", b"", {}, 404),
        ("GET", "/chat/1", b"", {}, 404),
        ("PUT", "/chat", b"", {}, 405),
        ("POST", "/chat", b"text=a", {"Content-Type": "text/plain"}, 400),
        ("POST", "/chat", b"&".join(b"a=b" for _ in range(100)), FORM, 400),
        ("POST", "/chat", b"text=" + b"a" * 70_000, FORM, 413),
        ("GET", "/start/", b"", {}, 404),
    ],
)
def test_errors_are_pages_with_the_number_to_call(
    server: Server, method: str, address: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    answer = httpx.request(method, server.url + address, content=body, headers={"Accept-Language": "en", **headers})

    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert LABELS["en"][f"error_{status}"].replace("’", "’") in answer.text
    assert 'href="tel:112"' in answer.text


def test_who_sends_too_much_is_asked_to_wait(hospital: Hospital, invited: Browser) -> None:
    invited.open("/")
    invited.press(LABELS["en"]["begin"], consent="yes")
    form = invited.page.one("form", id="say")

    for number in range(4):
        invited.send(form, text="hello", turn=f"t{number}")

    assert (invited.answer.status_code, LABELS["en"]["error_429"] in invited.text) == (429, True)
    assert int(invited.answer.headers["retry-after"]) >= 1


def test_german_is_spelt_as_in_switzerland(hospital: Hospital, shipped: Assistant) -> None:
    browser = Browser(hospital.server.url, "de")
    browser.open("/")
    assert browser.page.one("html").get("lang") == "de-CH"
    assert "Grössere Schrift" in browser.text
    browser.press(DE["begin"], consent="yes")
    pair = next(pair for pair in shipped.catalog("de").pairs if "ß" in pair.answer)

    browser.press(pair.question.replace("ß", "ss"))

    answer = browser.newest.one(class_="answer")
    assert answer.one("details", class_="whole").one("p", class_="text").text == pair.answer.replace("ß", "ss")
    assert browser.newest.language == "de-CH"
    assert "ß" not in browser.text
    browser.client.close()


@pytest.mark.proof
def test_the_conversation_survives_the_server(own_server: Server) -> None:
    browser = Browser(own_server.url)
    browser.open("/")
    browser.press(DE["begin"], consent="yes")
    browser.say("Tut das weh?")
    own_server.kill()
    own_server.start()
    again = Browser(own_server.url)
    again.client.cookies = browser.client.cookies

    assert len(again.open("/chat").all("article", class_="turn")) == 2
    assert DE["go_on"] in again.open("/").text
    browser.client.close()
    again.client.close()


def test_the_file_of_a_copy_is_for_who_has_the_session_only(browser: Browser, server: Server) -> None:
    browser.say("</style><script>alert(1)</script>")

    answer = browser.client.get("/copy/file")

    assert answer.headers["content-disposition"].startswith('attachment; filename="klartext-20')
    assert "<script" not in answer.text
    assert "&lt;/style&gt;&lt;script&gt;" in answer.text
    assert httpx.get(server.url + "/copy/file").status_code == 303
