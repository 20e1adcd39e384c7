"""Patients who all ask at once, in a process of their own: `python -m harness.measuring.service_load`.

The client is a few lines over sockets rather than a library: on few cores a heavy client would slow down whom it
measures, and hide how much slower one is than the other.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

CONVERSATIONS = "/api/v1/conversations"


@dataclass(frozen=True, slots=True)
class Job:
    """What to send.

    Attributes:
        url: Of the service, or of the floor.
        patients: How many at once.
        turns: How many each; the first of each is not timed.
        texts: What they ask, in turn.
    """

    url: str
    patients: int
    turns: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """Seconds of each turn, and of all of them together."""

    seconds: list[float]
    elapsed_s: float


class BadAnswer(Exception):
    """The service did not do what was asked."""


class Client:
    """One keep-alive connection; it is opened anew after an error."""

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        """`tls`: whom to trust, where the address is one of https."""
        parts = urlsplit(url)
        self._host, self._port, self._tls = parts.hostname or "", parts.port or 80, tls
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: dict[str, Any], *, token: str = "") -> dict[str, Any]:
        """Send JSON and return the JSON that comes back; raise BadAnswer unless it is a success."""
        status, found = await self.request("POST", path, body, token=token)
        if status not in (200, 201):
            raise BadAnswer(f"The service answered {status} under load.")
        return dict(found)

    async def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, token: str = ""
    ) -> tuple[int, Any]:
        """Return the status and the JSON of the answer; nothing where it is none, as a proxy's own pages are.

        Raises:
            OSError, EOFError: The connection broke; nobody knows whether the request arrived.
        """
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port, ssl=self._tls)
        content = json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        try:
            self._writer.write(head.encode() + content)
            answer = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(answer.split("content-length:")[1].split("\r\n")[0])
            found = await self._reader.readexactly(length)
        except (OSError, EOFError):
            self.close()
            raise
        return int(answer.split()[1]), json.loads(found) if "json" in answer else {}

    def close(self) -> None:
        """Break the connection off."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def measure(job: Job, tls: ssl.SSLContext | None = None) -> LoadTimes:
    """Begin all conversations, then let all patients send turn after turn."""
    clients = [Client(job.url, tls) for _ in range(job.patients)]
    begun = [await client.post(CONVERSATIONS, {"consent": True, "language": "de"}) for client in clients]
    texts = [
        job.texts[start:] + job.texts[:start]
        for start in [(number * job.turns) % len(job.texts) for number in range(job.patients)]
    ]
    arguments = list(zip(clients, begun, texts, strict=True))
    await asyncio.gather(*(_talk(client, who, said[:1]) for client, who, said in arguments))
    started = time.perf_counter()
    seconds = await asyncio.gather(*(_talk(client, who, said[1 : job.turns]) for client, who, said in arguments))
    elapsed_s = time.perf_counter() - started
    for client in clients:
        client.close()
    return LoadTimes([second for each in seconds for second in each], elapsed_s)


async def _talk(client: Client, who: dict[str, Any], texts: Sequence[str]) -> list[float]:
    """Send texts one after the other, each when the one before is answered; return the seconds of each."""
    seconds = []
    for text in texts:
        body = {"turn_id": f"turn-{time.perf_counter_ns()}", "text": text}
        started = time.perf_counter()
        await client.post(f"{CONVERSATIONS}/{who['id']}/turns", body, token=who["token"])
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    """Read a job, write what was measured."""
    job = json.load(sys.stdin)
    measured = asyncio.run(measure(Job(**{**job, "texts": tuple(job["texts"])})))
    json.dump(asdict(measured), sys.stdout)


if __name__ == "__main__":
    main()
