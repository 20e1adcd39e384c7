"""A question that checks an explanation (teach-back): attached to a pair, and approved with it."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from bot.catalog.edge import Author, Edge
from bot.text import words

OPTIONS = (2, 4)  # fewest and most, the right answer among them
LONGEST_OPTION = 160  # characters: it has to fit on a button of a telephone
HASH_DIGITS = 12
MARK = "@"  # between pair and quiz

# What a turn was to a quiz: it was offered, asked, answered, or the patient wanted none.
QuizStep = Literal["offered", "asked", "right", "wrong", "unknown", "declined"]
QUIZ_STEPS: tuple[QuizStep, ...] = get_args(QuizStep)
Option = Annotated[str, Field(min_length=1, max_length=LONGEST_OPTION)]


class Quiz(Edge):
    """One question with one right answer, as `klartext author quiz` drafts it.

    Attributes:
        topic: What it is about, for curators.
        key_point: What of the explanation it checks, for curators.
        context: What patients read before the question.
        answer: The right option.
        distractors: The wrong ones.
    """

    topic: str | None = Field(default=None, max_length=200)
    key_point: str | None = Field(default=None, max_length=200)
    context: str | None = Field(default=None, max_length=600)
    question: str = Field(min_length=1, max_length=300)
    answer: Option
    distractors: tuple[Option, ...]
    by: Author | None = None

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        fewest, most = OPTIONS
        said = [" ".join(words(each)) for each in self.options]
        if not fewest <= len(said) <= most:
            raise ValueError(f"{len(said)} options; a quiz has {fewest} to {most}, the right answer among them")
        if said[0] in said[1:]:
            raise ValueError("the right answer stands among the distractors")
        if len(set(said)) < len(said):
            raise ValueError("two distractors say the same")
        if any(not each or each.isdecimal() for each in said):
            raise ValueError("an option is a number alone: nobody could tell it from the number that it is chosen by")
        return self

    @property
    def options(self) -> tuple[str, ...]:
        """The right answer, then the wrong ones."""
        return (self.answer, *self.distractors)

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """What patients see of it, by name."""
        numbered = ((f"distractor_{number}", text) for number, text in enumerate(self.distractors, 1))
        shown = (("context", self.context or ""), ("question", self.question), ("answer", self.answer), *numbered)
        return tuple((name, text) for name, text in shown if text)

    @property
    def hash(self) -> str:
        """The name of what patients see of it; the same as Switzerland spells it."""
        seen = json.dumps(self.texts, ensure_ascii=False).replace("ß", "ss")
        return hashlib.sha256(seen.encode()).hexdigest()[:HASH_DIGITS]

    def shuffled(self, seed: str) -> tuple[str, ...]:
        """Return all options in an order that depends on the seed and the quiz only."""
        options = list(self.options)
        random.Random(f"{seed} {self.hash}").shuffle(options)
        return tuple(options)


def quiz_name(pair_id: str, quiz: Quiz) -> str:
    """Return how a quiz of a pair is named wherever it is kept: ``deodorant@1a2b3c4d5e6f``."""
    return f"{pair_id}{MARK}{quiz.hash}"


def pair_of(name: str) -> str:
    """Return the id of the pair from what `quiz_name` returned."""
    return name.partition(MARK)[0]


@dataclass(frozen=True, slots=True)
class Quizzed:
    """What a turn was to a quiz, as it is kept with the turn.

    Attributes:
        name: The pair and the quiz, as `quiz_name` names them.
        step: What happened.
        option: Which option was chosen, as the quiz lists them: 0 is the right answer; None where none was.
    """

    name: str
    step: QuizStep
    option: int | None = None

    @property
    def pair_id(self) -> str:
        return pair_of(self.name)

    @property
    def quiz(self) -> str:
        """The hash of the quiz."""
        return self.name.partition(MARK)[2]

    def __str__(self) -> str:
        return f"{self.name} {self.step}" + ("" if self.option is None else f" {self.option}")

    @classmethod
    def read(cls, written: str) -> Quizzed | None:
        """Return what `str` wrote; None for anything else."""
        name, step, *rest = [*written.split(" "), ""][:3]
        known = next((each for each in QUIZ_STEPS if each == step), None)
        if known is None or MARK not in name:
            return None
        return cls(name, known, int(rest[0]) if rest and rest[0].isdecimal() else None)
