"""Test questions and where they come from; suites of them, immutable, identified by the hash of their content."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import yaml
from pydantic import ConfigDict, Field, ValidationError

from bot import BadData, Catalog, NearCopies, data_folder
from harness.files import Record, as_lines, writing

QUESTIONS, META = "questions.jsonl", "suite.yaml"


class QuestionSource(Record):
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


class Question(Record):
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


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line that did not become a question.

    Attributes:
        prompt_id: The prompt it answered.
        text: The line.
        reason: empty answer, refusal, preamble, duplicate, too many, wrong language, too long, no words, or cut off.
    """

    prompt_id: str
    text: str
    reason: str


class SuiteMeta(Record):
    """What `suite.yaml` says."""

    name: str
    catalog: str
    language: str
    created: date
    note: str
    counts: dict[str, int]
    dropped: dict[str, int]
    sha256: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as loaded."""

    meta: SuiteMeta
    questions: tuple[Question, ...]

    @property
    def paraphrases(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.kind == "paraphrase")


class AnySuite(Protocol):
    """Questions to be asked, in memory or on disk; they can be gone through more than once."""

    @property
    def meta(self) -> SuiteMeta: ...

    @property
    def questions(self) -> Collection[Question]: ...


def load_suite(name_or_path: str | Path) -> Suite:
    """Load a suite by folder, or by the name of a shipped one; raise BadData when it is broken or was changed."""
    opened = open_suite(name_or_path)
    return Suite(opened.meta, tuple(opened.questions))


def open_suite(name_or_path: str | Path) -> SuiteOnDisk:
    """Open a suite whose questions are read when they are asked: as many as the disk holds.

    Raises:
        BadData: There is no such suite, or it was changed. A broken line is noticed when it is read.
    """
    for folder in (Path(name_or_path), data_folder("vignettes") / "suites" / str(name_or_path)):
        if (folder / META).is_file():
            return _open(folder)
    shipped = sorted(path.parent.name for path in (data_folder("vignettes") / "suites").glob(f"*/{META}"))
    raise BadData(
        f"There is no suite {str(name_or_path)!r}. Shipped suites: {', '.join(shipped) or 'none'}. "
        "Run `klartext harness prompts import` to make one."
    )


def _open(folder: Path) -> SuiteOnDisk:
    try:
        meta = SuiteMeta.model_validate(yaml.safe_load((folder / META).read_text(encoding="utf-8")))
        with (folder / QUESTIONS).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise BadData(f"The suite {folder} cannot be read ({reason}). Import it again.") from error
    if found != meta.sha256:
        raise BadData(
            f"The suite {folder} was changed after it was recorded ({QUESTIONS} does not have the hash in {META}). "
            "Suites are immutable: restore it, or import it under another name."
        )
    return SuiteOnDisk(meta, QuestionFile(folder / QUESTIONS))


@dataclass(frozen=True)
class QuestionFile(Collection[Question]):
    """Questions in a file, one a line; every pass reads it anew."""

    path: Path

    def __iter__(self) -> Iterator[Question]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line == b"\n":
                    continue
                try:
                    yield Question.model_validate_json(line)
                except ValidationError as error:
                    message = f"{self.path}:{number}: {error.errors()[0]['msg']}. Import the suite again."
                    raise BadData(message) from error

    def __len__(self) -> int:
        return self._count

    def __contains__(self, question: object) -> bool:
        return any(question == other for other in self)

    @cached_property
    def _count(self) -> int:
        with self.path.open("rb") as file:
            return sum(line != b"\n" for line in file)


@dataclass(frozen=True, slots=True)
class SuiteOnDisk:
    """A suite whose questions stay on disk."""

    meta: SuiteMeta
    questions: QuestionFile


def save_suite(folder: Path, *, catalog: Catalog, note: str, recording: Recording, today: date) -> SuiteMeta:
    """Write a suite, whole or not at all; raise BadData when the folder exists."""
    if folder.exists():
        raise BadData(f"{folder} exists, and suites are immutable. Choose another name with `--name`.")
    questions = recording.questions
    raw = as_lines(question.model_dump(mode="json", by_alias=True) for question in questions).encode()
    counts = {kind: sum(question.kind == kind for question in questions) for kind in ("paraphrase", "novel")}
    if urgent := sum(question.kind == "urgent" for question in questions):
        counts["urgent"] = urgent
    meta = SuiteMeta(
        name=folder.name,
        catalog=catalog.name,
        language=catalog.language,
        created=today,
        note=note,
        counts=counts,
        dropped=recording.reasons,
        sha256=hashlib.sha256(raw).hexdigest(),
    )
    with writing(folder, "Choose another folder."):
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".partial-"))
    try:
        (partial / QUESTIONS).write_bytes(raw)
        document: dict[str, Any] = meta.model_dump(mode="json")
        (partial / META).write_text(yaml.safe_dump(document, allow_unicode=True, sort_keys=False), encoding="utf-8")
        partial.chmod(0o755)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return meta


@dataclass(frozen=True, slots=True)
class Contamination:
    """A test question that is also a training text, or nearly."""

    question: Question
    text: str
    pair_id: str
    similarity: float


def contamination(suite: AnySuite, catalog: Catalog) -> list[Contamination]:
    """Return the suite's questions that are near copies of the catalog's variants or background questions.

    The canonical question itself does not count: an impersonated patient may well ask it as it stands.
    """
    known = NearCopies()
    for pair in catalog.pairs:
        for variant in pair.variants:
            known.add(variant.text, pair.id)
    for text in (*catalog.background, *(one.text for one in catalog.near_misses)):
        known.add(text, "")
    found = []
    for question in suite.questions:
        copy = known.find(question.text)
        if copy is not None:
            found.append(Contamination(question, copy.text, copy.label, copy.similarity))
    return found
