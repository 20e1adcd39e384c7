"""What the head sees of a text besides its vector: weighted character n-grams and words. Pure.

Terms are character n-grams of 3 to 5 inside padded words (they survive typing errors, dialect and German compounds),
whole words, and word pairs. Weights are TF-IDF with sublinear term frequency, scaled to unit length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from bot.matching.text import fold

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

LENGTHS = (3, 4, 5)
MIN_TEXTS = 2  # a term that one text alone has teaches nothing about others


@lru_cache(maxsize=512)  # head and alarm look at the same questions, a batch at a time
def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text, with repetitions."""
    found: list[str] = []
    previous = ""
    for word in fold(text).split():
        padded = f" {word} "
        for length in LENGTHS:
            found.extend(padded[start : start + length] for start in range(len(padded) - length + 1))
        # A leading "=" marks whole words and "+" word pairs, so that they never meet a character n-gram.
        found.append("=" + word)
        if previous:
            found.append(f"+{previous} {word}")
        previous = word
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Bag:
    """One text as a sparse vector over the vocabulary.

    Attributes:
        index: Column numbers, shape (terms,), increasing.
        weight: TF-IDF weights, shape (terms,), of unit length.
    """

    index: Ints
    weight: Floats


class Vocabulary:
    """The terms of a catalog and their weights."""

    def __init__(self, terms_: Sequence[str], idf: Floats) -> None:
        self.terms = tuple(terms_)
        self.idf = idf
        self._column = {term: number for number, term in enumerate(self.terms)}

    def __len__(self) -> int:
        return len(self.terms)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """Learn the vocabulary of a catalog's texts; idf is ln((1 + n) / (1 + df)) + 1."""
        return cls.with_bags(texts)[0]

    @classmethod
    def with_bags(cls, texts: Sequence[str]) -> tuple[Vocabulary, list[Bag]]:
        """Learn the vocabulary of texts, and return their bags with it: their terms are looked for once only."""
        number: dict[str, int] = {}
        counted = [
            np.unique([number.setdefault(term, len(number)) for term in terms(text)] or [], return_counts=True)
            for text in texts
        ]
        frequency = np.bincount(
            np.concatenate([[], *(index for index, _ in counted)]).astype(np.int64), minlength=len(number)
        )
        least = min(MIN_TEXTS, len(texts))
        kept = sorted(term for term, place in number.items() if frequency[place] >= least)
        column = np.full(len(number), -1, dtype=np.int32)
        column[[number[term] for term in kept]] = np.arange(len(kept), dtype=np.int32)
        df = frequency[[number[term] for term in kept]].astype(np.float64)
        learned = cls(kept, (np.log((1 + len(texts)) / (1 + df)) + 1).astype(np.float32))
        return learned, [learned._weighed(column[index.astype(np.int64)], count) for index, count in counted]

    def _weighed(self, column: Ints, count: npt.NDArray[np.int64]) -> Bag:
        """Return the bag of a text by the columns of its terms, -1 for those left out, and how often it has each."""
        inside = column >= 0
        order = np.argsort(column[inside])
        index = column[inside][order]
        weight = (1 + np.log(count[inside][order].astype(np.float32))) * self.idf[index]
        length = float(np.sqrt(weight @ weight)) or 1.0
        return Bag(index, weight / np.float32(length))

    def bag(self, text: str) -> Bag:
        """Return the TF-IDF vector of a text; terms outside the vocabulary are left out."""
        column = self._column
        known = np.array([column[term] for term in terms(text) if term in column], dtype=np.int32)
        return self._weighed(*np.unique(known, return_counts=True))


@dataclass(frozen=True, slots=True)
class Postings:
    """Bags of all texts of a catalog, column by column: which texts hold a term, and with what weight.

    Attributes:
        start: Shape (vocabulary + 1,): column c occupies start[c] to start[c + 1].
        text: Text numbers, shape (entries,).
        weight: Shape (entries,).
        texts: How many texts there are.
    """

    start: Ints
    text: Ints
    weight: Floats
    texts: int

    @classmethod
    def of(cls, bags: Sequence[Bag], vocabulary_size: int) -> Postings:
        """Turn the bags by columns; within a column texts stay in order."""
        column = np.concatenate([bag.index for bag in bags])
        text = np.repeat(np.arange(len(bags), dtype=np.int32), [len(bag.index) for bag in bags])
        weight = np.concatenate([bag.weight for bag in bags])
        order = np.argsort(column, kind="stable")
        start = np.zeros(vocabulary_size + 1, dtype=np.int32)
        np.cumsum(np.bincount(column, minlength=vocabulary_size), out=start[1:])
        return cls(start, text[order], weight[order], len(bags))

    def cosines(self, bags: Sequence[Bag]) -> Floats:
        """Return the cosine of every bag with every text, shape (bags, texts)."""
        columns = csr_array((self.weight, self.text, self.start), shape=(len(self.start) - 1, self.texts))
        return np.asarray((sparse_rows(bags, columns.shape[0]) @ columns).toarray(), dtype=np.float32)


def sparse_rows(bags: Sequence[Bag], columns: int) -> csr_array:
    """Return the bags as the rows of one sparse matrix, shape (bags, columns)."""
    start = np.zeros(len(bags) + 1, dtype=np.int32)
    np.cumsum([len(bag.index) for bag in bags], out=start[1:])
    index = np.concatenate([bag.index for bag in bags])
    return csr_array((np.concatenate([bag.weight for bag in bags]), index, start), shape=(len(bags), columns))
