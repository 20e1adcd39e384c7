"""Passages to look for and segments to cite: documents cut at headings and sentences. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot import fold
from harness.authoring.evidence.documents import Block, Document

PASSAGE_WORDS = 120  # encoders read about so much; the paper's paragraphs have 78 tokens
SEGMENT_WORDS = 80  # the paper's section 2.4
SEGMENT_LEAST = 20  # words; shorter ones are merged with what stands beside them. The paper names no number
# A full stop after these ends no sentence.
_ABBREVIATED = re.compile(
    r"(?:\b(?:z|d|u|o|i|e|vgl|bzw|ca|Dr|Prof|Nr|Tel|St|evtl|ggf|inkl|usw|max|min|Abb|Abs|approx|etc)\.(?:\s?[A-Za-zäöü]\.)?"
    r"|\b\d{1,2}\.)$"
)
_END = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"”“»)]))\s+(?=[\"„“«(]?[A-ZÄÖÜ0-9])")


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that is looked for as a whole.

    Attributes:
        id: The document's name and a number: ``leaflet.pdf#3``.
        document: Name of the document.
        heading: Under which it stands; may be empty.
        page: Of a PDF, from 1; else 0.
        text: At most `PASSAGE_WORDS` words, whole sentences.
    """

    id: str
    document: str
    heading: str
    page: int
    text: str

    @property
    def with_heading(self) -> str:
        return f"{self.heading}: {self.text}" if self.heading else self.text

    @property
    def place(self) -> str:
        """Where it stands in the document, for people."""
        parts = [f"p. {self.page}" if self.page else "", f"“{self.heading}”" if self.heading else ""]
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a passage that a sentence may cite: whole sentences, at most `SEGMENT_WORDS` words."""

    id: str
    passage: Passage
    text: str


def passages_of(documents: Iterable[Document]) -> list[Passage]:
    """Cut documents into passages, in order; what says the same word for word is kept once."""
    found: list[Passage] = []
    known: set[str] = set()
    for document in documents:
        number = 0
        for heading, page, text in _packed(document.blocks):
            if (folded := fold(f"{heading} {text}")) in known:
                continue
            known.add(folded)
            number += 1
            found.append(Passage(f"{document.name}#{number}", document.name, heading, page, text))
    return found


def _packed(blocks: Sequence[Block]) -> Iterator[tuple[str, int, str]]:
    """Yield neighbours under one heading together, as long as they fit."""
    heading, page, taken, count = "", 0, list[str](), 0
    for block in blocks:
        for text in _pieces(block.text, PASSAGE_WORDS):
            words = len(text.split())
            if taken and (block.heading != heading or count + words > PASSAGE_WORDS):
                yield heading, page, " ".join(taken)
                taken, count = [], 0
            if not taken:
                heading, page = block.heading, block.page
            taken.append(text if text.endswith((".", "!", "?", ":", ";")) else f"{text}.")
            count += words
    if taken:
        yield heading, page, " ".join(taken)


def segments_of(passages: Iterable[Passage]) -> list[Segment]:
    """Cut passages at sentences into segments; short ones are merged with what stands beside them."""
    return [
        Segment(f"{passage.id}/{number}", passage, text)
        for passage in passages
        for number, text in enumerate(_merged(_pieces(passage.text, SEGMENT_WORDS, whole=False)), 1)
    ]


def _merged(sentences: Sequence[str]) -> list[str]:
    """Merge a short segment with the sentence after it, and a short end with what stands before."""
    found: list[str] = []
    for sentence in sentences:
        if found and len(found[-1].split()) < SEGMENT_LEAST and _fits(found[-1], sentence):
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found.append(sentence)
    if len(found) > 1 and len(found[-1].split()) < SEGMENT_LEAST and _fits(found[-2], found[-1]):
        found[-2:] = [f"{found[-2]} {found[-1]}"]
    return found


def _fits(before: str, after: str) -> bool:
    return len(before.split()) + len(after.split()) <= SEGMENT_WORDS


def _pieces(text: str, most: int, *, whole: bool = True) -> list[str]:
    """Return a text whole where it is short, else its sentences; a sentence that is too long is cut at words."""
    if whole and len(text.split()) <= most:
        return [text]
    pieces: list[str] = []
    for sentence in sentences(text):
        words = sentence.split()
        pieces += [" ".join(words[start : start + most]) for start in range(0, len(words), most)]
    return pieces


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; abbreviations and dates end none."""
    found: list[str] = []
    for piece in _END.split(text.strip()):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found
