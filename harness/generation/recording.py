"""Turn a model's answers to exported prompts into a suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot import BadData, LanguageDetector, fold
from harness.generation.parse import parse_answer, split_unfinished
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import Prompt
from harness.patients.suites import Dropped, Question, QuestionSource, Recording


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
