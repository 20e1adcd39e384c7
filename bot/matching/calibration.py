"""Choose thresholds with a stated risk. Pure.

Learn then test: each candidate threshold is a hypothesis, "more than `limit` of all questions get a wrong direct
answer", tested on questions that the assistant was not trained on. Thresholds are tried from the strictest down, in a
fixed order, and the last one rejected in every stratum is chosen: so the chance that the limit is broken in any stratum
is at most 1 - confidence, whatever the model.

References:
    Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then Test: calibrating predictive algorithms to achieve
    risk control. The tests are exact binomial ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.matching.decide import CHOICES, Thresholds
from bot.matching.features import Floats, Ints

GRID = tuple(round(0.99 - 0.01 * step, 2) for step in range(80))  # strictest first, down to 0.20
WANTED_OFFERED = 0.90
LEAST_OFFERED = 0.75  # where nothing reaches what is wanted, the best above this is better than to decline everything
MIN_OFFERS = 30  # fewer offers than this show nothing
# Without a calibration set, on held-out training texts, which are easier than what patients write:
UNCALIBRATED_WRONG = 0.03  # of the questions in scope
UNCALIBRATED_INTRUDING = 0.10  # of the questions out of scope
UNCALIBRATED_FLOOR = 0.5


@dataclass(frozen=True, slots=True)
class Limit:
    """What must hold in every stratum.

    Attributes:
        risk: Largest share of all questions that may get a wrong direct answer.
        confidence: With which this must be shown.
    """

    risk: float = 0.03
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Judged:
    """Calibration questions and what the assistant makes of them.

    Attributes:
        probabilities: Of each pair and, last, "none of these", shape (questions, classes).
        label: The right class, shape (questions,); the last class is "none of these".
        stratum: What each question's patient is like; shape (questions,).
    """

    probabilities: Floats
    label: Ints
    stratum: Sequence[str]


@dataclass(frozen=True, slots=True)
class Row:
    """What one threshold means.

    Attributes:
        answer: The threshold.
        answered: Share of questions in scope that are answered directly.
        right: Share of questions in scope that are answered directly with the right pair.
        wrong: Per stratum, wrong direct answers among all questions, out of scope ones included.
        p_value: Of the worst stratum: small means that the limit holds.
        holds: Whether this threshold, and every stricter one, keeps the limit.
    """

    answer: float
    answered: float
    right: float
    wrong: dict[str, float]
    p_value: float
    holds: bool


def risk_table(judged: Judged, limit: Limit) -> list[Row]:
    """Return a row per threshold, strictest first."""
    score, best = _best(judged)
    none = judged.probabilities.shape[1] - 1
    inside = judged.label != none
    strata = {name: np.array([other == name for other in judged.stratum]) for name in dict.fromkeys(judged.stratum)}
    rows: list[Row] = []
    holds = True
    for threshold in GRID:
        direct = score >= threshold
        wrong = direct & (best != judged.label)
        p_value = max(binomial_tail(int(wrong[of].sum()), int(of.sum()), limit.risk) for of in strata.values())
        holds = holds and p_value <= 1 - limit.confidence
        rows.append(
            Row(
                answer=threshold,
                answered=_share(direct[inside]),
                right=_share((direct & (best == judged.label))[inside]),
                wrong={name: float(wrong[of].mean()) for name, of in strata.items()},
                p_value=p_value,
                holds=holds,
            )
        )
    return rows


def choose_with_risk(judged: Judged, limit: Limit) -> Thresholds | None:
    """Return the most permissive thresholds that keep the limit in every stratum; None if no threshold does."""
    kept = [row.answer for row in risk_table(judged, limit) if row.holds] if len(judged.label) else []
    if not kept:
        return None
    return Thresholds(answer=kept[-1], clarify=_clarify(judged, kept[-1]))


def choose_without_risk(judged: Judged) -> Thresholds:
    """Return thresholds from held-out training texts, for catalogs without a calibration set: nothing is guaranteed.

    The lowest threshold at which few questions in scope get a wrong answer and few out of scope any, and never one at
    which the answer is less likely right than wrong.
    """
    outside = judged.label == judged.probabilities.shape[1] - 1
    if (~outside).sum() < MIN_OFFERS:
        return Thresholds()
    score, best = _best(judged)
    answer = GRID[0]
    for threshold in GRID:
        direct = score >= threshold
        wrong = _share((direct & (best != judged.label))[~outside])
        intruding = _share(direct[outside]) if outside.sum() >= MIN_OFFERS else 0.0
        if wrong > UNCALIBRATED_WRONG or intruding > UNCALIBRATED_INTRUDING or threshold < UNCALIBRATED_FLOOR:
            break
        answer = threshold
    return Thresholds(answer=answer, clarify=_clarify(judged, answer))


def smallest_sample(limit: Limit) -> int:
    """Return how many questions a stratum needs for the limit to be shown with no wrong answer at all."""
    return math.ceil(math.log(1 - limit.confidence) / math.log(1 - limit.risk))


def binomial_tail(wrong: int, n: int, risk: float) -> float:
    """Return P(at most `wrong` of `n`) if the true risk were just at the limit."""
    if n == 0:
        return 1.0
    log_odds = math.log(risk) - math.log1p(-risk)
    term = n * math.log1p(-risk)
    total = math.exp(term)
    for count in range(1, wrong + 1):
        term += math.log((n - count + 1) / count) + log_odds
        total += math.exp(term)
    return min(1.0, total)


def _share(chosen: npt.NDArray[np.bool_]) -> float:
    return float(chosen.mean()) if len(chosen) else 0.0


def _best(judged: Judged) -> tuple[Floats, npt.NDArray[np.intp]]:
    pairs = judged.probabilities[:, :-1]
    return pairs.max(axis=1), pairs.argmax(axis=1)


def _clarify(judged: Judged, answer: float) -> float:
    """Return the lowest summed probability at which offered choices hold the right pair often enough."""
    pairs = judged.probabilities[:, :-1]
    order = np.argsort(-pairs, axis=1)[:, :CHOICES]
    covered = np.take_along_axis(pairs, order, axis=1).sum(axis=1)
    offered = (order == judged.label[:, None]).any(axis=1)
    unsure = pairs.max(axis=1) < answer
    held = {  # by threshold, how often the choices hold the right pair
        threshold: float(offered[chosen].mean())
        for threshold in GRID
        if (chosen := unsure & (covered >= threshold)).sum() >= MIN_OFFERS
    }
    enough = [threshold for threshold, share in held.items() if share >= WANTED_OFFERED]
    if not enough and max(held.values(), default=0.0) >= LEAST_OFFERED:
        enough = [max(held, key=lambda threshold: (held[threshold], -threshold))]
    return min(enough, default=GRID[0])
