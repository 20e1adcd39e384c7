"""What researcher and decider are told, as data of a language; texts in sections, written and read defensively."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from pydantic import Field

from bot import data_folder, fold
from harness.authoring.working import Unusable
from harness.files import Record, read_record, without_controls

Sections = Mapping[str, str]  # text by the key of its section, in their order
MOST_CHARACTERS = 20_000  # of an answer: more is no text that anybody asked for
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_STOP = re.compile(r"\[?\s*\b(?:STOP|DONE)\b\s*\]", re.IGNORECASE)
_MARKS = " \t#*_>-–•0123456789.)"


class Section(Record):
    """A part of a text.

    Attributes:
        key: Its name in data.
        title: Its heading.
        scored: Whether the corruption experiment corrupts and scores it.
    """

    key: str = Field(pattern=r"^[a-z_]+$")
    title: str = Field(min_length=1)
    scored: bool = False


class TaskTexts(Record):
    """How one kind of text is written and checked; `initial` where the model writes the first version, too."""

    writes: str
    material_name: str
    checks: str
    instructions: str
    sections: tuple[Section, ...] = Field(min_length=1)
    initial: str = ""


class ShortTexts(Record):
    """How a short answer is asked for, discussed, and compared with another."""

    answer: str
    explain: str
    researcher: str
    decider: str
    final: str
    similar: str
    exact: str


class DisputeTexts(Record):
    """How raters' disagreement is put to the model."""

    case: str
    label: str
    who: str
    asks: str
    summary: str


class FormQuestion(Record):
    """A question to raters, with what they may answer, from best to worst."""

    asks: str
    options: tuple[str, ...] = Field(min_length=2)


class FormTexts(Record):
    """The questions that the paper asked physicians; `afterwards` stands above what tells which text is which."""

    title: str
    intro: str
    afterwards: str
    questions: Mapping[str, FormQuestion]


class DiscussionTexts(Record):
    """All that is said to models, and to raters, in one language."""

    decider: str
    researcher: str
    final: str
    speakers: Mapping[str, str]
    nothing: str
    tasks: Mapping[str, TaskTexts]
    corrupt: str
    extract: str
    verify: str
    short: ShortTexts
    dispute: DisputeTexts
    form: FormTexts


def load_texts(language: str) -> DiscussionTexts:
    """Load the prompts of a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"discussion-{language}.yaml"
    problem = f"The prompts of the discussion in {language!r} cannot be read. Write {path} after the German one."
    return read_record(path, DiscussionTexts, problem)


@dataclass(frozen=True, slots=True)
class Task:
    """What is discussed: the text's rules, and what it was written from.

    Attributes:
        texts: The prompts.
        kind: How this kind of text is written and checked.
        material: What the text must hold to: a conversation, or a question with its sources.
        slots: Further slots of the instructions.
    """

    texts: DiscussionTexts
    kind: TaskTexts
    material: str
    slots: Mapping[str, str]

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.kind.sections

    @property
    def instructions(self) -> str:
        return Template(self.kind.instructions).substitute(self.slots).strip()

    def prompt(self, template: str, **more: str) -> list[dict[str, str]]:
        """Return the messages for one of the templates."""
        slots = {
            "writes": self.kind.writes,
            "material_name": self.kind.material_name,
            "material": self.material,
            "instructions": self.instructions,
            "checks": self.kind.checks,
            "headings": "\n".join(f"## {section.title}" for section in self.sections),
            **self.slots,
            **more,
        }
        return [{"role": "user", "content": Template(template).substitute(slots).strip()}]

    def written(self, text: Sections) -> str:
        """Return a text as the prompts show it."""
        return as_text(self.sections, text)

    def read(self, answer: str) -> dict[str, str]:
        """Read a whole text; raise Unusable when a section is missing."""
        return read_sections(self.sections, answer)

    def titles(self, *, scored: bool = False) -> str:
        """Return the headings on one line: all, or those that the experiment corrupts."""
        return ", ".join(section.title for section in self.sections if section.scored or not scored)


def as_text(sections: Sequence[Section], text: Sections) -> str:
    """Return a text with a heading over each section."""
    return "\n\n".join(f"## {section.title}\n{text[section.key]}" for section in sections if section.key in text)


def read_sections(sections: Sequence[Section], answer: str) -> dict[str, str]:
    """Read a text with headings, also where they are bold, numbered or followed by a colon.

    Raises:
        Unusable: A section is missing or empty.
    """
    keys = {fold(section.title): section.key for section in sections}
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in cleaned(_STOP.split(_FENCE.sub("", answer), maxsplit=1)[0]).splitlines():
        head, _, rest = line.strip().lstrip(_MARKS).partition(":")
        key = keys.get(fold(head)) if len(head) < 80 else None
        if key is not None:
            current = found.setdefault(key, [])
            current += [rest.strip(" *_")] if rest.strip(" *_") else []
        elif current is not None:
            current.append(line.strip())
    read = {section.key: "\n".join(found.get(section.key, ())).strip() for section in sections}
    missing = [section.title for section in sections if not read[section.key]]
    if missing:
        raise Unusable(f"the section {missing[0]!r} is missing")
    return read


def cleaned(answer: str) -> str:
    """Return what a model wrote without control characters, and not endless."""
    return without_controls(answer[:MOST_CHARACTERS])


def stops(answer: str) -> bool:
    """Tell whether an answer holds the mark that ends a discussion, also as the paper's ``[DONE]``."""
    return _STOP.search(answer) is not None or answer.strip().strip('"').upper() in ("STOP", "DONE")


def without_stop(answer: str) -> str:
    return _STOP.sub("", answer).strip()
