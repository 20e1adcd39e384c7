"""From a question to a draft whose every sentence names the segments that support it, as a piece of work. Pure.

After LLM-AMT (seed paper 003): query augmenter, hybrid retriever, knowledge self-refiner, reader. A filter whose answer
cannot be read twice keeps what it was given: what is too much costs a reader, what is too little costs the answer. The
check of what was written is no such filter: what it rejects goes even where the rest of its answer cannot be read, and
a sentence of which it says nothing stays marked as unchecked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from typing import Literal, TypeVar, get_args

import yaml
from pydantic import Field, TypeAdapter

from bot import BadData, data_folder
from harness.authoring.evidence.answers import Sentence, TextField, Verdicts, read_closed, read_query, reading_of
from harness.authoring.evidence.passages import Passage, Segment, segments_of
from harness.authoring.evidence.retrieval import Found, Glossary, Reach, Retriever, with_glossary
from harness.authoring.working import Ask, Work, ask, ask_all
from harness.files import Record, read_record

# What can be left out: of the query augmenter, the retriever, the self-refiner, and the check of what was written.
Part = Literal["rewrite", "expand", "glossary", "sparse", "dense", "rerank", "relevance", "usefulness", "support"]
PARTS: tuple[Part, ...] = get_args(Part)
Sifted = Literal["relevance", "usefulness", "support"]
_EACH: Mapping[Sifted, int] = {"relevance": 8, "usefulness": 10, "support": 12}  # texts in one prompt
T = TypeVar("T")


class EvidenceTexts(Record):
    """What a model is asked, in one language; `role` and `role_of` say who expands a question (``$role``)."""

    language: str = Field(min_length=1)
    yes_word: str
    no_word: str
    rewrite: str
    role: str
    role_of: str
    unnamed: str
    expand: str
    relevance: str
    usefulness: str
    read: str
    support: str
    closed: str

    @property
    def digest(self) -> str:
        """What tells these prompts from others."""
        return _short([self.model_dump_json()])


def load_texts(language: str) -> EvidenceTexts:
    """Load the prompts for a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"evidence-{language}.yaml"
    problem = f"Prompts in {language!r} cannot be read ({{reason}}). Write {path} after the German ones."
    return read_record(path, EvidenceTexts, problem)


def load_glossary(language: str) -> Glossary:
    """Load lay words with their medical terms; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"evidence-glossary-{language}.yaml"
    try:
        return TypeAdapter(dict[str, str]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadData(f"The glossary {path} cannot be read. Write it after the German one.") from error


@dataclass(frozen=True, slots=True)
class Plan:
    """How a draft is made.

    Attributes:
        question: The patients' question.
        reach: What the retriever fetches and keeps.
        without: Parts that are left out.
        closed: Whether the question is also answered without documents, for raters to compare.
    """

    question: str
    reach: Reach = field(default_factory=Reach)
    without: frozenset[Part] = frozenset()
    closed: bool = False

    def has(self, part: Part) -> bool:
        return part not in self.without


@dataclass(frozen=True, slots=True)
class Queries:
    """What is looked for: the question, and what the augmenter made of it; empty where a part is off or failed."""

    question: str
    rewritten: str = ""
    expanded: str = ""
    glossary: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.question, self.rewritten, self.glossary, self.expanded)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What became of a question.

    Attributes:
        queries: What was looked for.
        found: Passages in order, best first.
        relevant: Those that the relevance filter kept.
        segments: Cut from the relevant ones.
        useful: Those that the usefulness filter kept: what the reader was given.
        reasoning: The reader's, for curators.
        sentences: All that it wrote, with what is struck.
        missing: What the question wants and the documents do not say, as the reader says.
        closed: The answer without documents; empty where it was not wanted.
        prompts: Hash of every prompt, by id.
        ended: Why there is no text; empty where there is one.
    """

    queries: Queries
    found: tuple[Found, ...] = ()
    relevant: tuple[Passage, ...] = ()
    segments: tuple[Segment, ...] = ()
    useful: tuple[Segment, ...] = ()
    reasoning: str = ""
    sentences: tuple[Sentence, ...] = ()
    missing: tuple[str, ...] = ()
    closed: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    ended: str = ""

    def of(self, name: TextField) -> tuple[Sentence, ...]:
        """Return the sentences of one of the texts that stay."""
        return tuple(each for each in self.sentences if each.field == name and not each.flaw)

    def text(self, name: TextField) -> str:
        return " ".join(each.text for each in self.of(name))

    @property
    def unchecked(self) -> tuple[Sentence, ...]:
        return tuple(each for each in self.sentences if each.unchecked and not each.flaw)

    @property
    def struck(self) -> tuple[Sentence, ...]:
        return tuple(each for each in self.sentences if each.flaw)


@dataclass(frozen=True)
class Drafter:
    """Makes the prompts of a draft and reads what comes back.

    Attributes:
        texts: The prompts' words.
        retriever: Over the passages of the documents.
        glossary: For what no model rewrites.
        titles: Title of each document, by name.
        about: How the exam is spoken of ("about MRI scans"); None: of radiology.
    """

    texts: EvidenceTexts
    retriever: Retriever
    glossary: Glossary
    titles: Mapping[str, str]
    about: str | None = None

    def draft(self, plan: Plan) -> Work[Evidence]:
        """Draft the answer to a question."""
        prompts = _Prompts()
        so_far = yield from self.refine(plan, prompts)
        closed = (yield from self._closed(plan, prompts)) if plan.closed else ""
        so_far = replace(so_far, closed=closed, prompts=prompts.hashes)
        if not so_far.useful:
            return replace(so_far, ended="nothing in the documents was found that answers the question")
        return (yield from self._read(plan, so_far, prompts))

    def refine(self, plan: Plan, prompts: _Prompts | None = None, prefix: str = "") -> Work[Evidence]:
        """Find passages, and keep what the filters keep of them: all that a reader is given, not yet read."""
        noted = prompts or _Prompts()
        queries = yield from self.augment(plan, noted, prefix)
        found = tuple(self.retriever.search(queries.parts, plan.reach))
        # In the order of the documents: what stands together is judged together, and ranks sway nobody.
        order = {passage.id: number for number, passage in enumerate(self.retriever.passages)}
        passages = sorted((each.passage for each in found), key=lambda each: order[each.id])
        relevant = passages
        if plan.has("relevance"):
            shown = [self._shown(each, each.text) for each in passages]
            relevant = _kept(passages, (yield from self._sift("relevance", plan, shown, noted, prefix)))
        segments = segments_of(relevant)
        useful = segments
        if plan.has("usefulness"):
            useful = yield from self.useful(plan, segments, noted, prefix)
        return Evidence(queries, found, tuple(relevant), tuple(segments), tuple(useful), prompts=noted.hashes)

    def useful(
        self, plan: Plan, segments: Sequence[Segment], prompts: _Prompts | None = None, prefix: str = ""
    ) -> Work[list[Segment]]:
        """Return the segments that the usefulness filter keeps."""
        shown = [self._shown(each.passage, each.text) for each in segments]
        return _kept(segments, (yield from self._sift("usefulness", plan, shown, prompts or _Prompts(), prefix)))

    def augment(self, plan: Plan, prompts: _Prompts | None = None, prefix: str = "") -> Work[Queries]:
        """Rewrite and expand a question, as far as the plan has it; the glossary stands in for a rewriting."""
        noted = prompts or _Prompts()
        names: list[Literal["rewrite", "expand"]] = ["rewrite", "expand"]
        names = [name for name in names if plan.has(name)]
        asks = [noted.ask(f"{prefix}{name}", self._fill(name, plan), read_query) for name in names]
        values = dict(zip(names, (yield from ask_all(asks)), strict=True))
        rewritten = values.get("rewrite") or ""
        terms = with_glossary(plan.question, self.glossary) if plan.has("glossary") and not rewritten else ""
        return Queries(plan.question, rewritten, values.get("expand") or "", terms)

    def _sift(
        self, name: Sifted, plan: Plan, shown: Sequence[str], prompts: _Prompts, prefix: str = ""
    ) -> Work[list[bool]]:
        """Ask which of the texts to keep, several in a prompt; where an answer cannot be read, all of it is kept."""
        said = yield from self._judged(name, plan, shown, prompts, prefix)
        return [good for good, _ in said]

    def _judged(
        self, name: Sifted, plan: Plan, shown: Sequence[str], prompts: _Prompts, prefix: str = ""
    ) -> Work[list[tuple[bool, bool]]]:
        """Ask for each of the texts whether it is good; each with whether that could be read."""
        each = _EACH[name]
        batches = [shown[start : start + each] for start in range(0, len(shown), each)]
        readers = [Verdicts(len(batch), self.texts.yes_word, self.texts.no_word) for batch in batches]
        asks = [
            # The id names what is judged, so that answers to other passages are never taken for those to these.
            prompts.ask(
                f"{prefix}{name}/{number}-{_short(batch)}",
                self._fill(name, plan, listed=_numbered(batch)),
                reader,
            )
            for number, (batch, reader) in enumerate(zip(batches, readers, strict=True), 1)
        ]
        answers = yield from ask_all(asks)
        pairs = zip(answers, readers, strict=True)
        each_said: list[bool | None] = []
        for number, (answer, reader) in enumerate(pairs):
            unread = reader.so_far if name == "support" else [None] * len(batches[number])
            each_said += unread if answer is None else answer
        return [(one is not False, one is not None) for one in each_said]

    def _read(self, plan: Plan, so_far: Evidence, prompts: _Prompts) -> Work[Evidence]:
        """Have the texts written, and strike what nothing supports."""
        listed = _numbered([self._shown(each.passage, each.text) for each in so_far.useful])
        content = self._fill("read", plan, listed=listed)
        reading = yield from ask(prompts.ask(f"read/{_short([listed])}", content, reading_of(so_far.useful)))
        if reading is None:
            return replace(so_far, ended="no usable text was written")
        sentences = reading.sentences
        if not any(each.field == "answer" for each in sentences):
            ended = f"not in the documents: {'; '.join(reading.missing)}"
            return replace(so_far, reasoning=reading.reasoning, missing=reading.missing, ended=ended)
        if plan.has("support"):
            sentences = yield from self._supported(plan, sentences, prompts)
        else:
            sentences = tuple(replace(each, unchecked=not each.flaw) for each in sentences)
        sentences = _without_bare_questions(sentences)
        written = any(each.field == "answer" and not each.flaw for each in sentences)
        ended = "" if written else "no sentence of the answer is supported"
        return replace(so_far, reasoning=reading.reasoning, sentences=sentences, missing=reading.missing, ended=ended)

    def _supported(self, plan: Plan, sentences: Sequence[Sentence], prompts: _Prompts) -> Work[tuple[Sentence, ...]]:
        """Have each sentence that stays so far compared with the segments that it cites."""
        held = [number for number, each in enumerate(sentences) if not each.flaw]
        shown = [
            f"{sentences[number].text}\n" + "\n".join(f"   – {one.text}" for one in sentences[number].segments)
            for number in held
        ]
        said = yield from self._judged("support", plan, shown, prompts)
        flaw = "the check finds no support for it in the segments that it cites"
        found = list(sentences)
        for number, (good, read) in zip(held, said, strict=True):
            found[number] = replace(found[number], flaw="" if good else flaw, unchecked=not read)
        return tuple(found)

    def _closed(self, plan: Plan, prompts: _Prompts) -> Work[str]:
        return (yield from ask(prompts.ask("closed", self._fill("closed", plan), read_closed))) or ""

    def _fill(self, name: str, plan: Plan, listed: str = "") -> str:
        role = self.texts.role if self.about is None else Template(self.texts.role_of).substitute(about=self.about)
        words = {"question": plan.question, "listed": listed, "language": self.texts.language, "role": role}
        return Template(getattr(self.texts, name)).substitute(words)

    def _shown(self, passage: Passage, text: str) -> str:
        title = self.titles.get(passage.document, passage.document)
        return f"({', '.join(filter(None, (title, passage.heading)))}) {text}"


@dataclass(frozen=True)
class _Prompts:
    """Makes what is asked, and notes the hash of each prompt."""

    hashes: dict[str, str] = field(default_factory=dict)

    def ask(self, id_: str, content: str, read: Callable[[str], T]) -> Ask[T]:
        one = Ask(id_, [{"role": "user", "content": content}], read, labels={"step": id_.partition("/")[0]})
        self.hashes[id_] = one.hash
        return one


def _without_bare_questions(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Strike a question whose answer was struck: "Do you have a fever?" alone leaves patients where they were."""
    found = list(sentences)
    for number in range(len(found) - 2, -1, -1):
        each, after = found[number], found[number + 1]
        if each.text.endswith("?") and not each.flaw and after.flaw and after.field == each.field:
            found[number] = replace(each, flaw="the sentence that answers it was struck")
    return tuple(found)


def _kept(things: Sequence[T], keeps: Sequence[bool]) -> list[T]:
    return [thing for thing, keep in zip(things, keeps, strict=True) if keep]


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}: {text}" for number, text in enumerate(texts, 1))


def _short(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]
