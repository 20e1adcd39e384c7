"""What raters say of answers to novel questions, and the queue of what they still have to see."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bot import BadData, data_folder
from harness.run import Outcome

LABELS = "labels.jsonl"
Verdict = Literal["incorrect", "partial", "correct"]
VERDICTS: tuple[Verdict, ...] = ("incorrect", "partial", "correct")
ANY_OTHER = "*"


class Rater(BaseModel):
    """Who labelled; a model is never called a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["person", "model"]
    name: str


class Label(BaseModel):
    """One rater's verdict on answering a question with a pair.

    Attributes:
        question_id: Of the suite.
        pair_id: The pair shown; ``*`` stands for all pairs without a label of their own.
        label: incorrect, partial or correct, as in the paper.
        rater: Who says so.
        comment: Free text.
        time: When.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question_id: str
    pair_id: str
    label: Verdict
    rater: Rater
    comment: str = ""
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """Something to label: a novel question and what the patient was shown."""

    outcome: Outcome
    pair_id: str


def load_labels(files: Iterable[Path]) -> list[Label]:
    """Read label files; missing ones hold no labels.

    Raises:
        BadData: A line is not a label.
    """
    labels = []
    for file in files:
        if not file.is_file():
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip():
                continue
            try:
                labels.append(Label.model_validate_json(line))
            except ValidationError as error:
                raise BadData(f"{file}:{number} is no label: {error.errors()[0]['msg']}. Mend the line.") from error
    return labels


def shipped_labels(suite: str) -> Path:
    """Return where labels lie that are shipped with a suite."""
    return data_folder("vignettes") / "labels" / f"{suite}.jsonl"


def append_label(file: Path, label: Label) -> None:
    """Store a label durably before the next item is shown."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(label.model_dump(mode="json"), ensure_ascii=False) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


class Verdicts:
    """The verdict on each (question, pair): raters who agree decide, raters who differ leave it open."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._by_item: dict[tuple[str, str], dict[str, Verdict]] = {}
        for label in labels:  # a rater's later label replaces the earlier one
            self._by_item.setdefault((label.question_id, label.pair_id), {})[label.rater.name] = label.label
        self.raters = tuple(dict.fromkeys((label.rater.kind, label.rater.name) for label in labels))

    def of(self, question_id: str, pair_id: str) -> Verdict | Literal["open", "disputed"]:
        """Return the verdict, ``open`` without labels, ``disputed`` when raters differ."""
        names = [name for _, name in self.raters]
        given = {verdict for name in names if (verdict := self.by_rater(name, question_id, pair_id)) is not None}
        if not given:
            return "open"
        return next(iter(given)) if len(given) == 1 else "disputed"

    def by_rater(self, rater: str, question_id: str, pair_id: str) -> Verdict | None:
        own = self._by_item.get((question_id, pair_id), {})
        rest = self._by_item.get((question_id, ANY_OTHER), {})
        return own.get(rater) or rest.get(rater)


def verdicts_on(run: Path, suite: str) -> Verdicts:
    """Return the verdicts shipped with a suite and those given on a run of it."""
    return Verdicts(load_labels([shipped_labels(suite), run / LABELS]))


def queue(outcomes: Sequence[Outcome], verdicts: Verdicts, *, rater: str | None = None) -> list[Item]:
    """Return the answered novel questions that lack a verdict, or that lack this rater's label."""
    items = [Item(o, o.answered_with) for o in outcomes if o.kind == "novel" and o.answered_with is not None]
    if rater is not None:
        return [item for item in items if verdicts.by_rater(rater, item.outcome.id, item.pair_id) is None]
    return [item for item in items if verdicts.of(item.outcome.id, item.pair_id) in ("open", "disputed")]


@dataclass(frozen=True, slots=True)
class NovelScore:
    """A row of the paper's Table 2. Unanswered questions count as incorrect there, and are shown apart here."""

    n: int
    incorrect: int
    partial: int
    correct: int
    unanswered: int
    open: int


def score_novel(outcomes: Sequence[Outcome], verdicts: Verdicts) -> NovelScore:
    """Count verdicts on novel questions."""
    novel = [outcome for outcome in outcomes if outcome.kind == "novel"]
    counts = dict.fromkeys((*VERDICTS, "open", "disputed"), 0)
    unanswered = 0
    for outcome in novel:
        if outcome.answered_with is None:
            unanswered += 1
        else:
            counts[verdicts.of(outcome.id, outcome.answered_with)] += 1
    return NovelScore(
        n=len(novel),
        incorrect=counts["incorrect"],
        partial=counts["partial"],
        correct=counts["correct"],
        unanswered=unanswered,
        open=counts["open"] + counts["disputed"],
    )


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
