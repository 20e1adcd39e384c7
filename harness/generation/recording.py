"""Turn a model's answers to exported prompts into a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bot import BadData, LanguageDetector, fold
from harness.generation.parse import parse_answer, split_unfinished
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import Prompt
from harness.patients.suites import Dropped, Question, QuestionSource, Recording


class Answerer(Protocol):
    """Answers prompts: an endpoint, a batch, or a person at a file."""

    def __call__(self, prompts: Sequence[Prompt], /) -> Mapping[str, ModelAnswer]:
        """Return answers by prompt id; what cannot be answered is left out."""
        ...


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
        dropped.extend(parsed.dropped)
        number = 0
        for text in parsed.questions:
            if fold(text) in earlier:
                dropped.append(Dropped(prompt.id, text, "duplicate"))
                continue
            earlier.add(fold(text))
            number += 1
            questions.append(_question(prompt, number, text, written))
        if number < prompt.count:
            short[prompt.id] = prompt.count - number
    return Recording(tuple(questions), tuple(dropped), short)


def _question(prompt: Prompt, number: int, text: str, source: QuestionSource) -> Question:
    return Question(
        id=f"{prompt.id}/{number}",
        text=text,
        lang=prompt.language,
        vignette=prompt.vignette,
        pair_id=prompt.pair_id,
        kind=prompt.kind,
        source=source,
    )
