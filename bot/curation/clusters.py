"""Put open questions together that mean the same, so that curators read one and see how often it was asked. Pure.

Near copies collapse first. Then, language by language, groups grow from the densest questions: the one with the most
others within `NEAR` takes them, and so on (leader clustering by density); then each question moves once to the group
it is nearest to, and what is near to none stays alone. Emergencies never stand
with what is none. The order of the questions plays no part, and nothing is drawn at random: the same questions always
give the same groups, and more questions change few of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.ports import Vectors
from bot.text import NearCopies, fold

NEAR = 0.26  # cosine, of vectors told apart, from which two questions are neighbours: docs/accuracy.md says why
BELONGS = 0.2  # cosine to the mean of a group from which a question belongs to it
FLAT = 1e-3  # of the largest variance, which no component counts less than: below it is noise
BLOCK = 512  # questions compared with all others at a time


@dataclass(frozen=True, slots=True)
class Open:
    """A question that waits for curators.

    Attributes:
        id: Number of the turn in this database.
        language: What it was asked in.
        text: As it is shown: scrubbed, or as it was typed.
        urgent: Whether it may be an emergency: it is never put together with what is none.
    """

    id: int
    language: str
    text: str
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The pair that fits best, if any.

    Attributes:
        pair_id: Of the catalog; empty where none is likelier than none of them.
        probability: As the assistant states it, from 0 to 1.
    """

    pair_id: str
    probability: float


NOTHING = Suggestion("", 0.0)
Suggest = Callable[[Sequence[str], str], Sequence[Suggestion]]  # texts of a language, as the assistant takes them


@dataclass(frozen=True, slots=True)
class Cluster:
    """Questions of one language that mean the same.

    Attributes:
        representative: The medoid: the question that is nearest to all others.
        members: All of them, nearest to the representative first.
        suggestion: The pair that the assistant would answer the representative with.
    """

    representative: Open
    members: tuple[Open, ...]
    suggestion: Suggestion = NOTHING

    @property
    def language(self) -> str:
        return self.representative.language

    @property
    def size(self) -> int:
        return len(self.members)


def cluster(
    questions: Sequence[Open], vectors: Vectors, *, suggest: Suggest | None = None, near: float = NEAR
) -> list[Cluster]:
    """Group questions by meaning, largest groups first.

    Args:
        questions: In any order.
        vectors: Of their texts by one encoder, shape (questions, dimensions).
        suggest: Says which pair would answer; asked once a language, with the representatives.
        near: Cosine from which two questions are neighbours.

    Raises:
        ValueError: There are not as many vectors as questions.
    """
    if len(questions) != len(vectors):
        raise ValueError(f"{len(questions)} questions and {len(vectors)} vectors: give one vector a question.")
    by_language: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        by_language[question.language].append(number)
    found: list[Cluster] = []
    for language, numbers in sorted(by_language.items()):
        groups = _groups([questions[number] for number in numbers], np.asarray(vectors)[numbers], near)
        said = (
            suggest([group[0].text for group in groups], language) if suggest is not None else [NOTHING] * len(groups)
        )
        found += [Cluster(group[0], group, one) for group, one in zip(groups, said, strict=True)]
    return sorted(found, key=lambda each: (-each.size, each.language, fold(each.representative.text)))


def _groups(questions: Sequence[Open], vectors: Vectors, near: float) -> list[tuple[Open, ...]]:
    """Return the groups of one language, each with its medoid first."""
    copies = _copies(questions)
    urgent = [questions[numbers[0]].urgent for numbers in copies]
    weight = np.array([len(numbers) for numbers in copies], dtype=np.float32)
    unit = told_apart(vectors[[numbers[0] for numbers in copies]])
    members: dict[int, list[int]] = defaultdict(list)
    for copy, group in enumerate(moved(unit, leaders(unit, weight, near))):
        members[int(group)].append(copy)
    found = []
    for inside in (part for whole in members.values() for part in _apart(whole, [urgent[copy] for copy in whole])):
        # Rounded, so that what is equally near falls to the first in the order of the texts on every machine.
        within = np.round(unit[inside] @ (weight[inside] @ unit[inside]), 4)
        medoid = inside[int(np.argmax(within))]
        nearness = np.round(unit[inside] @ unit[medoid], 4)
        order = sorted(range(len(inside)), key=lambda place: (inside[place] != medoid, -nearness[place], inside[place]))
        found.append(tuple(questions[number] for place in order for number in copies[inside[place]]))
    return found


def _apart(inside: Sequence[int], urgent: Sequence[bool]) -> list[list[int]]:
    """Return a group as it is, or its emergencies and the rest: nobody puts both away with one decision."""
    parts = [
        [each for each, is_urgent in zip(inside, urgent, strict=True) if is_urgent is part] for part in (True, False)
    ]
    return [part for part in parts if part]


def _copies(questions: Sequence[Open]) -> list[list[int]]:
    """Return the numbers of questions that are near copies of each other, in the order of the texts themselves."""
    known, found = {True: NearCopies(), False: NearCopies()}, list[list[int]]()
    texts = [question.text for question in questions]
    for number in sorted(range(len(texts)), key=lambda number: (fold(texts[number]), texts[number], number)):
        near = known[questions[number].urgent]
        copy = near.find(texts[number])
        if copy is not None:
            found[int(copy.label)].append(number)
        else:
            near.add(texts[number], str(len(found)))
            found.append([number])
    return found


def told_apart(vectors: Vectors) -> npt.NDArray[np.float32]:
    """Return vectors of length 1 in which what all questions share counts less than what tells them apart.

    Each principal component is divided by the square root of its standard deviation: half of whitening.
    """
    centred = np.asarray(vectors, dtype=np.float64)
    centred = centred - centred.mean(axis=0) if len(centred) > 1 else centred
    spread, axes = np.linalg.eigh(centred.T @ centred / max(1, len(centred)))
    scaled = centred @ axes * np.maximum(spread, max(spread.max(), 1e-12) * FLAT) ** -0.25
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def leaders(unit: npt.NDArray[np.float32], weight: npt.NDArray[np.float32], near: float) -> npt.NDArray[np.int64]:
    """Return for each row the row that leads its group.

    Args:
        unit: Vectors of length 1, in an order that depends on what they stand for only.
        weight: How often each was asked.
        near: Cosine from which two are neighbours.
    """
    neighbours: list[npt.NDArray[np.int32]] = []
    density = np.zeros(len(unit))
    for start in range(0, len(unit), BLOCK):
        close = unit[start : start + BLOCK] @ unit.T
        for row, line in enumerate(close, start):
            inside = np.flatnonzero(line >= near)
            neighbours.append(inside.astype(np.int32))
            density[row] = (weight[inside] * line[inside]).sum()
    led = np.full(len(unit), -1, dtype=np.int64)
    for number in np.argsort(-np.round(density, 2), kind="stable"):
        if led[number] < 0:
            free = neighbours[number][led[neighbours[number]] < 0]
            led[free] = number
            led[number] = number
    return led


def moved(unit: npt.NDArray[np.float32], groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the groups after each row has moved to the group whose mean, without itself, is nearest.

    One that no mean is near to (`BELONGS`) is left alone, so early groups give back what they took too much of.
    """
    _, kind = np.unique(groups, return_inverse=True)
    size = np.bincount(kind)
    total = np.zeros((len(size), unit.shape[1]), dtype=np.float32)
    np.add.at(total, kind, unit)
    mean = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)
    new = np.arange(len(unit), dtype=np.int64) + len(size)
    for start in range(0, len(unit), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(unit)))
        close = unit[rows] @ mean.T
        others = total[kind[rows]] - unit[rows]
        length = np.maximum(np.linalg.norm(others, axis=1), 1e-6)
        own = (others * unit[rows]).sum(axis=1) / length
        close[np.arange(len(rows)), kind[rows]] = np.where(size[kind[rows]] > 1, own, -1)
        best = close.argmax(axis=1)
        belongs = close[np.arange(len(rows)), best] >= BELONGS
        new[rows[belongs]] = best[belongs]
        # Nobody may move to the place of one that stays alone.
        alone = ~belongs & (size[kind[rows]] == 1)
        new[rows[alone]] = kind[rows[alone]]
    return new
