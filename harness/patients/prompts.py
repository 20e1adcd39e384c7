"""How the model is told to ask: one prompt per vignette and pair, exported as OpenAI Batch JSONL.

Source: the two task prompts and the vignettes of Reichenpfader, Roesslhuemer and Denecke (2024), seed paper 004.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal, get_args

import yaml

from bot import BadData, Catalog, data_folder
from harness.patients.vignettes import Vignette

QuestionKind = Literal["paraphrase", "novel"]
NOVEL_PER_PROMPT = 10  # the paper asked for ten at a time

AGAIN = "#"  # a prompt that is asked again has the id of the first with this and the round: paraphrase/v/pain#2


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to the model.

    Attributes:
        id: ``kind/vignette/pair`` or ``novel/vignette/part``; unique within an export and stable across exports.
        kind: ``paraphrase`` of a pair's question, or ``novel`` questions.
        vignette: Its id.
        pair_id: The pair that is paraphrased, or None.
        language: Language of the questions.
        system: Who the model is.
        task: What it is asked to do.
        count: How many questions it should return.
        mixed: Whether this patient mixes languages: then no question is dropped for its language.
    """

    id: str
    kind: QuestionKind
    vignette: str
    pair_id: str | None
    language: str
    system: str
    task: str
    count: int
    mixed: bool = False

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.task}]

    @property
    def hash(self) -> str:
        """SHA-256 of what the model sees, shortened: it goes into the source of every question."""
        return hash_of(self.messages)

    @property
    def labels(self) -> dict[str, str]:
        """Whom the cost of the answer is attributed to."""
        return {"vignette": self.vignette, "kind": self.kind, "pair": self.pair_id or ""}

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer: at most `count` questions (more cannot be asked of every endpoint)."""
        questions = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": self.count}
        return {
            "type": "object",
            "properties": {"questions": questions},
            "required": ["questions"],
            "additionalProperties": False,
        }


def hash_of(messages: Sequence[Mapping[str, str]]) -> str:
    """Return SHA-256 of what a model sees, shortened to 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(messages, ensure_ascii=False).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SuiteSize:
    """What a suite shall hold: `variations` a pair and vignette, `novel` questions a vignette."""

    variations: int = 10
    novel: int = 20


@dataclass(frozen=True, slots=True)
class Tasks:
    """What models are asked in one language.

    Attributes:
        kinds: Templates by kind of question.
        exams: What awaits the patient, as a vignette says it ("a mammogram"), by the name of the catalog.
        exam: The same for a catalog that nobody named there; ``$name`` is its name.
    """

    kinds: Mapping[str, Template]
    exams: Mapping[str, str]
    exam: Template

    def impersonating(self, vignette: Vignette, catalog: Catalog) -> str:
        """Return who the model is told to be before the exam of a catalog: ``$exam`` of a vignette filled in."""
        awaits = self.exams.get(catalog.name) or self.exam.safe_substitute(name=catalog.name)
        return vignette.impersonation.replace("$exam", awaits)


def load_tasks(language: str) -> Tasks:
    """Load what models are asked in a language; raise BadData when nobody wrote it."""
    path = data_folder("vignettes") / "tasks" / f"{language}.yaml"
    if not path.is_file():
        raise BadData(f"There are no task prompts for {language!r}. Write {path} after the one for German.")
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    kinds = {kind: Template(read[kind]) for kind in get_args(QuestionKind)}
    return Tasks(kinds, read["exams"], Template(read["exam"]))


def build_prompts(catalog: Catalog, vignettes: Sequence[Vignette], plan: SuiteSize) -> list[Prompt]:
    """Build every prompt of a suite, vignette by vignette, in a stable order."""
    tasks = load_tasks(catalog.language)
    return [prompt for vignette in vignettes for prompt in _of_vignette(catalog, vignette, plan, tasks)]


def _of_vignette(catalog: Catalog, vignette: Vignette, plan: SuiteSize, tasks: Tasks) -> Iterator[Prompt]:
    def prompt(kind: QuestionKind, name: str, pair_id: str | None, count: int, **slots: str) -> Prompt:
        task = tasks.kinds[kind].substitute(count=str(count), **slots)
        system = tasks.impersonating(vignette, catalog)
        identity = f"{kind}/{vignette.id}/{name}"
        mixed = vignette.mixed_with is not None
        return Prompt(identity, kind, vignette.id, pair_id, catalog.language, system, task, count, mixed)

    for pair in catalog.pairs:
        if plan.variations:
            yield prompt("paraphrase", pair.id, pair.id, plan.variations, question=pair.question)
    for start in range(0, plan.novel, NOVEL_PER_PROMPT):
        yield prompt("novel", str(start // NOVEL_PER_PROMPT + 1), None, min(NOVEL_PER_PROMPT, plan.novel - start))
