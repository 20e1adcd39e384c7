"""Test questions and where they come from; suites of them, immutable, identified by the hash of their content."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import yaml
from pydantic import ConfigDict, Field, ValidationError, model_validator

from bot import BadData, Catalog, NearCopies, data_folder
from harness.files import Record, as_lines, first_fault, unreadable, writing
from harness.patients.expectations import Expect

QUESTIONS, DIALOGUES, META = "questions.jsonl", "dialogues.jsonl", "suite.yaml"
# What a whole suite of single messages expects alike: these kinds are asked in a chat, as dialogues are.
SPOKEN = ("everyday", "complaint", "foreign", "real-manner", "remark")
TURN: Literal["turn"] = "turn"  # the kind of a message within a dialogue
CONTEXT: Literal["context"] = "context"  # a turn that is said, since later ones need it, but is not scored


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
    """One test item: a question, or a message of a dialogue.

    Attributes:
        pair_id: The right pair; None for novel questions, for urgent messages, which must reach a human, and for all
            that says in `expect` what should come of it.
        expect: None for questions of the kinds paraphrase, novel and urgent.
        dialogue: Id of the dialogue that it is a turn of.
        turn: Its place there, from 1.
    """

    id: str
    text: str
    lang: str
    vignette: str
    pair_id: str | None
    kind: Literal[
        "paraphrase", "novel", "urgent", "everyday", "complaint", "foreign", "real-manner", "remark", "turn", "context"
    ]
    source: QuestionSource
    expect: Expect | None = None
    dialogue: str | None = None
    turn: int | None = None

    @model_validator(mode="after")
    def _spoken(self) -> Question:
        if (self.expect is None) != (self.kind in ("paraphrase", "novel", "urgent")):
            raise ValueError(f"a message of kind {self.kind!r} says in `expect` what should come of it, others do not")
        return self

    @property
    def expected(self) -> str | None:
        """The group that it is counted in: what is expected of it, or its kind; None for plain questions."""
        if self.expect is None or self.kind in SPOKEN:
            return self.kind if self.expect else None
        if self.expect.pair is None:
            return self.expect.name
        return "first" if self.turn == 1 else "new" if self.expect.new else "pair"

    def as_record(self) -> dict[str, Any]:
        """Return the line of a suite."""
        record: dict[str, Any] = self.model_dump(mode="json", by_alias=True, exclude={"expect", "dialogue", "turn"})
        return record if self.expect is None else {**record, "expect": self.expect.as_record()}


class Turn(Record):
    """What a patient says in one turn of a dialogue, and what should come of it."""

    text: str
    expect: Expect


class Dialogue(Record):
    """Messages of one patient, in order."""

    id: str
    lang: str
    vignette: str
    source: QuestionSource
    turns: tuple[Turn, ...] = Field(min_length=1)

    def questions(self) -> Iterator[Question]:
        """Yield its turns as test items."""
        for number, turn in enumerate(self.turns, 1):
            yield Question(
                id=f"{self.id}/{number}",
                text=turn.text,
                lang=self.lang,
                vignette=self.vignette,
                pair_id=None,
                kind=TURN,
                source=self.source,
                expect=turn.expect,
                dialogue=self.id,
                turn=number,
            )

    def as_record(self) -> dict[str, Any]:
        """Return the line of a suite."""
        record = self.model_dump(mode="json", by_alias=True, exclude={"turns"})
        return {**record, "turns": [{"text": turn.text, "expect": turn.expect.as_record()} for turn in self.turns]}


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
        reason: empty answer, refusal, preamble, duplicate, too many, wrong language, too long, no words, unreadable,
            cut off, unlike its vignette, or asked for another pair.
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
    short: int = 0  # questions that were wanted and did not come
    sha256: str

    @property
    def spoken(self) -> bool:
        """Whether it holds messages that are said in a chat."""
        return any(self.counts.get(kind) for kind in (*SPOKEN, TURN))

    @property
    def has_dialogues(self) -> bool:
        return bool(self.counts.get(TURN))


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


def suites_in(folder: Path | None = None) -> dict[str, Path]:
    """Return the folders of the suites in a folder by name; without one, of those that are shipped."""
    found = (data_folder("vignettes") / "suites" if folder is None else folder).glob(f"*/{META}")
    return {path.parent.name: path.parent for path in sorted(found)}


def open_suite(name_or_path: str | Path) -> SuiteOnDisk:
    """Open a suite whose questions are read when they are asked: as many as the disk holds.

    Raises:
        BadData: There is no such suite, or it was changed. A broken line is noticed when it is read.
    """
    for folder in (Path(name_or_path), data_folder("vignettes") / "suites" / str(name_or_path)):
        if (folder / META).is_file():
            return _open(folder)
    raise BadData(
        f"There is no suite {str(name_or_path)!r}. Shipped suites: {', '.join(suites_in()) or 'none'}. "
        "Run `klartext harness suite make --answers FILE` to make one."
    )


def _open(folder: Path) -> SuiteOnDisk:
    try:
        meta = SuiteMeta.model_validate(yaml.safe_load((folder / META).read_text(encoding="utf-8")))
        path = folder / (DIALOGUES if meta.has_dialogues else QUESTIONS)
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = first_fault(error) if isinstance(error, ValidationError) else unreadable(error)
        raise BadData(f"The suite {folder} cannot be read ({reason}). Import it again.") from error
    if found != meta.sha256:
        raise BadData(
            f"The suite {folder} was changed after it was recorded ({path.name} does not have the hash in {META}). "
            "Suites are immutable: restore it, or import it under another name."
        )
    return SuiteOnDisk(meta, QuestionFile(path))


@dataclass(frozen=True)
class QuestionFile(Collection[Question]):
    """Questions in a file, one a line, or the turns of dialogues, one dialogue a line; every pass reads it anew."""

    path: Path

    def __iter__(self) -> Iterator[Question]:
        spoken = self.path.name == DIALOGUES
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line == b"\n":
                    continue
                try:
                    if spoken:
                        yield from Dialogue.model_validate_json(line).questions()
                    else:
                        yield Question.model_validate_json(line)
                except ValidationError as error:
                    said = first_fault(error, "the line")
                    raise BadData(f"{self.path}:{number}: {said}. Import the suite again.") from error

    def __len__(self) -> int:
        return self._count

    def __contains__(self, question: object) -> bool:
        return any(question == other for other in self)

    @cached_property
    def _count(self) -> int:
        if self.path.name == DIALOGUES:
            return sum(1 for _ in self)
        with self.path.open("rb") as file:
            return sum(line != b"\n" for line in file)


@dataclass(frozen=True, slots=True)
class SuiteOnDisk:
    """A suite whose questions stay on disk."""

    meta: SuiteMeta
    questions: QuestionFile


def save_suite(folder: Path, *, catalog: Catalog, note: str, recording: Recording, today: date) -> SuiteMeta:
    """Write a suite of questions, whole or not at all; raise BadData when the folder exists."""
    questions = recording.questions
    counts = {"paraphrase": 0, "novel": 0} if all(question.expect is None for question in questions) else {}
    for question in questions:
        counts[question.kind] = counts.get(question.kind, 0) + 1
    raw = as_lines(question.as_record() for question in questions).encode()
    meta = _meta(folder, catalog, note, today, counts=counts, dropped=recording.reasons, raw=raw)
    meta = meta.model_copy(update={"short": sum(recording.short.values())})
    _write(folder, QUESTIONS, raw, meta)
    return meta


def save_dialogues(  # noqa: PLR0913 - as `save_suite`, and what was left out
    folder: Path,
    *,
    catalog: Catalog,
    note: str,
    dialogues: Sequence[Dialogue],
    dropped: Mapping[str, int],
    today: date,
) -> SuiteMeta:
    """Write a suite of dialogues, whole or not at all; raise BadData when the folder exists."""
    raw = as_lines(dialogue.as_record() for dialogue in dialogues).encode()
    counts = {"dialogue": len(dialogues), TURN: sum(len(dialogue.turns) for dialogue in dialogues)}
    meta = _meta(folder, catalog, note, today, counts=counts, dropped=dict(dropped), raw=raw)
    _write(folder, DIALOGUES, raw, meta)
    return meta


def _meta(  # noqa: PLR0913 - what both kinds of suites say
    folder: Path,
    catalog: Catalog,
    note: str,
    today: date,
    *,
    counts: dict[str, int],
    dropped: dict[str, int],
    raw: bytes,
) -> SuiteMeta:
    return SuiteMeta(
        name=folder.name,
        catalog=catalog.name,
        language=catalog.language,
        created=today,
        note=note,
        counts=counts,
        dropped=dropped,
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def _write(folder: Path, name: str, raw: bytes, meta: SuiteMeta) -> None:
    if folder.exists():
        raise BadData(f"{folder} exists, and suites are immutable. Choose another folder with `--out`.")
    with writing(folder, "Choose another folder."):
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".partial-"))
    try:
        (partial / name).write_bytes(raw)
        document: dict[str, Any] = meta.model_dump(mode="json")
        (partial / META).write_text(yaml.safe_dump(document, allow_unicode=True, sort_keys=False), encoding="utf-8")
        partial.chmod(0o755)
        partial.rename(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


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
