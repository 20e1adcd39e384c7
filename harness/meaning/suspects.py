"""Paraphrases that may ask something else, found by how near they lie to the curated texts. Pure.

What the system under test decided plays no part: a paraphrase is not suspected for having been answered wrongly. Nor
is suspicion a verdict. It only says which paraphrases people should see, and how far accuracy may be off until they do.

A pair's own question alone says too little ("tuts weh" is far from "Is the mammogram painful?"): half of all sound
paraphrases lie nearer to another pair's question. So a pair is represented by its curated variants too, and its
similarity is the mean of the three nearest texts. All variants count: with 60 of some 220 a pair, twice as many sound
paraphrases would be suspected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

NEAREST = 3  # texts that stand for a pair
MARGIN = -0.05  # 3 to 12 % of the recorded suites' paraphrases lie below it with the embedded encoder
OTHERS = 3  # pairs named to raters


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
    columns: Mapping[str, list[int]] = _columns(owners)
    cosines = questions @ texts.T
    nearest = [np.sort(cosines[:, of_pair], axis=1)[:, -NEAREST:].mean(axis=1) for of_pair in columns.values()]
    return np.stack(nearest, axis=1)


def _columns(owners: Sequence[str]) -> dict[str, list[int]]:
    columns: dict[str, list[int]] = {}
    for column, owner in enumerate(owners):
        columns.setdefault(owner, []).append(column)
    return columns


def _margin(similarities: Vectors, right: frozenset[str], pairs: Sequence[str]) -> Margin:
    own = max((float(s) for s, pair in zip(similarities, pairs, strict=True) if pair in right), default=-1.0)
    others = sorted(
        ((float(s), pair) for s, pair in zip(similarities, pairs, strict=True) if pair not in right), reverse=True
    )
    if not others:
        return Margin(1.0, ())
    return Margin(own - others[0][0], tuple(pair for _, pair in others[:OTHERS]))
