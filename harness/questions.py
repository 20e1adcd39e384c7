"""Test questions and where they come from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.parse import Dropped


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QuestionSource(_Edge):
    """Where a question comes from.

    Attributes:
        kind: Who wrote it; text written by a model is never called human.
        model: Name of the model, if one wrote it.
        answered: ``live`` by an endpoint, or ``offline`` from exported prompts.
        prompt: Hash of the prompt.
        temperature: As sent, or None where it was left open or unknown.
        written: Day of the answer.
    """

    kind: Literal["person", "model"]
    model: str | None = None
    answered: Literal["live", "offline"] | None = None
    prompt: str | None = None
    temperature: float | None = None
    written: date | None = Field(default=None, alias="date")

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Question(_Edge):
    """One test item; `pair_id` is None for novel questions and for urgent messages, which must reach a human."""

    id: str
    text: str
    lang: str
    vignette: str
    pair_id: str | None
    kind: Literal["paraphrase", "novel", "urgent"]
    source: QuestionSource


@dataclass(frozen=True, slots=True)
class Recording:
    """Questions read from answers.

    Attributes:
        questions: In the order of the prompts.
        dropped: Lines that did not become questions.
        short: How many questions each prompt lacks, for those that lack any.
    """

    questions: tuple[Question, ...]
    dropped: tuple[Dropped, ...]
    short: dict[str, int]

    @property
    def reasons(self) -> dict[str, int]:
        return dict(sorted(Counter(item.reason for item in self.dropped).items()))
