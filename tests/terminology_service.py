"""A small terminology server for tests: it expands ValueSets from CodeSystems over HTTP, page by page, and misbehaves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot.interview.values.terminology import Terminology

Json = dict[str, Any]
BASE = "http://example.org/vs/"
MANY = 2500
CODES: Json = {
    "resourceType": "CodeSystem",
    "url": "http://example.org/codes",
    "status": "active",
    "content": "complete",
    "concept": [
        {"code": "n", "display": "Nuts", "designation": [{"language": "de", "value": "Nüsse"}]},
        {"code": "m", "display": "Milk", "concept": [{"code": "c", "display": "Cheese"}]},
    ],
}
NUMBERS: Json = {
    **CODES,
    "url": "http://example.org/numbers",
    "concept": [{"code": f"n{number}", "display": f"Number {number}"} for number in range(MANY)],
}


def value_set(name: str, **include: Any) -> Json:
    return {"resourceType": "ValueSet", "url": BASE + name, "version": "1", "compose": {"include": [include]}}


KNOWN = (
    value_set("food", system=CODES["url"]),
    value_set("dairy", system=CODES["url"], filter=[{"property": "concept", "op": "is-a", "value": "m"}]),
    value_set("many", system=NUMBERS["url"]),
)


@dataclass
class Service:
    """The server. `asked` holds every request line; `mood` is how it behaves."""

    url: str = ""
    mood: str = "well"
    asked: list[str] = field(default_factory=list)
    known: Terminology = field(default_factory=lambda: Terminology([CODES, NUMBERS, *KNOWN]))

    def expand(self, query: dict[str, list[str]]) -> tuple[int, Json]:
        url, count, offset = query["url"][0], int(query["count"][0]), int(query.get("offset", ["0"])[0])
        found = self.known.value_set(url)
        if found is None:
            return 404, outcome("not-found")
        concepts = self.known.expand(url).concepts
        if self.mood == "same page":
            offset = 0
        page = concepts if self.mood == "all at once" else concepts[offset : offset + count]
        contains = [
            {"system": each.system, "code": each.code, "display": each.display,
             "designation": [{"language": tag, "value": text} for tag, text in each.designations]}
            for each in page
        ]  # fmt: skip
        expansion: Json = {"total": len(concepts), "offset": offset, "contains": contains}
        if self.mood == "too many":
            expansion["total"] = 400_000
        if self.mood == "too costly":
            expansion = {
                "extension": [
                    {"url": "http://hl7.org/fhir/StructureDefinition/valueset-toocostly", "valueBoolean": True}
                ]
            }
        other = {"url": "http://example.org/vs/other"} if self.mood == "another" else {}
        return 200, {**found, **other, "status": "active", "expansion": expansion}


def outcome(code: str) -> Json:
    issue = {"severity": "error", "code": code, "diagnostics": "SECRET words of the server"}
    return {"resourceType": "OperationOutcome", "issue": [issue]}


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            service.asked.append(self.path)
            parts, mood = urlsplit(self.path), service.mood
            if mood == "slow":
                time.sleep(3)
            if mood == "redirect":
                self._send(302, b"", Location=f"{service.url}/elsewhere")
            elif mood == "html":
                self._send(200, b"<html>Please log in</html>", **{"Content-Type": "text/html"})
            elif mood == "huge":
                self._send(200, b'{"resourceType": "ValueSet", "x": "' + b"x" * 9_000_000 + b'"}')
            elif mood == "broken":
                self._send(200, b'{"resourceType": "ValueSet", ')
            elif mood == "error":
                self._send(500, json.dumps(outcome("exception")).encode())
            elif parts.path != "/fhir/ValueSet/$expand":
                self._send(404, b"{}")
            else:
                status, found = service.expand(parse_qs(parts.query))
                self._send(status, json.dumps(found).encode())

        def _send(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in ({"Content-Type": "application/fhir+json"} | headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def running() -> Iterator[Service]:
    """Serve on a free port of this machine."""
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}/fhir"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
