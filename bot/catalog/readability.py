"""How easy a text is to read. Pure; syllables come from pyphen's hyphenation patterns.

Flesch's reading ease, for which each language has its own numbers (`readability` in its `language.yaml`): English has
Flesch's own, German those of Amstad. Higher is easier; 60 to 70 is plain language, 80 and more is easy.

References: Flesch (1948), A new readability yardstick; Amstad (1978), Wie verständlich sind unsere Zeitungen?
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bot.catalog.statements import sentences
from bot.languages.files import cached, known, load

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_VOWELS = re.compile(r"[aeiouyäöü]+")


@dataclass(frozen=True, slots=True)
class Formula:
    """Reading ease of one language, and what it has to be.

    Attributes:
        base: From which is taken:
        sentence: times the words of a sentence, and
        word: times the syllables of a word.
        easy: What easy answers must reach.
        short: What short answers should reach.
        hyphenation: Pyphen's dictionary; empty: groups of vowels are counted.
    """

    base: float
    sentence: float
    word: float
    easy: float
    short: float
    hyphenation: str = ""


@cached
def formula(language: str) -> Formula | None:
    """Return how readability is measured in a language; None where nobody said."""
    said = load(language, "language.yaml").get("readability") if language in known() else None
    return Formula(**said) if said else None


def _flesch() -> Formula:
    return Formula(**load("en", "language.yaml")["readability"])


@dataclass(frozen=True, slots=True)
class Readability:
    """Measures of one text.

    Attributes:
        words: Words separated by white space.
        sentences: As `statements.sentences` parts them; at least one where there are words.
        reading_ease: Flesch's, by the formula of the language; by that of English where it has none.
    """

    words: int
    sentences: int
    reading_ease: float

    @property
    def words_per_sentence(self) -> float:
        """The mean."""
        return self.words / self.sentences if self.sentences else 0.0


def measure(text: str, language: str) -> Readability:
    """Measure a text; a text without words gets zeros."""
    found = _WORD.findall(text)
    if not found:
        return Readability(0, 0, 0.0)
    parts = len(sentences(text))
    per_word = sum(syllables(word, language) for word in found) / len(found)
    how = formula(language) or _flesch()
    ease = how.base - how.sentence * len(found) / parts - how.word * per_word
    return Readability(len(text.split()), parts, ease)


def syllables(word: str, language: str) -> int:
    """Count the syllables of a word.

    German hyphenation follows syllables; near the ends of a word its patterns also part single consonants (A-rz-t),
    so parts without a vowel do not count. English hyphenation follows etymology, so groups of vowels are counted
    instead, without a silent final e.
    """
    how = formula(language)
    if how is not None and how.hyphenation:
        parts = _hyphenation(how.hyphenation).inserted(word.lower()).split("-")
        return max(1, sum(_VOWELS.search(part) is not None for part in parts))
    lowered = word.lower()
    groups = len(_VOWELS.findall(lowered))
    silent = lowered.endswith("e") and not lowered.endswith("le") and groups > 1
    return max(1, groups - silent)


@lru_cache(maxsize=4)
def _hyphenation(dictionary: str) -> Any:
    import pyphen

    return pyphen.Pyphen(lang=dictionary, left=1, right=1)
