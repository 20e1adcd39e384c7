"""Make any text safe for an encoder, and fold it for comparison. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import regex

MAX_CHARACTERS = 1000

# What no screen shows: half characters, default-ignorable and formatting characters (soft hyphens, zero-width spaces,
# tags), control characters. They may stand inside a word, so they are dropped, not replaced by spaces.
_UNSEEN = regex.compile(r"[\p{Cs}\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}")
_WORD = re.compile(r"[^\W_]+")
_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe"})


@dataclass(frozen=True, slots=True)
class Sanitised:
    """Text that any encoder can take.

    Attributes:
        text: At most `MAX_CHARACTERS` characters: no half, invisible or control characters, NFKC, single spaces.
        too_long: Whether text had to be cut off.
    """

    text: str
    too_long: bool


def sanitise(raw: str) -> Sanitised:
    """Clean what a patient typed. Work is bounded: one character can become 18 under NFKC (U+FDFA)."""
    head = raw[: 4 * MAX_CHARACTERS]
    text = seen(head)
    # White space alone is not "too long"; anything else beyond the head is.
    cut = len(text) > MAX_CHARACTERS or bool(raw[4 * MAX_CHARACTERS :].strip())
    return Sanitised(text[:MAX_CHARACTERS].rstrip(), cut)


def seen(raw: str) -> str:
    """Return what a reader sees of a text of any length: NFKC, single spaces, nothing invisible."""
    # NFKC makes invisible characters of visible ones (U+3164) and the other way round, so both sides are cleaned.
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", raw))
    return " ".join(_UNSEEN.sub("", text).split())


def fold(text: str) -> str:
    """Return lower-case words without umlauts and accents, separated by single spaces.

    "Müsst" and "muesst", "weiß" and "weiss" become equal, as Swiss spelling and phone keyboards demand. A question
    mark survives as a word of its own, since it tells questions from remarks.
    """
    lowered = text.lower().translate(_FOLDED)
    plain = lowered
    if not lowered.isascii():
        plain = "".join(mark for mark in unicodedata.normalize("NFD", lowered) if unicodedata.category(mark)[0] != "M")
    return " ".join(_WORD.findall(plain.replace("?", " qqq ")))


def words(text: str) -> list[str]:
    """Return the folded words of a text, without punctuation."""
    return [word for word in fold(text).split() if word != "qqq"]
