"""What fetched answers cost under the Batch API, by vignette and pair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.batch.parts import read_requests
from harness.batch.state import State
from harness.llm.contract import Completion, Request
from harness.llm.costs import Costs
from harness.llm.prices import PriceTable
from harness.llm.reading import usage_of
from harness.recording import answers_in


def costs_of(state: State, out: Path, prices: PriceTable) -> Costs:
    """Add up the answers in `out`; single calls are not listed, since there may be a million."""
    price = prices.of(state.model)
    costs = Costs(prices.currency, lists_calls=False)
    asked = {request["custom_id"]: len_of(request["body"]["messages"]) for _, request in read_requests(state.input)}
    for answer in answers_in(out):
        if answer.problem or answer.custom_id not in asked:
            continue
        messages = ({"role": "user", "content": " " * asked[answer.custom_id]},)  # only its length is needed
        response = {"usage": answer.usage, "choices": [{"message": {"content": answer.content}}]}
        usage = usage_of(response, messages)
        cost = price.of(usage) * price.batch if price else None
        request = Request(answer.custom_id, messages, _labels(answer.custom_id))
        costs.add(request, replace(Completion(request.id, ""), usage=usage, cost=cost))
    return costs


def len_of(messages: list[dict[str, str]]) -> int:
    return sum(len(message["content"]) for message in messages)


def _labels(prompt_id: str) -> dict[str, str]:
    """Return whom a prompt's cost belongs to: its id is kind/vignette/pair, or novel/vignette/part."""
    kind, _, rest = prompt_id.partition("/")
    vignette, _, pair = rest.partition("/")
    return {"kind": kind, "vignette": vignette, "pair": pair if kind == "paraphrase" else ""} if pair else {}
