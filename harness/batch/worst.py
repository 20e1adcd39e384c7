"""What a file of requests can cost at most, known before anything is handed in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot import BadData
from harness.llm.contract import Usage
from harness.llm.prices import Price, PriceTable
from harness.llm.reading import most_input_tokens


@dataclass(frozen=True, slots=True)
class Purse:
    """What may be spent on a whole input file, in the table's currency."""

    prices: PriceTable
    budget: float


class WorstCase:
    """Adds up the most that requests can cost under the Batch API; without a purse it does nothing."""

    def __init__(self, purse: Purse | None) -> None:
        self._purse = purse
        self._cost = 0.0

    def add(self, body: Mapping[str, Any]) -> None:
        """Count the body of a request; raise BadData when its cost has no limit."""
        if self._purse is None:
            return
        price = _price(self._purse, str(body.get("model")))
        longest = body.get("max_completion_tokens") or body.get("max_tokens") or price.max_output_tokens
        if not isinstance(longest, int):
            raise BadData(
                "A budget needs the longest answer. Export the prompts with `--max-tokens`, or set "
                "`max_output_tokens` in the price table."
            )
        usage = Usage(most_input_tokens(body["messages"]), longest)
        self._cost += price.model_copy(update={"cached_input": None}).of(usage) * price.batch

    def require_within(self) -> None:
        """Raise BadData when the requests may cost more than the purse holds."""
        if self._purse and self._cost > self._purse.budget:
            money = self._purse.prices.currency
            raise BadData(
                f"These requests may cost up to {self._cost:.6g} {money}, and the budget is {self._purse.budget:g} "
                f"{money}; nothing was handed in. Raise `--budget`, or export fewer prompts or a lower `--max-tokens`."
            )


def _price(purse: Purse, model: str) -> Price:
    price = purse.prices.of(model)
    if price is None:
        raise BadData(f"A budget needs the price of {model!r}. Give a price table that has it with `--prices`.")
    return price
