"""A proxy in front of a model endpoint that does to requests what networks, gateways and moderation do."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx

REFUSAL = "Es tut mir leid, aber ich kann dabei nicht helfen."
# A status code (int), or one of: busy (429 with Retry-After), cut (in the middle of the answer), slow, late 401, malformed,
# empty (no choices), refusal, page (a web page with status 200), and no PARAMETER (a 400 that blames it).
Fault = int | str


@dataclass
class FaultyModel:
    """The proxy.

    Attributes:
        target: Base URL of the model.
        faults: What happens to the next requests, one each; then all goes well.
        retry_after: What it says when it is busy.
        slow_s: How long a slow answer is held back.
        requests: Bodies that arrived, in order.
        times: When, on the monotonic clock.
        busiest: Most requests that were under way at once.
    """

    target: str
    faults: list[Fault] = field(default_factory=list)
    retry_after: str = "1"
    slow_s: float = 3.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    under_way: int = 0
    busiest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    released: threading.Event = field(default_factory=threading.Event)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(verify=False, trust_env=False, timeout=60))
    url: str = ""

    def tasks(self) -> list[str]:
        """Return the last message of each request, in order."""
        return [request["messages"][-1]["content"] for request in self.requests]


def _handler(proxy: FaultyModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(content)
            with proxy.lock:
                proxy.requests.append(body)
                proxy.times.append(time.monotonic())
                fault = proxy.faults.pop(0) if proxy.faults else 200
                proxy.under_way += 1
                proxy.busiest = max(proxy.busiest, proxy.under_way)
            try:
                self._serve(fault, content)
            except OSError:
                self.close_connection = True  # the client has given up
            finally:
                with proxy.lock:
                    proxy.under_way -= 1

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _serve(self, fault: Fault, content: bytes) -> None:
            if fault == "busy":
                return self._reply(429, _error("rate_limit_exceeded"), {"Retry-After": proxy.retry_after})
            if fault == "late 401":
                proxy.released.wait(proxy.slow_s)
                return self._reply(401, _error("scripted"))
            if isinstance(fault, str) and fault.startswith("no "):
                return self._reply(400, _error("unsupported_parameter", param=fault.removeprefix("no ")))
            if isinstance(fault, int) and fault != 200:
                return self._reply(fault, _error("insufficient_quota" if fault == 429 else "scripted"))
            if fault in _REPLACED:
                return self._reply(200, _REPLACED[fault])
            if fault == "slow" and proxy.released.wait(proxy.slow_s):
                return self._cut(b"")  # the test is over
            status, answer = self._forwarded(content)
            if fault == "cut":
                return self._cut(answer)
            return self._reply(status, answer)

        def _forwarded(self, content: bytes) -> tuple[int, bytes]:
            url = proxy.target.removesuffix("/v1") + urlsplit(self.path).path
            headers = {"Content-Type": "application/json"}
            answer = proxy.client.post(url, content=content, headers=headers)
            return answer.status_code, answer.content

        def _reply(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _cut(self, answer: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer[: len(answer) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    return Handler


def _error(code: str, *, param: str | None = None) -> bytes:
    return json.dumps({"error": {"message": "scripted", "type": "error", "code": code, "param": param}}).encode()


def _with_text(text: str) -> bytes:
    choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    return json.dumps({"id": "x", "object": "chat.completion", "model": "gateway", "choices": choices}).encode()


_REPLACED: dict[Fault, bytes] = {
    "malformed": b'{"id": "x", "choices": [{"message": {"content": "Tut das',
    "empty": json.dumps({"id": "x", "object": "chat.completion", "model": "gateway", "choices": []}).encode(),
    "page": b"<!doctype html><html><body>Welcome to nginx</body></html>",
    "refusal": _with_text(REFUSAL),
}


@contextmanager
def faulty_model(target: str, faults: Sequence[Fault] = ()) -> Iterator[FaultyModel]:
    """Run a proxy in front of `target`."""
    proxy = FaultyModel(target, list(faults))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy))
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        proxy.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
        proxy.client.close()
