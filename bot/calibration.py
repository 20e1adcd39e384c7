"""Choose thresholds from held-out questions. Pure.

The first version: the lowest threshold at which answers to unseen authors' questions, background questions included,
reach the wanted precision; and the lowest summed probability at which the offered choices hold the right pair often
enough. A guarantee with a stated confidence needs an independent calibration set; these thresholds give none.
"""

from __future__ import annotations

import numpy as np

from bot.matching.decide import CHOICES, Thresholds
from bot.matching.train import HeldOut

WANTED_PRECISION = 0.85
WANTED_OFFERED = 0.80
MIN_EVIDENCE = 30  # fewer held-out questions than this choose no threshold
GRID = np.round(np.arange(0.30, 0.96, 0.01), 2)


def choose_thresholds(held_out: HeldOut) -> Thresholds:
    """Return thresholds for a catalog; the defaults when it has too little to learn them from."""
    if len(held_out.label) < MIN_EVIDENCE:
        return Thresholds()
    pairs = held_out.probabilities[:, :-1]
    best, score = pairs.argmax(axis=1), pairs.max(axis=1)
    right = best == held_out.label
    answer = _lowest(score, right, WANTED_PRECISION)
    unsure = score < answer
    order = np.argsort(-pairs, axis=1)[:, :CHOICES]
    covered = np.take_along_axis(pairs, order, axis=1).sum(axis=1)
    offered = (order == held_out.label[:, None]).any(axis=1)
    return Thresholds(answer=answer, clarify=_lowest(covered[unsure], offered[unsure], WANTED_OFFERED))


def _lowest(score: np.ndarray, right: np.ndarray, wanted: float) -> float:
    """Return the lowest threshold on the grid at which the share of `right` reaches `wanted`, else the highest."""
    for threshold in GRID:
        chosen = score >= threshold
        if chosen.sum() >= MIN_EVIDENCE and right[chosen].mean() >= wanted:
            return float(threshold)
    return float(GRID[-1])
