"""Score every pair, and "none of these", for a question. Pure: vectors and texts in, probabilities out.

Four views of a question are compared with all variants of a catalog:

- ``ridge``: kernel ridge regression on a quadratic kernel over meaning (whitened vector) and wording (character
  n-grams and words); its closed-form solution trains thousands of variants in under a second;
- ``dense``: mean cosine of the three nearest variants of a pair in meaning;
- ``chars``: the same in wording;
- ``bm25``: Okapi BM25 of the question against all wording of a pair.

A small conditional logit, fitted on questions that the views had not seen (whole authors held out where the catalog
knows its authors), fuses them to calibrated probabilities. `bot/matching/train.py` fits everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.matching.features import Bag, Floats, Ints, Postings, Vocabulary

NEAREST = 3
WHITENED = 64  # directions weaker than the 64th are not blown up
VIEWS = ("ridge", "dense", "chars", "bm25")


@dataclass(frozen=True, slots=True)
class Whitening:
    """Centres vectors and evens out their strongest directions, so that "mammogram" does not drown the question.

    Attributes:
        mean: Shape (dimensions,).
        matrix: Shape (dimensions, kept).
    """

    mean: Floats
    matrix: Floats

    def apply(self, vectors: Floats) -> Floats:
        """Return whitened unit vectors, shape (texts, kept)."""
        moved = (vectors - self.mean) @ self.matrix
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))[:, None]
        return np.asarray(moved / np.maximum(length, 1e-9), dtype=np.float32)


def fit_whitening(vectors: Floats) -> Whitening:
    """Learn a whitening from unit vectors, shape (texts, dimensions)."""
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    strength, directions = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    strength, directions = np.sqrt(np.maximum(strength[::-1], 0)), directions[:, ::-1]
    kept = strength > 1e-3 * strength[0]
    floor = strength[min(WHITENED, int(kept.sum()) - 1)]
    scaled = directions[:, kept] / (strength[kept] + floor + 1e-9)
    return Whitening(mean.astype(np.float32), scaled.astype(np.float32))


@dataclass(frozen=True, slots=True)
class Views:
    """The raw scores of the four views.

    Attributes:
        scores: Shape (questions, classes, 4) in the order of `VIEWS`; the last class is "none of these".
    """

    scores: Floats


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned from labelled texts.

    Attributes:
        label: Class of each text, shape (texts,), non-decreasing; the last class is "none of these".
        alpha: Dual weights of the ridge, shape (texts, classes).
        bias: Shape (classes,).
        bm25: Term weights of each class, shape (vocabulary, classes).
    """

    label: Ints
    alpha: Floats
    bias: Floats
    bm25: Floats

    @property
    def classes(self) -> int:
        return int(self.bias.shape[0])


def score_views(meaning: Floats, wording: Floats, bags: Sequence[Bag], weights: Weights) -> Views:
    """Score questions from their cosines with all texts, each of shape (questions, texts), and their bags."""
    scores = [
        quadratic(meaning, wording) @ weights.alpha + weights.bias,
        nearest_mean(meaning, weights.label, weights.classes),
        nearest_mean(wording, weights.label, weights.classes),
        _bm25_scores(bags, weights.bm25),
    ]
    return Views(np.stack(scores, axis=2))


def _bm25_scores(bags: Sequence[Bag], term_weights: Floats) -> Floats:
    # Per term, so that long questions do not score higher than short ones.
    rows = [term_weights[bag.index].sum(axis=0) / max(1, len(bag.index)) for bag in bags]
    return np.asarray(rows, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fitted catalog: everything the four views need.

    Attributes:
        vocabulary: Terms of the catalog.
        postings: Bags of all texts.
        whitening: For vectors.
        vectors: Whitened vectors of all texts, shape (texts, kept).
        weights: What was learned.
    """

    vocabulary: Vocabulary
    postings: Postings
    whitening: Whitening
    vectors: Floats
    weights: Weights

    def views(self, vectors: Floats, texts: Sequence[str]) -> Views:
        """Score texts with their raw vectors, shape (questions, dimensions), against every class."""
        bags = [self.vocabulary.bag(text) for text in texts]
        meaning = self.whitening.apply(vectors) @ self.vectors.T
        return score_views(meaning, self.postings.cosines(bags), bags, self.weights)


def quadratic(meaning: Floats, wording: Floats) -> Floats:
    """Return the quadratic kernel of two cosines: pairs of features count, not only single ones."""
    return np.asarray(np.square(meaning + wording + 1) / 4, dtype=np.float32)


def nearest_mean(similarity: Floats, label: Ints, classes: int) -> Floats:
    """Return the mean of the three largest similarities within each class.

    Args:
        similarity: Shape (questions, texts).
        label: Shape (texts,), non-decreasing: each class is one block of columns.
        classes: Number of classes; one without texts gets 0.

    Returns:
        Shape (questions, classes).
    """
    bounds = np.searchsorted(label, np.arange(classes + 1))
    result = np.zeros((similarity.shape[0], classes), dtype=np.float32)
    for number in range(classes):
        block = similarity[:, bounds[number] : bounds[number + 1]]
        if block.shape[1] > NEAREST:
            block = np.partition(block, block.shape[1] - NEAREST, axis=1)[:, -NEAREST:]
        if block.shape[1]:
            result[:, number] = block.mean(axis=1)
    return result


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
        """Return calibrated probabilities, shape (questions, classes), rows summing to 1."""
        shared, none = fusion_features(views)
        logits = shared @ self.shared
        logits[:, -1] += none @ self.none
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True), dtype=np.float32)


def fusion_features(views: Views) -> tuple[Floats, Floats]:
    """Return the features of every class, shape (questions, classes, 8), and of "none", shape (questions, 7)."""
    scores = views.scores
    spread = scores.std(axis=1, keepdims=True) + 1e-6
    standard = (scores - scores.mean(axis=1, keepdims=True)) / spread
    shared = np.concatenate([standard, scores * 5], axis=2)
    compared = scores[:, :, :3] * 5  # BM25 has no scale of its own
    best = compared[:, :-1].max(axis=1)
    none = np.concatenate([np.ones((len(scores), 1)), compared[:, -1] - best, best], axis=1)
    return shared.astype(np.float64), none.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Head:
    """The trained matcher of one catalog and encoder."""

    evidence: Evidence
    fusion: Fusion

    def probabilities(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return P(pair | question) for every pair and, last, "none of these", shape (questions, pairs + 1)."""
        return self.fusion.probabilities(self.evidence.views(vectors, texts))
