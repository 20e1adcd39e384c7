"""The trained head: probabilities of all pairs for a question. Pure.

The ridge of `features.py` compares all texts with all, which grows with the square of their number. Here the
same ridge is solved anew for every question on its nearest texts ("local learning", Bottou and Vapnik 1992): nothing
to train, and time and memory grow with the number of texts only. On the shipped catalogs it is as good.

A small conditional logit fuses the views of `features.py` to calibrated probabilities. Training fits it on
what the views had not seen, whole authors held out where the catalog knows its authors (`fit_head.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from bot.matching.complaints import ComplaintModel
from bot.matching.features import (
    NEAREST,
    VIEWS,
    Bag,
    Evidence,
    Floats,
    Ints,
    Views,
    Vocabulary,
    Whitening,
    cosines,
    quadratic,
    sparse_rows,
)

NEIGHBOURS = 128  # texts that the ridge of a question is solved on
RIDGE = 1.0
KEPT = 32  # pairs that are looked at closely
BLOCK = 16  # questions compared with all texts at once


@dataclass(frozen=True, slots=True)
class _Looked:
    """One question among many pairs.

    Attributes:
        pairs: Numbers of the pairs looked at, shape (kept,).
        scores: Of these and of "none", shape (kept + 1, 4).
        urgency: How much it is like complaints of each level, shape (levels,).
    """

    pairs: Ints
    scores: Floats
    urgency: Floats


@dataclass(frozen=True)
class LocalEvidence:
    """A large catalog: its texts, and nothing fitted but the weights of terms.

    Attributes:
        vocabulary: Terms of the catalog.
        rows: TF-IDF weights of all texts, shape (texts, vocabulary).
        whitening: For vectors.
        vectors: Whitened vectors of all texts, shape (texts, kept dimensions).
        label: Class of each text, shape (texts,), non-decreasing; the last class is "none of these".
        level: Of each text that is a complaint, shape (texts,); -1 for others.
        bm25: Term weights of each class, shape (vocabulary, classes).
    """

    vocabulary: Vocabulary
    rows: csr_array
    whitening: Whitening
    vectors: Floats
    label: Ints
    level: Ints
    bm25: csr_array

    @property
    def classes(self) -> int:
        return int(self.bm25.shape[1])

    @cached_property
    def levels(self) -> int:
        """How many levels of complaints are known: all that texts of the catalog have."""
        return int(self.level.max(initial=-1)) + 1

    @cached_property
    def _postings(self) -> csr_array:
        return self.rows.T.tocsr()

    @cached_property
    def _bounds(self) -> Ints:
        return np.searchsorted(self.label, np.arange(self.classes + 1)).astype(np.int32)

    def views(self, vectors: Floats, texts: Sequence[str]) -> Views:
        """Score texts with their raw vectors, shape (questions, dimensions), against the pairs nearest to them."""
        white = self.whitening.apply(vectors)
        bags = [self.vocabulary.bag(text) for text in texts]
        found = [one for start in range(0, len(bags), BLOCK) for one in self._block(white, bags, start)]
        kept = min(KEPT, self.classes - 1)
        scores = np.array([one.scores for one in found], dtype=np.float32)
        pairs = np.array([one.pairs for one in found], dtype=np.int32)
        urgency = np.array([one.urgency for one in found], dtype=np.float32).reshape(len(found), -1)
        return Views(scores.reshape(-1, kept + 1, len(VIEWS)), pairs.reshape(-1, kept), self.classes, urgency)

    def kernel(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        """Return how near questions are to every text, shape (questions, texts); `white`: their whitened vectors."""
        wording = (sparse_rows(bags, len(self.vocabulary)) @ self._postings).toarray()
        return quadratic(cosines(white, self.vectors), wording)

    def _block(self, white: Floats, bags: Sequence[Bag], start: int) -> Iterator[_Looked]:
        block = bags[start : start + BLOCK]
        meaning = cosines(white[start : start + BLOCK], self.vectors)
        wording = (sparse_rows(block, len(self.vocabulary)) @ self._postings).toarray()
        for number, bag in enumerate(block):
            yield self._one(meaning[number], wording[number], bag)

    def _one(self, meaning: Floats, wording: Floats, bag: Bag) -> _Looked:
        kernel = quadratic(meaning, wording)
        pairs = self._nearest_pairs(kernel)
        looked_at = [*pairs.tolist(), self.classes - 1]
        ridge, urgency = self._ridge(kernel, looked_at)
        scores = [
            ridge,
            self._nearest_mean(meaning, looked_at),
            self._nearest_mean(wording, looked_at),
            self.bm25[bag.index].sum(axis=0)[looked_at] / max(1, len(bag.index)),
        ]
        return _Looked(pairs, np.stack(scores, axis=1).astype(np.float32), urgency)

    def _nearest_pairs(self, kernel: Floats) -> Ints:
        bounds = self._bounds[:-1]
        present = np.flatnonzero(np.diff(self._bounds))
        best = np.full(self.classes, -1, dtype=np.float32)
        best[present] = np.maximum.reduceat(kernel, bounds[present])
        kept = min(KEPT, self.classes - 1)
        return np.sort(np.argpartition(best[:-1], -kept)[-kept:]).astype(np.int32)

    def _ridge(self, kernel: Floats, looked_at: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the scores of the classes looked at, and those of the levels of complaints."""
        from scipy.linalg import cho_factor, cho_solve

        count = min(NEIGHBOURS, len(kernel))
        near = np.argpartition(kernel, -count)[-count:]
        white, rows = self.vectors[near], self.rows[near]
        between = quadratic(white @ white.T, (rows @ rows.T).toarray())
        between[np.diag_indices(count)] += RIDGE
        classes = self.label[near][:, None] == np.array(looked_at)
        levels = self.level[near][:, None] == np.arange(self.levels)
        target = np.concatenate([classes, levels], axis=1).astype(np.float32)
        bias = target.mean(axis=0)
        dual = cho_solve(cho_factor(between, lower=True, check_finite=False), target - bias, check_finite=False)
        scores = np.asarray(kernel[near] @ dual + bias, dtype=np.float32)
        return scores[: len(looked_at)], scores[len(looked_at) :]

    def _nearest_mean(self, similarity: Floats, looked_at: Sequence[int]) -> Floats:
        means = np.zeros(len(looked_at), dtype=np.float32)
        for column, number in enumerate(looked_at):
            block = similarity[self._bounds[number] : self._bounds[number + 1]]
            if len(block) > NEAREST:
                block = np.partition(block, len(block) - NEAREST)[-NEAREST:]
            if len(block):
                means[column] = block.mean()
        return means


@dataclass(frozen=True, slots=True)
class Fusion:
    """The conditional logit over the views.

    Attributes:
        shared: Weights of each class's features, shape (8,): four standardised views, four raw ones.
        none: Extra weights of "none of these", shape (7,): how the background compares with the best pair.
    """

    shared: npt.NDArray[np.float64]
    none: npt.NDArray[np.float64]

    def probabilities(self, views: Views) -> Floats:
        """Return calibrated probabilities of all classes, shape (questions, classes), rows summing to 1."""
        shared, none = fusion_features(views)
        logits = shared @ self.shared
        logits[:, -1] += none @ self.none
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return views.spread(np.asarray(odds / odds.sum(axis=1, keepdims=True), dtype=np.float32))


def fusion_features(views: Views) -> tuple[Floats, Floats]:
    """Return the features of what was looked at, shape (questions, looked at + 1, 8), and of "none", (questions, 7)."""
    scores = views.scores
    spread = scores.std(axis=1, keepdims=True) + 1e-6
    standard = (scores - scores.mean(axis=1, keepdims=True)) / spread
    shared = np.concatenate([standard, scores * 5], axis=2)
    compared = scores[:, :, :3] * 5  # BM25 has no scale of its own
    best = compared[:, :-1].max(axis=1)
    none = np.concatenate([np.ones((len(scores), 1)), compared[:, -1] - best, best], axis=1)
    return shared.astype(np.float64), none.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What is known of one text, so that nobody works it out again.

    Attributes:
        vector: As the encoder returned it, shape (dimensions,).
        pairs: P(pair | text) for every pair and, last, "none of these", shape (pairs + 1,).
    """

    vector: Floats
    pairs: Floats


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the head makes of questions.

    Attributes:
        pairs: P(pair | question) for every pair and, last, "none of these", shape (questions, pairs + 1).
        complaint: P(no complaint), then of each level of `LEVELS`, shape (questions, 1 + levels); None where the
            catalog was taught no complaints.
    """

    pairs: Floats
    complaint: npt.NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class Head:
    """The trained matcher of one catalog and encoder."""

    evidence: Evidence | LocalEvidence
    fusion: Fusion
    complaints: ComplaintModel | None = None

    def judge(self, vectors: Floats, texts: Sequence[str]) -> Judgement:
        """Return how likely each pair, and a complaint of each level, is for texts with their raw vectors."""
        views = self.evidence.views(vectors, texts)
        complaint = self.complaints.probabilities(views) if self.complaints is not None else None
        return Judgement(self.fusion.probabilities(views), complaint)

    def probabilities(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return P(pair | question) for every pair and, last, "none of these", shape (questions, pairs + 1)."""
        return self.judge(vectors, texts).pairs
