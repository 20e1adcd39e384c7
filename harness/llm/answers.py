"""Answer prompts with a model, as lines of an OpenAI Batch output file: what `prompts import` reads."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bot import BadData, Unreachable
from harness.llm.contract import Completion, Model, ModelCall, Request, key_of
from harness.prompts import Prompt
from harness.recording import read_answers


def requests_for(prompts: Sequence[Prompt], *, structured: bool = False) -> list[Request]:
    """Return a request for each prompt; prompts with the same words are samples of one another."""
    seen: Counter[str] = Counter()
    requests = []
    for prompt in prompts:
        labels = {"vignette": prompt.vignette, "kind": prompt.kind, "pair": prompt.pair_id or ""}
        schema = _list_of(prompt.count) if structured else None
        requests.append(Request(prompt.id, prompt.messages, labels, schema, seen[prompt.hash]))
        seen[prompt.hash] += 1
    return requests


def answer_prompts(
    model: Model,
    requests: Sequence[Request],
    call: ModelCall,
    out: Path,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Completion]:
    """Answer what `out` has no good answer to, appending Batch output lines as they come; return the completions.

    Raises:
        UserFixable: The model stopped (see `Model.complete`), or left prompts without an answer; the rest is kept.
    """
    done = _answered(out, {request.id: key_of(request, call) for request in requests})
    todo = [request for request in requests if request.id not in done]
    progress(len(requests) - len(todo))
    completions = []
    # Half a surrogate pair, as in an answer that was cut off, becomes a JSON escape.
    with out.open("a", encoding="utf-8", errors="backslashreplace") as file:
        for completion in model.complete(todo):
            file.write(json.dumps(_line(completion), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            completions.append(completion)
            progress(1)
    _require_all(completions, out)
    return completions


def _require_all(completions: Sequence[Completion], out: Path) -> None:
    failed = [completion for completion in completions if completion.problem]
    if failed:
        reasons = Counter(completion.problem for completion in failed)
        said = ", ".join(f"{reason}: {number}" for reason, number in reasons.most_common(5))
        raise Unreachable(
            f"{len(failed)} prompts have no answer ({said}), for example {failed[0].id}; {out} keeps the others. Run this "
            "again to ask for the missing ones, or make the suite without them by `klartext harness prompts import`."
        )


def _answered(out: Path, keys: dict[str, str]) -> set[str]:
    """Return the prompts that `out` has a good answer to; cut off a line that a kill left unfinished."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
    except OSError as error:
        raise BadData(f"{out} cannot be written ({error.strerror}). Choose another folder with `--suites`.") from error
    answers = {id_: answer for id_, answer in read_answers([out]).items() if not answer.problem}
    other = [id_ for id_, answer in answers.items() if answer.key and id_ in keys and answer.key != keys[id_]]
    if other:
        raise BadData(
            f"{out} holds {len(other)} answers to other requests, for example {other[0]}: model, temperature, seed or "
            "prompts have changed since. Give the same as then, or another `--name`, or remove the file."
        )
    return set(answers)


def _line(completion: Completion) -> dict[str, Any]:
    """Return one Batch output line; `key` is ours, readers of Batch files ignore it."""
    line = {"id": completion.key[:16], "custom_id": completion.id, "key": completion.key}
    if completion.problem:
        return {**line, "response": None, "error": {"code": "no_answer", "message": completion.problem}}
    body = completion.response
    response = {"status_code": 200, "request_id": body.get("id"), "body": body}
    return {**line, "response": response, "error": None}


def _list_of(count: int) -> dict[str, Any]:
    """Return the JSON schema of an answer with at most `count` questions (more cannot be asked of every endpoint)."""
    questions = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": count}
    return {
        "type": "object",
        "properties": {"questions": questions},
        "required": ["questions"],
        "additionalProperties": False,
    }
