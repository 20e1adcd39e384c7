"""HTTP requests that end: a deadline for the whole of each, and a limit to what is read of its answer.

httpx bounds every single read only, so a server that sends a byte now and then holds it for ever. Here requests run on
an event loop in a thread of its own, where one that is late can be dropped whatever it is doing.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import zlib
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from dataclasses import dataclass, field
from typing import Any

import httpx

MAX_BYTES = 8 * 1024 * 1024  # a CapabilityStatement of all resources with all searches takes two
MAX_DEPTH = 64  # FHIR's own resources nest to a quarter of that
LATE_S = 2.0  # until a request that cannot even be dropped is left to itself
_GZIP = 16 + zlib.MAX_WBITS
_CONNECTIONS = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0)


class OddAnswer(Exception):
    """An answer that is not read any further. `str()` holds nothing of it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered, read to its end."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def may_be_json(self) -> bool:
        """Whether the server does not say that it is something else."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return not kind or kind == "application/json" or kind.endswith("+json") or kind == "text/json"

    def json(self) -> Any:
        """Return the body.

        Raises:
            OddAnswer: It is no JSON, or nested too deeply.
        """
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            raise OddAnswer("no JSON") from None
        _require_shallow(found)
        return found


class BoundedHttp:
    """A client without proxies, credentials and redirections; any thread may use it, many at a time."""

    def __init__(self, *, verify: ssl.SSLContext | bool = True) -> None:
        self._verify = verify
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: httpx.AsyncClient | None = None

    def request(
        self,
        method: str,
        url: str,
        *,
        deadline_s: float,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
    ) -> Answer:
        """Return the whole answer.

        Raises:
            httpx.TransportError: There is none; a `TimeoutException` when it did not come in time.
            OddAnswer: It is too long, or packed in a way that was not asked for.
        """
        if deadline_s <= 0:
            raise httpx.ReadTimeout("no time is left")
        sent = {"Accept-Encoding": "identity", **(headers or {})}
        exchange = self._exchange(method, url, sent, content, deadline_s)
        asked: Future[Answer] = asyncio.run_coroutine_threadsafe(exchange, self._running())
        try:
            return asked.result(deadline_s + LATE_S)
        except (TimeoutError, NotDone):
            asked.cancel()
            raise httpx.ReadTimeout("the deadline has passed") from None

    def close(self) -> None:
        """End what is under way."""
        with self._lock:
            loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is None or client is None:
            return

        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await client.aclose()

        ending = asyncio.run_coroutine_threadsafe(end(), loop)
        try:
            ending.result(LATE_S)
        except (TimeoutError, NotDone):
            pass
        finally:
            loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._client = httpx.AsyncClient(trust_env=False, verify=self._verify, limits=_CONNECTIONS)
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run, args=(self._loop,), daemon=True, name="http").start()
            return self._loop

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes, deadline_s: float
    ) -> Answer:
        client = self._client
        if client is None:
            raise httpx.ConnectError("the client is closed")
        async with asyncio.timeout(deadline_s):
            asked = client.stream(method, url, headers=headers, content=content or None, timeout=deadline_s)
            async with asked as reply:
                encoding = reply.headers.get("content-encoding", "").strip().lower()
                if encoding not in {"", "identity", "gzip", "x-gzip"}:
                    raise OddAnswer("an unknown Content-Encoding")
                body = bytearray()
                async for chunk in reply.aiter_raw():
                    body += chunk
                    if len(body) > MAX_BYTES:
                        raise OddAnswer(f"more than {MAX_BYTES} bytes")
        content = _unpacked(bytes(body)) if encoding.endswith("gzip") and body else bytes(body)
        return Answer(reply.status_code, dict(reply.headers), content)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _unpacked(packed: bytes) -> bytes:
    """Undo gzip, which some proxies use unasked; what unpacks to more than the limit is refused."""
    unpacking = zlib.decompressobj(_GZIP)
    try:
        found = unpacking.decompress(packed, MAX_BYTES + 1)
    except zlib.error:
        raise OddAnswer("a damaged Content-Encoding") from None
    if len(found) > MAX_BYTES:
        raise OddAnswer(f"more than {MAX_BYTES} bytes")
    if not unpacking.eof:
        raise OddAnswer("a damaged Content-Encoding")
    return found


def _require_shallow(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise OddAnswer(f"nested more than {MAX_DEPTH} deep")
