"""Fold words for comparison, and forgive typing errors. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from bot.matching.text import fold

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
