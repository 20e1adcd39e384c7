"""Score every pair, and "none of these", for a question. Pure: vectors and texts in, probabilities out.

A small conditional logit fuses the views of `bot/matching/views.py` to calibrated probabilities. Training fits it on
what the views had not seen, whole authors held out where the catalog knows its authors (`bot/matching/train.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.matching.features import Floats
from bot.matching.local import LocalEvidence
from bot.matching.views import Evidence, Views


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


@dataclass(frozen=True, slots=True)
class Head:
    """The trained matcher of one catalog and encoder."""

    evidence: Evidence | LocalEvidence
    fusion: Fusion

    def probabilities(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return P(pair | question) for every pair and, last, "none of these", shape (questions, pairs + 1)."""
        return self.fusion.probabilities(self.evidence.views(vectors, texts))
