"""Train a head from the variants of a catalog. Pure.

Deterministic: the same catalog, encoder and library versions give the same numbers. scipy's solvers are imported
late: answering does not need them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from bot.matching.complaints import LEVELS, fit_complaints
from bot.matching.features import (
    VIEWS,
    Bag,
    Evidence,
    Floats,
    Ints,
    PackedVectors,
    Postings,
    Views,
    Vocabulary,
    Weights,
    Whitening,
    bm25_scores,
    fit_whitening,
    nearest_mean,
    quadratic,
    sparse_rows,
)
from bot.matching.head import Fusion, Head, LocalEvidence, fusion_features

KEPT_DIRECTIONS = 192  # of whitened vectors: what comes behind weighs little, and memory counts here
HELD_OUT = 1200  # questions that the fusion is fitted on: more would only take longer
BM25_K1, BM25_B = 1.2, 0.5

Order = npt.NDArray[np.intp]


def fit_local(texts: Sequence[str], vectors: Floats, taught: Taught, order: Order) -> LocalEvidence:
    """Weigh the terms and vectors of a catalog.

    Args:
        texts: Shape (texts,).
        vectors: Raw vectors of the texts before they were put in order, shape (texts, dimensions): they are large, so
            they are not copied.
        taught: What each text is an example of.
        order: Where the vector of each text is.
    """
    vocabulary, bags = Vocabulary.with_bags(texts)
    rows = sparse_rows(bags, len(vocabulary))
    whitening = fit_whitening(vectors, KEPT_DIRECTIONS)
    white = whitening.apply(vectors)[order]
    bm25 = sparse_bm25(rows, taught.label, taught.classes)
    return LocalEvidence(vocabulary, rows, whitening, white, taught.label, taught.level, bm25)


def sparse_bm25(rows: csr_array, label: Ints, classes: int) -> csr_array:
    """Return Okapi BM25 weights of every term for every class, shape (vocabulary, classes)."""
    held = rows.tocoo()
    ones = np.ones(len(held.data), dtype=np.float32)
    count = csr_array(coo_array((ones, (label[held.coords[0]], held.coords[1])), shape=(classes, rows.shape[1])))
    count.sum_duplicates()
    length = np.asarray(count.sum(axis=1))
    frequency = np.bincount(count.indices, minlength=rows.shape[1])
    idf = np.log(1 + (classes - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    scale = BM25_K1 * (1 - BM25_B + BM25_B * length / max(1.0, float(length.mean())))
    owner = np.repeat(np.arange(classes), np.diff(count.indptr))
    count.data = (idf[count.indices] * count.data * (BM25_K1 + 1) / (count.data + scale[owner])).astype(np.float32)
    return count.T.tocsr()


def held_out_local(
    evidence: LocalEvidence, texts: Sequence[str], vectors: Floats, folds: Ints, order: Order
) -> tuple[Views | None, Order]:
    """Score a sample of the texts with evidence that lacks their fold.

    Args:
        evidence: Of all texts.
        texts: Shape (texts,).
        vectors: Raw vectors before the texts were put in order, shape (texts, dimensions).
        folds: Shape (texts,); -1 is never held out.
        order: Where the vector of each text is.

    Returns:
        The views, and which texts they belong to.
    """
    candidates = np.flatnonzero(folds >= 0)
    sample = candidates[:: max(1, -(-len(candidates) // HELD_OUT))]
    parts: list[Views] = []
    seen: list[Order] = []
    for fold in sorted(set(folds[sample].tolist())):
        test, known = sample[folds[sample] == fold], np.flatnonzero(folds != fold)
        if len(known):
            without = _only(evidence, known)
            parts.append(without.views(vectors[order[test]], [texts[number] for number in test]))
            seen.append(test)
            del without  # the next one is as large
    if not parts:
        return None, np.array([], dtype=np.intp)
    return Views.joined(parts), np.concatenate(seen)


def _only(evidence: LocalEvidence, texts: Order) -> LocalEvidence:
    rows, label, level = evidence.rows[texts], evidence.label[texts], evidence.level[texts]
    bm25 = sparse_bm25(rows, label, evidence.classes)
    return replace(evidence, rows=rows, vectors=evidence.vectors[texts], label=label, level=level, bm25=bm25)


RIDGE = 0.3
FUSION_L2 = 0.01
FOLDS = 4
BACKGROUND = "background"  # the group of questions that belong to no pair
MIN_GROUP = 50  # an author with fewer texts says nothing about unseen authors
MAX_COMPARED = 22_000  # up to here all texts are compared with all: two gigabytes and a half while training
BLOCK = 512  # texts compared with all others at once
MIN_HELD_OUT = 30  # fewer held-out questions of pairs fit no fusion: it would call everything "none of these"

# What studies leave out to see what it is worth: a view of the fusion, vectors or wording in every view, the background
# questions, or the calibration set.
Part = Literal["ridge", "dense", "chars", "bm25", "meaning", "wording", "background", "calibration"]
NOTHING: frozenset[Part] = frozenset()

# What fitting gives on the shipped German catalog, for catalogs too small to hold anything out.
DEFAULT_FUSION = Fusion(
    shared=np.array([0.93, 0.34, 0.19, 0.32, 0.12, -0.24, -0.25, -0.11]),
    none=np.array([-0.55, -0.32, -0.14, -0.43, 0.22, -0.41, -0.21]),
)


@dataclass(frozen=True, slots=True)
class Example:
    """One text to learn from.

    Attributes:
        text: What a patient might write.
        label: Number of the pair, or the last class for "none of these".
        group: Who wrote it: authors are held out as a whole. Empty for canonical questions, which are never held out.
        level: Of a complaint: its number in `bot.matching.complaints.LEVELS`; -1 for what is none.
    """

    text: str
    label: int
    group: str
    level: int = -1


@dataclass(frozen=True, slots=True)
class Taught:
    """What texts are examples of.

    Attributes:
        label: Class of each text, shape (texts,), non-decreasing; the last class is "none of these".
        level: Level of each text that is a complaint, shape (texts,); -1 for others.
        classes: Number of pairs plus one.
    """

    label: Ints
    level: Ints
    classes: int

    @property
    def target(self) -> Floats:
        """What the ridge learns: a column for each class and, where there are complaints, for each level."""
        columns = np.eye(self.classes, dtype=np.float32)[self.label]
        if self.level.max(initial=-1) < 0:
            return columns
        return np.concatenate([columns, self.level[:, None] == np.arange(len(LEVELS))], axis=1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What heads said of questions by authors whom they had not seen: the basis for thresholds.

    Attributes:
        probabilities: Shape (questions, classes).
        label: Shape (questions,).
    """

    probabilities: Floats
    label: Ints


@dataclass(frozen=True, slots=True)
class _Material:
    """All texts, ready to be compared with each other; vocabulary and whitening are unsupervised."""

    vocabulary: Vocabulary
    bags: list[Bag]
    whitening: Whitening
    vectors: Floats
    rows: csr_array
    taught: Taught

    def fit(self, folds: Ints) -> tuple[Evidence, Views | None, Order]:
        """Fit the evidence of all texts, and score each text that has a fold with evidence that lacks its fold.

        All is compared with all once, block by block; one kernel of all texts is kept, of which folds use a part.

        Returns:
            The evidence, the views, and which texts they belong to.
        """
        kernel = np.empty((len(folds), len(folds)), dtype=np.float32)
        columns, label, classes = self.rows.T.tocsr(), self.taught.label, self.taught.classes
        nearest = np.zeros((len(folds), classes, 2), dtype=np.float32)
        for fold in sorted(set(folds.tolist())):
            texts, known = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            for start in range(0, len(texts), BLOCK):
                some = texts[start : start + BLOCK]
                wording = (self.rows[some] @ columns).toarray()
                meaning = self.vectors[some] @ self.vectors.T
                kernel[some] = quadratic(meaning, wording)
                if fold >= 0 and len(known):
                    for view, cosine in enumerate((meaning, wording)):
                        nearest[some, :, view] = nearest_mean(cosine[:, known], label[known], classes)
        held_out = [self._held_out(kernel, folds, fold, nearest) for fold in sorted(set(folds.tolist()) - {-1})]
        parts = [part for part in held_out if part is not None]
        evidence = self._evidence(kernel)
        if not parts:
            return evidence, None, np.array([], dtype=np.intp)
        return evidence, Views.joined([views for views, _ in parts]), np.concatenate([seen for _, seen in parts])

    def _held_out(self, kernel: Floats, folds: Ints, fold: int, nearest: Floats) -> tuple[Views, Order] | None:
        test, known = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(known):
            return None
        classes, label = self.taught.classes, self.taught.label[known]
        alpha, bias = _solve(kernel[np.ix_(known, known)], self.taught.target[known])
        ridge = kernel[np.ix_(test, known)] @ alpha + bias
        term_weights = _bm25([self.bags[number] for number in known], label, classes, len(self.vocabulary))
        bm25 = bm25_scores([self.bags[number] for number in test], term_weights)
        scores = np.stack([ridge[:, :classes], nearest[test, :, 0], nearest[test, :, 1], bm25], axis=2)
        return Views.of_all(scores, ridge[:, classes:]), test

    def _evidence(self, kernel: Floats) -> Evidence:
        """Fit the evidence of all texts; the kernel is used up."""
        alpha, bias = _solve(kernel, self.taught.target)
        bm25 = _bm25(self.bags, self.taught.label, self.taught.classes, len(self.vocabulary))
        return Evidence(
            vocabulary=self.vocabulary,
            postings=Postings.of(self.bags, len(self.vocabulary)),
            whitening=self.whitening,
            vectors=PackedVectors.of(self.vectors),
            weights=Weights(self.taught.label, alpha, bias, bm25),
        )


def train(
    examples: Sequence[Example],
    vectors: Floats,
    classes: int,
    rows: npt.NDArray[np.intp] | None = None,
    without: frozenset[Part] = NOTHING,
) -> tuple[Head, HeldOut]:
    """Fit a head.

    Args:
        examples: In any order; labels 0 to classes - 1, the last being "none of these".
        vectors: Unit vectors, shape (texts, dimensions).
        classes: Number of pairs plus one.
        rows: Which vector belongs to each example, shape (examples,); default: the first to the first, and so on.
        without: Views, meaning or wording that the head shall not use.

    Returns:
        The head, and what held-out heads said of each example.
    """
    order = np.array(sorted(range(len(examples)), key=lambda number: examples[number].label), dtype=np.intp)
    examples = [examples[number] for number in order]
    order = order if rows is None else rows[order]
    taught = Taught(
        np.array([example.label for example in examples], dtype=np.int32),
        np.array([example.level for example in examples], dtype=np.int32),
        classes,
    )
    label, folds = taught.label, _folds(examples)
    texts = ["" if "wording" in without else example.text for example in examples]
    vectors = np.zeros_like(vectors) if "meaning" in without else vectors
    evidence: Evidence | LocalEvidence
    if len(examples) > MAX_COMPARED:
        evidence = fit_local(texts, vectors, taught, order)
        views, seen = held_out_local(evidence, texts, vectors, folds, order)
    else:
        vocabulary, bags = Vocabulary.with_bags(texts)
        whitening = fit_whitening(vectors, KEPT_DIRECTIONS)
        white, rows_ = whitening.apply(vectors[order]), sparse_rows(bags, len(vocabulary))
        evidence, views, seen = _Material(vocabulary, bags, whitening, white, rows_, taught).fit(folds)
    start = _start(without)
    fusion = _fit_fusion(views, label[seen], start) if views is not None else start
    complaints = fit_complaints(views, taught.level[seen]) if views is not None else None
    held_out = HeldOut(_cross_fitted(views, label[seen], folds[seen], classes, start), label[seen])
    return Head(evidence, fusion, complaints), held_out


def _folds(examples: Sequence[Example]) -> Ints:
    """Number the fold of each example; -1 is never held out.

    Authors are folds when there are at least three; texts without an author, and background, are spread by a hash of
    their text, so that the fold of a text does not change when others are added.
    """
    sizes = Counter(example.group for example in examples if example.group)
    last = max(example.label for example in examples)
    authors = sorted(group for group, size in sizes.items() if size >= MIN_GROUP and group != BACKGROUND)
    by_author = {author: number % FOLDS for number, author in enumerate(authors)} if len(authors) >= 3 else {}
    count = min(len(by_author), FOLDS) or FOLDS
    single = Counter(example.label for example in examples)

    def fold(example: Example) -> int:
        if single[example.label] < 2 or (not example.group and example.label != last):
            return -1
        return by_author.get(example.group, zlib.crc32(example.text.encode()) % count)

    return np.array([fold(example) for example in examples], dtype=np.int32)


def _cross_fitted(views: Views | None, label: Ints, folds: Ints, classes: int, start: Fusion) -> Floats:
    """Return probabilities of a fusion that has not seen the fold either."""
    if views is None:
        return np.zeros((0, classes), dtype=np.float32)
    result = np.zeros((len(label), classes), dtype=np.float32)
    for fold in sorted(set(folds.tolist())):
        test = folds == fold
        fusion = _fit_fusion(views.of(~test), label[~test], start)
        result[test] = fusion.probabilities(views.of(test))
    return result


def _solve(kernel: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return the ridge's dual weights, shape (texts, columns), and bias, shape (columns,); the kernel is used up."""
    from scipy.linalg import cho_factor, cho_solve

    kernel[np.diag_indices_from(kernel)] += RIDGE
    bias = target.mean(axis=0)
    # Its own transpose, but in the order of columns that the solver works on: it would copy the other.
    factor = cho_factor(kernel.T, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, target - bias, check_finite=False).astype(np.float32), bias


def _bm25(bags: Sequence[Bag], label: Ints, classes: int, columns: int) -> csr_array:
    count = np.zeros((classes, columns), dtype=np.float32)
    for bag, number in zip(bags, label, strict=True):
        count[number, bag.index] += 1
    length = count.sum(axis=1, keepdims=True)
    frequency = (count > 0).sum(axis=0)
    idf = np.log(1 + (classes - frequency + 0.5) / (frequency + 0.5))
    scale = BM25_K1 * (1 - BM25_B + BM25_B * length / max(1.0, float(length.mean())))
    return csr_array((idf * count * (BM25_K1 + 1) / (count + scale)).T.astype(np.float32))


def _start(without: frozenset[Part]) -> Fusion:
    """Return the default fusion with weight 0 for the views that are left out."""
    kept = np.array([view not in without for view in VIEWS], dtype=np.float64)
    none = np.concatenate([[1.0], kept[:3], kept[:3]])
    return Fusion(DEFAULT_FUSION.shared * np.tile(kept, 2), DEFAULT_FUSION.none * none)


def _fit_fusion(views: Views, label: Ints, default: Fusion) -> Fusion:
    """Fit the fusion from the default on; weights that are 0 there stay 0."""
    column, found = _columns(views, label)
    views, column = views.of(found), column[found]
    if (column < views.pairs.shape[1]).sum() < MIN_HELD_OUT:
        return default
    from scipy.optimize import minimize

    shared, none = fusion_features(views)
    split = shared.shape[2]
    rows = np.arange(len(column))
    start = np.concatenate([default.shared, default.none])

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        logits = shared @ weights[:split]
        logits[:, -1] += none @ weights[split:]
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        wrong = odds / odds.sum(axis=1, keepdims=True)
        value = -np.log(wrong[rows, column] + 1e-12).mean() + FUSION_L2 * float(weights @ weights) / 2
        wrong[rows, column] -= 1
        wrong /= len(column)
        slope = np.concatenate([np.tensordot(wrong, shared, axes=([0, 1], [0, 1])), wrong[:, -1] @ none])
        return float(value), np.where(start == 0, 0.0, slope + FUSION_L2 * weights)

    best = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return Fusion(best[:split], best[split:])


def _columns(views: Views, label: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the column of each question's class among those looked at, and whether it is there at all."""
    same = views.pairs == label[:, None]
    none = label == views.classes - 1
    column = np.where(none, views.pairs.shape[1], same.argmax(axis=1) if views.pairs.shape[1] else 0)
    return column.astype(np.int32), none | same.any(axis=1)
