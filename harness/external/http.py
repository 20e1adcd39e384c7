"""Ask over HTTP: one question a request, tried again where the fault may pass."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

from harness.external.file import HttpFile, RasaFile
from harness.systems import Failure, Reply

_SLOT = re.compile(r"\{(question|lang)\}")
TOO_MANY = 429


@dataclass(frozen=True)
class HttpSystem:
    """An endpoint under test.

    Attributes:
        identity: What it is.
        request: Builds the request for a question and a language.
        read: Makes a reply of the JSON that came back.
        caller: Sends requests.
    """

    identity: dict[str, str]
    request: Callable[[str, str], httpx.Request]
    read: Callable[[Any, float], Reply | Failure]
    caller: Caller

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Reply | Failure]:
        for text in texts:
            self.caller.wait()
            started = time.perf_counter()
            try:
                document = self.caller.send(self.request(text, language))
            except _Failed as failed:
                yield Failure(str(failed), 1000 * (time.perf_counter() - started))
                continue
            yield self.read(document, 1000 * (time.perf_counter() - started))


class _Failed(Exception):
    """A request that failed for good; the message never quotes the question."""


class Caller:
    """Sends requests at a pace, and again after faults that may pass: no connection, time-out, 429, 5xx."""

    def __init__(self, client: httpx.Client, system: HttpFile | RasaFile) -> None:
        self._client = client
        self._system = system
        self._next = 0.0

    def wait(self) -> None:
        """Sleep until the rate limit allows another question."""
        if self._system.per_second is not None:
            time.sleep(max(0.0, self._next - time.monotonic()))
            self._next = max(self._next, time.monotonic()) + 1 / self._system.per_second

    def send(self, request: httpx.Request) -> Any:
        """Return the JSON that came back; raise _Failed when there is none in the end."""
        reason = ""
        for attempt in range(self._system.retries + 1):
            if attempt:
                time.sleep(self._system.backoff_s * 2 ** (attempt - 1))
            try:
                response = self._client.send(request)
            except httpx.TimeoutException:
                reason = f"no answer within {self._system.timeout_s:g} s"
                continue
            except httpx.TransportError as error:
                reason = f"no connection ({type(error).__name__})"
                continue
            if response.status_code != TOO_MANY and response.status_code < 500:
                return _json(response)
            reason = f"status {response.status_code}"
        raise _Failed(reason)


def _json(response: httpx.Response) -> Any:
    if not response.is_success:
        raise _Failed(f"status {response.status_code}")
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise _Failed("no JSON") from error


def connect(system: HttpFile | RasaFile, headers: Mapping[str, str]) -> httpx.Client:
    """Return a client that goes where the file says and nowhere else: neither proxies nor redirects."""
    return httpx.Client(headers=dict(headers), timeout=system.timeout_s, trust_env=False, follow_redirects=False)


def templated(client: httpx.Client, system: HttpFile) -> Callable[[str, str], httpx.Request]:
    """Return what builds requests from the templates of an HTTP system."""

    def build(question: str, language: str) -> httpx.Request:
        values = {"question": question, "lang": language}
        url = _SLOT.sub(lambda slot: quote(values[slot[1]], safe=""), system.url)
        body = _fill(system.body, values)
        if body is None:
            return client.build_request(system.method, url)
        if isinstance(body, str):
            return client.build_request(system.method, url, content=body.encode())
        return client.build_request(system.method, url, json=body)

    return build


def _fill(template: Any, values: Mapping[str, str]) -> Any:
    """Fill slots in all texts of a template, in one pass: a question may hold braces."""
    if isinstance(template, str):
        return _SLOT.sub(lambda slot: values[slot[1]], template)
    if isinstance(template, dict):
        return {key: _fill(value, values) for key, value in template.items()}
    return [_fill(value, values) for value in template] if isinstance(template, list) else template


def rasa_message(client: httpx.Client, system: RasaFile) -> Callable[[str, str], httpx.Request]:
    """Return what builds messages for Rasa: every question is a conversation of its own."""
    url = system.url.rstrip("/")
    if not url.endswith("/webhook"):
        url += "/webhooks/rest/webhook"

    def build(question: str, _language: str) -> httpx.Request:
        return client.build_request("POST", url, json={"sender": f"harness-{uuid4().hex}", "message": question})

    return build
