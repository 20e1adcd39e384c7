"""What an editor marks while a curator writes: difficult words with what to write instead, hard sentences. Pure.

The words and what counts as an explanation are those of `klartext qa lint` (`catalog/statements.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.catalog.readability import Readability, measure
from bot.catalog.statements import difficult, difficult_at, sentences


@dataclass(frozen=True, slots=True)
class Highlight:
    """A difficult word where it stands.

    Attributes:
        start: In the text.
        end: In the text, behind the word with its ending.
        plain: What to write instead.
        explained: Whether the text says what it is, so that it may stay.
    """

    start: int
    end: int
    plain: str
    explained: bool


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence where it stands, with how easy it is to read."""

    start: int
    end: int
    figures: Readability


def highlights(text: str, language: str) -> list[Highlight]:
    """Return every difficult word of a text, in order; a language without a list has none."""
    unexplained = {word for word, _ in difficult(text, language)}
    found = {
        (start, end): Highlight(start, end, plain, word not in unexplained)
        for word, plain, start, end in difficult_at(text, language)
    }
    # Of two that begin together the longer one counts.
    kept: list[Highlight] = []
    for each in sorted(found.values(), key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def readable(text: str, language: str) -> Iterator[ReadSentence]:
    """Yield each sentence with its figures: words, and reading ease (60 and more is plain, 80 and more easy)."""
    at = 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        yield ReadSentence(start, at, measure(sentence, language))
