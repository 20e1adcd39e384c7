"""How the program speaks of an exam: phrases that its sentences are put together with. Data beside the catalog.

A catalog folder may hold an `exam.yaml`. Without it, and for each phrase that it leaves out, the sentences speak of
"Ihre Untersuchung" ("your examination").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.catalog.catalog import Document, Review, language_files, read_yaml
from bot.errors import BadData, Finding
from bot.text import unseen_in

# What may be said of an exam. docs/content.md says in which sentence each stands.
Phrase = Literal[
    "exam",
    "about",
    "about_yours",
    "heading",
    "knows",
    "wait_for",
    "practice",
    "changes",
    "severe",
    "severe_still",
    "severe_unsure",
    "declined",
    "declined_again",
    "declined_third",
    "chest_only",
    "chest_today",
    "chest_calm",
    "refused",
    "refused_again",
]
PHRASES: tuple[Phrase, ...] = get_args(Phrase)
EXAM_FILE = "exam.yaml"
MOST_CHARACTERS = 300
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_WHERE_TO_LOOK = 'docs/content.md says under "The exam" what each entry means; qa_pairs/mammography has an example.'


@dataclass(frozen=True, slots=True)
class Exam:
    """What the sentences of the program say of one exam.

    Attributes:
        phrases: By language and name; those that are missing are said as where there is no exam.
        abroad: What the program informs about, in languages that no catalog has.
        called: What else than its name patients call it, by language, where one service answers for several exams.
        hints: What only points to it, such as the part of the body; it counts where no other exam is named.
        only_named: Pairs whose answer is offered in conversations about other exams only where this one is named: what
            is safe here, such as metal or an implant, may be dangerous there.
        matters: By pair, words in any language of what it must answer, whatever else is said.
        review: Of the whole file.
    """

    phrases: Mapping[str, Mapping[Phrase, str]] = field(default_factory=dict)
    abroad: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hints: Mapping[str, Sequence[str]] = field(default_factory=dict)
    only_named: Sequence[str] = ()
    matters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    review: Review = field(default_factory=Review)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    review: Review = Review()
    phrases: dict[str, dict[Phrase, str]] = Field(default_factory=dict)
    abroad: dict[str, str] = Field(default_factory=dict)
    called: dict[str, list[str]] = Field(default_factory=dict)
    hints: dict[str, list[str]] = Field(default_factory=dict)
    only_named: tuple[str, ...] = ()
    matters: dict[str, list[str]] = Field(default_factory=dict)


def load_exam(folder: Path) -> Exam | None:
    """Return what a catalog folder says of its exam; None where it has no such file.

    Raises:
        BadData: The file cannot be read, or a phrase cannot be put into a sentence.
    """
    exam, findings = _read(folder / EXAM_FILE)
    if findings:
        place = f"{findings[0].path}:{findings[0].line}" if findings[0].line else str(findings[0].path)
        said = (f"{place}: {findings[0].problem}", findings[0].remedy, _WHERE_TO_LOOK)
        raise BadData(" ".join(filter(None, said)))
    return exam


def lint_exam(folder: Path, *, today: date) -> list[Finding]:
    """Return what is wrong with what a catalog folder says of its exam."""
    file = folder / EXAM_FILE
    exam, findings = _read(file)
    if exam is None:
        return findings
    review = exam.review
    for language in language_files(folder):
        if exam.phrases and language not in exam.phrases:
            problem = f'Has no phrases in {language!r}: sentences there speak of "your examination".'
            findings.append(Finding(file, 0, "", problem, "Write them.", "warning", "exam"))
    if review.status == "draft":
        problem = "Draft: shown in sample mode only."
        findings.append(Finding(file, 0, "", problem, "Have a clinician review it.", "info", "review"))
    elif not review.is_approved(today):
        problem = f"Not approved today (status {review.status!r}): the service refuses it."
        findings.append(Finding(file, 0, "", problem, "Have a clinician review it again.", "error", "review"))
    return findings


def open_exam(folder: Path, *, sample: bool, today: date) -> Exam | None:
    """Return what patients may be told of an exam; None where the folder says nothing of it.

    Raises:
        BadData: The file cannot be used, or outside sample mode nobody approved it.
    """
    exam = load_exam(folder)
    if exam is not None and not sample and not exam.review.is_approved(today):
        raise BadData(
            f"{folder / EXAM_FILE}: nobody approved these phrases, or the approval has expired (status "
            f"{exam.review.status!r}). Have them checked and set `review`, or use sample mode (`--sample`)."
        )
    return exam


def _read(file: Path) -> tuple[Exam | None, list[Finding]]:
    """Return what a file says, None where it is not there or cannot be read, and what is wrong with it."""
    findings = list[Finding]()
    document = read_yaml(file, findings) if file.is_file() else None
    if document is None:
        return None, findings
    try:
        read = _File.model_validate(document.data)
    except ValidationError as error:
        return None, [*findings, _as_finding(file, document, error)]
    phrases = {
        language: {name: " ".join(text.split()) for name, text in own.items()} for language, own in read.phrases.items()
    }
    abroad = {language: " ".join(text.split()) for language, text in read.abroad.items()}
    exam = Exam(phrases, abroad, read.called, read.hints, read.only_named, read.matters, read.review)
    return exam, [*findings, *_wrong(file, document, read)]


def _wrong(file: Path, document: Document, read: _File) -> Iterator[Finding]:
    """Find phrases that could not be told from slots, that no screen shows, or that one language lacks."""
    said: list[tuple[tuple[str, str, str], str]]
    said = [(("phrases", language, name), text) for language, own in read.phrases.items() for name, text in own.items()]
    said += [(("abroad", language, ""), text) for language, text in read.abroad.items()]
    for entry, listed in (("called", read.called), ("hints", read.hints)):
        said += [((entry, language, ""), text) for language, own in listed.items() for text in own]
    said += [(("matters", pair_id, ""), text) for pair_id, own in read.matters.items() for text in own]
    for place, text in said:
        shown, line = ".".join(filter(None, place)), document.line(tuple(filter(None, place)))
        if place[0] != "matters" and not _LANGUAGE.fullmatch(place[1]):
            yield Finding(file, line, "", f"{place[1]!a} is no language; write its code, such as de.", "")
        elif not 0 < len(" ".join(text.split())) <= MOST_CHARACTERS:
            problem = f"`{shown}` has {len(text)} characters and may have 1 to {MOST_CHARACTERS}."
            yield Finding(file, line, "", problem, "")
        elif "{" in text or "}" in text:
            yield Finding(file, line, "", f"`{shown}` holds a brace, which no phrase may.", "Remove it.")
        elif found := unseen_in(text):
            problem = f"`{shown}` holds a character that no screen shows, U+{ord(found):04X}."
            yield Finding(file, line, "", problem, "Remove it.")
    names = {name for own in read.phrases.values() for name in own}
    for language, own in read.phrases.items():
        for name in sorted(names - set(own)):
            problem = f"`phrases.{language}` lacks `{name}`, which another language has."
            yield Finding(file, document.line(("phrases", language)), "", problem, "Write it in every language.")


def _as_finding(file: Path, document: Document, error: ValidationError) -> Finding:
    first: Any = error.errors()[0]
    place = tuple(step for step in first["loc"] if step != "[key]")
    shown = ascii(".".join(map(str, place)))[1:-1]
    if first["type"] == "literal_error" and "[key]" in first["loc"]:
        problem = f"There is no phrase `{shown}`; known: {', '.join(PHRASES)}."
    elif first["type"] == "extra_forbidden":
        known = Review.model_fields if "review" in place else _File.model_fields
        problem = f"There is no entry `{shown}`; known: {', '.join(known)}."
    elif first["type"] == "string_type":
        problem = f"`{shown}` must be a text; put it into quotation marks."
    else:
        problem = f"`{shown}` is not what belongs there." if shown else "The file is not what belongs there."
    return Finding(file, document.line(place), "", problem, "")
