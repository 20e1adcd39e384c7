"""What is asked of a language model, and what comes back, read defensively. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, Literal, Protocol

Message = Mapping[str, str]  # role and content
StoreMode = Literal["record", "replay", "off"]
CHARACTERS_PER_TOKEN = 3.5  # German and English with the vocabularies in use; only for calls without usage
_PER_MESSAGE = 16  # role and markers; no chat template we know takes more


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to ask.

    Attributes:
        id: Unique among the requests of a call; names the request in messages and completions.
        messages: What the model sees.
        labels: Whom the cost is attributed to, for example ``{"vignette": …, "pair": …}``.
        schema: JSON schema of the answer, for endpoints with structured output; others are asked without it, so the
            answer must be read defensively either way.
        sample: Tells several answers to the very same messages apart: 0 for the first.
    """

    id: str
    messages: Sequence[Message]
    labels: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `estimated` when the endpoint did not say."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0  # of the input
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What became of a request.

    Attributes:
        id: The request's.
        text: The answer; empty when there is a problem. Parse it defensively.
        problem: Empty when the model answered; else why not, in a few words, without its text.
        usage: Tokens, or None when nothing was answered.
        cost: In the price table's currency; None when the model has no price.
        replayed: Whether it comes from the store: then nothing was spent now.
        response: The endpoint's whole answer.
        key: Of the record in the store.
        cut: Whether the answer ended at the token limit, in the middle of something.
    """

    id: str
    text: str
    problem: str = ""
    usage: Usage | None = None
    cost: float | None = None
    replayed: bool = False
    response: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    cut: bool = False


class Model(Protocol):
    """Somebody who answers requests."""

    def complete(self, requests: Sequence[Request]) -> Iterator[Completion]:
        """Yield one completion for each request, as they arrive.

        Raises:
            Unreachable: The endpoint does not answer or refuses everything; after all that was under way.
            BadData: A replay lacks a record, or the endpoint is no chat endpoint.
            BudgetReached: The next request might exceed the budget.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelCall:
    """How to call the model.

    Attributes:
        model: Its name at the endpoint.
        temperature: 0 to 2, or None to leave it to the endpoint.
        seed: Makes sampling repeatable where the endpoint can; sample n of a request is asked with ``seed + n``.
        max_tokens: Longest answer, in tokens, or None to leave it to the endpoint.
        timeout_s: For one whole answer, in seconds.
        retries: On 429, 5xx, time-outs, cut connections and answers that are none.
        parallel: Requests under way at once.
        backoff_s: Wait before the first retry; doubled each time, up to half a minute. Retry-After comes first.
        longest_wait_s: A longer Retry-After ends the work instead.
    """

    model: str
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    retries: int = 4
    parallel: int = 4
    backoff_s: float = 0.5
    longest_wait_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms answers are bought and kept.

    Attributes:
        mode: ``record`` (from the store, else ask and record), ``replay`` (from the store only) or ``off``.
        store: The store's file; needed unless `mode` is ``off``.
        prices: YAML file with prices, or None for the shipped table.
        budget: Most that may be spent on `job`, earlier interrupted calls included; None for no limit.
        job: What the budget is for; calls with the same job and store share it.
        again: The command or option that goes on after a stop, for messages.
    """

    mode: StoreMode = "record"
    store: Path | None = None
    prices: Path | None = None
    budget: float | None = None
    job: str = ""
    again: str = "Run this again"


def parameters(request: Request, call: ModelCall) -> dict[str, Any]:
    """Return what goes to the endpoint beside model and messages."""
    wanted: dict[str, Any] = {}
    if call.temperature is not None:
        wanted["temperature"] = call.temperature
    if call.seed is not None:
        wanted["seed"] = call.seed + request.sample
    if call.max_tokens is not None:
        wanted["max_tokens"] = call.max_tokens
    if request.schema is not None:
        schema = {"name": "answer", "strict": True, "schema": request.schema}
        wanted["response_format"] = {"type": "json_schema", "json_schema": schema}
    return wanted


def body_of(request: Request, call: ModelCall) -> dict[str, Any]:
    """Return the body of a chat completion request."""
    return {"model": call.model, "messages": [dict(m) for m in request.messages], **parameters(request, call)}


def key_of(request: Request, call: ModelCall) -> str:
    """Return the content address: SHA-256 over model, messages, parameters and sample; neither id nor address."""
    asked = {**body_of(request, call), "sample": request.sample}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def text_of(response: Mapping[str, Any]) -> str | None:
    """Return the answer's text, a refusal in its own field included; None when it is no chat completion."""
    message = _mapping(_first(response).get("message"))
    if not message:
        return None
    text = message.get("content") or message.get("refusal") or ""
    return text if isinstance(text, str) else None


def was_cut(response: Mapping[str, Any]) -> bool:
    """Tell whether the answer ended at the token limit."""
    return _first(response).get("finish_reason") == "length"


def usage_of(response: Mapping[str, Any], messages: Sequence[Message]) -> Usage:
    """Return the tokens that the endpoint counted, else an estimate that says so."""
    said = _mapping(response.get("usage"))
    asked, answered = _count(said.get("prompt_tokens")), _count(said.get("completion_tokens"))
    if asked is None or answered is None:
        characters = sum(len(message["content"]) for message in messages)
        return Usage(_estimate(characters), _estimate(len(text_of(response) or "")), estimated=True)
    cached = _count(_mapping(said.get("prompt_tokens_details")).get("cached_tokens")) or 0
    return Usage(asked, answered, min(cached, asked))


def most_input_tokens(messages: Sequence[Message]) -> int:
    """Return what the input can come to at worst: vocabularies in use spend at most one token a byte."""
    return sum(len(message["content"].encode("utf-8", "replace")) + _PER_MESSAGE for message in messages) + _PER_MESSAGE


def _first(response: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = response.get("choices")
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _estimate(characters: int) -> int:
    return ceil(characters / CHARACTERS_PER_TOKEN)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
