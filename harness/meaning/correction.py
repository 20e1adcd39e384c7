"""Accuracy raw, and corrected for paraphrases that ask something else. Pure.

Three figures, from what is known to what is estimated:

- corrected: labels applied. A paraphrase that asks for another pair is scored against that one; one that asks for none
  leaves the count, since it is no paraphrase. What is not labelled is scored as it was generated.
- bounds: all suspects without a label against the system (low), and all for it (high).
- estimate: from a random sample of labelled questions, how often what was scored right is right and what was scored
  wrong is right after all. It corrects for drift that nobody suspected, too.

References: Rogan & Gladen (1978), Estimating prevalence from the results of a screening test; Tenenbein (1970), A
double sampling scheme for estimating from binomial data with misclassifications: the sample here is drawn within right
and wrong, so the estimate is Tenenbein's, from predictive values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from harness.run import Outcome
from harness.stats import Interval

DRAWS = 4000
PRIOR = 0.5  # Jeffreys'
OWN, NONE, UNCLEAR = "own", "none", "unclear"
Truth = Literal["right", "wrong", "out"]
Floats = npt.NDArray[np.float64]
Accepted = Callable[[str], AbstractSet[str]]


@dataclass(frozen=True, slots=True)
class Corrected:
    """Accuracy of one group of paraphrases.

    Attributes:
        n: Paraphrases.
        raw: Accuracy as scored.
        corrected: With labels applied; None when no paraphrase is left.
        low: All unlabelled suspects against the system.
        high: All unlabelled suspects for it.
        other: Paraphrases that ask for another pair.
        none: Paraphrases that ask for none.
        open: Suspects that raters have not decided.
    """

    n: int
    raw: float
    corrected: float | None
    low: float | None
    high: float | None
    other: int
    none: int
    open: int

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Accuracy estimated from a labelled random sample, with its 95 % interval.

    Attributes:
        value: Of the questions that ask for a pair.
        interval: From Dirichlet distributions around the labels of each group (Jeffreys' prior), so that it has a width
            even where all labels agree.
        right: Labelled questions that were scored right; `wrong`: scored wrong.
    """

    value: float
    interval: Interval
    right: int
    wrong: int

    def as_json(self) -> dict[str, Any]:
        ci = [self.interval.low, self.interval.high]
        return {"value": self.value, "ci95": ci, "labelled_right": self.right, "labelled_wrong": self.wrong}


def truth(outcome: Outcome, asks: str, accepted: Accepted) -> Truth:
    """Score an outcome against what raters say the question asks; `accepted` gives a pair's equivalents too."""
    if asks == NONE:
        return "out"
    if asks == OWN:
        return "right" if outcome.right else "wrong"
    return "right" if outcome.answered_with in accepted(asks) else "wrong"


def correct(
    outcomes: Sequence[Outcome], decided: Mapping[str, str], suspects: AbstractSet[str], accepted: Accepted
) -> Corrected:
    """Correct the accuracy of a group of scored outcomes, at least one.

    Args:
        outcomes: Paraphrases with `right` set.
        decided: What raters agree each question asks: own, none, or the id of another pair.
        suspects: Ids of questions that may ask something else.
        accepted: A pair and those that curators declared the same.
    """
    n = len(outcomes)
    if not n:
        raise ValueError("a group without questions has no accuracy")
    open_ = {one.id for one in outcomes if one.id in suspects and one.id not in decided}
    truths = {one.id: truth(one, decided.get(one.id, OWN), accepted) for one in outcomes}
    counted = [one.id for one in outcomes if truths[one.id] != "out"]
    right = sum(truths[id_] == "right" for id_ in counted)
    sure = sum(truths[id_] == "right" for id_ in counted if id_ not in open_)
    left = len(counted)
    return Corrected(
        n=n,
        raw=sum(bool(one.right) for one in outcomes) / n,
        corrected=right / left if left else None,
        low=sure / left if left else None,
        high=(sure + len(open_)) / left if left else None,
        other=sum(decided.get(one.id, OWN) not in (OWN, NONE) for one in outcomes),
        none=sum(decided.get(one.id) == NONE for one in outcomes),
        open=len(open_),
    )


def estimate(
    outcomes: Sequence[Outcome],
    sample: AbstractSet[str],
    decided: Mapping[str, str],
    accepted: Accepted,
    *,
    rng: Generator,
) -> Estimate | None:
    """Estimate the accuracy from the labelled part of a random sample.

    Args:
        outcomes: All scored paraphrases.
        sample: Ids drawn at random among those scored right and among those scored wrong.
        decided: What raters say each question asks.
        accepted: A pair and its equivalents.
        rng: Seeded by the caller.

    Returns:
        None while a group that questions belong to has no labelled question: then nothing is known of it.
    """
    strata: list[tuple[int, tuple[int, int, int]]] = []
    for scored in (True, False):
        group = [one for one in outcomes if bool(one.right) is scored]
        truths = [truth(one, decided[one.id], accepted) for one in group if one.id in sample and one.id in decided]
        if group and not truths:
            return None
        strata.append((len(group), (truths.count("right"), truths.count("wrong"), truths.count("out"))))
    sizes = np.array([size for size, _ in strata], dtype=np.float64)
    counts = np.array([counted for _, counted in strata], dtype=np.float64)
    labelled = counts.sum(axis=1)
    value = _share(sizes, counts / np.maximum(labelled, 1.0)[:, None])
    if math.isnan(value):
        return None
    drawn = np.stack([rng.dirichlet(counted + PRIOR, size=DRAWS) for counted in counts], axis=1)
    low, high = np.percentile(_share(sizes, drawn), [2.5, 97.5])
    interval = Interval(min(float(low), value), max(float(high), value))
    return Estimate(value, interval, int(labelled[0]), int(labelled[1]))


def _share(sizes: Floats, rates: Floats) -> Any:
    """Return the share that is right of what asks for a pair.

    Args:
        sizes: Questions scored right and scored wrong, shape (2,).
        rates: Shares that are right, wrong and out in each, shape (…, 2, 3).
    """
    right = (sizes * rates[..., 0]).sum(axis=-1)
    asking = (sizes * (rates[..., 0] + rates[..., 1])).sum(axis=-1)
    return right / np.where(asking > 0, asking, np.nan)
