"""A budget that holds at every moment: the worst case of every request is set aside before it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from bot import BadData, UserFixable
from harness.console import money
from harness.llm.contract import Message, ModelCall, Terms, Usage, most_input_tokens
from harness.llm.prices import Price, PriceTable
from harness.llm.store import AnswerStore

_NANOS = 1_000_000_000


class BudgetReached(UserFixable):
    """The next request might cost more than is left. `open_` requests were not asked."""

    def __init__(self, budget: Budget, *, worst: float, kept: int, open_: int) -> None:
        currency = budget.currency
        super().__init__(
            f"Stopped before the budget of {money(budget.limit, currency)} is exceeded: "
            f"{money(budget.spent, currency)} are spent and the next request may cost up to {money(worst, currency)}. "
            f"{kept} answers are kept, {open_} requests are open. {budget.again} with a higher `--budget` (or a lower "
            "`--max-tokens`) to go on."
        )
        self.kept = kept
        self.open = open_


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on a job, kept beside the answers.

    Attributes:
        store: Where reservations are kept.
        job: What the budget is for.
        limit: In the table's currency.
        price: Of the model.
        currency: Its name.
        max_tokens: Longest answer.
        again: How to go on, for messages.
    """

    store: AnswerStore
    job: str
    limit: float
    price: Price
    currency: str
    max_tokens: int
    again: str

    @classmethod
    def open(cls, store: AnswerStore, terms: Terms, call: ModelCall, table: PriceTable) -> Budget | None:
        """Return the budget of a call, or None without one; raise BadData when it could not be kept."""
        if terms.budget is None:
            return None
        price = table.of(call.model)
        if price is None:
            raise BadData(
                f"A budget needs the price of {call.model!r}, and the price table has none. "
                "Give a table that has it with `--prices`."
            )
        longest = call.max_tokens or price.max_output_tokens
        if longest is None:
            raise BadData(
                f"A budget needs the longest answer that {call.model!r} may give. "
                "Set `--max-tokens`, or `max_output_tokens` in the price table."
            )
        return cls(store, terms.job, terms.budget, price, table.currency, longest, terms.again)

    @property
    def spent(self) -> float:
        """What is spent and set aside, in the table's currency."""
        return self.store.spent(self.job) / _NANOS

    def worst(self, messages: Sequence[Message]) -> float:
        """Return the most that a request can cost."""
        return self.price.model_copy(update={"cached_input": None}).of(
            Usage(most_input_tokens(messages), self.max_tokens)
        )

    def reserve(self, key: str, messages: Sequence[Message]) -> int | None:
        """Set the worst case aside; None when the budget does not allow it."""
        limit = round(self.limit * _NANOS)
        return self.store.reserve(self.job, key, ceil(self.worst(messages) * _NANOS), limit=limit)

    def settle(self, reservation: int, cost: float) -> None:
        """Replace a reservation by what the request did cost."""
        self.store.settle(reservation, ceil(cost * _NANOS))
