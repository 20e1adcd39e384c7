"""Cut a reply into folded words that know where they stood. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

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
