"""Open a model under given terms: live with a store, live without, or from the store alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot import BadData, MissingExtra, Settings, UserFixable, is_installed
from harness.llm.budget import Budget
from harness.llm.contract import Completion, ModelCall, Request, Terms, key_of
from harness.llm.prices import PriceTable, load_prices
from harness.llm.store import AnswerStore, completion_of

if TYPE_CHECKING:
    from harness.llm.live import LiveModel


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


@contextmanager
def open_model(settings: Settings, call: ModelCall, terms: Terms) -> Iterator[LiveModel | ReplayModel]:
    """Yield a `Model` for as long as the block lasts.

    Raises:
        UserFixable: No endpoint is set, or the terms cannot be kept (no store, no price for a budget).
    """
    prices = load_prices(terms.prices)
    if terms.mode == "replay":
        if terms.store is None:
            raise BadData("A replay needs a store of answers. Name its file with `--store`.")
        with AnswerStore.open(terms.store, change=False) as store:
            yield ReplayModel(store, terms.store, call, prices)
        return
    url = endpoint_of(settings)
    require_openai()
    from harness.llm.live import Books, Endpoint, LiveModel  # openai is slow to import

    with AnswerStore.open(terms.store if terms.mode == "record" else None) as store:
        books = Books(store if terms.mode == "record" else None, prices, Budget.open(store, terms, call, prices))
        with LiveModel.open(Endpoint(url, settings.model_key or "none", call), books, terms) as model:
            yield model


def require_openai() -> None:
    """Raise MissingExtra when the package that speaks to endpoints is not installed."""
    if not is_installed("openai"):
        raise MissingExtra(feature="Asking a language model", extra="openai")


def endpoint_of(settings: Settings) -> str:
    """Return the configured endpoint; raise UserFixable when none is set."""
    if not settings.model_url:
        raise UserFixable(
            "No language model endpoint is set. Set KLARTEXT_MODEL_URL=http://127.0.0.1:8080/v1 or similar, "
            "or use `--prompts FILE` and have the prompts answered elsewhere."
        )
    if not re.match(r"https?://[^/]", settings.model_url):
        raise UserFixable(
            f"KLARTEXT_MODEL_URL is {settings.model_url!r}. Set it to an address such as http://127.0.0.1:8080/v1."
        )
    return settings.model_url
