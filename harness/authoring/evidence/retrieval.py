"""The hybrid retriever: sparse and dense, merged, deduplicated, reranked. Every part can be left out.

Section 2.3 of seed paper 003 (HybTextR): i sparse and j dense passages, a reranker over what is left of them, k kept.
BM25 is ours: forty lines on the assistant's own words (umlauts folded), where a library would bring a tokeniser of its
own that knows neither; SPLADE, beside BM25, and cross-encoders are those of sentence-transformers, by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bot import Encoder, fold, words
from harness.authoring.evidence.passages import Passage
from harness.authoring.evidence.tuning import Tuned

Floats = npt.NDArray[np.float32]
WIDTH = 32  # the paper's i, j and k
FUSION = 60  # of reciprocal ranks (Cormack et al. 2009)
K1, B = 1.2, 0.75  # Okapi BM25's usual values
# Words that ask, articles and the like: they say nothing of what a passage is about.
_WEAK_DE = """
was wie wann wo wer warum wieso weshalb welche welcher welches ob ich mich mir mein meine meinen man es das der die
den dem des ein eine einen einer eines und oder aber auch ist sind war wird werden kann darf muss soll habe hat
haben bei in im am an auf fuer mit von vom zu zum zur nicht denn dann wenn als
"""
_WEAK_EN = """
what how when where who why which i my me you your the a an of to in on at for with is are do does can may must should
it and or if be
"""
_WEAK = frozenset(f"{_WEAK_DE} {_WEAK_EN}".split())


class SparseScores(Protocol):
    """Scores passages by the words of a query; its name is for people."""

    @property
    def name(self) -> str: ...

    def scores(self, query: str) -> Floats:
        """Return a score for each passage, 0 where nothing is shared."""
        ...


class Reranker(Protocol):
    """Reads query and passage together."""

    def scores(self, query: str, passages: Sequence[str]) -> Floats: ...


class Bm25:
    """Okapi BM25 over stems of folded words; of long German compounds the beginning of each half counts, too."""

    name = "BM25"

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(terms(text)) for text in texts]
        self._vocabulary = {term: number for number, term in enumerate(sorted({t for each in counted for t in each}))}
        lengths = np.array([sum(each.values()) for each in counted], dtype=np.float32)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._weights = np.zeros((len(self._vocabulary), len(texts)), dtype=np.float32)
        in_texts = Counter(term for each in counted for term in each)
        for column, each in enumerate(counted):
            for term, count in each.items():
                rarity = log(1 + (len(texts) - in_texts[term] + 0.5) / (in_texts[term] + 0.5))
                self._weights[self._vocabulary[term], column] = rarity * count * (K1 + 1) / (count + norm[column])

    def scores(self, query: str) -> Floats:
        rows = [self._vocabulary[term] for term in terms(query) if term in self._vocabulary]
        return np.asarray(self._weights[rows].sum(axis=0), dtype=np.float32)


def terms(text: str) -> list[str]:
    """Return what BM25 counts: stems of words that say something, and both ends of long words."""
    found: list[str] = []
    for word in words(fold(text)):
        if word in _WEAK:
            continue
        stem = word[:-2] if len(word) > 6 and word.endswith(("en", "er", "es", "em", "ng")) else word.rstrip("esn")
        found.append(stem or word)
        if len(word) > 11:  # "Roentgenuntersuchung" shares "roentge" with "Roentgen" and "suchung" with "Untersuchung"
            found += [f"{word[:6]}-", f"-{word[-7:]}"]
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, and the ranks that led to it, from 1; None: not among those of that part."""

    passage: Passage
    sparse: int | None
    dense: int | None
    late: int | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """How much is fetched and kept, and by which parts.

    Attributes:
        width: Of each first stage (the paper's i and j).
        keep: After the reranker (the paper's k).
        sparse, dense, late: First stages in use; one at least.
        rerank: Whether a cross-encoder orders what is merged, where there is one; else reciprocal ranks do.
    """

    width: int = WIDTH
    keep: int = WIDTH
    sparse: bool = True
    dense: bool = True
    late: bool = False
    rerank: bool = True


@dataclass
class Retriever:
    """Looks for passages; what was asked once is kept, since work is replayed.

    Attributes:
        passages: In order.
        encoder: The assistant's.
        sparse_models: Whose rankings are merged into one by reciprocal ranks; none: BM25.
        reranker: A cross-encoder; None: reciprocal rank fusion orders.
        tuned: A learned map of the query's vector; None: the encoder as it is.
    """

    passages: Sequence[Passage]
    encoder: Encoder
    sparse_models: Sequence[SparseScores] = ()
    reranker: Reranker | None = None
    tuned: Tuned | None = None
    _known: dict[tuple[object, ...], list[Found]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def _texts(self) -> list[str]:
        return [each.with_heading for each in self.passages]

    @cached_property
    def _sparse(self) -> Sequence[SparseScores]:
        return self.sparse_models or (Bm25(self._texts),)

    @property
    def sparse_name(self) -> str:
        """Name what ranks by words."""
        return " + ".join(each.name for each in self._sparse)

    @cached_property
    def vectors(self) -> Floats:
        """Unit vectors of the passages, shape (passages, dimensions)."""
        return np.asarray(self.encoder.encode(self._texts), dtype=np.float32)

    def tuned_by(self, tuned: Tuned | None) -> Retriever:
        """Return the same with another map, or with none; what was computed of the passages is shared."""
        _ = self.vectors, self._sparse
        other = copy(self)
        other.tuned, other._known = tuned, {}
        return other

    def by_each_sparse(self) -> list[Retriever]:
        """Return, where several models rank by words, the same with each of them alone."""
        if len(self._sparse) == 1:
            return []
        found = []
        for model in self._sparse:
            other = self.tuned_by(self.tuned)
            other.sparse_models = (model,)
            del other._sparse  # computed anew from the one
            found.append(other)
        return found

    @cached_property
    def _late(self) -> LateInteraction:
        return LateInteraction(self._texts, self.encoder)

    def search(self, queries: Sequence[str], reach: Reach) -> list[Found]:
        """Return the passages for a query that may have several parts, best first.

        The parts are concatenated for sparse scores, late interaction and the reranker, as in the paper; a sentence
        encoder would cut the end off, so that for dense scores the vectors of the parts are added up.
        """
        key = (*queries, reach)
        if key not in self._known:
            self._known[key] = self._search(queries, reach)
        return self._known[key]

    def _search(self, queries: Sequence[str], reach: Reach) -> list[Found]:
        whole = " ".join(queries)
        ranked: dict[str, list[int]] = {}
        if reach.sparse:
            orders = [_best(each.scores(whole), reach.width, positive=True) for each in self._sparse]
            ranked["sparse"] = fused(orders)[: reach.width]
        if reach.dense:
            ranked["dense"] = _best(self.vectors @ self._query(queries), reach.width)
        if reach.late:
            ranked["late"] = _best(self._late.scores(whole), reach.width)
        if not ranked:
            raise ValueError("a search needs a first stage")
        ranks = {part: {number: rank for rank, number in enumerate(order, 1)} for part, order in ranked.items()}
        merged = fused(list(ranked.values()))
        if reach.rerank and self.reranker is not None and merged:
            scores = self.reranker.scores(whole, [self._texts[number] for number in merged])
            merged = [merged[place] for place in np.argsort(-scores, kind="stable")]
        return [
            Found(self.passages[number], *(ranks.get(part, {}).get(number) for part in ("sparse", "dense", "late")))
            for number in merged[: reach.keep]
        ]

    def _query(self, queries: Sequence[str]) -> Floats:
        summed = self.encoder.encode(list(queries)).sum(axis=0)
        query = np.asarray(summed / max(float(np.linalg.norm(summed)), 1e-9), dtype=np.float32)
        return self.tuned.mapped(query) if self.tuned is not None else query


class LateInteraction:
    """Late interaction after ColBERT: each word of the query with the word of a passage that is nearest in meaning.

    ColBERT's vectors are of words in their context; an encoder of sentences gives those of words by themselves.
    """

    def __init__(self, texts: Sequence[str], encoder: Encoder) -> None:
        split = [[each for each in words(text) if fold(each) not in _WEAK] for text in texts]
        self._vocabulary = {word: number for number, word in enumerate(sorted({w for each in split for w in each}))}
        self._rows = [np.array(sorted({self._vocabulary[w] for w in each}), dtype=np.int64) for each in split]
        self._vectors = np.asarray(encoder.encode(list(self._vocabulary)), dtype=np.float32)
        self._encoder = encoder

    def scores(self, query: str) -> Floats:
        asked = list(dict.fromkeys(each for each in words(query) if fold(each) not in _WEAK))
        if not asked:
            return np.zeros(len(self._rows), dtype=np.float32)
        alike = self._vectors @ np.asarray(self._encoder.encode(asked), dtype=np.float32).T
        return np.array([alike[rows].max(axis=0).sum() if len(rows) else 0.0 for rows in self._rows], dtype=np.float32)


def fused(orders: Sequence[Sequence[int]]) -> list[int]:
    """Merge ranked lists by reciprocal ranks, each member once; ties stay in the order of the passages."""
    scores: Counter[int] = Counter()
    for order in orders:
        for rank, number in enumerate(order, 1):
            scores[number] += 1 / (FUSION + rank)  # type: ignore[assignment]  # a Counter adds up floats as well
    return sorted(scores, key=lambda number: (-scores[number], number))


def _best(scores: Floats, most: int, *, positive: bool = False) -> list[int]:
    # Rounded, so that two machines whose sums end differently keep one order.
    order = np.argsort(-np.round(scores, 5), kind="stable")[:most]
    return [int(number) for number in order if not positive or scores[number] > 0]


Glossary = Mapping[str, str]


def with_glossary(question: str, glossary: Glossary) -> str:
    """Return the medical terms for the lay words of a question, without a model; empty where it has none.

    A lay word is found at the beginning of a word or, for several words, anywhere.
    """
    folded = f" {' '.join(words(fold(question)))}"
    found = [terms_ for lay, terms_ in glossary.items() if f" {' '.join(words(fold(lay)))}" in folded]
    return ", ".join(dict.fromkeys(found))
