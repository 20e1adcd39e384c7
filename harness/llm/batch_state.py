"""What has been handed in, kept in a small JSON file: written aside and moved, before and after every step.

What a file of requests can cost at most, known before anything is handed in. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData
from harness.llm.contract import Usage, most_input_tokens
from harness.llm.prices import Price, PriceTable

# Nothing more happens to a batch in these.
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
# The batch never did anything: it may be handed in again.
NOTHING_DONE = frozenset({"failed"})


class Part(BaseModel):
    """One batch.

    Attributes:
        start, end, requests, sha256: Its slice of the input file.
        attempt: Counts how often it was handed in.
        file_id: Of the upload, once there is one.
        batch_id: Of the batch, once there is one.
        status: As the API last said; empty before.
        done, failed: Requests with an answer, and with an error.
        output_file_id, error_file_id: Where its answers and errors are.
        problem: Why it failed.
        fetched: Whether the answers lie in `out`.
    """

    model_config = ConfigDict(extra="forbid")

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    requests: Annotated[int, Field(gt=0)]
    sha256: str
    attempt: int = 1
    file_id: str | None = None
    batch_id: str | None = None
    status: str = ""
    done: int = 0
    failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    problem: str = ""
    fetched: bool = False

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    def anew(self) -> Part:
        """Return the part as it is before it is handed in, for another attempt."""
        where = {"start": self.start, "end": self.end, "requests": self.requests, "sha256": self.sha256}
        return Part.model_validate({**where, "attempt": self.attempt + 1})


class State(BaseModel):
    """All batches of one input file.

    Attributes:
        token: Marks our uploads and batches, so that they are found again after a crash in between.
        input: The file.
        model: That all its requests are for.
        url: Where they were handed in.
        parts: In the order of the file.
        out: Where the answers are written.
        out_bytes: How much of `out` is whole.
    """

    model_config = ConfigDict(extra="forbid")

    token: str
    input: Path
    model: str
    url: str
    parts: list[Part]
    out: Path | None = None
    out_bytes: int = 0

    @property
    def is_final(self) -> bool:
        return all(part.is_final for part in self.parts)

    @property
    def requests(self) -> int:
        return sum(part.requests for part in self.parts)

    def save(self, path: Path) -> None:
        """Write it aside and move it; raise BadData when that is not possible."""
        aside = path.with_name(path.name + ".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("w", encoding="utf-8") as file:
                file.write(self.model_dump_json(indent=1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except OSError as error:
            raise BadData(
                f"{path} cannot be written ({error.strerror}). Choose another file with `--state`."
            ) from error


def load_state(path: Path) -> State:
    """Read a state; raise BadData when there is none."""
    try:
        return State.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadData(
            f"{path} cannot be read ({error.strerror}). Run `klartext harness batch submit` first, or name the file it "
            "wrote with `--state`."
        ) from error
    except ValidationError as error:
        raise BadData(
            f"{path} is not what `klartext harness batch submit` writes. Name that file with `--state`."
        ) from error


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
