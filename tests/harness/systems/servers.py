"""A real HTTP server on loopback that answers, and fails, as a test says."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CUT, SLOW, GARBLED = 0, -1, -2


@dataclass
class Seen:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Server:
    """What a test says and sees: `faults` come first, one a request: a status, CUT, SLOW or GARBLED."""

    reply: Callable[[Seen], Any]
    faults: list[int]
    seen: list[Seen] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(
    reply: Callable[[Seen], Any], *, faults: Sequence[int] = (), headers: Mapping[str, str] | None = None
) -> Iterator[Server]:
    server = Server(reply, list(faults))

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            seen = Seen(self.command, self.path, dict(self.headers), body)
            server.seen.append(seen)
            fault = server.faults.pop(0) if server.faults else 200
            if fault == CUT:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if fault == SLOW:
                time.sleep(0.6)
                return
            payload = b'{"pair": "pa' if fault == GARBLED else json.dumps(reply(seen)).encode()
            self.send_response(max(fault, 200))
            if 300 <= fault < 400:
                self.send_header("Location", "http://192.0.2.1/elsewhere")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_POST = do_GET = do_PUT = do_DELETE = _answer  # noqa: N815 - the base class's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Stay quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
