"""Whatever a client sends, the answer says whom to call, has the usual headers, and is never a bare 500."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from bot import Assistant
from bot.web.limits import MAX_HEAD_BYTES
from tests.bot.web.browser import Browser
from tests.bot.web.serving import Server
from tests.postgresql import emptied

FORM_TYPE = {"Content-Type": "application/x-www-form-urlencoded"}
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
API_POST = "POST /api/v1/conversations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
LONG = "X-Long: " + "x" * (MAX_HEAD_BYTES + 1) + "\r\n"


def _raw(server: Server, request: str) -> tuple[int, dict[str, str], str]:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request.encode("latin-1"))
        answer = connection.makefile("rb")
        status = int(answer.readline().split()[1])
        headers: dict[str, str] = {}
        while line := answer.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, answer.read(int(headers.get("content-length", "0"))).decode()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (f"POST /begin HTTP/1.1\r\nHost: x\r\nOrigin: http://[\r\n{FORM}Content-Length: 0\r\n\r\n", 403),
        (f"POST /look HTTP/1.1\r\nHost: x\r\nOrigin: http://[::1\r\n{FORM}Content-Length: 0\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: x\r\nOrigin: http://[\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\nHost: [\r\n\r\n", 200),
        ("GET /chat HTTP/1.1\r\nHost: x\r\nCookie: klartext-session=\u00ff\r\n\r\n", 303),
        (f"GET / HTTP/1.1\r\nHost: x\r\n{LONG}\r\n", 431),
        (f"GET /chat HTTP/1.1\r\nHost: x\r\n{LONG}\r\n", 431),
        (f"GET /livez HTTP/1.1\r\nHost: x\r\n{LONG}\r\n", 431),
        (f"GET / HTTP/1.1\r\nHost: x\r\n{LONG * 2}\r\n", 431),
        (f"{API_POST}Content-Length: {'0' * 5000}\r\n\r\n", 422),
        (f"{API_POST}Content-Length: {'0' * 5000}2\r\n\r\n{{}}", 422),
        (f"{API_POST}Content-Length: 100000\r\n\r\n", 413),
        (f"{API_POST}Content-Length: 999999999999999999\r\n\r\n", 413),
        (f"{API_POST}Content-Length: {'9' * 5000}\r\n\r\n", 400),
        (f"{API_POST}Content-Length: -1\r\n\r\n", 400),
        (f"POST /begin HTTP/1.1\r\nHost: x\r\n{FORM}Content-Length: {'0' * 5000}\r\n\r\n", 403),
        ("this is no HTTP\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
    ],
)
def test_every_odd_request_is_answered_with_the_notice(server: Server, request_: str, status: int) -> None:
    found, headers, body = _raw(server, request_)

    assert found == status, body[:300]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "content-security-policy" in headers
    if found != 303:
        assert "112" in body


@pytest.mark.parametrize("language", ["日本", "éé", "\ud800\udc00", "x\r\n", "\x00\x00", "de" * 5000])
def test_any_language_may_be_asked_for_on_the_page(server: Server, language: str) -> None:
    fields = {"language": language.encode("utf-8", "surrogatepass"), "back": "/"}
    chosen = httpx.post(server.url + "/look", content=urlencode(fields), headers=FORM_TYPE)

    assert chosen.status_code == 303
    assert chosen.headers["x-content-type-options"] == "nosniff"


@pytest.fixture(scope="module")
def on_postgresql(
    shipped: Assistant, shipped_data: Path, tmp_path_factory: pytest.TempPathFactory, postgresql: str
) -> Iterator[Server]:
    assert shipped.sample
    running = Server(tmp_path_factory.mktemp("pg"), shipped_data, {"KLARTEXT_DATABASE_URL": emptied(postgresql)})
    running.start()
    yield running
    running.kill()


@pytest.mark.proof
@pytest.mark.parametrize("turn", ["\x00", "a\x00b", "ü", "x" * 65, "a b", "a\n", "", "\ud800"])
@pytest.mark.parametrize("address", ["/chat", "/feedback"])
def test_no_turn_id_breaks_postgresql(on_postgresql: Server, address: str, turn: str) -> None:
    browser = Browser(on_postgresql.url)
    browser.open("/")
    browser.send(next(each for each in browser.page.all("form") if each.get("action") == "/begin"), consent="yes")
    token = browser.filled(browser.page.one("form", id="say"))["token"]
    fields = {"token": token, "turn": turn.encode("utf-8", "surrogatepass"), "text": "Tut das weh?"}
    refused = browser.client.post(address, content=urlencode(fields), headers=FORM_TYPE)
    browser.client.close()

    assert refused.status_code == 400
    assert "112" in refused.text


@pytest.mark.proof
@pytest.mark.parametrize("text", ["Tut\x00 das weh?", "\ud800 weh?", "\x00"])
def test_no_text_breaks_postgresql(on_postgresql: Server, text: str) -> None:
    base = on_postgresql.url + "/api/v1/conversations"
    begun = httpx.post(base, json={"consent": True, "language": "de"}).json()
    said = {"turn_id": "t1", "text": text}
    headers = {"Authorization": f"Bearer {begun['token']}", "Content-Type": "application/json"}

    sent = httpx.post(f"{base}/{begun['id']}/turns", content=json.dumps(said), headers=headers, timeout=60)

    assert sent.status_code == 200
