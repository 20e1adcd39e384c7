"""Which aspects of a rating agree best with people: both published searches, and their worth on other items. Pure.

Source: MCQG-C++ (seed paper 000), algorithms 1 and 2. There, a subset is chosen and reported on the same 40 items; with
2,047 subsets to choose from, some agree well by chance. So each search is repeated without the items it is tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Signs = NDArray[np.int64]
Measure = Literal["agreement", "kappa"]
Subset = tuple[int, ...]
Search = Callable[["Preferences", Measure], Subset]
MOST = 11  # the paper's limit; 2**11 subsets
SIGNS = (-1, 0, 1)


@dataclass(frozen=True, slots=True)
class Preferences:
    """Pairs of texts that both people and a judge compared.

    Attributes:
        differences: Score of A minus score of B by aspect, shape (pairs, aspects); 0 where either score is missing.
        people: 1 where people prefer A, -1 where they prefer B, 0 for a tie; shape (pairs,).
        groups: What each pair belongs to (its question); pairs of one group are never on both sides of a split.
    """

    differences: Floats
    people: Signs
    groups: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        rows = len(self.people)
        if self.differences.ndim != 2 or len(self.differences) != rows or len(self.groups) != rows:
            raise ValueError(f"differences {self.differences.shape}, people {rows}, groups {len(self.groups)}")

    @property
    def aspects(self) -> int:
        return int(self.differences.shape[1])

    def only(self, rows: NDArray[np.bool_]) -> Preferences:
        groups = tuple(group for group, kept in zip(self.groups, rows, strict=True) if kept)
        return Preferences(self.differences[rows], self.people[rows], groups)

    def judged(self, subsets: Sequence[Subset]) -> Signs:
        """Return what a judge prefers that adds up the scores of each subset, shape (subsets, pairs)."""
        masks = np.zeros((len(subsets), self.aspects))
        for row, subset in enumerate(subsets):
            masks[row, list(subset)] = 1.0
        return np.sign(np.round(masks @ self.differences.T, 9)).astype(np.int64)


def agreement(judged: Signs, people: Signs, measure: Measure) -> Floats:
    """Return how far rows of judged preferences agree with people.

    Args:
        judged: Shape (subsets, pairs).
        people: Shape (pairs,), at least one pair.
        measure: Share of equal preferences, or Cohen's kappa (0 where chance alone explains everything).
    """
    observed = (judged == people).mean(axis=1)
    if measure == "agreement":
        return np.asarray(observed)
    chance = sum(((judged == sign).mean(axis=1) * (people == sign).mean() for sign in SIGNS), np.zeros(len(judged)))
    room = 1 - chance
    return np.where(room > 1e-12, (observed - chance) / np.where(room > 1e-12, room, 1.0), 0.0)


def ordered(values: Sequence[float]) -> list[int]:
    """Return positions from the best to the worst single aspect; equal ones keep their order."""
    return sorted(range(len(values)), key=lambda position: -values[position])


def best_first(data: Preferences, measure: Measure) -> list[int]:
    """Return aspects in the order in which both searches take them."""
    singles = [(aspect,) for aspect in range(data.aspects)]
    return ordered(agreement(data.judged(singles), data.people, measure).tolist())


def greedy(data: Preferences, measure: Measure) -> Subset:
    """Add aspects, best first, and keep each that raises the agreement (algorithm 1).

    The paper starts from an agreement of 0; we start from the best single aspect, so that the result is never empty.
    """
    first, *others = best_first(data, measure)
    chosen: Subset = (first,)
    best = _value(data, chosen, measure)
    for aspect in others:
        value = _value(data, (*chosen, aspect), measure)
        if value > best:
            chosen, best = (*chosen, aspect), value
    return chosen


def running(data: Preferences, measure: Measure) -> list[tuple[int, float, float]]:
    """Add aspects, best first, and keep all: (aspect, agreement, kappa) after each, as in tables 20 and 21."""
    order = best_first(data, measure)
    judged = data.judged([tuple(order[: count + 1]) for count in range(len(order))])
    shares, kappas = (agreement(judged, data.people, each).tolist() for each in ("agreement", "kappa"))
    return list(zip(order, shares, kappas, strict=True))


def all_combinations(data: Preferences, measure: Measure, *, most: int = MOST) -> Subset:
    """Try every combination of the `most` best aspects (algorithm 2); of equal ones the smallest, then the first."""
    top = best_first(data, measure)[:most]
    subsets = [subset for size in range(1, len(top) + 1) for subset in combinations(top, size)]
    values = agreement(data.judged(subsets), data.people, measure)
    return subsets[int(np.argmax(values))]


def everything(data: Preferences, measure: Measure) -> Subset:
    """Choose nothing: all aspects, as a search that cannot overfit."""
    return tuple(range(data.aspects))


def _value(data: Preferences, subset: Subset, measure: Measure) -> float:
    return float(agreement(data.judged([subset]), data.people, measure)[0])


@dataclass(frozen=True, slots=True)
class Chosen:
    """A search and what its choice is worth.

    Attributes:
        search: Its name.
        subset: The aspects it chose on all pairs.
        in_sample: Agreement on the pairs it was chosen on.
        held_out: Agreement on pairs that the choice had not seen, averaged over repeats; None with too few groups.
        spread: Standard deviation of `held_out` over the repeats, which differ in how pairs are split.
    """

    search: str
    subset: Subset
    in_sample: float
    held_out: float | None
    spread: float | None


SEARCHES: dict[str, Search] = {"all aspects": everything, "greedy": greedy, "all combinations": all_combinations}


def choose(data: Preferences, measure: Measure, *, rng: Generator, folds: int = 5, repeats: int = 10) -> list[Chosen]:
    """Run every search, and cross-validate it.

    Args:
        data: At least one pair.
        measure: What is maximised and reported.
        rng: Seeded by the caller; splits the groups.
        folds: Parts; each is tested with what was chosen on the others.
        repeats: Splits.

    Returns:
        For each search what it chose; held-out figures are of whole repeats, so that kappa sees all pairs.
    """
    splits = [_split(data.groups, folds, rng) for _ in range(repeats)]
    chosen = []
    for name, search in SEARCHES.items():
        subset = search(data, measure)
        held_out = [_held_out(data, search, measure, split) for split in splits if split is not None]
        chosen.append(
            Chosen(
                name,
                subset,
                _value(data, subset, measure),
                float(np.mean(held_out)) if held_out else None,
                float(np.std(held_out)) if held_out else None,
            )
        )
    return chosen


def _split(groups: Sequence[Hashable], folds: int, rng: Generator) -> Signs | None:
    """Return the fold of each pair; None when there are fewer groups than folds."""
    names = list(dict.fromkeys(groups))
    if len(names) < folds:
        return None
    of_group = dict(zip(names, rng.permutation(len(names)) % folds, strict=True))
    return np.array([of_group[group] for group in groups], dtype=np.int64)


def _held_out(data: Preferences, search: Search, measure: Measure, split: Signs) -> float:
    judged = np.zeros(len(data.people), dtype=np.int64)
    for fold in np.unique(split):
        tested = split == fold
        judged[tested] = data.only(tested).judged([search(data.only(~tested), measure)])[0]
    return float(agreement(judged[None, :], data.people, measure)[0])
