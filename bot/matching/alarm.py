"""Hear an emergency in words that no rule foresaw: a linear model beside the red-flag rules. Pure.

Ridge regression on meaning and wording, trained on urgent texts of every flag against harmless ones and everything that
patients ordinarily ask. It only ever adds alarms to those of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.matching.features import Floats, Vocabulary, sparse_rows
from bot.matching.views import Whitening, fit_whitening

RIDGE = 0.3
URGENT_WEIGHT = 10.0  # urgent texts are few, and missing one is worse than a false alarm
PRIOR = 0.1
FALSE_ALARMS = 0.005  # of ordinary questions that nothing was trained on
DEFAULT_THRESHOLD = 0.8  # cautious: without calibration questions false alarms cannot be counted
MAX_ORDINARY = 4000  # more ordinary texts than this teach nothing new


@dataclass(frozen=True, slots=True)
class Alarm:
    """A fitted model.

    Attributes:
        vocabulary: Terms of the training texts.
        whitening: For vectors.
        term_weights: Shape (vocabulary, 1 + flags): urgent at all, then each flag.
        meaning_weights: Shape (kept dimensions, 1 + flags).
        bias: Shape (1 + flags,).
        threshold: Score from which a text is urgent.
        flags: Names of the flags, in the order of the columns.
    """

    vocabulary: Vocabulary
    whitening: Whitening
    term_weights: Floats
    meaning_weights: Floats
    bias: Floats
    threshold: float
    flags: tuple[str, ...]

    def scores(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return how urgent each text is and how much it is like each flag, shape (texts, 1 + flags)."""
        wording = [self.term_weights[bag.index].T @ bag.weight for bag in map(self.vocabulary.bag, texts)]
        meaning = self.whitening.apply(vectors) @ self.meaning_weights
        return np.asarray(meaning + np.array(wording) + self.bias, dtype=np.float32)

    def check(self, vectors: Floats, texts: Sequence[str]) -> list[str | None]:
        """Return the red flag of each text, or None."""
        scores = self.scores(vectors, texts)
        likeliest = scores[:, 1:].argmax(axis=1)
        return [
            self.flags[flag] if score >= self.threshold else None
            for score, flag in zip(scores[:, 0], likeliest, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class AlarmTexts:
    """What an alarm is trained on.

    Attributes:
        urgent: Flag and text.
        harmless: Texts that resemble emergencies and are none.
        ordinary: What patients ask.
    """

    urgent: tuple[tuple[str, str], ...]
    harmless: tuple[str, ...]
    ordinary: tuple[str, ...]

    @property
    def step(self) -> int:
        """Which ordinary texts are used: every first, second, third … one."""
        return max(1, -(-len(self.ordinary) // MAX_ORDINARY))

    @property
    def all(self) -> list[str]:
        return [text for _, text in self.urgent] + [*self.harmless, *self.ordinary[:: self.step]]


def fit_alarm(texts: AlarmTexts, vectors: Floats, flags: Sequence[str]) -> Alarm:
    """Fit an alarm; `vectors` belong to `texts.all`, shape (texts, dimensions)."""
    from scipy.linalg import cho_factor, cho_solve

    everything = texts.all
    target = np.full((len(everything), 1 + len(flags)), -PRIOR, dtype=np.float32)
    for row, (flag, _) in enumerate(texts.urgent):
        target[row, [0, 1 + list(flags).index(flag)]] = 1 - PRIOR
    weight = np.ones(len(everything), dtype=np.float32)
    weight[: len(texts.urgent)] = URGENT_WEIGHT
    vocabulary = Vocabulary.of(everything)
    rows = sparse_rows([vocabulary.bag(text) for text in everything], len(vocabulary))
    whitening = fit_whitening(vectors)
    white = whitening.apply(vectors)
    kernel = white @ white.T + (rows @ rows.T).toarray()
    kernel[np.diag_indices_from(kernel)] += RIDGE / weight
    dual = cho_solve(cho_factor(kernel, lower=True, overwrite_a=True), target)
    return Alarm(
        vocabulary=vocabulary,
        whitening=whitening,
        term_weights=np.asarray(rows.T @ dual, dtype=np.float32),
        meaning_weights=np.asarray(white.T @ dual, dtype=np.float32),
        bias=np.full(1 + len(flags), PRIOR, dtype=np.float32),
        threshold=DEFAULT_THRESHOLD,
        flags=tuple(flags),
    )


def threshold_for(scores: Floats) -> float:
    """Return the threshold at which few of these ordinary questions would alarm.

    Args:
        scores: Urgency of ordinary questions that the alarm was not trained on, shape (questions,).
    """
    if len(scores) * FALSE_ALARMS < 1:
        return DEFAULT_THRESHOLD
    return float(np.quantile(scores, 1 - FALSE_ALARMS))
