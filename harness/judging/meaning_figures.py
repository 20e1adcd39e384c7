"""Which paraphrases may ask something else, and accuracy corrected for those that do. Pure.

Suspects are found by how near they lie to the curated texts. What the system under test decided plays no part: a
paraphrase is not suspected for having been answered wrongly. Nor is suspicion a verdict. It only says which paraphrases
people should see, and how far accuracy may be off until they do.

A pair's own question alone says too little ("tuts weh" is far from "Is the mammogram painful?"): half of all sound
paraphrases lie nearer to another pair's question. So a pair is represented by its curated variants too, and its
similarity is the mean of the three nearest texts. All variants count: with 60 of some 220 a pair, twice as many sound
paraphrases would be suspected.

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
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from harness.running.outcomes import Outcome
from harness.statistics import Interval

Vectors = npt.NDArray[np.float32]
NEAREST = 3  # texts that stand for a pair
MARGIN = -0.05  # 3 to 12 % of the recorded suites' paraphrases lie below it with the embedded encoder
OTHERS = 3  # pairs named to raters
DRAWS = 4000
PRIOR = 0.5  # Jeffreys'
OWN, NONE, UNCLEAR = "own", "none", "unclear"
Truth = Literal["right", "wrong", "out"]
Floats = npt.NDArray[np.float64]
Accepted = Callable[[str], AbstractSet[str]]


@dataclass(frozen=True, slots=True)
class Margin:
    """How much nearer a paraphrase lies to its own pair than to any other.

    Attributes:
        value: Difference of mean cosines; negative when another pair is nearer.
        others: The nearest other pairs, nearest first.
    """

    value: float
    others: tuple[str, ...]


def margins(questions: Vectors, asked: Sequence[frozenset[str]], texts: Vectors, owners: Sequence[str]) -> list[Margin]:
    """Return the margin of each paraphrase.

    Args:
        questions: Unit vectors, shape (paraphrases, dimensions).
        asked: For each, the pairs that are right: its own, and those that curators declared the same.
        texts: Unit vectors of the curated texts, shape (texts, dimensions).
        owners: The pair that each text belongs to, shape (texts,).

    Raises:
        ValueError: There are not at least two pairs.
    """
    pairs = list(dict.fromkeys(owners))
    if len(pairs) < 2:
        raise ValueError("a margin needs two pairs at least")
    return [
        _margin(row, right, pairs) for row, right in zip(_similarities(questions, texts, owners), asked, strict=True)
    ]


def _similarities(questions: Vectors, texts: Vectors, owners: Sequence[str]) -> Vectors:
    """Return the similarity of each question to each pair, shape (questions, pairs)."""
    columns: dict[str, list[int]] = {}
    for column, owner in enumerate(owners):
        columns.setdefault(owner, []).append(column)
    cosines = questions @ texts.T
    nearest = [np.sort(cosines[:, of_pair], axis=1)[:, -NEAREST:].mean(axis=1) for of_pair in columns.values()]
    return np.stack(nearest, axis=1)


def _margin(similarities: Vectors, right: frozenset[str], pairs: Sequence[str]) -> Margin:
    own = max((float(s) for s, pair in zip(similarities, pairs, strict=True) if pair in right), default=-1.0)
    others = sorted(
        ((float(s), pair) for s, pair in zip(similarities, pairs, strict=True) if pair not in right), reverse=True
    )
    if not others:
        return Margin(1.0, ())
    return Margin(own - others[0][0], tuple(pair for _, pair in others[:OTHERS]))


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
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AccuracyEstimate:
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
        ci = self.interval.as_json()
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
) -> AccuracyEstimate | None:
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
    return AccuracyEstimate(value, interval, int(labelled[0]), int(labelled[1]))


def _share(sizes: Floats, rates: Floats) -> Any:
    """Return the share that is right of what asks for a pair.

    Args:
        sizes: Questions scored right and scored wrong, shape (2,).
        rates: Shares that are right, wrong and out in each, shape (…, 2, 3).
    """
    right = (sizes * rates[..., 0]).sum(axis=-1)
    asking = (sizes * (rates[..., 0] + rates[..., 1])).sum(axis=-1)
    return right / np.where(asking > 0, asking, np.nan)
