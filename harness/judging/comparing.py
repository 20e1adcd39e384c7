"""Preferences between two texts: of a judge in both orders, of a judge's scores, and of people's labels. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.judging.coefficients import kendall_tau
from harness.judging.judge_answers import Better
from harness.judging.judge_records import Comparison, Rating
from harness.judging.selection import Preferences, Signs, agreement
from harness.labels import VERDICTS, Verdicts
from harness.stats import Interval, wilson

PairKey = tuple[str, str, str]  # question, A, B
SIGN: dict[Better, int] = {"a": 1, "b": -1, "tie": 0}


@dataclass(frozen=True, slots=True)
class BothOrders:
    """What a judge said in two orders.

    Attributes:
        preferences: Of duels on which both orders agree: 1 for A, -1 for B, 0 for a tie.
        first: Duels in which it preferred whatever was shown first, in both orders.
        second: The same for what was shown second.
        wavering: Duels with a preference in one order and a tie in the other.
        single: Duels judged in one order only: nothing can be said of them.
    """

    preferences: Mapping[PairKey, int]
    first: int
    second: int
    wavering: int
    single: int

    @property
    def inconsistent(self) -> int:
        """Duels that are filtered out, and counted as position bias."""
        return self.first + self.second + self.wavering

    @property
    def n(self) -> int:
        return len(self.preferences) + self.inconsistent

    @property
    def bias(self) -> Interval | None:
        """95 % Wilson interval of the share of inconsistent duels; None without duels."""
        return wilson(self.inconsistent, self.n)


def both_orders(comparisons: Iterable[Comparison]) -> BothOrders:
    """Keep what a judge says in both orders alike; count the rest by kind."""
    by_duel: dict[PairKey, dict[str, Better]] = {}
    for item in comparisons:
        by_duel.setdefault((item.question_id, item.a, item.b), {})[item.order] = item.better
    kept: dict[PairKey, int] = {}
    first = second = wavering = single = 0
    for duel, said in by_duel.items():
        if len(said) < 2:
            single += 1
        elif said["ab"] == said["ba"]:
            kept[duel] = SIGN[said["ab"]]
        elif (said["ab"], said["ba"]) == ("a", "b"):
            first += 1
        elif (said["ab"], said["ba"]) == ("b", "a"):
            second += 1
        else:
            wavering += 1
    return BothOrders(kept, first, second, wavering, single)


@dataclass(frozen=True, slots=True)
class Against:
    """A judge's preferences beside people's.

    Attributes:
        n: Duels that both judged.
        agreement: Share of equal preferences (A, B or tie), and its 95 % Wilson interval.
        kappa: Cohen's; None when chance explains everything.
        tau: Kendall's tau-b; None when one side is all the same.
    """

    n: int
    agreement: float
    interval: Interval | None
    kappa: float | None
    tau: float | None


def against(judge: Mapping[PairKey, int], people: Callable[[PairKey], int | None]) -> Against | None:
    """Compare preferences; None when people said nothing of any duel."""
    both = [(sign, wanted) for duel, sign in judge.items() if (wanted := people(duel)) is not None]
    if not both:
        return None
    return beside(*(np.array(side, dtype=np.int64) for side in zip(*both, strict=True)))


def beside(said: Signs, theirs: Signs) -> Against:
    """Compare a judge's preferences with people's, both of shape (duels,), at least one duel."""
    hits = int((said == theirs).sum())
    same = len(set(said.tolist()) | set(theirs.tolist())) == 1
    kappa = None if same else float(agreement(said[None, :], theirs, "kappa")[0])
    tau = kendall_tau(said.tolist(), theirs.tolist())
    return Against(len(said), hits / len(said), wilson(hits, len(said)), kappa, tau)


def preference_of_labels(verdicts: Verdicts) -> Callable[[PairKey], int | None]:
    """Return what labels prefer: the text with the better label; None where one has no verdict."""

    def prefer(duel: PairKey) -> int | None:
        question, a, b = duel
        ranks = [_rank(verdicts.of(question, pair)) for pair in (a, b)]
        if ranks[0] is None or ranks[1] is None:
            return None
        return int(np.sign(ranks[0] - ranks[1]))

    return prefer


def _rank(verdict: str) -> int | None:
    return next((rank for rank, name in enumerate(VERDICTS) if name == verdict), None)


def duels_of_ratings(
    ratings: Sequence[Rating], people: Callable[[PairKey], int | None], aspects: Sequence[str]
) -> Preferences | None:
    """Return every two rated texts of a question that people have a preference on; None when there are none.

    A is the one that was rated first: which one that is carries no information, since signs are compared.
    """
    by_question: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_question.setdefault(rating.question_id, []).append(rating)
    rows, signs, groups = [], [], []
    for question, rated in by_question.items():
        for a, b in combinations(rated, 2):
            theirs = people((question, a.pair_id, b.pair_id))
            if theirs is not None:
                rows.append([_difference(a, b, aspect) for aspect in aspects])
                signs.append(theirs)
                groups.append(question)
    if not rows:
        return None
    return Preferences(np.array(rows, dtype=np.float64), np.array(signs, dtype=np.int64), tuple(groups))


def _difference(a: Rating, b: Rating, aspect: str) -> float:
    if aspect not in a.scores or aspect not in b.scores:
        return 0.0
    return a.scores[aspect] - b.scores[aspect]
