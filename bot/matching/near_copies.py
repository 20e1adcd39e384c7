"""Find near copies, so that training, calibration and test questions stay apart. Pure.

Two texts are near copies if they are equal after folding, or, when both have five words or more, if the Jaccard
similarity of their word trigrams is at least 0.8.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from bot.matching.text import words

JACCARD = 0.8
MIN_WORDS = 5

Trigram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A text that was added before and is (nearly) the same.

    Attributes:
        text: The earlier text.
        label: What it was added under.
        similarity: 1.0 when equal after folding, else the Jaccard similarity of the word trigrams.
    """

    text: str
    label: str
    similarity: float


class NearCopies:
    """A growing set of texts that can be asked for near copies in about constant time."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, int]] = []
        self._equal: dict[tuple[str, ...], int] = {}
        self._with_trigram: dict[Trigram, list[int]] = defaultdict(list)

    def add(self, text: str, label: str) -> None:
        """Add a text under a label, for example the pair's id."""
        folded = tuple(words(text))
        grams = _trigrams(folded)
        number = len(self._texts)
        self._texts.append((text, label, len(grams)))
        self._equal.setdefault(folded, number)
        for gram in grams:
            self._with_trigram[gram].append(number)

    def find(self, text: str) -> NearCopy | None:
        """Return the nearest near copy of `text` among the added texts, or None."""
        folded = tuple(words(text))
        if folded in self._equal:
            other, label, _ = self._texts[self._equal[folded]]
            return NearCopy(other, label, 1.0)
        return self._most_shared(_trigrams(folded))

    def _most_shared(self, grams: set[Trigram]) -> NearCopy | None:
        shared = Counter(number for gram in grams for number in self._with_trigram.get(gram, ()))
        best: NearCopy | None = None
        for number, count in shared.items():
            text, label, size = self._texts[number]
            similarity = count / (len(grams) + size - count)
            if similarity >= JACCARD and (best is None or similarity > best.similarity):
                best = NearCopy(text, label, similarity)
        return best


def _trigrams(folded: tuple[str, ...]) -> set[Trigram]:
    if len(folded) < MIN_WORDS:
        return set()
    return {folded[start : start + 3] for start in range(len(folded) - 2)}
