"""Read an endpoint's answer as a completion, whatever it left out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from harness.llm.contract import Message, Usage

CHARACTERS_PER_TOKEN = 3.5  # German and English with the vocabularies in use; only for calls without usage
_PER_MESSAGE = 16  # role and markers; no chat template we know takes more


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
