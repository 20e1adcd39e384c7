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

from bot.matching.features import (
    VIEWS,
    Bag,
    Evidence,
    Floats,
    Ints,
    Postings,
    Views,
    Vocabulary,
    Weights,
    Whitening,
    fit_whitening,
    quadratic,
    score_views,
    sparse_rows,
)
from bot.matching.head import Fusion, Head, LocalEvidence, fusion_features

KEPT_DIRECTIONS = 192  # of whitened vectors: what comes behind weighs little, and memory counts here
HELD_OUT = 1200  # questions that the fusion is fitted on: more would only take longer
BM25_K1, BM25_B = 1.2, 0.5

Order = npt.NDArray[np.intp]


def fit_local(texts: Sequence[str], vectors: Floats, label: Ints, classes: int, order: Order) -> LocalEvidence:
    """Weigh the terms and vectors of a catalog.

    Args:
        texts: Shape (texts,).
        vectors: Raw vectors of the texts before they were put in order, shape (texts, dimensions): they are large, so
            they are not copied.
        label: Class of each text, non-decreasing.
        classes: Number of pairs plus one.
        order: Where the vector of each text is.
    """
    vocabulary, bags = Vocabulary.with_bags(texts)
    rows = sparse_rows(bags, len(vocabulary))
    whitening = fit_whitening(vectors)
    whitening = replace(whitening, matrix=np.ascontiguousarray(whitening.matrix[:, :KEPT_DIRECTIONS]))
    white = whitening.apply(vectors)[order]
    return LocalEvidence(vocabulary, rows, whitening, white, label, sparse_bm25(rows, label, classes))


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
    rows, label = evidence.rows[texts], evidence.label[texts]
    bm25 = sparse_bm25(rows, label, evidence.classes)
    return replace(evidence, rows=rows, vectors=evidence.vectors[texts], label=label, bm25=bm25)


RIDGE = 0.3
FUSION_L2 = 0.01
FOLDS = 4
BACKGROUND = "background"  # the group of questions that belong to no pair
MIN_GROUP = 50  # an author with fewer texts says nothing about unseen authors
MAX_COMPARED = 16_000  # up to here all texts are compared with all: a gigabyte while training
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
    """

    text: str
    label: int
    group: str


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
    """All texts, ready to be compared with each other.

    Vocabulary and whitening are unsupervised and shared by all folds. All comparisons of 11,000 texts, by meaning and
    by wording, would take gigabytes: they are made in blocks where they are used.
    """

    vocabulary: Vocabulary
    bags: list[Bag]
    whitening: Whitening
    vectors: Floats
    rows: csr_array
    label: Ints
    classes: int

    def compared(self, some: Order, others: Order) -> tuple[Floats, Floats]:
        """Return how alike texts are by meaning and by wording, each of shape (some, others)."""
        wording = np.empty((len(some), len(others)), dtype=np.float32)
        columns = self.rows[others].T.tocsr()
        for start in range(0, len(some), BLOCK):
            wording[start : start + BLOCK] = (self.rows[some[start : start + BLOCK]] @ columns).toarray()
        return self.vectors[some] @ self.vectors[others].T, wording

    def kernel(self, texts: Order) -> Floats:
        """Return the kernel of the ridge, shape (texts, texts)."""
        kernel = np.empty((len(texts), len(texts)), dtype=np.float32)
        for start in range(0, len(texts), BLOCK):
            kernel[start : start + BLOCK] = quadratic(*self.compared(texts[start : start + BLOCK], texts))
        return kernel


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
    label = np.array([example.label for example in examples], dtype=np.int32)
    folds = _folds(examples)
    texts = ["" if "wording" in without else example.text for example in examples]
    vectors = np.zeros_like(vectors) if "meaning" in without else vectors
    evidence: Evidence | LocalEvidence
    if len(examples) > MAX_COMPARED:
        evidence = fit_local(texts, vectors, label, classes, order)
        views, seen = held_out_local(evidence, texts, vectors, folds, order)
    else:
        material = _material(texts, vectors[order], label, classes)
        views, seen = _held_out_views(material, folds)
        evidence = _evidence(material)
    start = _start(without)
    fusion = _fit_fusion(views, label[seen], start) if views is not None else start
    held_out = HeldOut(_cross_fitted(views, label[seen], folds[seen], classes, start), label[seen])
    return Head(evidence, fusion), held_out


def _material(texts: Sequence[str], vectors: Floats, label: Ints, classes: int) -> _Material:
    vocabulary, bags = Vocabulary.with_bags(texts)
    whitening = fit_whitening(vectors)
    rows = sparse_rows(bags, len(vocabulary))
    return _Material(vocabulary, bags, whitening, whitening.apply(vectors), rows, label, classes)


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


def _held_out_views(material: _Material, folds: Ints) -> tuple[Views | None, npt.NDArray[np.intp]]:
    parts: list[Floats] = []
    seen: list[npt.NDArray[np.intp]] = []
    for fold in sorted(set(folds.tolist()) - {-1}):
        test, known = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if not len(known):
            continue
        label = material.label[known]
        alpha, bias = _solve(material.kernel(known), label, material.classes)
        bm25 = _bm25([material.bags[number] for number in known], label, material.classes, len(material.vocabulary))
        parts.append(
            score_views(
                *material.compared(test, known),
                [material.bags[number] for number in test],
                Weights(label, alpha, bias, bm25),
            ).scores
        )
        seen.append(test)
    if not parts:
        return None, np.array([], dtype=np.intp)
    return Views.of_all(np.concatenate(parts)), np.concatenate(seen)


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


def _solve(kernel: Floats, label: Ints, classes: int) -> tuple[Floats, Floats]:
    """Return the ridge's dual weights, shape (texts, classes), and bias, shape (classes,); the kernel is used up."""
    from scipy.linalg import cho_factor, cho_solve

    kernel[np.diag_indices_from(kernel)] += RIDGE
    target = np.eye(classes, dtype=np.float32)[label]
    bias = target.mean(axis=0)
    # Its own transpose, but in the order of columns that the solver works on: it would copy the other.
    factor = cho_factor(kernel.T, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, target - bias, check_finite=False).astype(np.float32), bias


def _evidence(material: _Material) -> Evidence:
    alpha, bias = _solve(material.kernel(np.arange(len(material.label))), material.label, material.classes)
    bm25 = _bm25(material.bags, material.label, material.classes, len(material.vocabulary))
    return Evidence(
        vocabulary=material.vocabulary,
        postings=Postings.of(material.bags, len(material.vocabulary)),
        whitening=material.whitening,
        vectors=material.vectors,
        weights=Weights(material.label, alpha, bias, bm25),
    )


def _bm25(bags: Sequence[Bag], label: Ints, classes: int, columns: int) -> Floats:
    count = np.zeros((classes, columns), dtype=np.float32)
    for bag, number in zip(bags, label, strict=True):
        count[number, bag.index] += 1
    length = count.sum(axis=1, keepdims=True)
    frequency = (count > 0).sum(axis=0)
    idf = np.log(1 + (classes - frequency + 0.5) / (frequency + 0.5))
    scale = BM25_K1 * (1 - BM25_B + BM25_B * length / max(1.0, float(length.mean())))
    return np.ascontiguousarray((idf * count * (BM25_K1 + 1) / (count + scale)).T, dtype=np.float32)


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
