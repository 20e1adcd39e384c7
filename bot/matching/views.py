"""Compare a question with all variants of a catalog in four ways. Pure.

- ``ridge``: kernel ridge regression on a quadratic kernel over meaning (whitened vector) and wording (character
  n-grams and words); its closed-form solution trains thousands of variants in under a second;
- ``dense``: mean cosine of the three nearest variants of a pair in meaning;
- ``chars``: the same in wording;
- ``bm25``: Okapi BM25 of the question against all wording of a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.matching.features import Bag, Floats, Ints, Postings, Vocabulary

NEAREST = 3
BLOCK = 4096  # vectors widened at once: more would only cost memory
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
        moved = vectors @ self.matrix - self.mean @ self.matrix
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved))[:, None]
        return np.asarray(moved / np.maximum(length, 1e-9), dtype=np.float32)


def fit_whitening(vectors: Floats) -> Whitening:
    """Learn a whitening from unit vectors, shape (texts, dimensions)."""
    mean = vectors.mean(axis=0)
    scatter = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), BLOCK):
        centred = (vectors[start : start + BLOCK] - mean).astype(np.float64)
        scatter += centred.T @ centred
    strength, directions = np.linalg.eigh(scatter)
    strength, directions = np.sqrt(np.maximum(strength[::-1], 0)), directions[:, ::-1]
    kept = strength > 1e-3 * strength[0]
    floor = strength[min(WHITENED, int(kept.sum()) - 1)]
    scaled = directions[:, kept] / (strength[kept] + floor + 1e-9)
    return Whitening(mean.astype(np.float32), scaled.astype(np.float32))


@dataclass(frozen=True, slots=True)
class Views:
    """The raw scores of the four views, for the pairs that were looked at and, last, "none of these".

    Attributes:
        scores: Shape (questions, looked at + 1, 4) in the order of `VIEWS`.
        pairs: Numbers of the pairs looked at, increasing, shape (questions, looked at): all of a small catalog.
        classes: Number of pairs plus one.
    """

    scores: Floats
    pairs: Ints
    classes: int

    @classmethod
    def of_all(cls, scores: Floats) -> Views:
        """Return the views of all pairs; `scores` has the shape (questions, classes, 4)."""
        questions, classes = scores.shape[:2]
        return cls(scores, np.broadcast_to(np.arange(classes - 1, dtype=np.int32), (questions, classes - 1)), classes)

    @classmethod
    def joined(cls, parts: Sequence[Views]) -> Views:
        """Return the views of all questions of the parts, in order."""
        scores = np.concatenate([part.scores for part in parts])
        return cls(scores, np.concatenate([part.pairs for part in parts]), parts[0].classes)

    def of(self, questions: npt.NDArray[np.bool_]) -> Views:
        """Return the views of some of the questions."""
        return Views(self.scores[questions], self.pairs[questions], self.classes)

    def spread(self, probabilities: Floats) -> Floats:
        """Return probabilities of the looked at, shape (questions, looked at + 1), as those of all classes."""
        if probabilities.shape[1] == self.classes:
            return probabilities
        everything = np.zeros((len(probabilities), self.classes), dtype=np.float32)
        np.put_along_axis(everything, self.pairs, probabilities[:, :-1], axis=1)
        everything[:, -1] = probabilities[:, -1]
        return everything


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
    return Views.of_all(np.stack(scores, axis=2))


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
