"""The page on a hospital's own site, by one script tag, in a real browser: two sites, both over https, that share nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from bot import Assistant
from tests.bot.web.serving import Server
from tests.bot.web.staff_members import STAFF_TOKEN, Member
from tests.browser.chromium import DESKTOP, PHONE, Device, barriers, launch, open_device, sideways
from tests.browser.encrypting import certificate, encrypting
from tests.browser.patients import LABELS
from tests.shipped_texts import PHRASES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SITE, CHAT, NEAR = "www.spital.example", "chat.klartext.test", "chat.spital.example"
STRANGER = "www.other.example"
SESSION = "klartext-framed-session"


class _Hospital(SimpleHTTPRequestHandler):
    """The site of a hospital, with a strict policy of its own."""

    chat = ""

    def end_headers(self) -> None:
        policy = f"default-src 'none'; script-src {self.chat}; frame-src {self.chat}; img-src 'self'"
        self.send_header("Content-Security-Policy", policy)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@dataclass(frozen=True)
class Web:
    """Two sites: the hospital's, and the chat at two names, one of which belongs to the hospital's domain."""

    folder: Path
    server: Server
    context: BrowserContext
    console: list[str] = field(default_factory=list)

    def page(self, *, tag: str = "", chat: str = CHAT, site: str = SITE) -> Page:
        """Open the hospital's page with the script tag, and with further attributes of it."""
        address = f"https://{chat}"
        _Hospital.chat = address
        (self.folder / "index.html").write_text(
            "<!doctype html><html lang='de'><head><meta charset='utf-8'><title>Spital</title>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'></head><body><main><h1>Spital</h1>"
            f"<p><a href='/'>Weiter</a></p></main><script src='{address}/embed.js' async {tag}></script></body></html>",
            encoding="utf-8",
        )
        page = self.context.new_page()
        page.on("console", lambda said: self.console.append(said.text))
        page.goto(f"https://{site}/")
        return page


@pytest.fixture(scope="module")
def service(shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    assert shipped.sample
    allowed = {"KLARTEXT_FRAME_ANCESTORS": f"https://{SITE}", "KLARTEXT_STAFF_TOKEN": STAFF_TOKEN}
    running = Server(tmp_path_factory.mktemp("embedded"), shipped_data, allowed)
    running.start()
    yield running
    running.kill()


@pytest.fixture
def web(request: pytest.FixtureRequest, browser: Browser, service: Server, tmp_path: Path) -> Iterator[Web]:
    """A browser that sends no cookies to third parties, as most do or will, and takes our certificate."""
    device: Device = getattr(request, "param", DESKTOP)
    folder = tmp_path / "site"
    folder.mkdir()
    pem = certificate(tmp_path)
    with ExitStack() as stack:
        site = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Hospital, directory=str(folder)))
        threading.Thread(target=site.serve_forever, daemon=True).start()
        stack.callback(site.server_close)
        stack.callback(site.shutdown)
        site_port = stack.enter_context(encrypting(site.server_port, pem))
        chat_port = stack.enter_context(encrypting(int(service.url.rsplit(":", 1)[1]), pem))
        ports = {SITE: site_port, STRANGER: site_port, CHAT: chat_port, NEAR: chat_port}
        names = ", ".join(f"MAP {name} 127.0.0.1:{port}" for name, port in ports.items())
        flags = (f"--host-resolver-rules={names}", "--test-third-party-cookie-phaseout")
        own = launch(browser.browser_type, *flags)
        stack.callback(own.close)
        context = open_device(own, device, trusting=True)
        stack.callback(context.close)
        yield Web(folder, service, context)


@pytest.mark.proof
@pytest.mark.parametrize("chat", [CHAT, NEAR], ids=["another site", "same domain"])
@pytest.mark.parametrize("web", [DESKTOP, PHONE], indirect=True, ids=["desktop", "phone"])
def test_a_whole_conversation_in_the_frame(web: Web, chat: str) -> None:
    page, t = web.page(chat=chat), LABELS["de"]
    page.get_by_role("button", name=t["embed_open"]).click()
    frame = page.frame_locator(f"iframe[title='{t['embed_title']}']")

    frame.get_by_label(t["consent_box"]).check()
    frame.get_by_role("button", name=t["begin"]).click()
    for number, text in enumerate(("Tut das weh?", "Ich kriege keine Luft"), 1):
        frame.locator("#text").fill(text)
        frame.get_by_role("button", name=t["send"]).click()
        frame.locator("#log > .turn").nth(number).wait_for()
    assert frame.get_by_role("alert").get_by_role("link").first.get_attribute("href") == "tel:112"
    page.reload()
    page.get_by_role("button", name=t["embed_open"]).click()
    frame.get_by_role("link", name=t["go_on"]).click()
    frame.locator("#log > .turn").nth(2).wait_for()
    frame.get_by_role("link", name=t["end"]).click()
    frame.get_by_role("button", name=t["end_yes"]).click()
    frame.get_by_role("heading", name=t["ended_heading"]).wait_for()


@pytest.mark.proof
def test_the_cookie_is_partitioned_and_opens_nothing_outside_of_the_site(web: Web) -> None:
    page, t = web.page(tag="data-open"), LABELS["de"]
    frame = page.frame_locator("iframe")
    frame.get_by_label(t["consent_box"]).check()
    frame.get_by_role("button", name=t["begin"]).click()
    frame.locator("#text").wait_for()

    (cookie,) = [each for each in web.context.cookies() if each["name"] == f"__Host-{SESSION}"]
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "None")
    assert str(cookie.get("partitionKey")).startswith("https://spital.example")
    alone = web.context.new_page()
    alone.goto(f"https://{CHAT}/chat")
    assert alone.get_by_label(t["consent_box"]).count() == 1  # it is asked to begin: nobody is known there


@pytest.mark.proof
def test_what_staff_write_reaches_a_frame(web: Web) -> None:
    page, t, member = web.page(tag="data-open"), LABELS["de"], Member(web.server)
    before = member.inbox().keys()
    frame = page.frame_locator("iframe")
    frame.get_by_label(t["consent_box"]).check()
    frame.get_by_role("button", name=t["begin"]).click()
    frame.get_by_role("button", name=t["call_staff"]).click()
    frame.locator("#log > .turn").nth(1).wait_for()
    (id_,) = member.inbox().keys() - before
    member.do(id_, "take")
    member.do(id_, "message", text="Ich bin gleich bei Ihnen.")

    frame.get_by_text(t["staff_from"].format(name=member.name)).wait_for()

    assert frame.locator("#log .of-staff .text").inner_text() == "Ich bin gleich bei Ihnen."


@pytest.mark.proof
def test_on_a_site_that_may_not_show_the_chat_there_is_no_button_that_does_nothing(web: Web) -> None:
    with web.context.expect_event("console") as said:
        page = web.page(tag="data-open", site=STRANGER)

    assert said.value.text.startswith(
        f"Klartext: https://{STRANGER} is not among the sites that may show https://{CHAT}"
    )
    assert page.locator("button, iframe").count() == 0
    assert sum(line.startswith("Klartext:") for line in web.console) == 1


@pytest.mark.proof
@pytest.mark.parametrize("web", [DESKTOP, PHONE], indirect=True, ids=["desktop", "phone"])
def test_the_button_can_be_used_by_keyboard_and_has_no_barriers(web: Web) -> None:
    page = web.page(tag='data-language="en" data-label="Ask us"')
    t, box = LABELS["en"], page.get_by_role("dialog", name=LABELS["en"]["embed_title"])
    button = page.get_by_role("button", name="Ask us")
    button.wait_for()
    assert barriers(page) == []
    assert button.bounding_box()["height"] >= 44  # type: ignore[index]

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    box.wait_for()
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name=PHRASES["en"]["heading"]).wait_for()
    assert page.evaluate("document.activeElement.tagName") == "IFRAME"
    assert barriers(page) == []
    assert sideways(page) == 0
    place, screen = box.bounding_box(), page.viewport_size
    assert place is not None
    assert screen is not None
    is_full = (place["width"], place["height"]) == (screen["width"], screen["height"])
    assert is_full == (screen["width"] < 640)

    page.keyboard.press("Escape")  # heard within the frame
    box.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Ask us"
    button.click()
    page.get_by_role("button", name=t["embed_close"]).click()
    assert button.is_visible()
    page.get_by_role("link", name="Weiter").click()  # what the full screen covered can be used again


@pytest.mark.proof
def test_forms_in_the_frame_are_ours_only(web: Web) -> None:
    """Another frame of the hospital's page is sent the cookie, too: what it posts is refused all the same."""
    page, t = web.page(tag="data-open"), LABELS["de"]
    frame = page.frame_locator("iframe")
    frame.get_by_label(t["consent_box"]).check()
    frame.get_by_role("button", name=t["begin"]).click()
    frame.locator("#text").wait_for()
    (cookie,) = [each for each in web.context.cookies() if each["name"] == f"__Host-{SESSION}"]
    token = frame.locator("#say input[name=token]").get_attribute("value")
    assert token is not None
    send = {"token": token, "turn": "t1", "text": "Hallo"}
    headers = {"Host": CHAT, "Cookie": f"__Host-{SESSION}={cookie['value']}", "Sec-Fetch-Dest": "iframe"}

    elsewhere = httpx.post(web.server.url + "/chat", data=send, headers={**headers, "Sec-Fetch-Site": "cross-site"})
    no_token = httpx.post(web.server.url + "/chat", data={**send, "token": ""}, headers=headers)
    ours = httpx.post(web.server.url + "/chat", data=send, headers={**headers, "Sec-Fetch-Site": "same-origin"})

    assert [answer.status_code for answer in (elsewhere, no_token, ours)] == [403, 403, 303]


@pytest.mark.proof
def test_where_no_site_is_allowed_nothing_is_embedded(server: Server, service: Server) -> None:
    assert httpx.get(server.url + "/embed.js").status_code == 404
    framed = httpx.get(server.url, headers={"Host": CHAT, "Sec-Fetch-Dest": "iframe"})
    assert "SameSite=lax" in framed.headers["set-cookie"]
    assert "Partitioned" not in framed.headers["set-cookie"]
    script = httpx.get(service.url + "/embed.js")
    assert script.headers["cross-origin-resource-policy"] == "cross-origin"
    assert script.headers["content-type"].startswith("text/javascript")
