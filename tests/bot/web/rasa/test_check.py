"""`klartext rasa check`: what a Rasa server says, also one that is none, has no end, or steers the terminal."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bot.errors import UserFixable
from bot.web.rasa.project import ACTIONS_PATH, NATIVE, service_address
from bot.web.rasa.server import ActionServer, check_server
from tests.shipped_texts import SAID

Run = Callable[..., subprocess.CompletedProcess[bytes]]
HELLO = b"Hello from Rasa: 3.6.21"
TOKEN = "a-secret-of-twenty-characters"
Answer = tuple[int, bytes]


@dataclass
class Stub:
    """A server on this machine: what it answers by path, and whether it ever ends."""

    answers: dict[str, Answer] = field(default_factory=dict)
    delay_s: float = 0.0
    endless: bool = False
    url: str = ""

    def says(self, *texts: str) -> None:
        body = json.dumps([{"recipient_id": "x", "text": text} for text in texts]).encode()
        self.answers = {"/": (200, HELLO), "/webhooks/rest/webhook": (200, body)}


@pytest.fixture
def stub() -> Iterator[Stub]:
    served = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(served.delay_s)
            status, body = served.answers.get(self.path, (404, b""))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)
            try:
                while served.endless and self.command == "POST":
                    self.wfile.write(b"[" + b" " * 1_000_000)
            except OSError:
                pass  # whoever asked has had enough

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield served
        server.shutdown()
        thread.join()


def _refused(stub: Stub, behind: ActionServer | None = None, *, timeout_s: float = 5.0) -> str:
    with pytest.raises(UserFixable) as raised:
        check_server(f"{stub.url}/", timeout_s=timeout_s, behind=behind)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("hello", "answer", "expected"),
    [
        (b"Hello", (200, b""), "is no Rasa server"),
        (b"Hello from Rasa: 2.8.34", (200, b""), "is Rasa 2.8.34. Projects are for Rasa Open Source 3.6"),
        (HELLO, (404, b""), "has no REST channel"),
        (HELLO, (200, b"[]"), "says nothing (status 200)"),
        (HELLO, (500, b"<html>"), "says nothing (status 500)"),
        (HELLO, (200, b"[" * 5000), "says nothing (status 200)"),
    ],
)
def test_what_is_no_rasa_another_or_says_nothing_is_named_in_one_line(
    stub: Stub, hello: bytes, answer: Answer, expected: str
) -> None:
    stub.answers = {"/": (200, hello), "/webhooks/rest/webhook": answer}

    assert expected in _refused(stub)


def test_a_server_that_is_not_there_is_to_be_started_and_its_address_is_not_blamed() -> None:
    with pytest.raises(UserFixable, match=r"No Rasa server answers at http://127\.0\.0\.1:9 .* Start it") as raised:
        check_server("http://127.0.0.1:9", timeout_s=5)
    assert "not 'http" not in str(raised.value)


def test_a_slow_server_and_one_whose_answer_has_no_end_are_given_up(stub: Stub) -> None:
    stub.says("Guten Tag.")
    stub.delay_s = 1.0
    assert "did not answer within 0.3 s" in _refused(stub, timeout_s=0.3)

    stub.delay_s, stub.endless = 0.0, True
    assert "sends more than 8388608 bytes" in _refused(stub)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "Another secret (401)"),
        (404, "with KLARTEXT_RASA_TOKEN set"),
        (503, "still learning its catalog (503)"),
        (422, "takes the secret that is set here. So Rasa was started with another secret"),
        (409, "the project is for another exam"),
    ],
)
@pytest.mark.parametrize("key", ["safe", "safe_ch"])
def test_where_rasa_gets_no_answer_the_service_is_asked_why(stub: Stub, status: int, expected: str, key: str) -> None:
    stub.says(SAID["de"].get(key, SAID["de"]["safe"]), SAID["en"]["safe"])
    stub.answers[ACTIONS_PATH] = (status, b"{}")

    told = _refused(stub, ActionServer(stub.url, TOKEN))

    assert "does not get an answer of its action server" in told
    assert expected in told
    assert TOKEN not in told


def test_a_service_that_is_down_is_said_and_without_its_secret_what_to_set(stub: Stub) -> None:
    stub.says(SAID["en"]["safe"])

    assert "Nor does the service at http://127.0.0.1:9 answer" in _refused(
        stub, ActionServer("http://127.0.0.1:9", TOKEN)
    )
    assert "Set KLARTEXT_RASA_TOKEN here" in _refused(stub, ActionServer(stub.url))


def test_nothing_of_a_server_steers_the_terminal_or_fills_it(stub: Stub, klartext: Run) -> None:
    hostile = "\x1b]0;title\x07\x1b[31mrot\x1b[0m \u202egewendet\x07\ud800\rneu"
    stub.says(hostile, "x" * 50_000)

    done = klartext("rasa", "check", stub.url)

    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert [each for each in shown if not each.isprintable() and each != "\n"] == []
    assert "  rot gewendet\n  neu\n" in shown
    assert len(shown) < 5000
    assert "characters more" in shown


def test_a_native_project_is_told_to_be_for_no_patient(stub: Stub, klartext: Run) -> None:
    stub.says(NATIVE)

    assert b"not for patients" in klartext("rasa", "check", stub.url).stderr
    stub.says("Guten Tag.")
    assert klartext("rasa", "check", stub.url).stderr == b""


@pytest.mark.parametrize("url", ["http://user:pass-word@127.0.0.1:5005", "http://:pass-word@[::1]", "//a:pass-word@b"])
def test_a_password_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    for refusing in (service_address, lambda given: check_server(given, timeout_s=1)):
        with pytest.raises(UserFixable, match="holds a user or a password") as raised:
            refusing(url)
        assert "pass-word" not in str(raised.value)


def test_the_service_is_on_this_machine_or_encrypted_and_its_path_is_there_once() -> None:
    for url in ("http://192.168.1.7:8000", "http://klartext.example.org", "http://127.0.0.1.example.org"):
        with pytest.raises(UserFixable, match="not encrypted"):
            service_address(url)
    for url in ("http://localhost:8000", "http://[::1]:8000", "https://chat.example.org/klartext"):
        assert {service_address(url + end) for end in ("", "/", ACTIONS_PATH, f"{ACTIONS_PATH}/")} == {url}
