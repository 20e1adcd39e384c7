"""How much personal data is found in made-up questions, and what is taken from questions that hold none. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.curation.scrub import scrub
from bot.curation.scrub_cases import STYLES, Spliced

Z = 1.96  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Found:
    """How many of one kind were removed whole.

    Attributes:
        whole: Of which no letter and no digit is left.
        n: All of them.
    """

    whole: int
    n: int

    @property
    def share(self) -> float:
        return self.whole / self.n

    @property
    def within(self) -> tuple[float, float]:
        """The 95 % interval.

        References:
            Wilson (1927), Probable inference, the law of succession, and statistical inference.
        """
        middle = (self.share + Z**2 / (2 * self.n)) / (1 + Z**2 / self.n)
        half = Z / (1 + Z**2 / self.n) * math.sqrt(self.share * (1 - self.share) / self.n + Z**2 / (4 * self.n**2))
        return max(0.0, middle - half), min(1.0, middle + half)


def recall(cases: Sequence[Spliced], language: str) -> dict[str, Found]:
    """Return by kind, and by how a question is typed, what was removed whole, under whatever mark."""
    whole, n = Counter[str](), Counter[str]()
    for case in cases:
        gone = _removed(case.text, language)
        for kind, start, end in case.secrets:
            left = any(place not in gone and case.text[place].isalnum() for place in range(start, end))
            for group in (kind, case.style, "all"):
                whole[group] += not left
                n[group] += 1
    kinds = sorted({kind for case in cases for kind, _, _ in case.secrets})
    return {group: Found(whole[group], n[group]) for group in (*kinds, *STYLES, "all") if n[group]}


def _removed(text: str, language: str) -> set[int]:
    return {place for each in scrub(text, language).removed for place in range(each.start, each.end)}


def taken(texts: Sequence[str], language: str) -> int:
    """Return how many times something is removed from texts."""
    return sum(len(scrub(text, language).removed) for text in texts)


def measured(cases: Sequence[Spliced], clean: Sequence[str], language: str) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        cases: Questions with personal data.
        clean: Questions without any; whatever is removed from them is counted as wrong.
        language: Of all of them.
    """
    yield f"{language}: {len(cases)} made-up questions with personal data"
    for group, found in recall(cases, language).items():
        low, high = found.within
        yield f"{group:16}{found.whole:5} of {found.n:4}  {found.share:.3f}  ({low:.3f} to {high:.3f})"
    if clean:
        wrong = taken(clean, language)
        yield f"{len(clean)} questions without: {wrong} removals, {100 * wrong / len(clean):.1f} in 100 questions"
