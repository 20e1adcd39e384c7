"""The words in which missed questions differ from what curators wrote. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bot import Catalog, Pair, fold

LISTED = 8
KNOWN_SHARE = 0.03  # of a pair's texts: words more common than this are known to it
COMMON_SHARE = 0.25  # of the pairs: words that so many pairs use say nothing about any
MIN_LETTERS = 4  # shorter words are mostly grammar
STEM = 6  # letters by which forms of a word are taken for the same: "Implantat", "Implantaten"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")  # "aren't" is one word


class DistinctWords:
    """Knows which pairs of a catalog use a word, and how often."""

    def __init__(self, catalog: Catalog) -> None:
        self._texts = {pair.id: _texts(pair) for pair in catalog.pairs}
        self._pairs_with = Counter(stem for texts in self._texts.values() for stem in set().union(*map(_stems, texts)))

    def of(self, questions: Sequence[str], pair_id: str) -> tuple[str, ...]:
        """Return the words of questions that a pair's texts lack and few pairs use.

        Words that more of the questions share come first, then those that fewer pairs use.
        """
        known = Counter(stem for text in self._texts.get(pair_id, ()) for stem in _stems(text))
        limit = KNOWN_SHARE * len(self._texts.get(pair_id, ()))
        shown: dict[str, str] = {}
        count: Counter[str] = Counter()
        for question in questions:
            found = {_stem(word): word for word in _WORD.findall(question) if len(word) >= MIN_LETTERS}
            shown = {**found, **shown}
            count.update(stem for stem in found if known[stem] <= limit and self._is_telling(stem))
        order = sorted(count, key=lambda stem: (-count[stem], self._pairs_with[stem], stem))
        return tuple(shown[stem] for stem in order[:LISTED])

    def _is_telling(self, stem: str) -> bool:
        return self._pairs_with[stem] <= COMMON_SHARE * len(self._texts)


def _texts(pair: Pair) -> list[str]:
    return [pair.question, *(variant.text for variant in pair.variants)]


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text)}


def _stem(word: str) -> str:
    return fold(word)[:STEM]


def quoted(words: Iterable[str]) -> str:
    """Return words for a sentence."""
    return ", ".join(f"“{word}”" for word in words)
