"""A FHIR server on a real socket that answers some conversations oddly, and all others as it should."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Say = Callable[[bytes], None]
Oddity = Callable[[Say, threading.Event], None]
CAPABLE = {
    "resourceType": "CapabilityStatement",
    "fhirVersion": "4.0.1",
    "rest": [{"mode": "server", "interaction": [{"code": "transaction"}]}],
}


def http(body: bytes, status: str = "200 OK", kind: str = "application/fhir+json", **headers: str) -> bytes:
    """Return a whole answer."""
    named = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close", **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def _drip(start: bytes, drop: bytes) -> Oddity:
    """Say something, and then a little every half second, without end."""

    def answer(say: Say, over: threading.Event) -> None:
        say(start)
        while not over.wait(0.5):
            say(drop)

    return answer


def _once(whole: bytes) -> Oddity:
    return lambda say, _: say(whole)


def _flood(say: Say, over: threading.Event) -> None:
    say(b"HTTP/1.1 200 OK\r\nContent-Type: application/fhir+json\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while not over.is_set():
        say(chunk)


def _silent(_: Say, over: threading.Event) -> None:
    over.wait()


LONG = b"HTTP/1.1 200 OK\r\nContent-Type: application/fhir+json\r\nContent-Length: 9999\r\n\r\n"
PAGE = b"<html><body>Please log in</body></html>"
PARTLY = json.dumps(
    {"resourceType": "Bundle", "type": "transaction-response", "entry": [{"response": {"status": "409"}}]}
).encode()
ODDITIES: dict[str, Oddity] = {
    "silent": _silent,
    "trickled head": _drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
    "trickled body": _drip(LONG, b" "),
    "endless body": _flood,
    "unknown encoding": _once(http(b"xx", Content_Encoding="br")),
    "wrong encoding": _once(http(b"this is no gzip", Content_Encoding="gzip")),
    "gzip bomb": _once(http(gzip.compress(b" " * 64 * 1024 * 1024), Content_Encoding="gzip")),
    "deep": _once(http(b'{"a":' * 200_000 + b"1" + b"}" * 200_000)),
    "deep enough": _once(http(b"[" * 300 + b"]" * 300)),
    "long number": _once(http(b'{"resourceType": ' + b"9" * 100_000 + b"}")),
    "login page": _once(http(PAGE, kind="text/html")),
    "login page as JSON": _once(http(PAGE)),
    "empty": _once(http(b"")),
    "another resource": _once(http(json.dumps({"resourceType": "Patient", "id": "x"}).encode())),
    "batch": _once(http(json.dumps({"resourceType": "Bundle", "type": "batch-response", "entry": []}).encode())),
    "no entries": _once(http(json.dumps({"resourceType": "Bundle", "type": "transaction-response"}).encode())),
    "partly": _once(http(PARTLY)),
    "unprocessable": _once(http(b"{}", "422 Unprocessable Entity")),
    "forbidden": _once(http(b"{}", "403 Forbidden")),
    "not there": _once(http(b"{}", "404 Not Found")),
    "away": _once(http(b"{}", "503 Service Unavailable", Retry_After="3600")),
    "odd date": _once(http(b"{}", "429 Too Many Requests", Retry_After="Sun, 01 Nov 99999 12:00:00 GMT")),
    "redirected": _once(http(b"", "302 Found", Location="http://127.0.0.1:9/")),
    "broken head": _once(b"HTTP/1.1 abc\r\n\r\n"),
    "no HTTP": _once(b"\x16\x03\x01\x02\x00" * 100),
    "cut": _once(b""),
}


@dataclass
class OddServer:
    """What it holds, and to whom it is odd.

    Attributes:
        odd: Oddity by words that the request holds; the first that fits counts.
        held: Resources by type and id of ours; a second one with the same id is counted in `writes`.
        writes: How often each was written.
        posts: When transactions arrived, with their text.
        statement: What it says that it can do.
    """

    odd: dict[str, str] = field(default_factory=dict)
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    posts: list[tuple[float, str]] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    statement: dict[str, Any] = field(default_factory=lambda: dict(CAPABLE))
    url: str = ""
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tasks(self, about: str = "") -> list[dict[str, Any]]:
        with self.lock:
            held = list(self.held.items())
        return [each for key, each in held if key.startswith("Task/") and about in json.dumps(each)]

    def answer(self, method: str, path: str, body: str, say: Say) -> None:
        if method == "POST":
            self.posts.append((time.monotonic(), body))
        elif not path.endswith("/metadata"):
            self.looks.append(path)
        for words, oddity in list(self.odd.items()):
            if words in f"{method} {path}\n{body}":
                ODDITIES[oddity](say, self.over)
                return
        say(self._sound(method, path, body))

    def _sound(self, method: str, path: str, body: str) -> bytes:
        if path.endswith("/metadata"):
            return http(json.dumps(self.statement).encode())
        if method == "GET":
            found = self.held.get("/".join(path.split("/")[-2:]))
            return http(json.dumps(found).encode()) if found else http(b"{}", "404 Not Found")
        done = [self._write(entry) for entry in json.loads(body)["entry"]]
        reply = {"resourceType": "Bundle", "type": "transaction-response", "entry": done}
        return http(json.dumps(reply).encode())

    def _write(self, entry: dict[str, Any]) -> dict[str, Any]:
        own = f"{entry['resource']['resourceType']}/{entry['fullUrl'].removeprefix('urn:uuid:')}"
        with self.lock:
            is_new = own not in self.held
            if is_new or entry["request"]["method"] == "PUT":
                self.held[own] = entry["resource"]
                self.writes.append(own)
        return {"response": {"status": "201 Created" if is_new else "200 OK", "location": own}}


@contextmanager
def odd_fhir_server(**odd: str) -> Iterator[OddServer]:
    """Run one; `odd` as in `OddServer`."""
    server = OddServer(dict(odd))
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    server.url = f"http://127.0.0.1:{listening.getsockname()[1]}/fhir"
    thread = threading.Thread(target=_listen, args=[listening, server], daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def _listen(listening: socket.socket, server: OddServer) -> None:
    while True:
        try:
            connection = listening.accept()[0]
        except OSError:
            return
        threading.Thread(target=_serve, args=[connection, server], daemon=True).start()


def _serve(connection: socket.socket, server: OddServer) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(60)
        head = b""
        while b"\r\n\r\n" not in head:
            more = connection.recv(65536)
            if not more:
                return
            head += more
        head, _, body = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        named = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        while len(body) < int(named.get("content-length", "0")):
            body += connection.recv(65536)
        method, path, _ = first.split(" ")
        server.answer(method, path, body.decode(), connection.sendall)
        connection.shutdown(socket.SHUT_WR)
