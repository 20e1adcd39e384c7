"""Contacts of a site on loopback: a webhook and a mail server, each with what it got."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Sink:
    """A server that keeps what it is sent; `status` is what it answers to the next."""

    url: str = ""
    status: int = 200
    got: list[str] = field(default_factory=list)


@contextmanager
def webhook() -> Iterator[Sink]:
    """Take what is posted."""
    sink = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sink.got.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(sink.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sink.url = f"http://127.0.0.1:{server.server_port}/hook/secret-path"
        with _running(server):
            yield sink


@contextmanager
def mail_server() -> Iterator[Sink]:
    """Take mail as RFC 5321 has it; with another status than 200, refuse recipients."""
    sink = Sink()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 sink\r\n")
            for line in self.rfile:
                word = line[:4].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = iter(self.rfile.readline, b".\r\n")
                    sink.got.append(b"".join(lines).decode())
                elif word == b"QUIT":
                    self.wfile.write(b"221 bye\r\n")
                    return
                elif word == b"RCPT" and sink.status != 200:
                    self.wfile.write(b"550 no\r\n")
                    continue
                self.wfile.write(b"250 ok\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        sink.url = f"smtp://127.0.0.1:{server.server_address[1]}"
        with _running(server):
            yield sink


@contextmanager
def _running(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
