"""What a question measures, and whether that lies in its patient's ranges. Pure.

A single short question says little of its author: with one technical term in four words its jargon share is 0.25. A
question counts as outside a range of shares only if chance would rarely (one-sided, `RARE`) bring such a question from
an author at the nearer end of the range; of readability, only if it misses the range by more than its own error of
measurement. The means over many questions, where the noise averages out, are held to the ranges as they stand
(`drift.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scipy import special

from bot import measure as measure_readability
from harness.fidelity.lexicon import Lexicon, tokens
from harness.vignettes import Range, Targets

RARE = 0.05
Z_ONE_SIDED = 1.645
# Standard deviation of the syllables of a word, over the words of the recorded suites (English counts vowel groups).
SYLLABLE_DEVIATION = {"de": 0.95, "en": 0.75}
SYLLABLE_WEIGHT = {"de": 58.5, "en": 84.6}  # of syllables a word in Amstad's and in Flesch's formula
MARKS = ".,;:?!…–—"

TOO_LOW, TOO_HIGH = "too low", "too high"


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in one question.

    Attributes:
        words: Words between white space.
        tokens: Folded words; a hyphenated word is two.
        reading_ease: Flesch (en) or Flesch-Amstad (de); higher is easier.
        jargon: Tokens that belong to a technical term.
        typos: Tokens in no word list; colloquial spellings count too, wrong endings and wrong but real words do not.
        foreign: Tokens of another language only.
        capitals: Words that begin with a capital letter.
        marks: Punctuation marks.
    """

    words: int
    tokens: int
    reading_ease: float
    jargon: int
    typos: int
    foreign: int
    capitals: int
    marks: int

    @property
    def values(self) -> dict[str, float]:
        """The measures by the names of `Targets`."""
        words, tokens = max(1, self.words), max(1, self.tokens)
        return {
            "words": float(self.words),
            "reading_ease": self.reading_ease,
            "jargon_share": self.jargon / tokens,
            "typo_share": self.typos / tokens,
            "foreign_share": self.foreign / tokens,
            "capital_share": min(1.0, self.capitals / words),
            "marks_per_word": self.marks / words,
        }


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that lies outside one of its ranges."""

    measure: str
    value: float
    target: Range
    side: str  # TOO_LOW or TOO_HIGH


def count(text: str, lexicon: Lexicon) -> Counts:
    """Count what a question holds."""
    readability = measure_readability(text, lexicon.language)
    found = tokens(text)
    kinds = [lexicon.kind(token) for token in found]
    return Counts(
        words=readability.words,
        tokens=len(found),
        reading_ease=readability.reading_ease,
        jargon=lexicon.jargon_words(found),
        typos=kinds.count("unknown"),
        foreign=kinds.count("foreign"),
        capitals=sum(word.lstrip("„“\"'«»(").startswith(tuple(_CAPITALS)) for word in text.split()),
        marks=sum(mark in MARKS for mark in text),
    )


_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜÁÉÍÑÓÚ"


def misses(counts: Counts, targets: Targets, language: str) -> list[Miss]:
    """Return the ranges that a question lies outside of, beyond what chance explains."""
    found = []
    for measure, (low, high) in targets.ranges.items():
        value = counts.values[measure]
        if low <= value <= high:
            continue
        limit = low if value < low else high
        if _beyond_chance(measure, counts, limit, language, above=value > high):
            found.append(Miss(measure, value, (low, high), TOO_HIGH if value > high else TOO_LOW))
    return found


def _beyond_chance(measure: str, counts: Counts, limit: float, language: str, *, above: bool) -> bool:
    if measure == "words":
        return True
    if measure == "reading_ease":
        return abs(counts.reading_ease - limit) > Z_ONE_SIDED * ease_error(counts.tokens, language)
    hits, n = _DRAWN[measure](counts)
    return chance(hits, n, limit, above=above, poisson=measure == "marks_per_word") < RARE


_DRAWN: Mapping[str, Callable[[Counts], tuple[int, int]]] = {
    "jargon_share": lambda counts: (counts.jargon, counts.tokens),
    "typo_share": lambda counts: (counts.typos, counts.tokens),
    "foreign_share": lambda counts: (counts.foreign, counts.tokens),
    "capital_share": lambda counts: (min(counts.capitals, counts.words), counts.words),
    "marks_per_word": lambda counts: (counts.marks, counts.words),
}


def ease_error(words: int, language: str) -> float:
    """Return the standard error of the reading ease of a text of so many words, in points."""
    weight = SYLLABLE_WEIGHT.get(language, SYLLABLE_WEIGHT["en"])
    return weight * SYLLABLE_DEVIATION.get(language, SYLLABLE_DEVIATION["en"]) / math.sqrt(max(1, words))


def chance(hits: int, n: int, rate: float, *, above: bool, poisson: bool = False) -> float:
    """Return how often an author of this rate writes so many (`above`) or so few hits in n words."""
    if above and hits == 0:
        return 1.0
    if poisson:
        return float(special.pdtrc(hits - 1, n * rate) if above else special.pdtr(hits, n * rate))
    share = min(1.0, rate)
    return float(special.bdtrc(hits - 1, n, share) if above else special.bdtr(hits, n, share))
