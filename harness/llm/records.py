"""A record becomes a completion: the same whether it was just made or is replayed. Pure."""

from __future__ import annotations

from harness.llm.contract import Completion, ModelCall, Request
from harness.llm.prices import PriceTable
from harness.llm.reading import text_of, usage_of, was_cut
from harness.llm.store import Record


def completion_of(record: Record, request: Request, call: ModelCall, prices: PriceTable) -> Completion:
    """Return what a stored answer says to a request, at today's prices."""
    usage = usage_of(record.response, request.messages)
    price = prices.of(call.model)
    return Completion(
        id=request.id,
        text=text_of(record.response) or "",
        usage=usage,
        cost=price.of(usage) if price else None,
        replayed=True,
        response=record.response,
        key=record.key,
        cut=was_cut(record.response),
    )
