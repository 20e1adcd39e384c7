"""Small discriminative evaluators: they solve a proxy task, with a text or without, and say how sure they are. Pure.

After seed paper 002, section 3.1.2. The paper fine-tunes an encoder for each task and kind of text; the default here is
a regression on what the assistant's encoder says, so that a laptop without torch ranks in seconds: `transformer` is the
paper's way. The paper's three evaluators are one class: they differ in the texts that they are trained with.
Every option is scored by itself, so no place in a list is ever preferred; the paper shuffles options for that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from bot import Encoder, fold, split_sentences, words
from harness.authoring.ranking.tasks import Item

Floats = NDArray[np.float64]
RIDGE = 2.0  # weight of the squared coefficients beside the summed log-loss; fixed before anything was measured
DIRECTIONS = 16  # principal directions of the joint vector
STEM = 5  # letters in which inflected words still agree
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Case:
    """An item with the text that should help; empty: no text."""

    item: Item
    text: str


class Solver(Protocol):
    """A trained evaluator of one task."""

    def probabilities(self, cases: Sequence[Case]) -> list[Floats]:
        """Return for each case how likely each option is right; shape (options,)."""
        ...


class Evaluator(Protocol):
    """Something that can be trained on cases of one task."""

    @property
    def name(self) -> str: ...

    def fit(self, cases: Sequence[Case], *, seed: int) -> Solver:
        """Train on cases of one task; deterministic for a seed."""
        ...


@dataclass
class EmbeddingEvaluator:
    """Regression on sentence vectors and on where a text bears a statement out.

    Attributes:
        encoder: Of the assistant.
        negations: Words that deny, in the language of the texts.
    """

    encoder: Encoder
    negations: Sequence[str]
    _vectors: dict[str, Floats] = field(default_factory=dict)
    _stems: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"embedding ({self.encoder.name})"

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (texts, dimensions); each text is encoded once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            for text, vector in zip(new, self.encoder.encode(new), strict=True):
                self._vectors[text] = np.asarray(vector, dtype=np.float64)
        return np.array([self._vectors[text] for text in texts])

    def fit(self, cases: Sequence[Case], *, seed: int) -> Solver:
        with threadpool_limits(1):  # matrices are small: threads would wait for one another
            return _Regression.fit(self, cases)

    def evidence(self, cases: Sequence[Case]) -> tuple[list[Floats], list[Floats]]:
        """Return what is seen of every hypothesis of each case, and its joint vector.

        A hypothesis is a statement, or the question of a quiz with one of its options. The joint vector is that of the
        hypothesis and the text together: an evaluator trained without texts reads it, too, as the paper's does.
        """
        read = [hypotheses(case.item) for case in cases]
        self.vectors([text for several in read for text in several])
        self.vectors([sentence for case in cases for sentence in split_sentences(case.text)])
        seen = [
            np.array([self._cues(text, case) for text in several]) for several, case in zip(read, cases, strict=True)
        ]
        joint = []
        for several, case in zip(read, cases, strict=True):
            vectors = self.vectors(several)
            if case.text:
                vectors = vectors + self.vectors(split_sentences(case.text)).mean(axis=0)
            joint.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
        return seen, joint

    def _cues(self, hypothesis: str, case: Case) -> list[float]:
        denied, numbers = self._denies(hypothesis), set(_NUMBER.findall(hypothesis))
        own = [float(denied), float(bool(numbers)), len(hypothesis.split()) / 20]
        if not case.text:
            return [*own, *[0.0] * 9]
        parts = split_sentences(case.text)
        closeness = self.vectors(parts) @ self.vectors([hypothesis])[0]
        order = np.argsort(-closeness)
        nearest, best = parts[order[0]], float(closeness[order[0]])
        stems, there, near = self._stems_of(hypothesis), self._stems_of(case.text), self._stems_of(nearest)
        differs = float(denied != self._denies(nearest))
        missing = len(numbers - set(_NUMBER.findall(case.text))) / len(numbers) if numbers else 0.0
        # Of a quiz: what the option adds to the question.
        added = stems - self._stems_of(case.item.prompt) if case.item.task == "quiz" else stems
        return [
            *own,
            1.0,
            best,
            float(closeness[order[:3]].mean()),
            len(stems & there) / max(1, len(stems)),
            len(stems & near) / max(1, len(stems)),
            len(added & there) / max(1, len(added)),
            differs,
            differs * best,
            missing,
        ]

    def _denies(self, text: str) -> bool:
        return bool(set(words(text)) & self._denying)

    @cached_property
    def _denying(self) -> set[str]:
        return {fold(each) for each in self.negations}

    def _stems_of(self, text: str) -> frozenset[str]:
        """Return the beginnings of longer words, and numbers."""
        if text not in self._stems:
            self._stems[text] = frozenset(word[:STEM] for word in words(text) if len(word) >= 4 or word.isdigit())
        return self._stems[text]


def hypotheses(item: Item) -> list[str]:
    """Return what is read beside the text: the statement, or the question with each option."""
    return [f"{item.prompt} {option}" for option in item.options] if item.task == "quiz" else [item.prompt]


@dataclass(frozen=True)
class _Regression:
    """Conditional logistic regression over the options: labels have weights of their own, a quiz's options share."""

    owner: EmbeddingEvaluator
    directions: Floats
    centre: Floats
    mean: Floats
    spread: Floats
    weights: Floats

    @classmethod
    def fit(cls, owner: EmbeddingEvaluator, cases: Sequence[Case]) -> _Regression:
        seen, joint = owner.evidence(cases)
        stacked = np.concatenate(joint)
        centre = stacked.mean(axis=0)
        _, axes = np.linalg.eigh((stacked - centre).T @ (stacked - centre))  # ascending
        directions = axes.T[::-1][: min(DIRECTIONS, len(stacked) // 8)]
        raw = [np.hstack([a, (b - centre) @ directions.T]) for a, b in zip(seen, joint, strict=True)]
        flat = np.concatenate(raw)
        mean, spread = flat.mean(axis=0), flat.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        unfitted = cls(owner, directions, centre, mean, spread, np.zeros(0))
        designs = [unfitted._design(one, case.item) for one, case in zip(raw, cases, strict=True)]
        rows, sizes = np.concatenate(designs), np.array([len(one) for one in designs])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        answers = starts + np.array([case.item.right for case in cases])
        said = rows[answers].sum(axis=0)

        def loss(weights: Floats) -> tuple[float, Floats]:
            values = rows @ weights
            values -= np.repeat(np.maximum.reduceat(values, starts), sizes)
            sums = np.add.reduceat(np.exp(values), starts)
            chances = np.exp(values) / np.repeat(sums, sizes)
            total = RIDGE / 2 * float(weights @ weights) + float(np.log(sums).sum() - values[answers].sum())
            return total, RIDGE * weights + chances @ rows - said

        found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
        return cls(owner, directions, centre, mean, spread, np.asarray(found.x))

    def _design(self, raw: Floats, item: Item) -> Floats:
        """Return the features of each option, shape (options, weights)."""
        scaled = (raw - self.mean) / self.spread
        if item.task == "quiz":
            return np.asarray(scaled)
        labels, features = len(item.options), np.append(scaled[0], 1.0)
        design = np.zeros((labels, labels, len(features)))
        design[np.arange(labels), np.arange(labels)] = features
        return design.reshape(labels, -1)

    def probabilities(self, cases: Sequence[Case]) -> list[Floats]:
        seen, joint = self.owner.evidence(cases)
        answers = []
        for a, b, case in zip(seen, joint, cases, strict=True):
            raw = np.hstack([a, (b - self.centre) @ self.directions.T])
            answers.append(_softmax(self._design(raw, case.item) @ self.weights))
        return answers


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum())
