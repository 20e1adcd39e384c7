"""What the interview says, as data: sentences by key, texts of the form by place, answers. `bot.sentences` words it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.interview.values.answer import Answer

FormField = Literal[
    "title", "question", "short", "instruction", "help", "format", "option", "constraint", "low", "high", "open_label",
    "unit", "link", "media",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answers:
    """What stands in a slot: answers to one question."""

    link_id: str
    answers: tuple[Answer, ...]


Slot = int | Answers


@dataclass(frozen=True, slots=True)
class Sentence:
    """A fixed sentence of the program.

    Attributes:
        key: Its name.
        slots: Numbers, or answers of this patient.
        otherwise: The key of what is said where there is no sentence `key`; empty where there is one.
    """

    key: str
    slots: Mapping[str, Slot] = field(default_factory=dict)
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of the Questionnaire; nothing where it has none.

    Attributes:
        link_id: Its item; empty for the form itself.
        field: Which of its texts.
        number: Which of several (option, help text), from 0.
        otherwise: What is said where there is no such text.
    """

    link_id: str
    field: FormField
    number: int = 0
    otherwise: Sentence | Quote | None = None


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One line of a list: what a question is called, and what was answered; `number` is what it is called by, or 0."""

    number: int
    label: Quote
    value: Sentence


Saying = Sentence | Quote | ListEntry


@dataclass(frozen=True, slots=True)
class Said:
    """All that is said in one turn, in reading order, and what may be chosen by number."""

    language: str
    parts: tuple[Saying, ...]
    choices: tuple[Saying, ...] = ()


def with_answers(key: str, link_id: str, answers: tuple[Answer, ...]) -> Sentence:
    """Return a fixed sentence with answers to a question in it."""
    return Sentence(key, {"answer": Answers(link_id, answers)})


def name_of(link_id: str) -> Quote:
    """Return what an item is called: its short name, else its text."""
    return Quote(link_id, "short", otherwise=Quote(link_id, "question"))
