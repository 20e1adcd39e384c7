"""What calls cost: prices per million tokens, from a YAML file. Pure apart from reading that file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData
from harness.llm.contract import Usage

SHIPPED = Path(__file__).with_name("prices.yaml")
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """Prices of one model, per million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the answer, reasoning included.
        cached_input: Of the part of the prompt that the endpoint had cached; default: as `input`.
        batch: Factor under the Batch API.
        max_output_tokens: Longest answer it can give: the worst case for a budget without ``--max-tokens``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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


class PriceTable(BaseModel):
    """The file: prices by model name; a name may end in or hold ``*``, and the longest name that fits counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
        raise BadData(f"{file} cannot be read as UTF-8 text. Give a price table with `--prices`.") from error
    except yaml.YAMLError as error:
        raise BadData(f"{file} is no YAML. Give a price table with `--prices`.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadData(
            f'{file} is no price table: {where}: {first["msg"]}. See "Price table" in docs/reference.md.'
        ) from error
