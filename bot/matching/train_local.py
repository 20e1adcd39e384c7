"""Prepare the views of a large catalog, and score held-out questions with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from bot.matching.features import Floats, Ints, Vocabulary, sparse_rows
from bot.matching.local import LocalEvidence
from bot.matching.views import Views, fit_whitening

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
