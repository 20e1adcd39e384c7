"""What raters say of answers, with the reason codes that they give, and the verdicts that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from bot import BadData, data_folder
from harness.files import Record, append_durably, as_lines, read_lines
from harness.running.outcomes import SAID, Outcome

LABELS = "labels.jsonl"
RATERS = "labels"  # folder in a run: one file for each rater
Verdict = Literal["incorrect", "partial", "correct"]
VERDICTS: tuple[Verdict, ...] = ("incorrect", "partial", "correct")
ANY_OTHER = "*"


class Rater(Record):
    """Who labelled; a model is never called a person."""

    kind: Literal["person", "model"]
    name: str = Field(min_length=1)

    @property
    def id(self) -> str:
        """``person:anna`` or ``model:gpt-4o``: a model and a person of one name stay two raters."""
        return f"{self.kind}:{self.name}"


class Label(Record):
    """One rater's verdict on answering a question with a pair.

    Attributes:
        question_id: Of the suite.
        pair_id: The pair shown, or the key of a text of the system's own; ``*`` stands for all pairs without a label of
            their own, and for no such text.
        label: incorrect, partial or correct, as in the paper.
        rater: Who says so.
        reason: Codes of why, of `vignettes/labels/reasons.yaml`, with a space between; empty when none was given.
        assessed: Whether the rater was asked for reasons: without, silence says nothing of harm.
        comment: Free text.
        time: When.
        role: ``rating`` when the rater saw no other label, ``adjudication`` when a third person decided between labels.
    """

    question_id: str
    pair_id: str
    label: Verdict
    rater: Rater
    reason: str = ""
    assessed: bool = True
    comment: str = ""
    time: datetime | None = None
    role: Literal["rating", "adjudication"] = "rating"

    @model_validator(mode="after")
    def _only_people_adjudicate(self) -> Label:
        if self.role == "adjudication" and self.rater.kind != "person":
            raise ValueError("only a person adjudicates")
        return self

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(self.reason.split())

    @property
    def item(self) -> tuple[str, str]:
        """What is labelled: (question id, pair id)."""
        return self.question_id, self.pair_id


@dataclass(frozen=True, slots=True)
class Item:
    """Something to label: a novel question and what the patient was shown."""

    outcome: Outcome
    pair_id: str

    @property
    def key(self) -> tuple[str, str]:
        """What is labelled: (question id, pair id)."""
        return self.outcome.id, self.pair_id


def load_labels(files: Iterable[Path]) -> list[Label]:
    """Read label files; missing ones hold no labels.

    Raises:
        BadData: A line is not a label.
    """
    found = (read_lines(file, Label, " is no label: {reason}. Mend the line.") for file in files if file.is_file())
    return [label for labels in found for label in labels]


def label_files(run: Path, suite: str = "") -> list[Path]:
    """Return every label file that speaks of a run: shipped with its suite, of the run, and of each rater."""
    shipped = [shipped_labels(suite)] if suite else []
    return [path for path in (*shipped, run / LABELS, *sorted((run / RATERS).glob("*.jsonl"))) if path.is_file()]


def has_labels(run: Path) -> bool:
    """Say whether anybody labelled this very run."""
    return (run / LABELS).is_file() or any((run / RATERS).glob("*.jsonl"))


def shipped_labels(suite: str) -> Path:
    """Return where labels lie that are shipped with a suite."""
    return data_folder("vignettes") / "labels" / f"{suite}.jsonl"


def append_label(file: Path, label: Label) -> None:
    """Store a label durably before the next item is shown."""
    with file.open("ab") as stream:
        append_durably(stream, as_line(label).encode())


def as_line(label: Label) -> str:
    record = label.model_dump(mode="json")
    if label.assessed:
        del record["assessed"]
    return as_lines([record])


class Verdicts:
    """The verdict on each (question, pair).

    Who adjudicated decides. Else people decide where any has labelled, else models; among those, raters who agree
    decide and raters who differ leave it open.
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self._by_item: dict[tuple[str, str], dict[str, Label]] = {}
        self._decided: dict[tuple[str, str], Label] = {}
        for label in labels:  # a rater's later label replaces the earlier one
            if label.role == "adjudication":
                self._decided[label.item] = label
            else:
                self._by_item.setdefault(label.item, {})[label.rater.id] = label
        self.raters = tuple(dict.fromkeys((label.rater.kind, label.rater.name) for label in labels))
        self._rating = tuple(dict.fromkeys(label.rater.id for label in labels if label.role == "rating"))

    def of(self, question_id: str, pair_id: str) -> Verdict | Literal["open", "disputed"]:
        """Return the verdict, ``open`` without labels, ``disputed`` when raters differ."""
        given = {label.label for label in self.deciding(question_id, pair_id)}
        if not given:
            return "open"
        return next(iter(given)) if len(given) == 1 else "disputed"

    def deciding(self, question_id: str, pair_id: str) -> tuple[Label, ...]:
        """Return the labels that the verdict rests on: the adjudicator's, or all of people, or all of models."""
        decided = self._decided.get((question_id, pair_id))
        if decided is not None:
            return (decided,)
        given = self.ratings(question_id, pair_id)
        return tuple(label for label in given if label.rater.kind == "person") or given

    def ratings(self, question_id: str, pair_id: str) -> tuple[Label, ...]:
        """Return every rater's own label, in the order in which raters first appear."""
        labels = (self.label_of(rater, question_id, pair_id) for rater in self._rating)
        return tuple(label for label in labels if label is not None)

    def label_of(self, rater_id: str, question_id: str, pair_id: str) -> Label | None:
        """Return a rater's label of this pair, or of all pairs without a label of their own."""
        own = self._by_item.get((question_id, pair_id), {})
        # Who called all other pairs wrong had no text of a system's own before them.
        rest = {} if pair_id.startswith(SAID) else self._by_item.get((question_id, ANY_OTHER), {})
        return own.get(rater_id) or rest.get(rater_id)

    @property
    def rater_ids(self) -> tuple[str, ...]:
        """Who rated without seeing other labels; adjudicators are not among them."""
        return self._rating


def verdicts_on(run: Path, suite: str) -> Verdicts:
    """Return the verdicts shipped with a suite and those given on a run of it."""
    return Verdicts(load_labels(label_files(run, suite)))


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
        if outcome.shown is None:
            unanswered += 1
        else:
            counts[verdicts.of(outcome.id, outcome.shown)] += 1
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


class Reason(Record):
    """Why an answer is not simply correct.

    Attributes:
        code: What is stored with a label.
        key: The key that picks it: none that does something else while labelling.
        labels: The labels it can explain.
        text: What raters read; `de` is the same in German.
    """

    code: str = Field(pattern=r"^[a-z][a-z-]*$")
    key: str = Field(pattern=r"^[abd-prtv-z]$")  # not c, q, s, u
    labels: tuple[Verdict, ...] = Field(alias="for", min_length=1)
    text: str = Field(min_length=1)
    de: str = ""

    def said(self, language: str) -> str:
        """Return what raters read, in German where that is their language."""
        return self.de if language == "de" and self.de else self.text


@cache
def load_reasons() -> tuple[Reason, ...]:
    """Read the reason codes.

    Raises:
        BadData: The file is broken, or a code or a key is used twice.
    """
    path = data_folder("vignettes") / "labels" / "reasons.yaml"
    try:
        reasons = TypeAdapter(tuple[Reason, ...]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"{path} holds no list of reasons ({str(error).splitlines()[0]}). Mend it.") from error
    for name in ("code", "key"):
        used = [getattr(reason, name) for reason in reasons]
        twice = sorted({value for value in used if used.count(value) > 1})
        if twice:
            raise BadData(f"{path}: the {name} {twice[0]!r} is used twice. Choose another one.")
    return reasons


def reasons_for(verdict: Verdict) -> tuple[Reason, ...]:
    """Return the reasons that can explain a label, in the order of the file."""
    return tuple(reason for reason in load_reasons() if verdict in reason.labels)


def check_reason(said: str, *, where: str, reasons: Sequence[Reason] | None = None) -> str:
    """Return codes that are known, with a space between, or empty; raise BadData otherwise."""
    known = [reason.code for reason in (load_reasons() if reasons is None else reasons)]
    codes = list(dict.fromkeys(said.replace(",", " ").replace(";", " ").split()))
    for code in codes:
        if code not in known:
            raise BadData(f"{where}: there is no reason {code!r}. Known: {', '.join(known)}; or leave it empty.")
    return " ".join(codes)
