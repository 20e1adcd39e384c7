"""Curated question-answer pairs as data: load, validate, identify by content.

A catalog is a folder with one ``<lang>.yaml`` per language. Beside it may lie ``background/<lang>.yaml``, questions
that none of its pairs answers, ``near_misses/<lang>.tsv``, texts that share words with a pair and are answered by none,
``calibration/<lang>.jsonl``, questions that thresholds are set on, ``complaints.yaml``, the pairs that say what to do
about complaints, and ``remarks.yaml``, the pairs that help with what patients feel. Pydantic guards the edge; inside,
everything is a frozen dataclass.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.catalog.countries import Country
from bot.catalog.edge import Author, Edge
from bot.catalog.quiz import Quiz
from bot.errors import BadCatalog, BadData, Finding
from bot.resources import data_folder

Status = Literal["draft", "reviewed", "approved"]


class Loader(yaml.CSafeLoader):
    """YAML 1.2 booleans: only true and false. In YAML 1.1 the key ``on`` and a patient's "no" would be booleans."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


@lru_cache(maxsize=4096)
def _shared(author: Author | None) -> Author | None:
    """Return the same object for equal authors: twenty thousand variants have a few hundred."""
    return author


class Variant(Edge):
    """One way in which a patient may put a pair's question."""

    text: str = Field(min_length=1)
    facet: str | None = None
    by: Annotated[Author | None, AfterValidator(_shared)] = None


class Source(Edge):
    """A public source.

    Attributes:
        checked: The day on which the passage was read, or None when nobody has.
        passage: What was read there and bears the text out, in own words.
    """

    title: str = Field(min_length=1)
    publisher: str = Field(min_length=1)
    year: int = Field(ge=1950, le=2100)
    url: str | None = None
    checked: date | None = None
    passage: str | None = None


class Review(Edge):
    """How far clinicians have taken this pair."""

    status: Status = "draft"
    by: str | None = None
    on: date | None = None
    valid_until: date | None = None

    def is_approved(self, today: date) -> bool:
        return self.status == "approved" and (self.valid_until is None or self.valid_until >= today)


class Extract(Edge):
    """What an answer says of one facet, approved with it: whole sentences of the answer, word for word."""

    facet: str = Field(min_length=1)
    text: str = Field(min_length=1)


class CountryText(Edge):
    """What a pair says to patients of one country: whole texts, never assembled from parts."""

    short_answer: str | None = None
    answer: str = Field(min_length=1)
    easy_answer: str | None = None
    extracts: tuple[Extract, ...] = ()
    sources: tuple[Source, ...] = ()


class Pair(Edge):
    """A curated question with its approved answer and the ways in which patients ask it.

    Attributes:
        short_answer: What answers the question by itself, in at most two sentences; shown first, the answer on demand.
        extracts: What the answer says of single facets, shown before the whole of it to who asks for just that.
        countries: What is said instead of the pair's own texts where a site has named its country.
        words_target: How many words the answer should have, as its question asks for; None: no view.
        quizzes: Check whether its answer explains well (teach-back).
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    question: str = Field(min_length=1)
    facets: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    short_answer: str | None = None
    answer: str = Field(min_length=1)
    easy_answer: str | None = None
    extracts: tuple[Extract, ...] = ()
    words_target: int | None = Field(default=None, ge=10, le=400)
    sources: tuple[Source, ...] = ()
    countries: Mapping[Country, CountryText] = Field(default_factory=dict)
    review: Review = Review()
    related: tuple[str, ...] = ()
    same_as: tuple[str, ...] = ()
    quizzes: tuple[Quiz, ...] = ()


def pair_hash(pair: Pair) -> str:
    """Return the hash of a pair, variants and sources too, but not who approved it: drafts say by it what they began
    with.
    """
    return hashlib.sha256(pair.model_dump_json(exclude={"review": {"status", "by", "on"}}).encode()).hexdigest()


class CalibrationQuestion(Edge):
    """A question that thresholds are set on; never trained on.

    Attributes:
        text: What a patient asked.
        pair_id: The right pair, or None when no pair answers it.
        also: Pairs whose answers are as good: readers who saw no prediction said so.
        stratum: What the patient is like: thresholds must be right in each stratum. A vignette, or all of one literacy.
        patient: The vignette, where the stratum has several; only told.
        by: Who wrote it.
    """

    text: str = Field(min_length=1)
    pair_id: str | None
    also: tuple[str, ...] = ()
    stratum: str
    patient: str = ""
    by: Author | None = None


class NearMiss(Edge):
    """A text that no pair answers, though it shares words with one.

    Attributes:
        author: Who wrote it: authors are held out as a whole.
        pair: The pair that it must not be taken for; empty: none in particular.
        level: Where it is a complaint: a level of `bot.matching.complaints`; else empty.
        text: What a patient might write.
    """

    author: str = Field(min_length=1)
    pair: str = ""
    level: Literal["", "now", "today", "days", "appointment", "other"] = ""
    text: str = Field(min_length=1)


class ComplaintPairs(Edge):
    """Which pairs say what to do about complaints: the one that is likeliest meant is shown, else the default."""

    default: str
    pairs: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Catalog:
    """The pairs of one exam in one language.

    Attributes:
        name: The exam, for example ``mammography``.
        language: ``de`` or ``en``.
        version: As the curators count, for example ``2026.1``.
        pairs: In the curators' order.
        background: Questions that none of the pairs answers.
        near_misses: Texts that share words with a pair and are answered by none.
        complaints: Which pairs say what to do about complaints; None where the exam has no such pairs.
        remarks: Which pair helps with a remark, by its kind (`bot.matching.remarks`).
        calibration: Questions that thresholds are set on.
        content_hash: SHA-256 over the files' bytes: the identity of what patients may be shown.
        path: The language file.
    """

    name: str
    language: str
    version: str
    pairs: tuple[Pair, ...]
    background: tuple[str, ...]
    near_misses: tuple[NearMiss, ...]
    complaints: ComplaintPairs | None
    remarks: Mapping[str, str]
    calibration: tuple[CalibrationQuestion, ...]
    content_hash: str
    path: Path

    def as_json(self) -> bytes:
        """Return all but the path, for `from_json`."""
        return _COPY.dump_json(_Copy(**{name: getattr(self, name) for name in _Copy.model_fields}))

    @classmethod
    def from_json(cls, raw: bytes) -> Catalog:
        """Read what `as_json` wrote; raise ValueError when it is damaged."""
        copy = _COPY.validate_json(raw)
        return cls(path=Path(), **{name: getattr(copy, name) for name in _Copy.model_fields})

    @property
    def ref(self) -> str:
        """How answers cite this catalog: ``mammography@2026.1``."""
        return f"{self.name}@{self.version}"

    @cached_property
    def by_id(self) -> Mapping[str, Pair]:
        return {pair.id: pair for pair in self.pairs}

    def pair(self, pair_id: str) -> Pair:
        """Return a pair by id; raise BadData when it is not in this catalog."""
        if pair_id not in self.by_id:
            raise BadData(
                f"There is no pair {pair_id!r} in {self.ref} ({self.language}). "
                "Run `klartext qa list` to see the pair ids."
            )
        return self.by_id[pair_id]


class _Copy(BaseModel):
    name: str
    language: str
    version: str
    pairs: tuple[Pair, ...]
    background: tuple[str, ...]
    near_misses: tuple[NearMiss, ...]
    complaints: ComplaintPairs | None
    remarks: Mapping[str, str]
    calibration: tuple[CalibrationQuestion, ...]
    content_hash: str


_COPY = TypeAdapter(_Copy)


class _PairFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    catalog: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    language: str = Field(pattern=r"^[a-z]{2}$")
    version: str
    pairs: list[dict[str, Any]] = Field(min_length=1)


def locate(catalog: str | Path) -> Path:
    """Find a catalog folder by path, or by the name of a shipped exam."""
    for folder in (Path(catalog), data_folder("qa_pairs") / str(catalog)):
        if any(folder.glob("??.yaml")):
            return folder
    raise BadData(
        f"No catalog at {str(catalog)!r}: a folder with de.yaml or en.yaml is needed. "
        "Run `klartext qa import FILE --out DIR --lang de` to make one."
    )


def exams_in(folder: Path) -> set[str]:
    """Return the names of the catalog folders in a folder."""
    return {each.name for each in folder.iterdir() if each.is_dir() and language_files(each)}


def language_files(folder: Path) -> dict[str, Path]:
    """Return the language files of a catalog folder, by language code."""
    return {path.stem: path for path in sorted(folder.glob("??.yaml"))}


def background_file(folder: Path, language: str) -> Path:
    return folder / "background" / f"{language}.yaml"


def calibration_file(folder: Path, language: str) -> Path:
    return folder / "calibration" / f"{language}.jsonl"


def near_misses_file(folder: Path, language: str) -> Path:
    return folder / "near_misses" / f"{language}.tsv"


def complaints_file(folder: Path) -> Path:
    return folder / "complaints.yaml"


def remarks_file(folder: Path) -> Path:
    return folder / "remarks.yaml"


def content_hash(folder: Path, language: str) -> str:
    """Hash the files of one language without parsing them, so that an unchanged catalog opens quickly."""
    digest = hashlib.sha256()
    files = (
        folder / f"{language}.yaml",
        background_file(folder, language),
        calibration_file(folder, language),
        near_misses_file(folder, language),
        complaints_file(folder),
        remarks_file(folder),
    )
    for path in files:
        data = path.read_bytes() if path.is_file() else b""
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def load_catalog(folder: Path, language: str) -> Catalog:
    """Load and validate one language of a catalog.

    Raises:
        BadCatalog: The files break the schema; all findings are attached, each with file and line.
        BadData: There is no such language.
    """
    path = folder / f"{language}.yaml"
    if not path.is_file():
        have = ", ".join(language_files(folder)) or "none"
        raise BadData(f"The catalog {folder} has no language {language!r} (it has {have}). Choose one with `--lang`.")
    findings: list[Finding] = []
    read = read_catalog(folder, language, findings)
    if findings or read is None:
        raise BadCatalog(findings, next_command=f"klartext qa lint {folder}")
    return read[0]


def read_catalog(folder: Path, language: str, findings: list[Finding]) -> tuple[Catalog, Document] | None:
    """Read one language and append what breaks the schema; None when not every pair could be read."""
    path = folder / f"{language}.yaml"
    document = read_yaml(path, findings)
    head = _head(path, document, findings) if document is not None else None
    pairs = _pairs(path, document, head, findings) if document is not None and head is not None else None
    background = _load_background(background_file(folder, language), findings)
    # What a file that cannot be read names is not known: nothing is said of ids then.
    known = {str(raw.get("id")) for raw in head.pairs} if head is not None else None
    calibration = _load_calibration(calibration_file(folder, language), known, findings)
    near_misses = _load_near_misses(near_misses_file(folder, language), known, findings)
    complaints = _load_complaints(complaints_file(folder), known, findings)
    remarks = _load_remarks(remarks_file(folder), known, findings)
    if document is None or head is None or pairs is None:
        return None
    catalog = Catalog(
        name=head.catalog,
        language=head.language,
        version=head.version,
        pairs=pairs,
        background=background,
        near_misses=near_misses,
        complaints=complaints,
        remarks=remarks,
        calibration=calibration,
        content_hash=content_hash(folder, language),
        path=path,
    )
    return catalog, document


@dataclass(frozen=True)
class Document:
    """A YAML file with the line of every node, so that findings can point at it."""

    data: Any
    root: yaml.Node

    def line(self, location: tuple[str | int, ...]) -> int:
        """Return the 1-based line of the deepest node on the way to `location`."""
        node, line = self.root, int(self.root.start_mark.line) + 1
        for step in location:
            child = _child(node, step)
            if child is None:
                break
            node, line = child, int(child.start_mark.line) + 1
        return line


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    return None


def read_yaml(path: Path, findings: list[Finding]) -> Document | None:
    """Read a YAML file; on broken YAML or encoding append a finding and return None."""
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=Loader)
        if root is None:
            findings.append(Finding(path, 1, "", "The file is empty.", "Write into it what belongs there."))
            return None
        findings.extend(_repeated_keys(path, root))
        return Document(yaml.load(text, Loader=Loader), root)
    except UnicodeDecodeError as error:
        findings.append(Finding(path, 0, "", f"Not UTF-8 (byte {error.start}).", "Save the file as UTF-8."))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        line = mark.line + 1 if mark else 0
        remedy = "Mend the syntax in this line."
        findings.append(Finding(path, line, "", f"Not valid YAML: {problem}.", remedy, code="yaml"))
    except OSError as error:
        findings.append(Finding(path, 0, "", f"Cannot be read: {error.strerror}.", "Check path and permissions."))
    return None


def _repeated_keys(path: Path, node: yaml.Node, pair: str = "") -> Iterator[Finding]:
    """Find keys that stand twice in one mapping: PyYAML would keep the last and lose the others without a word."""
    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _repeated_keys(path, each, pair)
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        pair = pair or next((str(value.value) for key, value in node.value if key.value == "id"), "")
        for key, value in node.value:
            line = int(key.start_mark.line) + 1
            if (name := str(key.value)) in first:
                problem = f"The key {name!r} is used twice (first in line {first[name]}); only one would count."
                yield Finding(path, line, pair, problem, "Keep one of them.")
            first.setdefault(name, line)
            yield from _repeated_keys(path, value, pair)


def _head(path: Path, document: Document, findings: list[Finding]) -> _PairFile | None:
    try:
        head = _PairFile.model_validate(document.data)
    except ValidationError as error:
        findings.extend(_findings(path, document, "", error))
        return None
    if head.language != path.stem:
        line = document.line(("language",))
        findings.append(Finding(path, line, "", f"The language is {head.language!r}.", f"Name it {path.stem!r}."))
    return head


def _pairs(path: Path, document: Document, head: _PairFile, findings: list[Finding]) -> tuple[Pair, ...] | None:
    """Return the pairs; None, and findings, when not all can be read."""
    pairs: dict[int, Pair] = {}
    for number, raw in enumerate(head.pairs):
        name = str(raw.get("id", f"pair {number + 1}"))
        try:
            pairs[number] = pair_from(raw)
        except ValidationError as error:
            findings.extend(_findings(path, document, name, error, ("pairs", number)))
    findings.extend(_reference_findings(path, document, pairs, {str(raw.get("id")) for raw in head.pairs}))
    return tuple(pairs.values()) if len(pairs) == len(head.pairs) else None


def pair_from(raw: Mapping[str, Any]) -> Pair:
    """Return a pair as a file has it; raise ValidationError where it breaks the schema."""
    return Pair.model_validate({**raw, "variants": _variants(raw.get("variants", ()))})


def _variants(raw: Any) -> Any:
    """A variant may be a plain text or a mapping with provenance."""
    return [{"text": item} if isinstance(item, str) else item for item in raw] if isinstance(raw, list) else raw


def _findings(
    path: Path, document: Document, pair: str, error: ValidationError, prefix: tuple[str | int, ...] = ()
) -> Iterator[Finding]:
    for problem in error.errors():
        location = prefix + problem["loc"]
        name = ".".join(str(step) for step in problem["loc"])
        yield Finding(path, document.line(location), pair, f"{name}: {problem['msg']}.", "Mend this entry.")


def _reference_findings(
    path: Path, document: Document, pairs: Mapping[int, Pair], known: set[str]
) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, pair in pairs.items():
        line = document.line(("pairs", number, "id"))
        if pair.id in first:
            yield Finding(path, line, pair.id, f"The id is used twice (first in line {first[pair.id]}).", "Rename one.")
        first.setdefault(pair.id, line)
        for key, others in (("related", pair.related), ("same_as", pair.same_as)):
            for other in others:
                if other not in known:
                    line = document.line(("pairs", number, key))
                    yield Finding(path, line, pair.id, f"{key} names {other!r}, which is no pair.", "Correct the id.")


class _BackgroundFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    catalog: str
    language: str
    by: Author | None = None
    questions: dict[str, list[str]]


def _load_background(path: Path, findings: list[Finding]) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    document = read_yaml(path, findings)
    if document is None:
        return ()
    try:
        file = _BackgroundFile.model_validate(document.data)
    except ValidationError as error:
        findings.extend(_findings(path, document, "", error))
        return ()
    return tuple(text for texts in file.questions.values() for text in texts)


def _load_near_misses(path: Path, known: set[str] | None, findings: list[Finding]) -> tuple[NearMiss, ...]:
    """Read texts that no pair answers; `known` as for calibration."""
    if not path.is_file():
        return ()
    found = []
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 2):
            try:
                one = NearMiss.model_validate(row)
            except ValidationError as error:
                said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
                findings.append(Finding(path, number, "", f"{said}.", "Mend this line.", rule="near-misses"))
                continue
            if one.pair and known is not None and one.pair not in known:
                problem = f"There is no pair {one.pair!r}."
                findings.append(Finding(path, number, one.pair, problem, "Correct the id.", rule="near-misses"))
            found.append(one)
    return tuple(found)


def _load_complaints(path: Path, known: set[str] | None, findings: list[Finding]) -> ComplaintPairs | None:
    document = read_yaml(path, findings) if path.is_file() else None
    if document is None:
        return None
    try:
        file = ComplaintPairs.model_validate(document.data)
    except ValidationError as error:
        findings.extend(_findings(path, document, "", error))
        return None
    for pair_id in (file.default, *file.pairs):
        if known is not None and pair_id not in known:
            findings.append(Finding(path, 1, pair_id, f"There is no pair {pair_id!r}.", "Correct the id."))
    return file


def _load_remarks(path: Path, known: set[str] | None, findings: list[Finding]) -> dict[str, str]:
    document = read_yaml(path, findings) if path.is_file() else None
    if document is None:
        return {}
    try:
        file = TypeAdapter(dict[str, str]).validate_python(document.data)
    except ValidationError as error:
        findings.extend(_findings(path, document, "", error))
        return {}
    for kind, pair_id in file.items():
        if known is not None and pair_id not in known:
            line = document.line((kind,))
            findings.append(Finding(path, line, pair_id, f"There is no pair {pair_id!r}.", "Correct the id."))
    return file


def _load_calibration(path: Path, known: set[str] | None, findings: list[Finding]) -> tuple[CalibrationQuestion, ...]:
    """Read calibration questions; `known` holds the ids of pairs, or is None when nobody can tell."""
    if not path.is_file():
        return ()
    questions = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            question = CalibrationQuestion.model_validate_json(line)
        except ValidationError as error:
            said = [(".".join(str(step) for step in each["loc"]), each["msg"]) for each in error.errors()]
            problem = "; ".join(f"{key}: {message}" if key else message for key, message in said)
            findings.append(Finding(path, number, "", f"{problem}.", "Mend this line.", rule="calibration"))
            continue
        named = [pair_id for pair_id in (question.pair_id, *question.also) if pair_id is not None]
        for pair_id in (other for other in named if known is not None and other not in known):
            problem = f"There is no pair {pair_id!r}."
            findings.append(Finding(path, number, pair_id, problem, "Correct the id.", rule="calibration"))
        questions.append(question)
    return tuple(questions)
