"""Ask a language model through any OpenAI-compatible endpoint, prompt by prompt, keeping every answer."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from bot import BadData, Settings, Unreachable, UserFixable
from harness.prompts import Prompt, as_batch_line
from harness.recording import read_answers


@dataclass(frozen=True, slots=True)
class ModelCall:
    """How to call the model.

    Attributes:
        model: Its name at the endpoint.
        temperature: 0 to 2, or None to leave it to the endpoint.
        timeout_s: For one answer, in seconds.
        retries: On 429, 5xx and time-outs, with back-off.
        parallel: Requests under way at once.
    """

    model: str
    temperature: float | None = None
    timeout_s: float = 120.0
    retries: int = 4
    parallel: int = 4


def connect(settings: Settings, call: ModelCall) -> openai.OpenAI:
    """Return a client for the configured endpoint; raise UserFixable when none is set."""
    if not settings.model_url:
        raise UserFixable(
            "No language model endpoint is set. Set KLARTEXT_MODEL_URL=http://127.0.0.1:8080/v1 or similar, "
            "or use `klartext harness prompts export` and have the prompts answered elsewhere."
        )
    return openai.OpenAI(
        base_url=settings.model_url,
        api_key=settings.model_key or "none",
        timeout=call.timeout_s,
        max_retries=call.retries,
    )


def answer_prompts(
    client: openai.OpenAI,
    prompts: Sequence[Prompt],
    call: ModelCall,
    out: Path,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Answer the prompts that `out` has no good answer to, appending Batch output lines as they come.

    Raises:
        Unreachable: The endpoint does not answer, or refuses; what has been answered is kept.
    """
    done = _answered(out)
    todo = [prompt for prompt in prompts if prompt.id not in done]
    progress(len(prompts) - len(todo))
    lock = threading.Lock()
    # Half a surrogate pair, as in an answer that was cut off, becomes a JSON escape.
    with out.open("a", encoding="utf-8", errors="backslashreplace") as file, ThreadPoolExecutor(call.parallel) as pool:

        def work(prompt: Prompt) -> None:
            line = json.dumps(_ask(client, prompt, call), ensure_ascii=False) + "\n"
            with lock:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
                progress(1)

        futures = [pool.submit(work, prompt) for prompt in todo]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _answered(out: Path) -> set[str]:
    """Return the prompts that `out` has a good answer to; cut off a line that a kill left unfinished."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
    except OSError as error:
        raise BadData(f"{out} cannot be written ({error.strerror}). Choose another folder with `--suites`.") from error
    return {key for key, answer in read_answers([out]).items() if not answer.problem}


def _ask(client: openai.OpenAI, prompt: Prompt, call: ModelCall) -> dict[str, Any]:
    """Return one Batch output line; raise Unreachable when the endpoint fails."""
    body = as_batch_line(prompt, model=call.model, temperature=call.temperature)["body"]
    url = str(client.base_url)
    try:
        completion = client.chat.completions.create(**body)
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise ValueError("no chat completion")
    except openai.APIConnectionError as error:
        raise Unreachable(
            f"The model endpoint {url} does not answer. Start it, or correct KLARTEXT_MODEL_URL; then run this again."
        ) from error
    except openai.APIStatusError as error:
        raise Unreachable(
            f"The model endpoint {url} answered {error.status_code} for model {call.model!r}. "
            "Check `--model` and KLARTEXT_MODEL_KEY; then run this again."
        ) from error
    except (openai.APIError, ValueError) as error:
        raise BadData(f"The model endpoint {url} sent no chat completion. Check its address.") from error
    response = {"status_code": 200, "request_id": completion.id, "body": completion.model_dump(mode="json")}
    return {"id": completion.id, "custom_id": prompt.id, "response": response, "error": None}
