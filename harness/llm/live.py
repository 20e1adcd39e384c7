"""A model behind an OpenAI-compatible endpoint: asks what the store does not hold, several requests at a time."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue

import httpx2
import openai

from harness.llm.asking import Ended, Fault, NothingLeft, RequestSender, explain
from harness.llm.budget import Budget, BudgetReached
from harness.llm.contract import Completion, ModelCall, Request, Terms, key_of
from harness.llm.prices import PriceTable
from harness.llm.store import AnswerStore, StoredAnswer, completion_of

_HOPELESS_AT_FIRST = 3  # requests in a row without an answer, when none has been answered yet
_HOPELESS = 10
_CONNECT_S = 15.0


@contextmanager
def background_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run a loop until the block is left; what still runs in it then is cancelled."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_serve, args=(loop,), name="model requests", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    async def wind_up() -> None:
        left = asyncio.all_tasks(loop) - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await loop.shutdown_asyncgens()
        await loop.shutdown_default_executor()

    try:
        loop.run_forever()
        loop.run_until_complete(wind_up())
    finally:
        loop.close()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is, and how it is called."""

    url: str
    key: str
    call: ModelCall


@dataclass(frozen=True, slots=True)
class Books:
    """What is kept: answers (None when nothing is), prices, and the budget."""

    store: AnswerStore | None
    prices: PriceTable
    budget: Budget | None


class LiveModel:
    """Answers requests; see `harness.llm.contract.Model`."""

    def __init__(self, endpoint: Endpoint, books: Books, terms: Terms, loop: asyncio.AbstractEventLoop) -> None:
        self._endpoint = endpoint
        self._books = books
        self._terms = terms
        self._loop = loop
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key,
            timeout=httpx2.Timeout(endpoint.call.timeout_s, connect=min(endpoint.call.timeout_s, _CONNECT_S)),
            max_retries=0,
            # A redirect or a proxy of the environment would carry the prompts to a host that nobody named.
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, trust_env=False, verify=httpx2.create_ssl_context()
            ),
        )
        self._asker = RequestSender(self._client, endpoint.call, books.budget)
        self._failed_in_a_row = 0
        self._answered = 0

    @classmethod
    @contextmanager
    def open(cls, endpoint: Endpoint, books: Books, terms: Terms) -> Iterator[LiveModel]:
        """Keep an event loop and connections for as long as the block lasts."""
        with background_loop() as loop:
            model = cls(endpoint, books, terms, loop)
            try:
                yield model
            finally:
                asyncio.run_coroutine_threadsafe(model._client.close(), loop).result()

    @property
    def notes(self) -> tuple[str, ...]:
        """What people must know of the answers."""
        return self._asker.dialect.notes

    def complete(self, requests: Sequence[Request]) -> Iterator[Completion]:
        """Yield what the store holds, then what the endpoint answers. See `Model.complete`."""
        waiting: dict[str, list[Request]] = {}  # the same thing is asked once, however many want to know it
        kept = 0
        for request in requests:
            key = key_of(request, self._endpoint.call)
            if (held := self._held(key, request)) is None:
                waiting.setdefault(key, []).append(request)
            else:
                kept += 1
                yield held
        if waiting:
            yield from self._ask_all(_Work(waiting, kept))

    def _held(self, key: str, request: Request) -> Completion | None:
        record = self._books.store.get(key) if self._books.store else None
        return completion_of(record, request, self._endpoint.call, self._books.prices) if record else None

    def _ask_all(self, work: _Work) -> Iterator[Completion]:
        running = asyncio.run_coroutine_threadsafe(self._run(work), self._loop)
        try:
            while (completion := work.done.get()) is not None:
                yield completion
            running.result()
        finally:
            running.cancel()
        if work.error:
            raise work.error

    async def _run(self, work: _Work) -> None:
        try:
            await asyncio.gather(*(self._worker(work) for _ in range(self._endpoint.call.parallel)))
        finally:
            work.done.put(None)

    async def _worker(self, work: _Work) -> None:
        while work.open and not work.ended.is_set():
            key, wanted = work.open.popleft()
            try:
                completion = await self._one(key, wanted[0], work.ended)
            except NothingLeft:
                work.open.appendleft((key, wanted))
                work.end(self._budget_reached(work, wanted[0]))
                return
            except Ended:
                work.open.appendleft((key, wanted))
                return
            except Fault as fault:
                completion = Completion(wanted[0].id, "", problem=fault.reason, key=key)
                self._count(work, fault)
            except Exception as error:  # what is under way shall end before it is raised
                work.end(error)
                return
            else:
                self._answered += 1
                self._failed_in_a_row = 0
                work.kept += len(wanted)
            work.hand_out(completion, wanted)

    async def _one(self, key: str, request: Request, ended: asyncio.Event) -> Completion:
        """Ask, keep, and only then hand out; another process may have been faster."""
        if held := self._held(key, request):
            return held
        answered = await self._asker.ask(request, key, ended)
        record = StoredAnswer(key, request.id, answered.asked, answered.response)
        if self._books.store:
            record = self._books.store.put(record)
        completion = completion_of(record, request, self._endpoint.call, self._books.prices)
        return replace(completion, replayed=False)

    def _count(self, work: _Work, fault: Fault) -> None:
        self._failed_in_a_row += 1
        limit = _HOPELESS if self._answered else _HOPELESS_AT_FIRST
        if fault.scope == "endpoint" or self._failed_in_a_row >= limit:
            work.end(explain(fault, self._endpoint.url, self._endpoint.call.model, self._terms.again))

    def _budget_reached(self, work: _Work, request: Request) -> BudgetReached:
        budget = self._books.budget
        if budget is None:
            raise RuntimeError("a budget was reached that nobody set")
        open_ = sum(len(wanted) for _, wanted in work.open)
        return BudgetReached(budget, worst=budget.worst(request.messages), kept=work.kept, open_=open_)


class _Work:
    """Requests that wait, and completions on their way to the caller."""

    def __init__(self, waiting: dict[str, list[Request]], kept: int) -> None:
        self.open = deque(waiting.items())
        self.done: SimpleQueue[Completion | None] = SimpleQueue()
        self.kept = kept
        self.error: Exception | None = None
        self.ended = asyncio.Event()

    def end(self, error: Exception) -> None:
        """Ask nothing more; the first reason is the one that is told."""
        self.error = self.error or error
        self.ended.set()

    def hand_out(self, completion: Completion, wanted: Sequence[Request]) -> None:
        """Give everybody who wanted it the answer; only the first has caused costs."""
        self.done.put(completion)
        for other in wanted[1:]:
            self.done.put(replace(completion, id=other.id, replayed=True))
