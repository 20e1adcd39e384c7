"""Ask one thing until it is answered: retries with back-off, pauses that all requests keep, and the budget."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import openai

from harness.llm.budget import Budget
from harness.llm.contract import ModelCall, Request, body_of
from harness.llm.dialect import Dialect
from harness.llm.faults import Fault, fault_of
from harness.llm.reading import text_of, usage_of

_LONGEST_BACKOFF_S = 30.0


class NothingLeft(Exception):
    """The budget does not allow the next attempt, and nothing is under way that could free some of it."""


class Ended(Exception):
    """The work ended before this request had its turn, or its next try."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A request as it was sent in the end, and what came back."""

    asked: Mapping[str, Any]
    response: Mapping[str, Any]


class Asker:
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
