"""Cut a reply into words, runs of digits and marks, each with its place in the text. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.interview.parsing.spelling import Fold
from bot.matching.text import MAX_CHARACTERS, sanitise

_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "′": "'", "´": "'", "`": "'", "″": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"≈": "~", "≤": "<", "≥": ">", "∕": "/"}
)
_EDGES = " \t.,;:!-–—()'\"/"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply.

    Attributes:
        kind: word, digits, mark, number (spelled out), ordinal, or article: a word like "a" that may mean one.
        text: Folded when a word; the number in digits when digits, number or ordinal.
        start, end: Place in the cleaned text.
        glued: Whether it follows the piece before without a space.
        value: Of digits, number, ordinal or article.
        sure: False when a typing error was corrected.
    """

    kind: str
    text: str
    start: int
    end: int
    glued: bool
    value: Decimal | None = None
    sure: bool = True

    @property
    def numeric(self) -> bool:
        return self.kind in ("digits", "number")

    @property
    def wordlike(self) -> bool:
        return self.kind in ("word", "article")


@dataclass(frozen=True, slots=True)
class Reply:
    """A cleaned text and its pieces."""

    text: str
    tokens: tuple[Token, ...]

    def between(self, first: int, end: int) -> str:
        """Return the text of the tokens from `first` up to `end`, without punctuation around it."""
        if first >= end:
            return ""
        return self.text[self.tokens[first].start : self.tokens[end - 1].end].strip(_EDGES)


def clean_value(raw: str) -> str:
    """Return text in which digits, dashes and quotation marks of all scripts and keyboards are the plain ones.

    Compatibility forms would otherwise melt together: "1½" into "11/2" and "10²" into "102".
    """
    parted = "".join(_part(character) for character in raw[: 4 * MAX_CHARACTERS])
    plain = sanitise(parted).text.translate(_MARKS)
    return "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in plain)


def _part(character: str) -> str:
    form = unicodedata.decomposition(character)
    if form.startswith("<fraction>"):
        return " " + character
    if form.startswith(("<super>", "<sub>")) and character.isdigit():
        return "^" + character
    return character


def cut(raw: str, fold: Fold) -> Reply:
    """Return the pieces of what a patient typed."""
    text = clean_value(raw)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        piece = match.group()
        glued = bool(tokens) and tokens[-1].end == match.start()
        if piece[0].isdecimal():
            token = Token("digits", piece, match.start(), match.end(), glued, Decimal(piece))
        elif piece[0].isalpha():
            token = Token("word", fold(piece), match.start(), match.end(), glued)
        else:
            token = Token("mark", piece, match.start(), match.end(), glued)
        tokens.append(token)
    return Reply(text, tuple(tokens))


def joined(tokens: Sequence[Token]) -> str:
    """Return the texts of tokens without spaces."""
    return "".join(token.text for token in tokens)
