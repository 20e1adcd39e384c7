"""Ask over HTTP, at a pace: for each question one request, and what must come before and after it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from urllib.parse import quote
from uuid import uuid4

import httpx
from jsonpath import compile as compile_path

from harness.systems.description import ChatModelFile, EndpointFile, HttpFile, HttpRequest, RasaFile, Step
from harness.systems.system import Begin, Failure, Reply

TOO_MANY, BUSY = 429, 503
LONGEST_WAIT_S = 60.0  # that a server's Retry-After is heeded
HISTORY = "history"  # slot for all that was said before, a line each
COMPLETION = "$.choices[0].message.content"
_SLOT = re.compile(r"\{(\w+)\}")
Values = dict[str, str]


class Failed(Exception):
    """A request that failed for good; the message never quotes the question."""


class Pace:
    """At most so many starts a second, by all threads together."""

    def __init__(self, per_second: float | None) -> None:
        self._between_s = 1 / per_second if per_second else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self) -> None:
        """Sleep until the next start is due."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self._between_s
        time.sleep(start - now)


class Caller:
    """Sends requests, and sends them again after no connection, a time-out, 429 and 5xx. Threads may share it."""

    def __init__(self, client: httpx.Client, system: EndpointFile, pace: Pace) -> None:
        self.client = client
        self.pace = pace
        self._system = system

    def send(self, request: httpx.Request) -> Any:
        """Return the JSON that came back, None for an empty answer; raise Failed when there is none in the end."""
        reason, wait_s = "", 0.0
        for attempt in range(self._system.retries + 1):
            if attempt:
                time.sleep(max(wait_s, self._system.backoff_s * 2 ** (attempt - 1)))
                self.pace.wait()
            wait_s = 0.0
            try:
                response = self.client.send(request)
            except httpx.TimeoutException:
                reason = f"no answer within {self._system.timeout_s:g} s"
                continue
            except httpx.TransportError as error:
                reason = f"no connection ({type(error).__name__})"
                continue
            if response.status_code != TOO_MANY and response.status_code < 500:
                return _json(response)
            reason = f"status {response.status_code}"
            wait_s = _asked_to_wait_s(response)
        raise Failed(reason)


def _json(response: httpx.Response) -> Any:
    if not response.is_success:
        raise Failed(f"status {response.status_code}")
    if not response.content:
        return None
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise Failed("no JSON") from error


def _asked_to_wait_s(response: httpx.Response) -> float:
    """Return the seconds of Retry-After; 0 where there are none, or only a date."""
    said = response.headers.get("retry-after", "")
    if response.status_code not in (TOO_MANY, BUSY) or not said.isdecimal():
        return 0.0
    return min(float(said), LONGEST_WAIT_S)


class Exchange(Protocol):
    """What is sent for one question, or for the turns of one conversation."""

    @property
    def turns(self) -> bool:
        """Whether what is opened remembers what was asked in it."""
        ...

    def open(self, question: str, language: str) -> Values:
        """Send what must come first; return what fills the slots of the requests."""
        ...

    def ask(self, values: Values) -> Any:
        """Send the question; return the document that came back."""
        ...

    def close(self, values: Values) -> None:
        """Send what must come last, whether the question was answered or not."""
        ...


@dataclass(frozen=True)
class HttpSystem:
    """An endpoint under test; threads may share it.

    Attributes:
        identity: What it is.
        exchange: Sends.
        read: Makes a reply of the document that came back, after so many milliseconds.
        wait: Sleeps until the rate limit allows another question.
    """

    identity: dict[str, str]
    exchange: Exchange
    read: Callable[[Any, float], Reply | Failure]
    wait: Callable[[], None]

    def ask(self, texts: Sequence[str], language: str) -> Iterator[Reply | Failure]:
        for text in texts:
            with HttpChat.begun(self, language) as chat:
                reply = chat.say(text)
            yield reply

    @property
    def turns(self) -> bool:
        return self.exchange.turns

    @contextmanager
    def chats(self, language: str) -> Iterator[Begin]:
        """Yield what begins conversations; without `turns` each knows only what is said last."""
        yield partial(HttpChat.begun, self, language)


@dataclass
class HttpChat:
    """One conversation with an endpoint, opened by the first thing that is said in it."""

    system: HttpSystem
    language: str
    values: Values | None = None

    @classmethod
    @contextmanager
    def begun(cls, system: HttpSystem, language: str) -> Iterator[HttpChat]:
        chat = cls(system, language)
        try:
            yield chat
        finally:
            if chat.values is not None:
                system.exchange.close(chat.values)

    def say(self, text: str) -> Reply | Failure:
        exchange = self.system.exchange
        self.system.wait()
        started = time.perf_counter()
        try:
            if self.values is None:
                self.values = exchange.open(text, self.language)
            started = time.perf_counter()  # what comes before a question is no time of its answer
            document = exchange.ask({**self.values, "question": text, "uuid": uuid4().hex})
            reply = self.system.read(document, _since_ms(started))
        except Failed as failed:
            return Failure(str(failed), _since_ms(started))
        if HISTORY in self.values:
            self.values[HISTORY] += f"Patient: {text}\n"
            if isinstance(reply, Reply) and reply.said:
                self.values[HISTORY] += f"Assistant: {reply.said}\n"
        return reply


def _since_ms(started: float) -> float:
    return 1000 * (time.perf_counter() - started)


def connect(system: EndpointFile) -> httpx.Client:
    """Return a client that goes where the file says and nowhere else: neither proxies nor redirects."""
    return httpx.Client(timeout=system.timeout_s, trust_env=False, follow_redirects=False)


class Templated:
    """The exchange that a file of kind `http` describes."""

    def __init__(self, caller: Caller, system: HttpFile, headers: Mapping[str, str]) -> None:
        self._caller = caller
        self._system = system
        self._headers = headers
        templates = json.dumps([system.url, system.body, dict(headers)])
        # An endpoint remembers when it is told which conversation it is, or all that was said in it.
        self.turns = bool(system.before) or any(slot in templates for slot in ("{conversation}", "{history}"))

    def open(self, question: str, language: str) -> Values:
        values = {"question": question, "lang": language, "uuid": uuid4().hex}
        values |= {"conversation": uuid4().hex, HISTORY: ""}
        for step in self._system.before:
            values |= _taken(step, self._send(step, values))
        return values

    def ask(self, values: Values) -> Any:
        return self._send(self._system, values)

    def close(self, values: Values) -> None:
        for step in self._system.after:
            try:
                self._send(step, values)
            except Failed:  # the answer is there; that the server keeps a conversation longer is no fault of it
                return

    def _send(self, request: HttpRequest, values: Values) -> Any:
        return self._caller.send(build(self._caller.client, request, self._headers, values))


def build(client: httpx.Client, request: HttpRequest, headers: Mapping[str, str], values: Values) -> httpx.Request:
    """Return a request with its slots filled; headers whose slots nothing fills yet are left out."""
    url = _SLOT.sub(lambda slot: quote(values[slot[1]], safe="") if slot[1] in values else slot[0], request.url)
    known = {name: text for name, text in headers.items() if all(slot in values for slot in _SLOT.findall(text))}
    filled: dict[str, str] = _fill(known, values)
    body = _fill(request.body, values)
    if body is None:
        return client.build_request(request.method, url, headers=filled)
    if isinstance(body, str):
        return client.build_request(request.method, url, headers=filled, content=body.encode())
    return client.build_request(request.method, url, headers=filled, json=body)


def _fill(template: Any, values: Values) -> Any:
    """Fill slots in all texts of a template, in one pass: a question may hold braces."""
    if isinstance(template, str):
        return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)
    if isinstance(template, dict):
        return {key: _fill(value, values) for key, value in template.items()}
    return [_fill(value, values) for value in template] if isinstance(template, list) else template


def _taken(step: Step, document: Any) -> Values:
    """Return what later requests need of an answer."""
    values: Values = {}
    for name, path in step.take.items():
        found = compile_path(path).findall(document) if isinstance(document, dict | list) else []
        if not found or not isinstance(found[0], str | int):
            raise Failed(f"nothing at {path}")
        values[name] = str(found[0])
    return values


class ChatCompletions:
    """A language model: every message goes with the system prompt and all that was said before in the conversation."""

    turns = True

    def __init__(self, caller: Caller, system: ChatModelFile, headers: Mapping[str, str]) -> None:
        self._caller = caller
        self._system = system
        self._headers = dict(headers)
        self._url = system.url.rstrip("/")
        if not self._url.endswith("/chat/completions"):
            self._url += "/chat/completions"
        self._said: dict[str, list[dict[str, str]]] = {}

    def open(self, question: str, language: str) -> Values:
        conversation = uuid4().hex
        told = self._system.system_text.replace("{lang}", language)
        self._said[conversation] = [{"role": "system", "content": told}] if told else []
        return {"question": question, "conversation": conversation}

    def ask(self, values: Values) -> Any:
        said = self._said[values["conversation"]]
        asked = [*said, {"role": "user", "content": values["question"]}]
        wanted = {name: getattr(self._system, name) for name in ("temperature", "max_tokens", "seed")}
        body = {"model": self._system.model, "messages": asked, **{k: v for k, v in wanted.items() if v is not None}}
        client = self._caller.client
        document = self._caller.send(client.build_request("POST", self._url, json=body, headers=self._headers))
        answer = compile_path(COMPLETION).findall(document) if isinstance(document, dict) else []
        if answer and isinstance(answer[0], str):
            self._said[values["conversation"]] = [*asked, {"role": "assistant", "content": answer[0]}]
        return document

    def close(self, values: Values) -> None:
        """Forget what was said; the endpoint remembers nothing."""
        self._said.pop(values["conversation"], None)


class RasaMessages:
    """Rasa's REST channel: every conversation has a sender of its own."""

    turns = True

    def __init__(self, caller: Caller, system: RasaFile, headers: Mapping[str, str]) -> None:
        self._caller = caller
        self._headers = dict(headers)
        self._url = system.url.rstrip("/")
        if not self._url.endswith("/webhook"):
            self._url += "/webhooks/rest/webhook"

    def open(self, question: str, language: str) -> Values:
        return {"question": question, "sender": f"harness-{uuid4().hex}"}

    def ask(self, values: Values) -> Any:
        message = {"sender": values["sender"], "message": values["question"]}
        client = self._caller.client
        return self._caller.send(client.build_request("POST", self._url, json=message, headers=self._headers))

    def close(self, values: Values) -> None:
        """A conversation on this channel has no end."""
