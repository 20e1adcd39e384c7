"""How far raters agree: every two of them, people among themselves, and models beside people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator

from harness.judging.coefficients import (
    MISSING,
    Codes,
    Coefficient,
    Estimate,
    Ratings,
    ac1,
    alpha_nominal,
    alpha_ordinal,
    cohen,
    estimate,
    percentage,
)
from harness.labelling.labels import VERDICTS, Verdicts

TWO: dict[str, Coefficient] = {
    "agreement": percentage,
    "kappa": cohen,
    "alpha": alpha_ordinal,
    "alpha_nominal": alpha_nominal,
    "ac1": ac1,
}
MANY: dict[str, Coefficient] = {name: of for name, of in TWO.items() if name != "kappa"}
ItemId = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RaterGroup:
    """Raters compared with one another.

    Attributes:
        name: What the group is.
        raters: Their ids.
        n: Items that at least two of them labelled.
        figures: Coefficients by name.
        confusion: For two raters: how often the first said the row and the second the column; None for more.
    """

    name: str
    raters: tuple[str, ...]
    n: int
    figures: dict[str, Estimate]
    confusion: Codes | None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "raters": list(self.raters),
            "n": self.n,
            **{name: figure.as_json() for name, figure in self.figures.items()},
            "confusion": None if self.confusion is None else self.confusion.tolist(),
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """All comparisons of a run's raters.

    Attributes:
        labelled: How many of the items each rater labelled.
        items: How many items there are.
        pairs: Every two raters that share an item; people first, then people and models, then models.
        groups: All people, and all models, where there are more than two.
    """

    labelled: dict[str, int]
    items: int
    pairs: tuple[RaterGroup, ...]
    groups: tuple[RaterGroup, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "labels": list(VERDICTS),
            "items": self.items,
            "labelled": self.labelled,
            "pairs": [group.as_json() for group in self.pairs],
            "groups": [group.as_json() for group in self.groups],
        }


def agreement_of(verdicts: Verdicts, items: Sequence[ItemId], *, rng: Generator) -> Agreement:
    """Compare all raters on these items; adjudicators are left out, since they saw the others' labels.

    Args:
        verdicts: All labels.
        items: (question id, pair id).
        rng: Seeded by the caller; fixes the intervals.
    """
    raters = sorted(verdicts.rater_ids, key=lambda rater: (not _is_person(rater), rater))
    codes = _codes(verdicts, items, raters)
    pairs = [
        _group(f"{raters[a]} and {raters[b]}", raters, codes, (a, b), rng)
        for a, b in sorted(combinations(range(len(raters)), 2), key=lambda two: _models(raters, two))
    ]
    kinds = {"all people": True, "all models": False}
    groups = []
    for name, people in kinds.items():
        members = tuple(number for number, rater in enumerate(raters) if _is_person(rater) == people)
        if len(members) > 2:
            groups.append(_group(name, raters, codes, members, rng))
    return Agreement(
        labelled={rater: int((codes[:, number] != MISSING).sum()) for number, rater in enumerate(raters)},
        items=len(items),
        pairs=tuple(group for group in pairs if group.n),
        groups=tuple(group for group in groups if group.n),
    )


def _codes(verdicts: Verdicts, items: Sequence[ItemId], raters: Sequence[str]) -> Codes:
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for row, item in enumerate(items):
        for column, rater in enumerate(raters):
            label = verdicts.label_of(rater, *item)
            if label is not None:
                codes[row, column] = VERDICTS.index(label.label)
    return codes


def _group(name: str, raters: Sequence[str], codes: Codes, members: tuple[int, ...], rng: Generator) -> RaterGroup:
    ratings = Ratings(codes[:, list(members)], len(VERDICTS))
    shared = ratings.pairable.codes
    two = len(members) == 2
    confusion = np.zeros((len(VERDICTS), len(VERDICTS)), dtype=np.int64) if two else None
    if confusion is not None:
        np.add.at(confusion, (shared[:, 0], shared[:, 1]), 1)
    figures = {key: estimate(of, ratings, rng=rng) for key, of in (TWO if two else MANY).items()}
    return RaterGroup(name, tuple(raters[member] for member in members), len(shared), figures, confusion)


def _is_person(rater: str) -> bool:
    return rater.startswith("person:")


def _models(raters: Sequence[str], two: tuple[int, int]) -> int:
    return sum(not _is_person(raters[member]) for member in two)
