"""Patients who come from a hospital's portal or EHR: a real service, a real OpenID provider, and browsers between them."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot import Assistant
from bot.ports import Booking, StoredConversation
from bot.web.links import LINK, invite, mac, seal
from bot.web.page.launching import PURPOSE
from bot.web.page.rendering import load_labels
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Server
from tests.bot.web.smart_place import AWAY, KEY, Place, environ_for, launching_place
from tests.conftest import Run
from tests.oidc_process import OidcServer

LABELS = load_labels()


@pytest.fixture(scope="module")
def running(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    assert shipped.sample
    with launching_place(tmp_path_factory.mktemp("smart"), shipped_data) as started:
        yield started


@pytest.fixture
def place(running: Place) -> Iterator[Place]:
    running.provider.behave(login="anna")
    running.provider.asked()
    yield running
    while running.opened:
        running.opened.pop().client.close()


def stored(place: Place, browser: Browser) -> StoredConversation:
    return place.conversation(browser.client.cookies["klartext-session"])


def begin(browser: Browser) -> str:
    """Agree on the start page, and return the language of the page."""
    browser.client.headers["Sec-Fetch-Site"] = "same-origin"
    language = browser.page.one("html").get("lang")
    browser.press(LABELS[language]["begin"], consent="yes")
    assert browser.answer.url.path == "/chat"
    return language


def open_(browser: Browser, path: str, **query: str) -> httpx.Response:
    browser.open(str(httpx.URL(path, params=query)) if query else path)
    return browser.answer


def test_an_ehr_launch_begins_what_a_link_begins(place: Place, klartext: Run) -> None:
    browser, linked = place.browser(), place.browser()

    assert open_(browser, "/smart/launch", **place.ehr("visit")).url.path == "/"
    assert LABELS["en"]["invited"] in browser.text, "in the language that the patient speaks"
    assert begin(browser) == "en"

    came = stored(place, browser)
    until = came.begun.replace(year=came.begun.year + 1)
    booking = Booking("A-1", "O-2", "ACC-3")
    linked.open(
        f"/start/{seal(invite('P-4711', exam='mammography', language='en', expires=until, booking=booking), KEY)}"
    )
    begin(linked)
    told = stored(place, linked)
    names = [name for name in StoredConversation.__slots__ if name not in ("id", "begun", "secret_hash")]
    assert {name: getattr(came, name) for name in names} == {name: getattr(told, name) for name in names}
    assert came.patient == "P-4711"
    assert came.booking == booking

    environ = {
        "KLARTEXT_DATABASE_URL": f"sqlite:///{place.server.database()}",
        "KLARTEXT_AUDIT_LOG": str(place.server.audit_log()),
    }
    erased = klartext("records", "erase", "--patient", "P-4711", environ=environ, stdin=b"y\n")
    assert erased.returncode == 0, erased.stderr
    assert browser.client.get("/chat").url.path == "/", "who launched is found and erased by the pseudonym"


def test_a_patient_who_comes_alone_signs_in_with_a_form(place: Place) -> None:
    place.provider.behave()
    browser = place.browser()

    assert "Sign in" in open_(browser, "/smart/launch").text
    browser.press("Sign in", do="login", account="berta", password="wrong")
    assert "Wrong." in browser.text
    browser.press("Sign in", do="login", account="berta", password="of berta")
    assert browser.answer.url.path == "/"
    begin(browser)

    came = stored(place, browser)
    assert (came.patient, came.language, came.booking) == ("P-4712", "de", Booking())


def test_an_issuer_may_end_with_a_slash(place: Place) -> None:
    assert open_(place.browser(), "/smart/launch", iss=place.provider.fhir + "/").url.path == "/"


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ({"iss": "https://evil.example.org/fhir"}, 403, "launch_unknown"),
        ({"iss": "http://localhost:{port}/fhir"}, 403, "launch_unknown"),
        ({"iss": "http://user@127.0.0.1:{port}/fhir"}, 403, "launch_unknown"),
        ({"iss": "http://127.0.0.1:1/fhir", "launch": "x"}, 403, "launch_unknown"),
        ({"iss": AWAY}, 503, "launch_down"),
        ({"launch": "visit"}, 400, "launch_odd"),
        ({"iss": "http://127.0.0.1:{port}/fhir", "launch": "x" * 10_000}, 400, "launch_odd"),
        ({"iss": "x" * 10_000}, 400, "launch_odd"),
    ],
)
@pytest.mark.parametrize("language", ["de", "en"])
def test_who_comes_from_elsewhere_gets_one_kind_page_and_nobody_is_asked(
    place: Place, query: dict[str, str], status: int, sentence: str, language: str
) -> None:
    browser, port = place.browser(language), place.provider.issuer.rpartition(":")[2]

    answer = open_(browser, "/smart/launch", **{name: value.replace("{port}", port) for name, value in query.items()})

    assert answer.status_code == status
    assert LABELS[language][sentence] in browser.text
    assert place.phone in browser.text
    assert LABELS[language]["launch_anonymous"] in browser.text
    assert "klartext-launch" not in browser.client.cookies
    assert place.provider.asked() == []
    assert "evil" not in place.server.stderr()


@pytest.mark.parametrize(
    ("behaviour", "status", "sentence"),
    [
        ({"login": {"deny": True}}, 403, "launch_denied"),
        ({"login": "dr-tal"}, 409, "launch_no_patient"),
        ({"login": "anna", "forge": {"key": "none"}}, 502, "launch_unproven"),
        ({"login": "anna", "forge": {"claims": {"aud": "other-app"}}}, 502, "launch_unproven"),
        ({"login": "anna", "fault": {"token": "page"}}, 502, "launch_unproven"),
        ({"login": "anna", "fault": {"Patient": 503}}, 503, "launch_down"),
    ],
)
@pytest.mark.parametrize("language", ["de", "en"])
def test_each_failure_is_one_kind_sentence_and_one_line_for_staff(
    place: Place, behaviour: dict[str, object], status: int, sentence: str, language: str
) -> None:
    place.provider.behave(**behaviour)  # type: ignore[arg-type]
    browser, before = place.browser(language), len(place.told())

    answer = open_(browser, "/smart/launch", iss=place.provider.fhir)

    assert answer.status_code == status
    assert LABELS[language][sentence] in browser.text
    assert place.phone in browser.text
    assert browser.text.count(LABELS[language]["error_heading"]) == 1
    (line,) = place.told()[before:]
    assert (line["level"], line["event"], line["reason"]) == (
        "warning",
        "launch failed",
        sentence.removeprefix("launch_"),
    )
    assert line["provider"] == urlsplit(place.provider.issuer).netloc
    assert line["detail"]
    assert f'klartext_launches_total{{outcome="{line["reason"]}"}}' in httpx.get(f"{place.server.url}/metrics").text
    assert browser.client.get("/").status_code == 200
    assert LABELS[language]["anonymous"] in browser.open("/").text


def test_nothing_of_the_patient_and_no_token_stands_in_the_log(place: Place) -> None:
    browser = place.browser()
    address = _callback_of(browser, place)
    assert open_(browser, address).url.path == "/"

    log = place.server.stderr()
    assert place.told()[-1]["event"] == "launched"
    assert place.told()[-1]["user"] == "Patient"
    said = parse_qs(urlsplit(address).query)
    for secret in (
        "P-4711",
        "Patient/anna",
        "Muster",
        "A123456789",
        said["code"][0],
        said["state"][0],
        "Bearer",
        "eyJ",
    ):
        assert secret not in log


def _callback_of(browser: Browser, place: Place, **query: str) -> str:
    """Let a browser sign in, and return the address that it would come back to, unopened."""
    browser.client.follow_redirects = False
    answer = browser.client.get("/smart/launch", params=query)
    while "/smart/callback" not in answer.headers["location"]:
        answer = browser.client.get(httpx.URL(str(answer.url)).join(answer.headers["location"]))
        assert answer.has_redirect_location, answer.text
    browser.client.follow_redirects = True
    address = str(answer.headers["location"])
    assert address.startswith(place.server.url)
    return address


def assert_late(place: Place, browser: Browser, address: str) -> None:
    place.provider.asked()
    answer = open_(browser, address)
    assert answer.status_code == 410
    assert LABELS[browser.page.one("html").get("lang")]["launch_late"] in browser.text
    assert "/token" not in place.provider.asked()


def test_a_state_is_good_once_even_where_a_browser_keeps_its_cookie(place: Place) -> None:
    browser = place.browser()
    address = _callback_of(browser, place)
    kept = browser.client.cookies["klartext-launch"]
    assert open_(browser, address).url.path == "/"
    assert "klartext-launch" not in browser.client.cookies

    assert_late(place, browser, address)
    browser.client.cookies.set("klartext-launch", kept, domain="127.0.0.1")
    assert_late(place, browser, address)


def test_the_state_of_another_browser_is_refused(place: Place) -> None:
    victim, attacker = place.browser(), place.browser()
    address = _callback_of(attacker, place)

    assert_late(place, victim, address)
    _callback_of(victim, place)
    assert_late(place, victim, address)
    assert "klartext-link" not in victim.client.cookies


def test_a_launch_that_was_altered_or_is_too_old_is_refused(place: Place) -> None:
    browser = place.browser()
    address = _callback_of(browser, place)
    content, _, given = browser.client.cookies["klartext-launch"].partition(".")
    old = json.loads(base64.urlsafe_b64decode(content)) | {"until": int(time.time())}
    expired = base64.urlsafe_b64encode(json.dumps(old).encode()).decode()
    link = seal(invite("P-1", exam="mammography", language="de", expires=datetime.now(UTC) + timedelta(days=1)), KEY)
    forgeries = (f"{content}.{given[:-1]}", f"{content[:-4]}AAAA.{given}", content, "ü", "." * 3000, link)

    for forged in (*forgeries, f"{expired}.{mac(expired, KEY, PURPOSE)}", f"{expired}.{mac(expired, KEY, LINK)}"):
        headers = {b"Cookie": f"klartext-launch={forged}".encode()}
        assert httpx.get(address, headers=headers, trust_env=False).status_code == 410
    assert open_(browser, address).url.path == "/", "what others tried has not used it up"


@pytest.mark.proof
def test_a_provider_that_never_answers_is_not_waited_for(place: Place) -> None:
    browser = place.browser()
    address = _callback_of(browser, place)
    place.provider.behave(login="anna", fault={"token": "hang"})

    answer = open_(browser, address)

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "60"
    assert answer.elapsed.total_seconds() < 15
    assert LABELS["de"]["launch_down"] in browser.text


@pytest.mark.parametrize("code", ["", "x" * 10_000])
def test_an_answer_without_a_code_is_told_as_one(place: Place, code: str) -> None:
    browser = place.browser()
    state = parse_qs(urlsplit(_callback_of(browser, place)).query)["state"][0]
    place.provider.asked()

    assert open_(browser, "/smart/callback", state=state, code=code).status_code == 400
    assert LABELS["de"]["launch_odd"] in browser.text
    assert place.provider.asked() == []


def test_a_pseudonym_that_could_not_stand_in_a_link_signs_nobody_in(place: Place) -> None:
    browser = place.browser()

    assert open_(browser, "/smart/launch", **place.ehr("spaces")).status_code == 409
    assert "Muster" not in place.server.stderr()


def test_another_patients_launch_does_not_end_a_conversation_unasked(place: Place) -> None:
    browser = place.browser()
    open_(browser, "/smart/launch", **place.ehr("visit"))
    begin(browser)
    place.provider.behave(login="berta")
    for cookie in list(browser.client.cookies.jar):
        if not cookie.name.startswith("klartext"):
            browser.client.cookies.jar.clear(cookie.domain, cookie.path, cookie.name)
    browser.client.headers["Sec-Fetch-Site"] = "cross-site"

    open_(browser, "/smart/launch", iss=place.provider.fhir)

    assert LABELS["en"]["unfinished_text"] in browser.text
    assert stored(place, browser).patient == "P-4711"
    browser.client.headers["Sec-Fetch-Site"] = "same-origin"
    browser.follow(LABELS["en"]["begin_new"])
    begin(browser)
    assert stored(place, browser).patient == "P-4712"


def test_who_sends_the_browser_elsewhere_is_not_followed(place: Place) -> None:
    browser = place.browser()
    browser.client.follow_redirects = False
    answer = browser.client.get(
        "/smart/launch", params={"redirect_uri": "https://evil.example.org", "iss": place.provider.fhir}
    )
    said = parse_qs(urlsplit(answer.headers["location"]).query)

    assert said["redirect_uri"] == [f"{place.server.url}/smart/callback"]
    assert answer.headers["location"].startswith(f"{place.provider.issuer}/auth?")
    other = browser.client.get("/smart/launch", headers={"Host": "evil.example.org"})
    assert parse_qs(urlsplit(other.headers["location"]).query)["redirect_uri"] == [f"{place.server.url}/smart/callback"]


def test_without_the_setting_there_is_no_such_address(server: Server) -> None:
    for path in ("/smart/launch", "/smart/callback"):
        assert httpx.get(server.url + path).status_code == 404


@pytest.mark.parametrize("missing", ["KLARTEXT_PUBLIC_URL", "KLARTEXT_LINK_KEY", "KLARTEXT_FHIR_PATIENT_SYSTEM"])
def test_what_else_has_to_be_set_is_said_before_anything_starts(klartext: Run, missing: str) -> None:
    environ = environ_for(OidcServer("http://127.0.0.1:1"), 1) | {missing: ""}

    done = klartext("serve", "--sample", "--port", "0", environ=environ)

    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"klartext: {missing} is not set, and KLARTEXT_SMART needs it")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.proof
def test_who_lacks_the_extra_is_told_at_the_start(klartext: Run) -> None:
    environ = environ_for(OidcServer("http://127.0.0.1:1"), 1)

    done = klartext("serve", "--sample", "--port", "0", environ=environ, before="sys.modules['jwt'] = None")

    assert done.returncode == 2
    assert done.stderr.decode().strip() == (
        "klartext: SMART App Launch needs the extra 'smart'. Run `pip install 'klartext[smart]'`."
    )
