"""How far a judge agrees with people: by its labels, its scores, and its preferences in both orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from harness.judging.agreement import kendall_tau
from harness.judging.judge import (
    HIGHEST,
    Better,
    DuelVerdict,
    Rating,
    load_comparisons,
    load_instructions,
    load_ratings,
)
from harness.judging.selection import Chosen, Measure, Preferences, Signs, agreement, choose, running
from harness.labelling.labels import VERDICTS, Verdicts
from harness.scoring.score import SEED
from harness.statistics import Interval, wilson

PairKey = tuple[str, str, str]  # question, A, B
RANKS: Mapping[str, int] = {name: rank for rank, name in enumerate(VERDICTS)}
SIGN: dict[Better, int] = {"a": 1, "b": -1, "tie": 0}
MEASURES: tuple[Measure, ...] = ("agreement", "kappa")


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

    def as_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "consistent": len(self.preferences),
            "inconsistent": self.inconsistent,
            "first": self.first,
            "second": self.second,
            "wavering": self.wavering,
            "one_order_only": self.single,
            "share": self.inconsistent / self.n if self.n else None,
            "ci95": self.bias.as_json() if self.bias else None,
        }


def both_orders(comparisons: Iterable[DuelVerdict]) -> BothOrders:
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

    def as_json(self) -> dict[str, Any]:
        ci = self.interval.as_json() if self.interval else None
        return {"n": self.n, "agreement": self.agreement, "ci95": ci, "kappa": self.kappa, "tau": self.tau}


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
        question, *pairs = duel
        a, b = (RANKS.get(verdicts.of(question, pair)) for pair in pairs)
        return None if a is None or b is None else int(np.sign(a - b))

    return prefer


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
                both = a.scores.keys() & b.scores.keys()
                rows.append([a.scores[name] - b.scores[name] if name in both else 0.0 for name in aspects])
                signs.append(theirs)
                groups.append(question)
    if not rows:
        return None
    return Preferences(np.array(rows, dtype=np.float64), np.array(signs, dtype=np.int64), tuple(groups))


@dataclass(frozen=True, slots=True)
class AspectScore:
    """One aspect over all rated texts.

    Attributes:
        name: Its id, or ``total``.
        n: Texts with a score.
        mean: 0 to 1, as share of the highest score.
        tau: Kendall's tau-b with people's labels in their order; None when it cannot be told.
        labelled: Texts with a score and a label.
    """

    name: str
    n: int
    mean: float
    tau: float | None
    labelled: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Aspect selection by one measure.

    Attributes:
        measure: What was maximised.
        pairs: Pairs of texts.
        chosen: By search.
        running: (aspect, agreement, kappa) when aspects are added one after the other.
    """

    measure: Measure
    pairs: int
    chosen: tuple[Chosen, ...]
    running: tuple[tuple[str, float, float], ...]

    @classmethod
    def of(cls, data: Preferences, measure: Measure, names: Sequence[str]) -> Selection:
        chosen = choose(data, measure, rng=np.random.default_rng(SEED))
        steps = tuple((names[aspect], share, kappa) for aspect, share, kappa in running(data, measure))
        return cls(measure, len(data.people), tuple(chosen), steps)


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """All that is known of one judge in a run."""

    judge: str
    aspects: tuple[AspectScore, ...]
    orders: BothOrders | None
    compared: Against | None
    rated: Against | None
    selections: tuple[Selection, ...]

    def as_json(self) -> dict[str, Any]:
        names = [aspect.id for aspect in load_instructions().aspects]
        return {
            "judge": self.judge,
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "position_bias": self.orders.as_json() if self.orders else None,
            "comparison_and_people": self.compared.as_json() if self.compared else None,
            "rating_and_people": self.rated.as_json() if self.rated else None,
            "selection": [
                {
                    "measure": selection.measure,
                    "pairs": selection.pairs,
                    "searches": [
                        {**asdict(chosen), "subset": [names[aspect] for aspect in chosen.subset]}
                        for chosen in selection.chosen
                    ],
                    "running": [list(step) for step in selection.running],
                }
                for selection in self.selections
            ],
        }


def report_of(run: Path, judge: str, verdicts: Verdicts) -> JudgeReport:
    """Compare a judge with the labels behind `verdicts`."""
    ratings, comparisons = load_ratings(run, judge), load_comparisons(run, judge)
    names = [aspect.id for aspect in load_instructions().aspects]
    people = preference_of_labels(verdicts)
    data = duels_of_ratings(ratings, people, names)
    orders = both_orders(comparisons) if comparisons else None
    return JudgeReport(
        judge=judge,
        aspects=_aspects(ratings, names, verdicts),
        orders=orders,
        compared=against(orders.preferences, people) if orders else None,
        rated=None if data is None else beside(data.judged([tuple(range(data.aspects))])[0], data.people),
        selections=() if data is None else tuple(Selection.of(data, measure, names) for measure in MEASURES),
    )


def _aspects(ratings: Sequence[Rating], names: Sequence[str], verdicts: Verdicts) -> tuple[AspectScore, ...]:
    label = {rating.key: RANKS.get(verdicts.of(rating.question_id, rating.pair_id)) for rating in ratings}
    rows = []
    for name in (*names, "total"):
        scored = [rating for rating in ratings if name == "total" or name in rating.scores]
        values = [rating.total if name == "total" else rating.scores[name] / HIGHEST for rating in scored]
        both = [
            (value, rank)
            for rating, value in zip(scored, values, strict=True)
            if (rank := label[rating.key]) is not None
        ]
        if values:
            tau = kendall_tau([value for value, _ in both], [rank for _, rank in both])
            rows.append(AspectScore(name, len(values), float(np.mean(values)), tau, len(both)))
    return tuple(rows)
