"""Ask one thing until it is answered: retries, pauses that all requests keep, the budget, the dialect."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx2
import openai

from bot import BadData, Unreachable, UserFixable
from harness.llm.budget import Budget
from harness.llm.contract import ModelCall, Request, body_of, text_of, usage_of

_NOTES = {
    "response_format": "The endpoint has no structured output; answers were read as plain text.",
    "seed": "The endpoint takes no seed; the same questions may not come again.",
    "max_tokens": "The endpoint wants `max_completion_tokens`; it got that.",
}
_PASSING = frozenset({408, 409, 425, 429})
_THIS_REQUEST = frozenset({400, 413, 422})
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NAME = re.compile(r"[\w.-]{1,60}")
# Where an endpoint does not say which parameter it refuses, its words do. They are looked at, never shown.
_WORDS = {
    "response_format": ("response_format", "json_schema", "json schema", "structured output", "grammar"),
    "max_tokens": ("max_tokens",),
    "seed": ("seed",),
}
_LONGEST_BACKOFF_S = 30.0


class Dialect:
    """What one endpoint has refused so far."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, for people."""
        return tuple(_NOTES[name] for name in sorted(self._refused))

    def adapt(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body as this endpoint takes it."""
        adapted = {name: value for name, value in body.items() if name not in self._refused}
        if "max_tokens" in self._refused and "max_tokens" in body:
            adapted["max_completion_tokens"] = body["max_tokens"]
        return adapted

    def learn(self, refused: str, sent: Mapping[str, Any]) -> bool:
        """Take note of a refusal; return whether the request is worth another try."""
        if refused not in _NOTES or refused not in sent:
            return False
        self._refused.add(refused)
        return True


@dataclass
class Fault(Exception):
    """An attempt that brought no answer.

    Attributes:
        reason: Class of fault in a few words, without any text of the prompt.
        passes: Whether trying again may help.
        scope: ``endpoint`` when every further request would fare alike, ``request`` when this one may be to blame.
        billed: Whether it may have been billed all the same.
        wait_s: How long the endpoint asks to wait.
        status: HTTP status, or 0.
        refused: The parameter that the endpoint does not take, or empty.
    """

    reason: str
    passes: bool = True
    scope: Literal["endpoint", "request"] = "request"
    billed: bool = False
    wait_s: float | None = None
    status: int = 0
    refused: str = ""

    def __str__(self) -> str:
        return self.reason


def is_name(said: object) -> bool:
    """Tell whether an endpoint's code or parameter is a name: anything longer may quote the prompt."""
    return isinstance(said, str | int) and _NAME.fullmatch(str(said)) is not None


def fault_of(error: Exception, *, timeout_s: float) -> Fault:
    """Classify what the client raised."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error.__cause__, _NOT_SENT):
        return Fault("no connection", scope="endpoint")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return Fault(f"no answer within {timeout_s:g} s", billed=True)
    return Fault("the connection was cut", billed=True)


def _of_status(error: openai.APIStatusError) -> Fault:
    status = error.status_code
    code = next((name for name in (error.code, error.type) if name and is_name(name)), "")
    reason = f"status {status}" + (f", {code}" if code and str(code) != str(status) else "")
    reason += f", parameter {error.param}" if error.param and is_name(error.param) else ""
    if status == 429 and code in _OUT_OF_MONEY:
        return Fault(reason, passes=False, scope="endpoint", status=status)
    if status == 429:
        return Fault(reason, scope="endpoint", wait_s=_wait(error.response), status=status)
    if status in _PASSING or status >= 500:
        return Fault(reason, wait_s=_wait(error.response), status=status)
    if status in _THIS_REQUEST:
        return Fault(reason, passes=False, status=status, refused=_refused(error))
    return Fault(reason, passes=False, scope="endpoint", status=status)


def _refused(error: openai.APIStatusError) -> str:
    if error.param in _WORDS:
        return str(error.param)
    said = str(error.body).lower()
    return next((name for name, words in _WORDS.items() if any(word in said for word in words)), "")


def _wait(response: httpx2.Response) -> float | None:
    """Return what Retry-After says, in seconds; a date counts from the endpoint's own clock where it tells that."""
    for header, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = response.headers.get(header, "")
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
            return float(value) * factor
    until = _date(response.headers.get("retry-after", ""))
    if until is None:
        return None
    now = _date(response.headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(said: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(said)
    except (ValueError, TypeError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def explain(fault: Fault, url: str, model: str, again: str) -> UserFixable:
    """Return the error that ends the work: what the endpoint did, and what to do about it."""
    endpoint, again = f"The model endpoint {url}", f"{again}: what came is kept"
    if fault.reason.startswith("the answer is no"):
        return BadData(f"{endpoint} sent no chat completion ({fault.reason}). Check its address. {again}.")
    if not fault.status:
        return Unreachable(
            f"{endpoint} does not answer ({fault.reason}). Start it, or correct KLARTEXT_MODEL_URL. {again}."
        )
    remedy = "Check `--model` and KLARTEXT_MODEL_KEY."
    if fault.passes:
        remedy = "Wait a while, or ask less at once with `--parallel`."
    return Unreachable(f"{endpoint} answered {fault.status} for model {model!r} ({fault.reason}). {remedy} {again}.")


class NothingLeft(Exception):
    """The budget does not allow the next attempt, and nothing is under way that could free some of it."""


class Ended(Exception):
    """The work ended before this request had its turn, or its next try."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request as it was sent in the end, and what came back."""

    asked: Mapping[str, Any]
    response: Mapping[str, Any]


class RequestSender:
    """Sends requests to one endpoint. Lives in one event loop."""

    def __init__(self, client: openai.AsyncOpenAI, call: ModelCall, budget: Budget | None) -> None:
        self.dialect = Dialect()
        self._client = client
        self._call = call
        self._budget = budget
        self._not_before = 0.0
        self._under_way = 0
        self._settled = asyncio.Condition()
        self._room = asyncio.Semaphore(call.parallel)

    async def ask(self, request: Request, key: str, ended: asyncio.Event) -> Answered:
        """Return the answer to a request; once `ended` is set, nothing is sent or waited for any more.

        Raises:
            Fault: It was tried in vain.
            NothingLeft: The budget does not allow an attempt.
            Ended: There was no attempt, or no further one, because the work ends.
        """
        attempts = 0
        while True:
            attempts += 1
            await self._pause(ended)
            body = self.dialect.adapt(body_of(request, self._call))
            try:
                async with self._room:
                    return Answered(body, await self._paid(request, key, body))
            except Fault as fault:
                if self.dialect.learn(fault.refused, body):
                    attempts -= 1
                    continue
                if not fault.passes or attempts > self._call.retries:
                    raise
                await self._wait(fault, attempts, ended)

    async def _pause(self, ended: asyncio.Event) -> None:
        """Wait as long as the endpoint asked for, whichever request it said that to."""
        while (rest := self._not_before - asyncio.get_running_loop().time()) > 0:
            await _sleep(rest, ended)
        if ended.is_set():
            raise Ended

    async def _wait(self, fault: Fault, attempts: int, ended: asyncio.Event) -> None:
        if fault.wait_s is not None and fault.wait_s > self._call.longest_wait_s:
            fault.reason += f", and asks to wait {fault.wait_s:g} s"
            raise fault
        if fault.wait_s is not None:
            self._not_before = max(self._not_before, asyncio.get_running_loop().time() + fault.wait_s)
            return
        wait = min(self._call.backoff_s * 2 ** (attempts - 1), _LONGEST_BACKOFF_S)
        await _sleep(wait * random.uniform(0.75, 1.0), ended)

    async def _paid(self, request: Request, key: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send once, with the worst case set aside meanwhile; what may have been billed stays set aside."""
        reservation = await self._reserve(request, key)
        try:
            response = await self._send(body)
        except Fault as fault:
            if not fault.billed:
                self._settle(reservation, 0.0)
            raise
        else:
            if self._budget:
                self._settle(reservation, self._budget.price.of(usage_of(response, request.messages)))
            return response
        finally:
            async with self._settled:
                self._under_way -= 1
                self._settled.notify_all()

    async def _reserve(self, request: Request, key: str) -> int | None:
        """Set the worst case aside; near the limit, wait for other requests to cost less than theirs."""
        async with self._settled:
            while self._budget:
                reservation = self._budget.reserve(key, request.messages)
                if reservation is not None:
                    self._under_way += 1
                    return reservation
                if not self._under_way:
                    raise NothingLeft
                await self._settled.wait()
            self._under_way += 1
            return None

    def _settle(self, reservation: int | None, cost: float) -> None:
        if self._budget and reservation is not None:
            self._budget.settle(reservation, cost)

    async def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        """Send once and return the answer's JSON; the time-out is for the whole answer, not for each byte of it."""
        try:
            async with asyncio.timeout(self._call.timeout_s):
                raw = await self._client.chat.completions.with_raw_response.create(**body)
        except (openai.APIError, TimeoutError) as error:
            raise fault_of(error, timeout_s=self._call.timeout_s) from error
        try:
            response = json.loads(raw.text)
        except (ValueError, RecursionError) as error:
            raise Fault("the answer is no JSON", billed=True) from error
        if not isinstance(response, dict) or text_of(response) is None:
            raise Fault("the answer is no chat completion", billed=True)
        return response


async def _sleep(seconds: float, ended: asyncio.Event) -> None:
    """Wait, but not longer than there is something to wait for."""
    try:
        await asyncio.wait_for(ended.wait(), seconds)
    except TimeoutError:
        return
    raise Ended
