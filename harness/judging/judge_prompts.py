"""What a model that judges is asked: a label, scores by aspects, or which of two texts is better, in both orders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData, data_folder
from harness.labelling.reasons import load_reasons
from harness.labels import Item

Mode = Literal["label", "rate", "compare"]
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, ...] = ("ab", "ba")
HIGHEST = 5
LANGUAGES = {"de": "German", "en": "English"}


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Aspect(_Edge):
    """Something a judge scores from 0 to `HIGHEST`."""

    id: str = Field(pattern=r"^[a-z][a-z-]*$")
    component: str
    text: str = Field(min_length=1)


class Instructions(_Edge):
    """How judges are told to judge."""

    system: str
    aspects: tuple[Aspect, ...] = Field(min_length=1)
    tasks: dict[Mode, str]


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One request to a judge.

    Attributes:
        id: ``label/QUESTION#PAIR``, ``rate/QUESTION#PAIR`` or ``compare/ORDER/QUESTION#A#B``: it tells all that is
            needed to read the answer. In order ``ab`` the text of A is shown first.
        system: Who the model is.
        task: What it is asked.
    """

    id: str
    system: str
    task: str

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.task}]


@dataclass(frozen=True, slots=True)
class Duel:
    """Two texts shown for one question, A by the run, B by the run beside it."""

    question_id: str
    question: str
    a: str
    b: str


@cache
def load_instructions() -> Instructions:
    """Read aspects and tasks from `vignettes/judge/judge.yaml`; raise BadData when it is broken."""
    path = data_folder("vignettes") / "judge" / "judge.yaml"
    try:
        return Instructions.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"{path} holds no instructions for judges ({str(error).splitlines()[0]}). Mend it.") from error


def item_prompts(
    mode: Literal["label", "rate"], items: Sequence[Item], answers: Mapping[str, str], language: str
) -> list[JudgePrompt]:
    """Return one prompt for each item; `answers` holds the text of every pair."""
    told = load_instructions()
    task = Template(told.tasks[mode])
    system = _system(told, language)
    reasons = "; ".join(f"{reason.code} ({reason.text})" for reason in load_reasons())
    example = ", ".join(f'"{aspect.id}": {number}' for number, aspect in enumerate(told.aspects[:2], 3))
    aspects = "\n".join(f"- {aspect.id}: {aspect.text}" for aspect in told.aspects)
    return [
        JudgePrompt(
            f"{mode}/{item.outcome.id}#{item.pair_id}",
            system,
            task.substitute(
                question=item.outcome.text,
                answer=answers[item.pair_id],
                reasons=reasons,
                aspects=aspects,
                example=example,
            ),
        )
        for item in items
    ]


def duel_prompts(duels: Sequence[Duel], answers: Mapping[str, str], language: str) -> list[JudgePrompt]:
    """Return two prompts for each duel, one for each order."""
    return [prompt for duel in duels for prompt in _both_orders(duel, answers, language)]


def _both_orders(duel: Duel, answers: Mapping[str, str], language: str) -> Iterator[JudgePrompt]:
    told = load_instructions()
    aspects = "; ".join(aspect.text for aspect in told.aspects)
    for order in ORDERS:
        first, second = (duel.a, duel.b) if order == "ab" else (duel.b, duel.a)
        yield JudgePrompt(
            f"compare/{order}/{duel.question_id}#{duel.a}#{duel.b}",
            _system(told, language),
            Template(told.tasks["compare"]).substitute(
                question=duel.question, first=answers[first], second=answers[second], aspects=aspects
            ),
        )


def _system(told: Instructions, language: str) -> str:
    return Template(told.system).substitute(language=LANGUAGES.get(language, language))


def as_batch_line(prompt: JudgePrompt, *, model: str, temperature: float | None) -> dict[str, Any]:
    """Return the request as one line of an OpenAI Batch input file."""
    body: dict[str, Any] = {"model": model, "messages": prompt.messages}
    if temperature is not None:
        body["temperature"] = temperature
    return {"custom_id": prompt.id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def write_judge_prompts(prompts: Sequence[JudgePrompt], out: Path, *, model: str, temperature: float | None) -> None:
    """Write a Batch input file; raise BadData when it cannot be written."""
    lines = (as_batch_line(prompt, model=model, temperature=temperature) for prompt in prompts)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise BadData(f"{out} cannot be written ({error.strerror}). Choose another file with `--out`.") from error
