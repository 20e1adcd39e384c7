"""Hear an emergency in words that no rule foresaw: a learned alarm beside the red-flag rules. Pure.

Ridge regression on meaning and wording, trained on urgent texts of every flag against harmless ones, what patients say
every day, complaints that can wait, general questions and everything that patients ordinarily ask. A linear model lets
most ordinary questions pass at once; a model on a quadratic kernel, which hears more but compares with every text,
scores the rest. `bot.emergency` makes a decision of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from bot.matching.features import Bag, Floats, Vocabulary, sparse_rows
from bot.matching.views import Whitening, fit_whitening, quadratic

RIDGE = 0.3
URGENT_WEIGHT = 10.0  # urgent texts are few, and missing one is worse than a false alarm
PRIOR = 0.1
FALSE_ALARMS = 0.004  # of ordinary questions that nothing was trained on, at the most
LOOKED_AT = 0.2  # share of these that the quadratic model looks at
DEFAULT_GATE = 0.15
MAX_ORDINARY = 2000  # more ordinary texts than this cost more than they teach


@dataclass(frozen=True)
class Alarm:
    """A fitted model.

    Attributes:
        vocabulary: Terms of the training texts.
        whitening: For vectors.
        term_weights: Of the linear model, shape (vocabulary,).
        meaning_weights: Of the linear model, shape (kept dimensions,).
        rows: TF-IDF weights of the training texts, shape (texts, vocabulary).
        vectors: Whitened vectors of the training texts, shape (texts, kept dimensions).
        dual: Of the quadratic model, shape (texts, 1 + flags): urgent at all, then each flag.
        gate: Score of the linear model from which the quadratic one is asked.
        threshold: Least probability of an alarm that this catalog's ordinary questions ask for; 0: not known.
        flags: Names of the flags, in the order of the columns.
    """

    vocabulary: Vocabulary
    whitening: Whitening
    term_weights: Floats
    meaning_weights: Floats
    rows: csr_array
    vectors: Floats
    dual: Floats
    gate: float
    threshold: float
    flags: tuple[str, ...]

    @cached_property
    def _postings(self) -> csr_array:
        return self.rows.T.tocsr()

    def suspect(self, vectors: Floats, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which texts the quadratic model has to look at, shape (texts,)."""
        bags = [self.vocabulary.bag(text) for text in texts]
        return np.asarray(self._linear(self.whitening.apply(vectors), bags) >= self.gate)

    def scores(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return how urgent each text is and how much it is like each flag, shape (texts, 1 + flags)."""
        return self._quadratic(self.whitening.apply(vectors), [self.vocabulary.bag(text) for text in texts])

    def gated(self, vectors: Floats, texts: Sequence[str]) -> Alarm:
        """Return the alarm with a gate that lets most of these ordinary questions pass.

        Args:
            vectors: Of questions that the alarm was not trained on, shape (questions, dimensions).
            texts: The questions.
        """
        if len(texts) * LOOKED_AT < 1:
            return self
        bags, white = [self.vocabulary.bag(text) for text in texts], self.whitening.apply(vectors)
        return replace(self, gate=float(np.quantile(self._linear(white, bags), 1 - LOOKED_AT)))

    def calmed(self, likely: Sequence[float]) -> Alarm:
        """Return the alarm with a threshold at which few ordinary questions alarm; `likely`: their probabilities."""
        if len(likely) * FALSE_ALARMS < 1:
            return self
        return replace(self, threshold=float(np.quantile(likely, 1 - FALSE_ALARMS)))

    def _linear(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        wording = [self.term_weights[bag.index] @ bag.weight for bag in bags]
        return np.asarray(white @ self.meaning_weights + np.array(wording, dtype=np.float32) + PRIOR, dtype=np.float32)

    def _quadratic(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        if not bags:
            return np.zeros((0, self.dual.shape[1]), dtype=np.float32)
        wording = (sparse_rows(bags, len(self.vocabulary)) @ self._postings).toarray()
        return np.asarray(quadratic(white @ self.vectors.T, wording) @ self.dual + PRIOR, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class AlarmTexts:
    """What an alarm is trained on.

    Attributes:
        urgent: Flag and text.
        harmless: Texts that resemble emergencies and are none, and what patients say every day.
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
    everything = texts.all
    target = np.full((len(everything), 1 + len(flags)), -PRIOR, dtype=np.float32)
    for row, (flag, _) in enumerate(texts.urgent):
        target[row, [0, 1 + list(flags).index(flag)]] = 1 - PRIOR
    weight = np.ones(len(everything), dtype=np.float32)
    weight[: len(texts.urgent)] = URGENT_WEIGHT
    vocabulary, bags = Vocabulary.with_bags(everything)
    rows = sparse_rows(bags, len(vocabulary))
    whitening = fit_whitening(vectors)
    white = whitening.apply(vectors)
    meaning, wording = white @ white.T, (rows @ rows.T).toarray()
    linear = _solve(meaning + wording, target[:, :1], weight)
    return Alarm(
        vocabulary=vocabulary,
        whitening=whitening,
        term_weights=np.asarray(rows.T @ linear, dtype=np.float32)[:, 0],
        meaning_weights=np.asarray(white.T @ linear, dtype=np.float32)[:, 0],
        rows=rows,
        vectors=white,
        dual=_solve(quadratic(meaning, wording), target, weight),
        gate=DEFAULT_GATE,
        threshold=0.0,
        flags=tuple(flags),
    )


def _solve(kernel: Floats, target: Floats, weight: Floats) -> Floats:
    from scipy.linalg import cho_factor, cho_solve

    kernel[np.diag_indices_from(kernel)] += RIDGE / weight
    return np.asarray(cho_solve(cho_factor(kernel, lower=True, overwrite_a=True), target), dtype=np.float32)
