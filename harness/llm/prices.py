"""What calls cost: prices per million tokens from a YAML file, and sums by whatever calls are labelled with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError

from bot import BadData
from harness.console import counted, money
from harness.files import Record, first_fault, unreadable, writing
from harness.llm.contract import Completion, Request, Usage

SHIPPED = Path(__file__).with_name("prices.yaml")
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Record):
    """Prices of one model, per million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the answer, reasoning included.
        cached_input: Of the part of the prompt that the endpoint had cached; default: as `input`.
        batch: Factor under the Batch API.
        max_output_tokens: Longest answer it can give: the worst case for a budget without ``--max-tokens``.
    """

    input: Money
    output: Money
    cached_input: Money | None = None
    batch: Money = 1.0
    max_output_tokens: Annotated[int, Field(gt=0)] | None = None

    def of(self, usage: Usage) -> float:
        """Return the cost of a call."""
        cached = usage.cached_tokens * (self.input if self.cached_input is None else self.cached_input)
        fresh = (usage.input_tokens - usage.cached_tokens) * self.input
        return (cached + fresh + usage.output_tokens * self.output) / 1e6


class PriceTable(Record):
    """The file: prices by model name; a name may end in or hold ``*``, and the longest name that fits counts."""

    currency: str = "USD"
    checked: date | None = None
    models: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """Return a model's price, or None when the table has none."""
        if model in self.models:
            return self.models[model]
        fitting = [name for name in self.models if fnmatchcase(model, name)]
        return self.models[max(fitting, key=len)] if fitting else None


def load_prices(path: Path | None) -> PriceTable:
    """Read a price table, the shipped one for None; raise BadData when it is none."""
    file = path or SHIPPED
    try:
        return PriceTable.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{file} cannot be read ({unreadable(error)}). Give a price table with `--prices`.") from error
    except yaml.YAMLError as error:
        raise BadData(f"{file} is no YAML. Give a price table with `--prices`.") from error
    except ValidationError as error:
        raise BadData(
            f'{file} is no price table: {first_fault(error)}. See "Price table" in docs/reference.md.'
        ) from error


@dataclass
class Sum:
    """Calls added up.

    Attributes:
        calls: How many.
        input_tokens, output_tokens: Of all calls.
        estimated: Calls whose tokens the endpoint did not count.
        unpriced: Calls whose model has no price; they are missing in `cost`.
        cost: In the price table's currency.
        spent_now: The part of it that was not replayed.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: int = 0
    unpriced: int = 0
    cost: float = 0.0
    spent_now: float = 0.0

    def add(self, usage: Usage, cost: float | None, *, replayed: bool) -> None:
        """Count one call."""
        self.calls += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.estimated += usage.estimated
        self.unpriced += cost is None
        self.cost += cost or 0.0
        self.spent_now += 0.0 if replayed else cost or 0.0


@dataclass
class Costs:
    """The costs of a piece of work.

    Attributes:
        currency: Of the price table.
        total: All calls.
        by: Sums for each value of each label, for example ``by["vignette"]["low-health-literacy"]``.
        calls: One entry per call, unless there are too many to list.
    """

    currency: str
    lists_calls: bool = True
    total: Sum = field(default_factory=Sum)
    by: dict[str, dict[str, Sum]] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, request: Request, completion: Completion) -> None:
        """Count an answered request; one with a problem costs nothing that anybody knows of."""
        if completion.usage is None:
            return
        usage, cost = completion.usage, completion.cost
        sums = [self.by.setdefault(label, {}).setdefault(name, Sum()) for label, name in request.labels.items() if name]
        for total in (self.total, *sums):
            total.add(usage, cost, replayed=completion.replayed)
        if not self.lists_calls:
            return
        call = {"id": request.id, **asdict(usage), "cost": cost, "replayed": completion.replayed}
        self.calls.append({**call, "labels": {label: name for label, name in request.labels.items() if name}})

    def as_json(self) -> dict[str, Any]:
        by = {label: {name: asdict(total) for name, total in sums.items()} for label, sums in self.by.items()}
        return {"currency": self.currency, "total": asdict(self.total), **by, "calls": self.calls}


def add_up(currency: str, requests: Sequence[Request], completions: Iterable[Completion]) -> Costs:
    """Return the costs of completions."""
    costs = Costs(currency)
    asked: Mapping[str, Request] = {request.id: request for request in requests}
    for completion in completions:
        costs.add(asked[completion.id], completion)
    return costs


def in_words(costs: Costs) -> str:
    """Return one line for people."""
    total = costs.total
    tokens = f"{counted(total.calls, 'answer')}: {total.input_tokens} tokens in, {total.output_tokens} out"
    if total.estimated:
        tokens += f" (estimated for {total.estimated})"
    if total.unpriced:
        return f"{tokens}; the price table has no price for {total.unpriced} of them (`--prices`)"
    return f"{tokens}; {money(total.cost, costs.currency)}, {money(total.spent_now)} of it spent now"


def write_costs(costs: Costs, out: Path) -> None:
    """Write the costs as JSON."""
    with writing(out, "Choose another folder with `--out`."):
        out.write_text(json.dumps(costs.as_json(), indent=1) + "\n", encoding="utf-8")
