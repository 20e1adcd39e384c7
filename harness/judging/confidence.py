"""How sure one may be that the first candidate is right, from the distance to the second. Pure.

It is learnt on the run's own paraphrases, whose right pair is known, and never on the pair that it judges.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from harness.run import Outcome

FOLDS = 5
MIN_KNOWN, MIN_PAIRS = 50, 5
EDGES = (0.0, 0.5, 0.8, 0.95, 1.0)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising curve from margin to the share of right first candidates."""

    margins: Floats
    shares: Floats

    @classmethod
    def fit(cls, margins: Floats, right: Floats) -> Curve:
        order = np.argsort(margins, kind="stable")
        values, first = np.unique(margins[order], return_index=True)
        counts = np.diff(np.append(first, len(order))).astype(np.float64)
        means = np.add.reduceat(right[order], first) / counts
        return cls(values, np.asarray(isotonic_regression(means, weights=counts).x))

    def at(self, margin: float) -> float:
        return float(np.interp(margin, self.margins, self.shares))


def confidences(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return, by question id, the probability that the first candidate is right, 0 to 1.

    Only outcomes with two scores have one. The curve for a paraphrase is fitted (isotonic regression) on the
    paraphrases of other pairs, that for a novel question on all. Empty where there is too little to learn from.

    References:
        Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.
    """
    scored = [outcome for outcome in outcomes if outcome.runner_up is not None and outcome.decision != "error"]
    known = [outcome for outcome in scored if outcome.top1 is not None]
    if len(known) < MIN_KNOWN or len({outcome.pair_id for outcome in known}) < MIN_PAIRS:
        return {}
    margins = np.array([_margin(outcome) for outcome in known])
    right = np.array([bool(outcome.top1) for outcome in known], dtype=np.float64)
    folds = np.array([_fold(outcome.pair_id) for outcome in known])
    curves = {
        fold: Curve.fit(margins[folds != fold], right[folds != fold])
        for fold in set(folds.tolist())
        if np.any(folds != fold)
    }
    whole = Curve.fit(margins, right)
    return {
        outcome.id: curves.get(_fold(outcome.pair_id), whole).at(_margin(outcome))
        if outcome.top1 is not None
        else whole.at(_margin(outcome))
        for outcome in scored
    }


def _margin(outcome: Outcome) -> float:
    return outcome.score - (outcome.runner_up or 0.0)


def _fold(pair_id: str | None) -> int:
    return zlib.crc32((pair_id or "").encode()) % FOLDS


@dataclass(frozen=True, slots=True)
class Bin:
    """Outcomes whose confidence lies between two edges: what was foretold, and what came."""

    low: float
    high: float
    n: int
    foretold: float
    right: float


def reliability(outcomes: Sequence[Outcome], confidence: Mapping[str, float]) -> list[Bin]:
    """Return how well confidences hold on paraphrases; bins without questions are left out."""
    known = [(confidence[o.id], bool(o.top1)) for o in outcomes if o.top1 is not None and o.id in confidence]
    bins = []
    for low, high in pairwise(EDGES):
        inside = [(p, hit) for p, hit in known if low <= p < high or (high == 1.0 and p == 1.0)]
        if inside:
            shares = np.mean(np.array(inside, dtype=np.float64), axis=0)
            bins.append(Bin(low, high, len(inside), float(shares[0]), float(shares[1])))
    return bins
