"""Hand in, look after, fetch: three steps under a budget, each of which can be killed and run again.

What has been handed in is kept in a small JSON file: written aside and moved, before and after every step.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from openai.types import Batch
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData
from harness.console import money
from harness.files import append_durably, writing
from harness.llm.batch_files import Limits, answers_in, content_of, read_requests, split
from harness.llm.batch_service import BatchService
from harness.llm.contract import Completion, Request, Usage, most_input_tokens
from harness.llm.prices import Costs, PriceTable

# Nothing more happens to a batch in these.
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
UNDER_WAY = frozenset({"", "validating", "in_progress", "finalizing", "cancelling"})
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

    @property
    def is_unknown(self) -> bool:
        """Whether it stands in a way that nobody can wait for."""
        return self.status not in FINAL | UNDER_WAY

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
    def worth_waiting(self) -> bool:
        """Whether something is under way, and nothing stands in a way that is unknown."""
        return not self.is_final and not any(part.is_unknown for part in self.parts)

    @property
    def requests(self) -> int:
        return sum(part.requests for part in self.parts)

    def save(self, path: Path) -> None:
        """Write it aside and move it; raise BadData when that is not possible."""
        aside = path.with_name(path.name + ".new")
        with writing(path, "Choose another file with `--state`."):
            with aside.open("wb") as file:
                append_durably(file, (self.model_dump_json(indent=1) + "\n").encode())
            aside.replace(path)


def load_state(path: Path) -> State:
    """Read a state; raise BadData when there is none."""
    try:
        return State.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadData(
            f"{path} cannot be read ({error.strerror}). Run `klartext harness batch` first, or name the file it "
            "wrote with `--state`."
        ) from error
    except ValidationError as error:
        raise BadData(f"{path} is not what `klartext harness batch` writes. Name that file with `--state`.") from error


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
        model = str(body.get("model"))
        price = self._purse.prices.of(model)
        if price is None:
            raise BadData(f"A budget needs the price of {model!r}. Give a price table that has it with `--prices`.")
        longest = body.get("max_completion_tokens") or body.get("max_tokens") or price.max_output_tokens
        if not isinstance(longest, int):
            raise BadData(
                "A budget needs the longest answer. Write the prompts with `--max-tokens`, or set "
                "`max_output_tokens` in the price table."
            )
        usage = Usage(most_input_tokens(body["messages"]), longest)
        self._cost += price.model_copy(update={"cached_input": None}).of(usage) * price.batch

    def require_within(self) -> None:
        """Raise BadData when the requests may cost more than the purse holds."""
        if self._purse and self._cost > self._purse.budget:
            currency = self._purse.prices.currency
            raise BadData(
                f"These requests may cost up to {money(self._cost, currency)}, and the budget is "
                f"{money(self._purse.budget, currency)}; nothing was handed in. Raise `--budget`, or write fewer "
                "prompts, or a lower `--max-tokens`, with `--prompts`."
            )


@dataclass(frozen=True, slots=True)
class BatchTerms:
    """How a file may be handed in: what one batch holds, and what the whole may cost."""

    limits: Limits = field(default_factory=Limits)
    purse: Purse | None = None


def submit(
    path: Path, at: Path, service: BatchService, terms: BatchTerms, *, told: Callable[[str], None] = lambda _: None
) -> State:
    """Hand in what was not yet, and again what failed before anything was done; return how it stands."""
    known = at.exists()
    state = _continued(path, at, service.url) if known else _begun(path, at, service.url, terms)
    for index, part in enumerate(state.parts):
        if part.status in NOTHING_DONE:
            state.parts[index] = part.anew()
            state.save(at)
    for number, part in enumerate(state.parts, 1):
        if part.batch_id is None:
            _hand_in(state, number, at, service, look_first=known)
            told(f"part {number} of {len(state.parts)}: {part.requests} requests, batch {part.batch_id}")
    return state


def _begun(path: Path, at: Path, url: str, terms: BatchTerms) -> State:
    worst = WorstCase(terms.purse)
    models: list[str] = []

    def note(body: Mapping[str, Any]) -> None:
        models[:] = models or [str(body.get("model"))]
        worst.add(body)

    slices = split(path, terms.limits, each=note)
    worst.require_within()
    parts = [Part(start=s.start, end=s.end, requests=s.requests, sha256=s.sha256) for s in slices]
    state = State(token=uuid4().hex, input=path.absolute(), model=models[0], url=url, parts=parts)
    state.save(at)
    return state


def _continued(path: Path, at: Path, url: str) -> State:
    state = load_state(at)
    if state.input != path.absolute():
        raise BadData(f"{at} belongs to {state.input}, not to {path}. Name another file with `--state`.")
    if state.url != url:
        raise BadData(f"{at} belongs to the endpoint {state.url}, not to {url}. Set KLARTEXT_MODEL_URL as then.")
    return state


def _hand_in(state: State, number: int, at: Path, service: BatchService, *, look_first: bool) -> None:
    part = state.parts[number - 1]
    mark = f"klartext-{state.token}-{number}-{part.attempt}"
    if part.file_id is None:
        content = content_of(state.input, part.start, part.end)
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise BadData(f"{state.input} was changed since it was handed in. Restore it, or use another `--state`.")
        part.file_id = service.upload(mark, content, look_first=look_first)
        state.save(at)
    _take_over(part, service.create(mark, part.file_id, look_first=look_first))
    state.save(at)


def _take_over(part: Part, batch: Batch) -> None:
    part.batch_id, part.status = batch.id, batch.status
    if batch.request_counts:
        part.done, part.failed = batch.request_counts.completed, batch.request_counts.failed
    part.output_file_id, part.error_file_id = batch.output_file_id, batch.error_file_id
    errors = batch.errors.data if batch.errors and batch.errors.data else []
    first = [f"{error.code or 'error'}" + (f" in line {error.line}" if error.line else "") for error in errors[:3]]
    part.problem = ", ".join(first)


def poll(at: Path, service: BatchService) -> State:
    """Ask how the batches stand."""
    state = load_state(at)
    for part in state.parts:
        if part.batch_id is None:
            raise BadData(f"{at} has parts that were not handed in. Run `klartext harness batch {state.input}`.")
        if not part.is_final:
            _take_over(part, service.retrieve(part.batch_id))
            state.save(at)
    return state


def fetch(at: Path, out: Path, service: BatchService) -> State:
    """Append the answers of every batch that has ended to `out`, each once."""
    state = poll(at, service)
    if state.out != out.absolute() or not out.exists() or out.stat().st_size < state.out_bytes:
        _start_anew(state, out, at)
    for part in state.parts:
        if part.is_final and not part.fetched:
            _append(part, out, state.out_bytes, service)
            part.fetched, state.out_bytes = True, out.stat().st_size
            state.save(at)
    return state


def require_usable(out: Path, at: Path, path: Path) -> None:
    """Raise BadData, before anything is sent and paid, when answers could not be written to `out` in the end."""
    if out.absolute() == path.absolute():
        raise BadData(f"{out} holds the prompts. Choose another file for the answers with `--out`.")
    with writing(out):
        if out.is_dir() or not os.access(out.parent, os.W_OK):
            raise OSError(0, "it is a folder" if out.is_dir() else "its folder is write-protected")
    if out.exists():
        state = load_state(at) if at.exists() else None
        if state is None or state.out != out.absolute() or out.stat().st_size < state.out_bytes:
            raise _other(out)


def _other(out: Path) -> BadData:
    return BadData(f"{out} exists and is not what was fetched before. Choose another file with `--out`.")


def _start_anew(state: State, out: Path, at: Path) -> None:
    if out.exists():
        raise _other(out)
    with writing(out):
        out.touch()
    for part in state.parts:
        part.fetched = False
    state.out, state.out_bytes = out.absolute(), 0
    state.save(at)


def _append(part: Part, out: Path, whole: int, service: BatchService) -> None:
    """Append a batch's answers and errors after the `whole` first bytes; what a killed run left behind them is cut."""
    with writing(out), out.open("ab") as file:
        file.truncate(whole)
        for file_id in (part.output_file_id, part.error_file_id):
            if file_id:
                service.download(file_id, file)


def write_rest(state: State, out: Path, rest: Path) -> int:
    """Write the requests that have no good answer in `out` as a new input file; return how many there are."""
    good = {answer.custom_id for answer in answers_in(out) if not answer.problem}
    lines = [line for line, request in read_requests(state.input) if request["custom_id"] not in good]
    if lines:
        rest.write_bytes(b"".join(lines))
    return len(lines)


def costs_of(state: State, out: Path, prices: PriceTable) -> Costs:
    """Add up the answers in `out`; single calls are not listed, since there may be a million."""
    price = prices.of(state.model)
    costs = Costs(prices.currency, lists_calls=False)
    asked = {
        request["custom_id"]: sum(len(message["content"]) for message in request["body"]["messages"])
        for _, request in read_requests(state.input)
    }
    for answer in answers_in(out):
        if answer.problem or answer.custom_id not in asked:
            continue
        messages = ({"role": "user", "content": " " * asked[answer.custom_id]},)  # only its length is needed
        usage = answer.tokens(messages)
        cost = price.of(usage) * price.batch if price else None
        request = Request(answer.custom_id, messages, _labels(answer.custom_id))
        costs.add(request, replace(Completion(request.id, ""), usage=usage, cost=cost))
    return costs


def _labels(prompt_id: str) -> dict[str, str]:
    """Return whom a prompt's cost belongs to: its id is kind/vignette/pair, or novel/vignette/part."""
    kind, _, rest = prompt_id.partition("/")
    vignette, _, pair = rest.partition("/")
    return {"kind": kind, "vignette": vignette, "pair": pair if kind == "paraphrase" else ""} if pair else {}
