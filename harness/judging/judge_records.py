"""A judge's ratings and comparisons as they lie in a run: one file for each judge and kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData
from harness.judging.judge_answers import Better, read_choice, read_label, read_scores
from harness.judging.judge_prompts import HIGHEST, JudgePrompt, Order, load_instructions
from harness.labelling.exchange import add_labels
from harness.labelling.files import file_name
from harness.labelling.reasons import load_reasons
from harness.labels import Label, Rater
from harness.recording import ModelAnswer, read_answers

FOLDER = "judges"
Record = TypeVar("Record", bound=BaseModel)


class Judge(Protocol):
    """Anything that answers prompts: a live endpoint, or files that hold the answers."""

    def ask(self, prompts: Sequence[JudgePrompt]) -> Mapping[str, ModelAnswer]:
        """Return answers by prompt id; prompts without an answer are left out."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """A judge that answered offline: the output files of a Batch."""

    files: Sequence[Path]

    def ask(self, prompts: Sequence[JudgePrompt]) -> Mapping[str, ModelAnswer]:
        wanted = {prompt.id for prompt in prompts}
        return {key: answer for key, answer in read_answers(self.files).items() if key in wanted}


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rating(_Line):
    """Scores of one shown text by aspect."""

    question_id: str
    pair_id: str
    scores: dict[str, float] = Field(min_length=1)

    @property
    def key(self) -> tuple[str, ...]:
        return self.question_id, self.pair_id

    @property
    def total(self) -> float:
        """Share of the highest possible score of what was scored, 0 to 1."""
        return sum(self.scores.values()) / (HIGHEST * len(self.scores))


class Comparison(_Line):
    """What a judge preferred in one order."""

    question_id: str
    a: str
    b: str
    order: Order
    better: Better

    @property
    def key(self) -> tuple[str, ...]:
        return self.question_id, self.a, self.b, self.order


@dataclass
class Taken:
    """What was read from a judge's answers.

    Attributes:
        labels, ratings, comparisons: As read.
        unread: Answers that said nothing readable, by mode; they count nowhere.
        strange: Ids that belong to no question of the run, or to no prompt of ours.
    """

    labels: list[Label] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)


def take(answers: Mapping[str, ModelAnswer], *, rater: Rater, known: Collection[str]) -> Taken:
    """Read a judge's answers.

    Args:
        answers: By prompt id.
        rater: The model.
        known: Ids of the run's questions.
    """
    taken = Taken()
    for prompt_id, answer in answers.items():
        mode, _, rest = prompt_id.partition("/")
        if mode not in _READERS or not _READERS[mode](taken, rest, answer, rater, known):
            taken.strange.append(prompt_id)
    return taken


def _take_label(taken: Taken, rest: str, answer: ModelAnswer, rater: Rater, known: Collection[str]) -> bool:
    question, hash_, pair = rest.rpartition("#")
    if not hash_ or question not in known:
        return False
    read = None if answer.problem else read_label(answer.content, reasons=[r.code for r in load_reasons()])
    if read is None:
        taken.unread["label"] += 1
    else:
        taken.labels.append(
            Label(
                question_id=question,
                pair_id=pair,
                label=read.verdict,
                rater=rater,
                reason=read.reason,
                comment=read.comment,
            )
        )
    return True


def _take_rating(taken: Taken, rest: str, answer: ModelAnswer, _: Rater, known: Collection[str]) -> bool:
    question, hash_, pair = rest.rpartition("#")
    if not hash_ or question not in known:
        return False
    aspects = [aspect.id for aspect in load_instructions().aspects]
    scores = {} if answer.problem else read_scores(answer.content, aspects=aspects)
    if scores:
        taken.ratings.append(Rating(question_id=question, pair_id=pair, scores=scores))
    else:
        taken.unread["rate"] += 1
    return True


def _take_comparison(taken: Taken, rest: str, answer: ModelAnswer, _: Rater, known: Collection[str]) -> bool:
    order, _slash, item = rest.partition("/")
    parts = item.rsplit("#", 2)
    if order not in ("ab", "ba") or len(parts) != 3 or parts[0] not in known:
        return False
    better = None if answer.problem else read_choice(answer.content, order=order)
    if better is None:
        taken.unread["compare"] += 1
    else:
        way: Order = "ab" if order == "ab" else "ba"
        taken.comparisons.append(Comparison(question_id=parts[0], a=parts[1], b=parts[2], order=way, better=better))
    return True


_READERS: dict[str, Callable[[Taken, str, ModelAnswer, Rater, Collection[str]], bool]] = {
    "label": _take_label,
    "rate": _take_rating,
    "compare": _take_comparison,
}


def keep(run: Path, taken: Taken, rater: Rater) -> None:
    """Store what a judge said beside what it said before; of the same thing the latest counts."""
    add_labels(run, taken.labels)
    _merge(_file(run, rater, "ratings"), taken.ratings, Rating)
    _merge(_file(run, rater, "comparisons"), taken.comparisons, Comparison)


def judges_of(run: Path) -> list[str]:
    """Return the file names, without ending, of the judges of a run."""
    return sorted({path.name.rsplit(".", 2)[0] for path in (run / FOLDER).glob("*.*.jsonl")})


def load_ratings(run: Path, judge: str) -> list[Rating]:
    return _load(run / FOLDER / f"{judge}.ratings.jsonl", Rating)


def load_comparisons(run: Path, judge: str) -> list[Comparison]:
    return _load(run / FOLDER / f"{judge}.comparisons.jsonl", Comparison)


def _file(run: Path, rater: Rater, kind: str) -> Path:
    return run / FOLDER / f"{file_name(rater).removesuffix('.jsonl')}.{kind}.jsonl"


def _load(path: Path, record: type[Record]) -> list[Record]:
    if not path.is_file():
        return []
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        try:
            records.append(record.model_validate_json(line))
        except ValidationError as error:
            raise BadData(f"{path}:{number}: {error.errors()[0]['msg']}. Remove the line, and import again.") from error
    return records


def _merge(path: Path, records: Sequence[Rating | Comparison], record: type[Rating] | type[Comparison]) -> None:
    if not records:
        return
    merged = {item.key: item for item in (*_load(path, record), *records)}
    text = "".join(json.dumps(item.model_dump(), ensure_ascii=False) + "\n" for item in merged.values())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise BadData(f"{path} cannot be written ({error.strerror}). Make the run's folder writable.") from error
