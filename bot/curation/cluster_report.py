"""How well questions are put together by meaning, on suites whose questions are known to ask the same. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.curation.clusters import NEAR, Open, cluster, leaders, told_apart
from bot.ports import Vectors

SHOWN = (0.18, 0.22, 0.26, 0.3, 0.35)
WITHOUT = (0.3, 0.38, 0.46)  # for the alternative: leaders alone, of vectors that are only centred
ADDED = 0.1  # share of the questions that come later


@dataclass(frozen=True, slots=True)
class BCubed:
    """Means over questions: of its group, the share that asks the same; of what asks the same, the share in its group.

    References:
        Bagga & Baldwin (1998), Entity-based cross-document coreferencing using the vector space model.
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-12)


def b_cubed(wanted: Sequence[object], groups: Sequence[object]) -> BCubed:
    """Compare groups with what was wanted; both name a group for each question."""
    _, one = np.unique([str(each) for each in wanted], return_inverse=True)
    _, other = np.unique([str(each) for each in groups], return_inverse=True)
    shared = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(shared, (one, other), 1)
    precision = (shared**2 / shared.sum(axis=0)).sum() / len(one)
    recall = (shared**2 / shared.sum(axis=1, keepdims=True)).sum() / len(one)
    return BCubed(float(precision), float(recall))


def studied(questions: Sequence[Open], vectors: Vectors, wanted: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the report for the questions of one language.

    Args:
        questions: With ids from 0 on, in order.
        vectors: Of their texts.
        wanted: What each asks, for example the id of its pair.
    """
    yield f"{len(questions)} questions, {len(set(wanted))} things asked"
    yield "near  groups  precision  recall  B-cubed F1"
    for near in SHOWN:
        groups = _named(questions, vectors, near)
        yield _line(near, groups, wanted) + ("  <- used" if near == NEAR else "")
    yield "leaders alone, vectors centred:"
    unit, weight = _around_mean(vectors), np.ones(len(questions), dtype=np.float32)
    for near in WITHOUT:
        yield _line(near, [str(each) for each in leaders(unit, weight, near)], wanted)
    yield "leaders alone, vectors told apart:"
    unit = told_apart(vectors)
    for near in SHOWN:
        yield _line(near, [str(each) for each in leaders(unit, weight, near)], wanted)
    kept = [number for number in range(len(questions)) if number % round(1 / ADDED)]
    before = _named([questions[number] for number in kept], vectors[kept], NEAR)
    after = _named(questions, vectors, NEAR)
    same = b_cubed(before, [after[number] for number in kept])
    yield f"when {ADDED:.0%} more are asked, the groups of the others stay: B-cubed F1 {same.f1:.3f}"


def _around_mean(vectors: Vectors) -> npt.NDArray[np.float32]:
    """Return vectors of length 1 around their mean."""
    centred = np.asarray(vectors, dtype=np.float32)
    centred = centred - centred.mean(axis=0)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def _named(questions: Sequence[Open], vectors: Vectors, near: float) -> list[str]:
    """Return the name of each question's group, in the order of the questions."""
    names = {
        member.id: str(number)
        for number, each in enumerate(cluster(questions, vectors, near=near))
        for member in each.members
    }
    return [names[question.id] for question in questions]


def _line(near: float, groups: Sequence[str], wanted: Sequence[str]) -> str:
    found = b_cubed(wanted, groups)
    return f"{near:4.2f}  {len(set(groups)):6}  {found.precision:9.3f}  {found.recall:6.3f}  {found.f1:10.3f}"
