"""A retriever tuned on passages that answer: a linear map of the query's vector, learned with hard negatives.

Seed paper 003 fine-tunes its encoders on passages that make the reader right, against those that are found and do not.
The assistant's encoder cannot be trained here; what is learned stands behind it: a query q scores a passage p by
q(I + D)p instead of qp. The loss is the cross-entropy over what answers and its negatives, with a penalty on D, so that
little evidence leaves the encoder as it is. It is convex: the same lessons always lead to the same map.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from bot import BadData
from harness.files import unreadable, writing

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
TEMPERATURE = 0.1  # of the cross-entropy over cosines
STRENGTHS = (0.3, 0.1, 0.03)  # of the penalty that are tried
FOLDS = 4  # that choose among them, within the lessons
LEAST = 10  # things that are found by lessons: fewer teach nothing
ITERATIONS = 60
HARD = 32  # of each first stage: the paper's n


@dataclass(frozen=True, slots=True)
class Lessons:
    """Questions, and what answers them among what does not.

    Attributes:
        queries: Unit vectors, shape (questions, dimensions).
        candidates: Unit vectors of passages or answers, shape (candidates, dimensions).
        right: Which candidate answers which question, shape (questions, candidates).
        against: Hard negatives: what is ranked high and does not answer; of the same shape.
        searched: Whether the candidates are what is searched later; else others of their kind are.
    """

    queries: Floats
    candidates: Floats
    right: Bools
    against: Bools
    searched: bool = True

    def without(self, dropped: frozenset[int]) -> Lessons:
        """Leave out candidates, and all questions that one of them answers."""
        keep = np.array([number not in dropped for number in range(len(self.candidates))])
        rows = ~self.right[:, ~keep].any(axis=1)
        both = np.ix_(rows, keep)
        return replace(
            self,
            queries=self.queries[rows],
            candidates=self.candidates[keep],
            right=self.right[both],
            against=self.against[both],
        )

    @property
    def taught(self) -> int:
        """How many candidates answer a question."""
        return int(self.right.any(axis=0).sum())


def hard_negatives(orders: Sequence[Sequence[Sequence[int]]], right: Bools) -> Bools:
    """Return what a first stage ranks high and does not answer; `orders`: by stage, then question."""
    against = np.zeros_like(right)
    for stage in orders:
        for row, order in enumerate(stage):
            against[row, list(order[:HARD])] = True
    return against & ~right


def learned(lessons: Lessons, strength: float) -> Floats:
    """Return the change D of the map, shape (dimensions, dimensions), for a strength of the penalty."""
    queries, candidates = lessons.queries.astype(np.float64), lessons.candidates.astype(np.float64)
    # D lies in what the vectors span: far fewer numbers than dimensions squared.
    with threadpool_limits(1):  # small products: threads would only wait for each other
        left, right = _basis(queries), _basis(candidates)
    asked, offered = queries @ left.T, candidates @ right.T
    before = np.where(lessons.right | lessons.against, queries @ candidates.T / TEMPERATURE, -np.inf)

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        change = flat.reshape(len(left), len(right))
        scores = before + asked @ change @ offered.T / TEMPERATURE
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        every, hit = likely.sum(axis=1), (likely * lessons.right).sum(axis=1).clip(min=1e-300)
        pull = (likely / every[:, None] - likely * lessons.right / hit[:, None]) / len(queries)
        slope = asked.T @ pull @ offered / TEMPERATURE + strength * change
        value = float((np.log(every) - np.log(hit)).mean() + strength * (flat @ flat) / 2)
        return value, slope.ravel()

    start = np.zeros(len(left) * len(right))
    with threadpool_limits(1):
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return np.asarray(left.T @ found.x.reshape(len(left), len(right)) @ right, dtype=np.float32)


def _basis(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    _, sizes, rows = np.linalg.svd(vectors, full_matrices=False)
    return np.asarray(rows[sizes > 1e-5 * sizes[0]])


def chosen_strength(lessons: Lessons) -> float | None:
    """Return the strength that finds most of what is held out within the lessons; None: no change finds more."""
    folds = [frozenset(range(fold, len(lessons.candidates), FOLDS)) for fold in range(FOLDS)]
    means: dict[float | None, float] = {None: 0.0} | dict.fromkeys(STRENGTHS, 0.0)
    for dropped in folds:
        rest = lessons.without(dropped)
        asked = lessons.right[:, sorted(dropped)].any(axis=1)
        if not len(rest.queries) or not asked.any():
            continue
        for strength in means:
            queries = lessons.queries[asked]
            if strength is not None:
                queries = queries + queries @ learned(rest, strength)
            # What taught stands beside what did not only where both are searched together: it attracts queries.
            beside = np.arange(len(lessons.candidates)) if lessons.searched else np.array(sorted(dropped))
            means[strength] += _reciprocal_ranks(
                queries @ lessons.candidates[beside].T, lessons.right[asked][:, beside]
            )
    best = max(means.values())
    return next(strength for strength, mean in means.items() if mean >= best - 1e-9)


def _reciprocal_ranks(scores: Floats, right: Bools) -> float:
    best = np.where(right, scores, -np.inf).max(axis=1, keepdims=True)
    return float((1 / (1 + (scores > best).sum(axis=1))).sum())


def held_out(lessons: Lessons, dropped: Sequence[frozenset[int]], strength: float | None) -> list[Floats]:
    """Return a change for each question of a test, learned without what is dropped for it.

    Args:
        lessons: All of them.
        dropped: Candidates that a question must not have been taught by, for each question of the test.
        strength: Chosen before; None: chosen anew within what is left, each time.
    """
    known: dict[frozenset[int], Floats] = {}
    for each in dropped:
        if each not in known:
            rest = lessons.without(each)
            size = rest.queries.shape[1]
            fitting = strength if strength is not None else chosen_strength(rest)
            enough = fitting is not None and len(rest.queries)
            known[each] = learned(rest, fitting) if enough and fitting else np.zeros((size, size), np.float32)
    return [known[each] for each in dropped]


@dataclass(frozen=True, slots=True)
class Tuned:
    """A map behind an encoder.

    Attributes:
        encoder: Name of the encoder whose vectors it maps.
        change: D, shape (dimensions, dimensions).
        taught_by: What it learned from, for people.
        seen: Digests of the questions and passages of its lessons.
    """

    encoder: str
    change: Floats
    taught_by: str = ""
    seen: frozenset[str] = frozenset()

    def mapped(self, query: Floats) -> Floats:
        return np.asarray(query + query @ self.change, dtype=np.float32)

    def has_seen(self, *texts: str) -> bool:
        return any(digest_of(text) in self.seen for text in texts)

    @property
    def digest(self) -> str:
        return hashlib.sha256(np.ascontiguousarray(self.change).tobytes()).hexdigest()[:12]

    def write(self, path: Path) -> None:
        about = {"encoder": self.encoder, "taught_by": self.taught_by, "seen": sorted(self.seen)}
        with writing(path), path.open("wb") as file:
            np.savez_compressed(file, change=self.change, about=np.array(json.dumps(about)))

    @classmethod
    def read(cls, path: Path, encoder: str) -> Tuned:
        """Read a tuned file; raise BadData when it is none, or belongs to another encoder."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                about: Mapping[str, Any] = json.loads(str(stored["about"]))
                change = np.asarray(stored["change"], dtype=np.float32)
            tuned = cls(str(about["encoder"]), change, str(about["taught_by"]), frozenset(map(str, about["seen"])))
        except OSError as error:
            raise BadData(f"`--tuned {path}` cannot be read ({unreadable(error)}). {_MAKE}") from error
        except Exception as error:  # a broken archive breaks its reader in many ways
            raise BadData(f"`--tuned {path}` is no tuned file. {_MAKE}") from error
        if tuned.encoder != encoder:
            raise BadData(
                f"`--tuned {path}` was made for the encoder {tuned.encoder!r}, and this is {encoder!r}. "
                "Give the same `--encoder`, or tune anew."
            )
        if change.ndim != 2 or change.shape[0] != change.shape[1] or not np.isfinite(change).all():
            raise BadData(f"`--tuned {path}` is no tuned file. {_MAKE}")
        return tuned


_MAKE = "Make one with `klartext author draft-tune`."


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
