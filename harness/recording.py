"""Turn a model's answers to exported prompts into a suite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot import BadData, LanguageDetector, fold
from harness.parse import Dropped, parse_answer, split_unfinished
from harness.prompts import Prompt
from harness.questions import Question, QuestionSource, Recording


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One line of a Batch output file."""

    custom_id: str
    content: str
    model: str
    problem: str  # empty when the model answered
    cut: bool = False  # at the token limit, in the middle of something
    key: str = field(default="", compare=False)  # content address of the request, in lines that we wrote
    usage: Mapping[str, Any] = field(default_factory=dict, compare=False)


def read_answers(files: Sequence[Path]) -> dict[str, ModelAnswer]:
    """Read OpenAI Batch output files; the first good answer to a prompt counts.

    Raises:
        BadData: A file cannot be read, or a line is not of that format.
    """
    answers: dict[str, ModelAnswer] = {}
    for file in files:
        for answer in answers_in(file):
            if answer.custom_id not in answers or answers[answer.custom_id].problem:
                answers[answer.custom_id] = answer
    return answers


def answers_in(file: Path) -> Iterator[ModelAnswer]:
    """Yield every answer of a Batch output file, one line at a time; raise BadData as `read_answers` does."""
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:  # JSON may hold other separators of lines
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _answer(line, file, number)
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{file} cannot be read as UTF-8 text. Give Batch output files (JSONL).") from error


def _answer(line: str, file: Path, number: int) -> ModelAnswer:
    try:
        record: dict[str, Any] = json.loads(line)
        custom_id = str(record["custom_id"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{file}:{number} is no line of a Batch output file. Give the answers to the prompts.") from error
    response = _mapping(record.get("response"))
    body = _mapping(response.get("body"))
    status = response.get("status_code", 0)
    if record.get("error") or status != 200:
        return ModelAnswer(custom_id, "", str(body.get("model") or ""), f"error (status {status})")
    model = str(body.get("model") or "")
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message["content"] or message.get("refusal") or ""
    except (KeyError, IndexError, TypeError):
        return ModelAnswer(custom_id, "", model, "no message")
    cut = choice.get("finish_reason") == "length"
    key, usage = str(record.get("key") or ""), _mapping(body.get("usage"))
    return ModelAnswer(custom_id, str(content), model, "", cut, key, usage)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def record(
    prompts: Sequence[Prompt],
    answers: dict[str, ModelAnswer],
    *,
    detector: LanguageDetector,
    source: QuestionSource,
) -> Recording:
    """Parse every answer; `source` says how they came about. Raise BadData when answers belong to other prompts."""
    unknown = sorted(set(answers) - {prompt.id for prompt in prompts})
    if unknown:
        raise BadData(
            f"{len(unknown)} answers belong to no prompt of this plan, for example {unknown[0]!r}. "
            "Give the same `--catalog`, `--lang`, `--variations`, `--novel` and `--vignette` as at the export."
        )
    questions: list[Question] = []
    dropped: list[Dropped] = []
    short: dict[str, int] = {}
    seen: dict[tuple[str, str | None, str], set[str]] = {}
    for prompt in prompts:
        answer = answers.get(prompt.id)
        if answer is None or answer.problem:
            dropped.append(Dropped(prompt.id, "", answer.problem if answer else "no answer"))
            short[prompt.id] = prompt.count
            continue
        whole, unfinished = split_unfinished(answer.content) if answer.cut else (answer.content, "")
        if unfinished:
            dropped.append(Dropped(prompt.id, unfinished, "cut off"))
        parsed = parse_answer(
            whole,
            prompt_id=prompt.id,
            count=prompt.count,
            language=prompt.language,
            detector=None if prompt.mixed else detector,
        )
        written = source.model_copy(update={"model": answer.model or None, "prompt": prompt.hash})
        # The prompt for novel questions is asked more than once and may bring the same question again.
        earlier = seen.setdefault((prompt.kind, prompt.pair_id, prompt.vignette), set())
        fresh, again = _fresh(parsed.questions, earlier, prompt.id)
        questions.extend(_questions(prompt, fresh, written))
        dropped.extend((*parsed.dropped, *again))
        if len(fresh) < prompt.count:
            short[prompt.id] = prompt.count - len(fresh)
    return Recording(tuple(questions), tuple(dropped), short)


def _fresh(texts: Iterable[str], earlier: set[str], prompt_id: str) -> tuple[list[str], list[Dropped]]:
    fresh: list[str] = []
    again: list[Dropped] = []
    for text in texts:
        if fold(text) in earlier:
            again.append(Dropped(prompt_id, text, "duplicate"))
        else:
            earlier.add(fold(text))
            fresh.append(text)
    return fresh, again


def _questions(prompt: Prompt, texts: Sequence[str], source: QuestionSource) -> Iterable[Question]:
    for number, text in enumerate(texts, 1):
        yield Question(
            id=f"{prompt.id}/{number}",
            text=text,
            lang=prompt.language,
            vignette=prompt.vignette,
            pair_id=prompt.pair_id,
            kind=prompt.kind,
            source=source,
        )
