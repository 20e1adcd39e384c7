"""Open a model under given terms: live with a store, live without, or from the store alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot import BadData, Settings, UserFixable
from harness.llm.budget import Budget
from harness.llm.contract import ModelCall, Terms
from harness.llm.prices import load_prices
from harness.llm.replay import ReplayModel
from harness.llm.store import AnswerStore

if TYPE_CHECKING:
    from harness.llm.live import LiveModel


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
    from harness.llm.live import Books, Endpoint, LiveModel  # openai is slow to import

    with AnswerStore.open(terms.store if terms.mode == "record" else None) as store:
        books = Books(store if terms.mode == "record" else None, prices, Budget.open(store, terms, call, prices))
        with LiveModel.open(Endpoint(url, settings.model_key or "none", call), books, terms) as model:
            yield model


def endpoint_of(settings: Settings) -> str:
    """Return the configured endpoint; raise UserFixable when none is set."""
    if not settings.model_url:
        raise UserFixable(
            "No language model endpoint is set. Set KLARTEXT_MODEL_URL=http://127.0.0.1:8080/v1 or similar, "
            "or use `klartext harness prompts export` and have the prompts answered elsewhere."
        )
    return settings.model_url
