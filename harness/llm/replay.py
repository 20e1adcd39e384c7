"""A model that only remembers: it answers from the store and never touches the network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bot import BadData
from harness.llm.contract import Completion, ModelCall, Request, key_of
from harness.llm.prices import PriceTable
from harness.llm.records import completion_of
from harness.llm.store import AnswerStore


class MissingRecord(BadData):
    """A replay needs an answer that was never recorded.

    Attributes:
        prompt_id: The first request without one.
        key: Its content address.
    """

    def __init__(self, missing: Sequence[tuple[str, str]], *, store: Path, call: ModelCall) -> None:
        self.prompt_id, self.key = missing[0]
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        super().__init__(
            f"{store} holds no answer of {call.model!r} to {self.prompt_id}, key {self.key}{more}, and a replay asks "
            "nobody. Run this with `--record` to ask, or give the same model, parameters and `--store` as then."
        )


class ReplayModel:
    """Answers requests; see `harness.llm.contract.Model`."""

    notes: tuple[str, ...] = ()

    def __init__(self, store: AnswerStore, path: Path, call: ModelCall, prices: PriceTable) -> None:
        self._store = store
        self._path = path
        self._call = call
        self._prices = prices

    def complete(self, requests: Sequence[Request]) -> Iterator[Completion]:
        """Yield what was recorded, in order; raise MissingRecord in the end if something was not."""
        missing = []
        for request in requests:
            key = key_of(request, self._call)
            record = self._store.get(key)
            if record is None:
                missing.append((request.id, key))
            else:
                yield completion_of(record, request, self._call, self._prices)
        if missing:
            raise MissingRecord(missing, store=self._path, call=self._call)
