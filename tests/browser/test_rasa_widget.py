"""A public chat widget that speaks Rasa's REST protocol, in a real browser, against our channel.

Between them stands the hospital's own site: it adds the channel's token, and says who the sender is. Neither is in a page.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterator
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from bot.sentences.reply import SENTENCES
from tests.bot.web.serving import CHANNEL_TOKEN, Server
from tests.browser.chromium import DESKTOP
from tests.browser.conftest import OpenPage

WIDGET = Path(__file__).parents[1] / "rasa_widget" / "node_modules" / "@scalableminds" / "chatroom" / "dist"
NO_WIDGET = "needs a chat widget: make tests/rasa_widget/node_modules"
PAGE = """<!doctype html><html lang="de"><head><meta charset="utf-8"><title>Spital</title>
<link rel="stylesheet" href="/Chatroom.css"></head><body><div class="chat-container"></div><script src="/Chatroom.js"></script>
<script>new Chatroom({ host: "", title: "Fragen", container: document.querySelector(".chat-container"),
welcomeMessage: "Guten Tag." }).openChat();</script></body></html>"""
CHANNEL = "/webhooks/rest/webhook"


class _Site(BaseHTTPRequestHandler):
    """The hospital's site: a page with the widget, and what passes its messages on."""

    service = ""

    def do_GET(self) -> None:
        file = WIDGET / Path(self.path).name
        self.send_response(200 if self.path == "/" or file.is_file() else 404)
        if self.path == "/":
            self.send_header("Set-Cookie", f"visitor={secrets.token_urlsafe(32)}; HttpOnly; SameSite=Strict")
            self._send(PAGE.encode())
        else:
            self._send(file.read_bytes() if file.is_file() else b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        visitor = SimpleCookie(self.headers["Cookie"])["visitor"].value
        answer = httpx.post(
            self.service + CHANNEL,
            json={"sender": visitor, "message": asked["message"]},
            headers={"Authorization": f"Bearer {CHANNEL_TOKEN}"},
            timeout=60,
        )
        self.send_response(answer.status_code)
        self._send(answer.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""

    def _send(self, content: bytes) -> None:
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def site(server: Server) -> Iterator[str]:
    if not WIDGET.is_dir():
        pytest.skip(NO_WIDGET)
    _Site.service = server.url
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.mark.proof
def test_a_public_widget_of_rasa_talks_to_our_channel_and_never_has_its_token(site: str, open_page: OpenPage) -> None:
    page = open_page(DESKTOP)
    seen: list[str] = []
    page.on("request", lambda request: seen.append(f"{request.url} {request.headers} {request.post_data}"))
    page.on("response", lambda response: seen.append(str(response.headers)))
    page.goto(site)
    said = SENTENCES["de"]

    def say(text: str, expected: str) -> None:
        page.locator(".chat-container input[type=text]").fill(text)
        page.keyboard.press("Enter")
        page.get_by_text(expected[:60]).first.wait_for()

    say("Ergebnis und Schmerzen", said["clarify"])
    page.get_by_text(said["none_of_these"], exact=True).click()
    page.get_by_text(said["none_chosen"][:60]).first.wait_for()
    say("Tut das weh?", said["more_hint"])
    say("Ich kriege keine Luft", said["urgent"])
    page.get_by_text(said["no_emergency"], exact=True).wait_for()

    everything = "\n".join([*seen, page.content(), *(file.read_text() for file in WIDGET.glob("*.css"))])
    assert sum(CHANNEL in each for each in seen) == 4
    assert CHANNEL_TOKEN not in everything
    assert httpx.post(_Site.service + CHANNEL, json={"sender": "x", "message": "Hallo"}).status_code == 401
