"""Proxy tasks from our content: quiz questions, true and false statements, entailment. Pure but for reading files.

After seed paper 002, section 3.1.1: an item can be worked on without any text, but a good text helps. Statements come
from the sentences of approved answers by rules (as they stand, and made false by a number, an opposite or a negation)
and from a model; a sentence serves one task only, so that the tasks do not ask the same. Whatever a statement is made
from is the whole answer, never a candidate: no candidate is copied by construction.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from bot import BadData, Catalog, Pair, fold, plain_text, split_sentences, words
from harness.files import Record, read_lines, unreadable

Task = Literal["quiz", "truth", "entailment"]
Plain = Annotated[str, AfterValidator(plain_text)]
TASKS: tuple[Task, ...] = ("quiz", "truth", "entailment")
TRUTH = ("true", "false")
ENTAILMENT = ("follows", "contradicts", "open")  # open: the answer says nothing of it
Origin = Literal["rule", "model", "file"]
FEWEST_WORDS, MOST_WORDS = 5, 30  # of a sentence that becomes a statement
OPEN_PER_PAIR = 2  # statements of other pairs that an answer says nothing of
_NUMBER = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)*(?![\d.,]*\d)")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to solve.

    Attributes:
        id: Unique in a study.
        pair_id: The pair whose texts should help.
        prompt: The question of a quiz, or the statement.
        options: Answers of a quiz in a fixed shuffled order, or the labels of the task.
        right: Which of them is right.
        by: Who made it.
    """

    id: str
    task: Task
    pair_id: str
    prompt: str
    options: tuple[str, ...]
    right: int
    by: Origin

    @property
    def text(self) -> str:
        """All of it that can be the copy of another item."""
        return " ".join((self.prompt, *(self.options if self.task == "quiz" else ())))

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "task": self.task,
            "pair": self.pair_id,
            "prompt": self.prompt,
            "options": list(self.options),
            "right": self.options[self.right],
            "by": self.by,
        }


class Rules(Record):
    """How the sentences of a language are made false, and which are none that stand alone.

    Attributes:
        decimal, thousands: What stands before the decimals and between groups of three digits; neither is the other.
    """

    decimal: Literal[".", ","]
    thousands: Literal[".", ","]
    opposites: tuple[tuple[str, str], ...]
    unnegated: Mapping[str, str]
    negation: str
    negated_after: tuple[str, ...]
    skipped_starts: tuple[str, ...]
    imperative: str
    negations: tuple[str, ...]

    @model_validator(mode="after")
    def _separated(self) -> Rules:
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands must differ")
        return self

    @cached_property
    def number(self) -> re.Pattern[str]:
        """A whole number as the language writes it: digits with or without groups, then decimals."""
        group, point = re.escape(self.thousands), re.escape(self.decimal)
        return re.compile(rf"(\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{point}(\d+))?")


def rule_items(catalog: Catalog, pair_ids: Sequence[str], rules: Rules) -> list[Item]:
    """Make statements from the answers of pairs, in the order of the pairs; deterministic."""
    items: list[Item] = []
    stand_alone = {
        id_: [one for one in split_sentences(catalog.pair(id_).answer) if _stands(one, rules)] for id_ in pair_ids
    }
    for pair_id in pair_ids:
        for number, sentence in enumerate(stand_alone[pair_id]):
            wrong = falsified(sentence, rules)
            if wrong is None:
                continue
            # By the sentence: one that stands in two answers serves the same task in both.
            odd = hashlib.sha256(fold(sentence).encode()).digest()[0] % 2
            task, labels = ("truth", TRUTH) if odd else ("entailment", ENTAILMENT)
            for right, text in enumerate((sentence, wrong)):
                id_ = f"{task}/{pair_id}/rule-{number}{'ab'[right]}"
                items.append(Item(id_, task, pair_id, text, labels, right, "rule"))  # type: ignore[arg-type]
        pair = catalog.pair(pair_id)
        others = [
            sentence
            for other in pair_ids
            if other not in (pair_id, *pair.related) and pair_id not in catalog.pair(other).related
            for sentence in stand_alone[other]
            if fold(sentence) not in fold(pair.answer)
        ]
        random.Random(f"open/{pair_id}").shuffle(others)
        for number, sentence in enumerate(others[:OPEN_PER_PAIR]):
            id_ = f"entailment/{pair_id}/rule-other-{number}"
            items.append(Item(id_, "entailment", pair_id, sentence, ENTAILMENT, 2, "rule"))
    return items


def _stands(sentence: str, rules: Rules) -> bool:
    """Tell whether a sentence says something that is true or false without those before it."""
    said = words(sentence)
    return (
        sentence.endswith(".")
        and sentence[0].isupper()
        and FEWEST_WORDS <= len(said) <= MOST_WORDS
        and said[0] not in map(fold, rules.skipped_starts)
        and re.match(rules.imperative, sentence) is None
    )


def falsified(sentence: str, rules: Rules) -> str | None:
    """Return the sentence made false in one place; None where no rule fits. The kind of change varies by sentence."""
    ways = [_other_number, _opposite, _unnegated, _negated]
    first = int(hashlib.sha256(sentence.encode()).hexdigest(), 16) % len(ways)
    for way in (*ways[first:], *ways[:first]):
        changed = way(sentence, rules)
        if changed is not None and changed != sentence:
            return changed
    return None


def _other_number(sentence: str, rules: Rules) -> str | None:
    """Multiply the last number by three, written as it was: the first ones often belong to names and ranges."""
    found = list(_NUMBER.finditer(sentence))
    last = found[-1] if found else None
    read = rules.number.fullmatch(last[0]) if last is not None else None
    if last is None or read is None:  # none, or no number of this language: a date, a version
        return None
    whole, decimals = read[1], read[2] or ""
    value = 3 * Decimal(f"{whole.replace(rules.thousands, '')}.{decimals or 0}")
    text = f"{value:{',' if rules.thousands in whole else ''}.{len(decimals)}f}"
    text = text.translate({ord(","): rules.thousands, ord("."): rules.decimal})
    return sentence[: last.start()] + text + sentence[last.end() :]


def _opposite(sentence: str, rules: Rules) -> str | None:
    for one, other in rules.opposites:
        there = [re.search(rf"\b{re.escape(each)}\b", sentence) for each in (one, other)]
        if bool(there[0]) != bool(there[1]):  # with both, exchanging one makes neither sense nor a contradiction
            before, after = (one, other) if there[0] else (other, one)
            return re.sub(rf"\b{re.escape(before)}\b", after, sentence, count=1)
    return None


def _unnegated(sentence: str, rules: Rules) -> str | None:
    for before, after in rules.unnegated.items():
        changed = re.sub(rf"\b{re.escape(before)}\b", after, sentence, count=1)
        if changed != sentence:
            changed = re.sub(r"\s+(?=[.,)]|\s)|(?<=\()\s+", "", changed).strip()
            return changed[:1].upper() + changed[1:]
    return None


def _negated(sentence: str, rules: Rules) -> str | None:
    if set(words(sentence)) & {fold(each) for each in rules.negations}:
        return None
    main, comma, rest = sentence.partition(",")  # in a clause behind a comma the negation stands elsewhere
    for verb in rules.negated_after:
        changed = re.sub(rf"\b{re.escape(verb)}\b", f"{verb} {rules.negation}", main, count=1)
        if changed != main:
            return changed + comma + rest
    return None


class QuizLine(Record):
    """A quiz: with its options and the right one, or in the form of `klartext author quiz`."""

    pair: str
    question: Plain = Field(min_length=1)
    context: Plain = ""
    options: tuple[Plain, ...] = ()
    right: Plain = ""
    answer: Plain = ""
    distractors: tuple[Plain, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> QuizLine:
        options, right = self.choices
        if len(set(options)) < 2 or len(set(options)) != len(options) or right not in options:
            raise ValueError("needs two options or more, all different, the right one among them")
        return self

    @property
    def choices(self) -> tuple[tuple[str, ...], str]:
        if self.options:
            return self.options, self.right
        return (self.answer, *self.distractors), self.answer


def quiz_item(line: QuizLine, id_: str, by: Origin) -> Item:
    """Return a quiz as an item; its options are shuffled by its id, since makers put the right one first."""
    options, right = line.choices
    order = list(options)
    random.Random(id_).shuffle(order)
    prompt = f"{line.context} {line.question}".strip()
    return Item(id_, "quiz", line.pair, prompt, tuple(order), order.index(right), by)


def read_quizzes(path: Path) -> list[Item]:
    """Read quizzes: JSON lines (`QuizLine`), or the `result.json` of `klartext author quiz`.

    Raises:
        BadData: The file cannot be read, or a quiz lacks something.
    """
    try:
        lines = _of_result(path) if path.suffix == ".json" else read_lines(path, QuizLine, " is no quiz ({reason}).")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give quizzes as JSON lines.") from error
    if not lines:
        raise BadData(f"{path} holds no quiz. Give one a line: pair, question, options, right.")
    return [quiz_item(line, f"quiz/{line.pair}/file-{number}", "file") for number, line in enumerate(lines, 1)]


def _of_result(path: Path) -> list[QuizLine]:
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        kept = [
            (one["pair"], next(version for version in one["rounds"] if version["round"] == one["kept"]))
            for one in made["quizzes"]
            if one["pair"] and one["kept"]
        ]
        return [
            QuizLine(
                pair=pair,
                context=quiz["context"],
                question=quiz["question"],
                answer=quiz["answer"],
                distractors=tuple(quiz["distractors"]),
            )
            for pair, quiz in kept
        ]
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise BadData(f"{path} is no result of `klartext author quiz`. Give that file, or JSON lines.") from error


def attached(pairs: Sequence[Pair]) -> list[Item]:
    """Return the quizzes that are attached to pairs."""
    return [
        quiz_item(
            QuizLine(
                pair=pair.id,
                context=quiz.context or "",
                question=quiz.question,
                answer=quiz.answer,
                distractors=quiz.distractors,
            ),
            f"quiz/{pair.id}/attached-{number}",
            "file",
        )
        for pair in pairs
        for number, quiz in enumerate(pair.quizzes, 1)
    ]


class CandidateLine(Record):
    """A text that competes: which pair's question it answers, and who or what wrote it."""

    pair: str
    system: str = Field(pattern=r"^[\w][\w .-]{0,39}$")
    text: Plain = Field(min_length=1)


def read_candidates(path: Path) -> dict[str, dict[str, str]]:
    """Read candidate texts (JSON lines: pair, system, text), by system and pair.

    Raises:
        BadData: The file cannot be read, or a system has two texts for one pair.
    """
    try:
        lines = read_lines(path, CandidateLine, " is no candidate ({reason}). Give pair, system and text.")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({unreadable(error)}). Give candidates as JSON lines.") from error
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        if line.pair in found.setdefault(line.system, {}):
            raise BadData(f"{path}: {line.system!r} has two texts for {line.pair!r}. Leave one out.")
        found[line.system][line.pair] = " ".join(line.text.split())
    if not found:
        raise BadData(f"{path} holds no candidate. Give one a line: pair, system, text.")
    return found
