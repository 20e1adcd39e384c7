"""Phrases of folded words, found longest first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of folded words, found longest first."""

    all: frozenset[tuple[str, ...]]
    longest: int

    def length_at(self, words: Sequence[str], start: int) -> int:
        """Return how many words from `start` on make the longest phrase; 0 when none does."""
        for length in range(min(self.longest, len(words) - start), 0, -1):
            if tuple(words[start : start + length]) in self.all:
                return length
        return 0

    def within(self, words: Sequence[str]) -> bool:
        """Tell whether any phrase occurs."""
        return any(self.length_at(words, start) for start in range(len(words)))

    def __contains__(self, words: object) -> bool:
        return words in self.all
