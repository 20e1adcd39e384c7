"""Cut a reply into folded words that know where they stood, and forgive typing errors. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

from bot.text import MAX_CHARACTERS, fold, sanitise

Fold = Callable[[str], str]

_UMLAUT = re.compile("([aou])e")
_NO_WORD = re.compile("['’`´?]")
_REPEATED = re.compile(r"(.)\1+")

MIN_CORRECTED = 4  # shorter words are too like one another to be corrected


def fold_german(word: str) -> str:
    """Return a word so that "Zürich", "Zuerich" and "Zurich" are equal, as are "heiß" and "heiss"."""
    return _UMLAUT.sub(r"\1", _folded(word)) or word.lower()


def fold_plain(word: str) -> str:
    """Return a word in lower case without accents."""
    bare = "".join(mark for mark in unicodedata.normalize("NFD", word) if not unicodedata.combining(mark))
    return _folded(bare) or word.lower()


def _folded(word: str) -> str:
    # A question mark is a word to `fold`; here marks stay what they are.
    return fold(_NO_WORD.sub("", word)).replace(" ", "")


def squeeze(word: str) -> str:
    """Return a word with repeated letters once: "jaaa" becomes "ja"."""
    return _REPEATED.sub(r"\1", word)


def one_slip_apart(left: str, right: str) -> bool:
    """Tell whether one typing error lies between two words: a letter wrong, missing, too much, or two swapped."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    a, b = left[start:], right[start:]
    swapped = len(a) >= 2 and len(b) >= 2 and a[0] == b[1] and a[1] == b[0] and a[2:] == b[2:]
    return swapped or a[1:] == b[1:] or a[1:] == b or a == b[1:]


def near(word: str, known: Iterable[str]) -> set[str]:
    """Return the known words that one slip turns into `word`.

    The first letter must be right: "unverheiratet" is no slip of "verheiratet", nor "Onkel" of "Enkel".
    """
    if len(word) < MIN_CORRECTED:
        return set()
    return {
        other for other in known if len(other) >= MIN_CORRECTED and other[0] == word[0] and one_slip_apart(word, other)
    }


def corrected(word: str, known: Iterable[str]) -> str:
    """Return the one known word that a slip turned into `word`, or an empty string if there is none or several."""
    found = near(word, known)
    return found.pop() if len(found) == 1 else ""


_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "′": "'", "´": "'", "`": "'", "″": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"≈": "~", "≤": "<", "≥": ">", "∕": "/"}
)
_EDGES = " \t.,;:!-–—()'\"/"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a reply."""

    kind: str  # word, digits, mark, number (spelled out), ordinal, or article: a word like "a" that may mean one
    text: str  # folded when a word; the number in digits when digits, number or ordinal
    start: int  # place in the cleaned text
    end: int
    glued: bool  # whether it follows the piece before without a space
    value: Decimal | None = None  # of digits, number, ordinal or article
    sure: bool = True  # False when a typing error was corrected

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

    @property
    def said(self) -> list[str]:
        """The texts of all pieces but marks."""
        return [token.text for token in self.tokens if token.kind != "mark"]

    @property
    def names(self) -> list[str]:
        """The texts of words; numbers left out."""
        return [token.text for token in self.tokens if token.wordlike]

    def between(self, first: int, end: int) -> str:
        """Return the text of the tokens from `first` up to `end`, without punctuation around it."""
        if first >= end:
            return ""
        return self.text[self.tokens[first].start : self.tokens[end - 1].end].strip(_EDGES)


def text_at(tokens: Sequence[Token], place: int) -> str:
    """Return the text of a token; empty where there is none."""
    return tokens[place].text if 0 <= place < len(tokens) else ""


class _Span(Protocol):
    @property
    def end(self) -> int: ...


S = TypeVar("S", bound=_Span)


def one_after_another(tokens: Sequence[Token], found_at: Callable[[int], S | None]) -> list[S]:
    """Return what is found from the places of tokens on; what is next begins behind the end of the one before."""
    found: list[S] = []
    place = 0
    while place < len(tokens):
        item = found_at(place)
        if item is not None:
            found.append(item)
        place = item.end if item is not None else place + 1
    return found


def cut(raw: str, fold: Fold) -> Reply:
    """Return the pieces of what a patient typed."""
    text = _plain(raw)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        piece, (start, end) = match.group(), match.span()
        glued = bool(tokens) and tokens[-1].end == start
        if piece[0].isdecimal():
            tokens.append(Token("digits", piece, start, end, glued, Decimal(piece)))
        elif piece[0].isalpha():
            tokens.append(Token("word", fold(piece), start, end, glued))
        else:
            tokens.append(Token("mark", piece, start, end, glued))
    return Reply(text, tuple(tokens))


def _plain(raw: str) -> str:
    """Return text in which digits, dashes and quotation marks of all scripts and keyboards are the plain ones."""
    parted = "".join(map(_parted, raw[: 4 * MAX_CHARACTERS]))
    plain = sanitise(parted).text.translate(_MARKS)
    return "".join(str(unicodedata.decimal(mark)) if mark.isdecimal() else mark for mark in plain)


def _parted(character: str) -> str:
    """Keep compatibility forms from melting together with digits: "1½" into "11/2", "10²" into "102"."""
    form = unicodedata.decomposition(character)
    if form.startswith("<fraction>"):
        return " " + character
    return "^" + character if form.startswith(("<super>", "<sub>")) and character.isdigit() else character
