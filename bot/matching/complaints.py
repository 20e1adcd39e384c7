"""Complaints: messages that report a symptom, a finding or a result, and ask no question that a pair answers. Pure.

The ridge of the head scores, in passing, how much a message is like complaints of each level; the multinomial logit
here makes probabilities of that, fitted on what the ridge had not seen. A missed or belittled complaint is worse than a
pair that is not shown: so a level counts as soon as it, and all that is more urgent, is likely enough together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bot.matching.features import Ints, Views

# Most urgent first. "other" is a complaint that has nothing to do with the exam: no pair may answer it, and nobody here
# can say how urgent it is.
Level = Literal["now", "today", "days", "appointment", "other"]
LEVELS: tuple[Level, ...] = get_args(Level)
# How urgent a patient is told that it is. What is "now" and raised no alarm is at least "today".
Urgency = Literal["today", "days", "appointment"]
URGENCY: dict[Level, Urgency] = {"now": "today", "today": "today", "days": "days", "appointment": "appointment"}

# Probability of any level from which a message that no pair answers directly is taken for a complaint: of the questions
# that a pair answers, hardly any is so likely one.
IS_COMPLAINT = 0.07
SURELY = 0.5  # from which it is one although a pair would answer it
AS_URGENT = 0.35  # share of that which a level and all more urgent ones must have
L2 = 0.01
MIN_HELD_OUT = 30  # complaints: fewer fit no model


@dataclass(frozen=True, slots=True)
class ComplaintModel:
    """The logit over the scores of the views.

    Attributes:
        weights: Shape (features, 1 + levels): "no complaint" first, then `LEVELS`.
    """

    weights: npt.NDArray[np.float64]

    def probabilities(self, views: Views) -> npt.NDArray[np.float64]:
        """Return P(no complaint), P(now), … for each question, shape (questions, 1 + levels), rows summing to 1."""
        logits = complaint_features(views) @ self.weights
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def judge_complaint(probabilities: npt.NDArray[np.float64], *, answered: bool) -> Level | None:
    """Return the level of a complaint by its probabilities, shape (1 + levels,); None where a message is none.

    `answered`: whether a pair would answer it directly. What is likely of breast and exam counts early; an emergency
    that raised no alarm, and what the exam is not about, only when it is likelier than not: small talk resembles them.
    """
    level, likely = level_of(probabilities), 1 - float(probabilities[0])
    least = SURELY if answered or level in ("now", "other") else IS_COMPLAINT
    return level if likely >= least else None


def level_of(probabilities: npt.NDArray[np.float64]) -> Level:
    """Return the level that a complaint has by its probabilities, shape (1 + levels,)."""
    now, *of_the_exam, other = (float(likely) for likely in probabilities[1:])
    if now >= sum(of_the_exam) + other:
        return "now"
    if other >= sum(of_the_exam):
        return "other"  # how urgent that is nobody here knows
    reached = np.cumsum([now, *of_the_exam]) >= AS_URGENT * (now + sum(of_the_exam))
    return LEVELS[int(reached.argmax())]


def complaint_features(views: Views) -> npt.NDArray[np.float64]:
    """Return what the logit looks at, shape (questions, levels + 7)."""
    ridge, dense, chars = (views.scores[:, :, number] for number in range(3))
    columns = [
        np.ones(len(ridge)),
        *(5 * views.urgency.T),
        5 * ridge[:, :-1].max(axis=1),
        5 * ridge[:, -1],
        5 * dense[:, :-1].max(axis=1),
        5 * dense[:, -1],
        5 * chars[:, :-1].max(axis=1),
        5 * chars[:, -1],
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def fit_complaints(views: Views, level: Ints) -> ComplaintModel | None:
    """Fit the logit on views of texts that the ridge had not seen.

    Args:
        views: Of the texts.
        level: Number of the level of each text in `LEVELS`; -1: no complaint. Shape (texts,).

    Returns:
        The model; None where too few texts are complaints.
    """
    if views.urgency.shape[1] != len(LEVELS) or (level >= 0).sum() < MIN_HELD_OUT:
        return None
    from scipy.optimize import minimize  # answering does not need it

    features, rows = complaint_features(views), np.arange(len(level))
    shape = (features.shape[1], 1 + len(LEVELS))

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        weights = flat.reshape(shape)
        logits = features @ weights
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        wrong = odds / odds.sum(axis=1, keepdims=True)
        value = -np.log(wrong[rows, level + 1] + 1e-12).mean() + L2 * float(flat @ flat) / 2 / len(level)
        wrong[rows, level + 1] -= 1
        return float(value), (features.T @ wrong / len(level) + L2 * weights / len(level)).ravel()

    best = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B").x
    return ComplaintModel(best.reshape(shape))
