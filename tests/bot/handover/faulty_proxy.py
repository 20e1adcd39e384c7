"""A proxy in front of a FHIR server that does to requests what networks and overloaded servers do."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import httpx

Fault = Literal["cut before", "cut after", "busy", "busy long", "broken", "slow", "unauthorised", "nonsense"]


@dataclass
class FaultyProxy:
    """Forwards requests, apart from those that a fault is planned for.

    Attributes:
        faults: What happens to the next requests that write, one each.
        retry_after: What it says when it is busy.
        tokens: Access tokens that it lets through; empty when none is needed.
        requests: Method, path and headers of what arrived.
    """

    target: str
    faults: list[Fault] = field(default_factory=list)
    retry_after: str = "0"
    tokens: set[str] = field(default_factory=set)
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/fhir"

    @property
    def writes(self) -> int:
        return sum(method == "POST" for method, _, _ in self.requests)

    def next_fault(self, method: str) -> Fault | None:
        with self.lock:
            return self.faults.pop(0) if method == "POST" and self.faults else None


def _handler(proxy: FaultyProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _serve(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            proxy.requests.append((method, self.path, dict(self.headers)))
            fault = proxy.next_fault(method)
            if fault == "cut before":
                return self._cut()
            if fault in {"busy", "busy long"}:
                wait = "3600" if fault == "busy long" else proxy.retry_after
                return self._reply(429, b"{}", {"Retry-After": wait})
            if fault == "broken":
                return self._reply(500, b"oops")
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if fault == "unauthorised" or (proxy.tokens and given not in proxy.tokens):
                return self._reply(401, b"{}")
            answer = httpx.request(
                method,
                proxy.target.removesuffix("/fhir") + self.path,
                content=body,
                headers={"Content-Type": self.headers.get("Content-Type", "")},
                trust_env=False,
                timeout=60,
            )
            if fault == "cut after":
                return self._cut()
            if fault == "slow":
                time.sleep(1.5)
            content = b"<html>hello</html>" if fault == "nonsense" else answer.content
            return self._reply(answer.status_code, content)

        def _cut(self) -> None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def _reply(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
            try:
                self.send_response(status)
                for name, value in {"Content-Type": "application/fhir+json", **(headers or {})}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # the client has given up

    return Handler


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """Run a proxy in front of `target`."""
    proxy = FaultyProxy(target)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy))
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
