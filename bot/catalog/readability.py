"""How easy a text is to read. Pure; syllables come from pyphen's hyphenation patterns.

German: Amstad's adaptation of Flesch's reading ease; English: Flesch's own. Higher is easier; 60 to 70 is plain
language, 80 and more is easy.

References: Flesch (1948), A new readability yardstick; Amstad (1978), Wie verständlich sind unsere Zeitungen?
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_VOWELS = re.compile(r"[aeiouyäöü]+")
_DICTIONARY = {"de": "de_DE"}


@dataclass(frozen=True, slots=True)
class Readability:
    """Measures of one text.

    Attributes:
        words: Words separated by white space.
        words_per_sentence: Mean.
        reading_ease: Flesch (en) or Flesch-Amstad (de).
    """

    words: int
    words_per_sentence: float
    reading_ease: float


def measure(text: str, language: str) -> Readability:
    """Measure a text; a text without words gets zeros."""
    found = _WORD.findall(text)
    if not found:
        return Readability(0, 0.0, 0.0)
    sentences = [part for part in _SENTENCE.split(text.strip()) if _WORD.search(part)]
    per_sentence = len(found) / len(sentences)
    per_word = sum(syllables(word, language) for word in found) / len(found)
    if language == "de":
        ease = 180 - per_sentence - 58.5 * per_word
    else:
        ease = 206.835 - 1.015 * per_sentence - 84.6 * per_word
    return Readability(len(text.split()), per_sentence, ease)


def syllables(word: str, language: str) -> int:
    """Count the syllables of a word.

    German hyphenation follows syllables; near the ends of a word its patterns also part single consonants (A-rz-t),
    so parts without a vowel do not count. English hyphenation follows etymology, so groups of vowels are counted
    instead, without a silent final e.
    """
    if language in _DICTIONARY:
        parts = _hyphenation(language).inserted(word.lower()).split("-")
        return max(1, sum(_VOWELS.search(part) is not None for part in parts))
    lowered = word.lower()
    groups = len(_VOWELS.findall(lowered))
    silent = lowered.endswith("e") and not lowered.endswith("le") and groups > 1
    return max(1, groups - silent)


@lru_cache(maxsize=4)
def _hyphenation(language: str) -> Any:
    import pyphen

    return pyphen.Pyphen(lang=_DICTIONARY[language], left=1, right=1)
