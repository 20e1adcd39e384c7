"""A batch server whose model answers with the words it was asked, and an input file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.llm.batch.batch_server import BatchServer, batch_server


def echo(body: dict[str, Any]) -> dict[str, Any]:
    """Answer with the words of the question; a question that holds "verboten" is an error."""
    text = body["messages"][-1]["content"]
    if "verboten" in text:
        raise ValueError("content_policy_violation")
    choice = {"index": 0, "message": {"role": "assistant", "content": f"{text}?"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return {"id": "c", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with batch_server(echo) as running:
        yield running


def request(number: int, text: str = "", **body: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text or f"Frage {number}"}]
    custom_id = f"paraphrase/v{number % 2}/pair-{number}"
    return {
        **{"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions"},
        "body": {"model": "gpt-4o", "messages": messages, **body},
    }


def write(path: Path, requests: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in requests), encoding="utf-8")
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    return write(tmp_path / "prompts.jsonl", [request(n) for n in range(5)])
