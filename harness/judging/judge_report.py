"""How far a judge agrees with people: by its labels, its scores, and its comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.judging.coefficients import kendall_tau
from harness.judging.comparing import (
    Against,
    BothOrders,
    against,
    beside,
    both_orders,
    duels_of_ratings,
    preference_of_labels,
)
from harness.judging.judge_prompts import HIGHEST, load_instructions
from harness.judging.judge_records import Rating, load_comparisons, load_ratings
from harness.judging.selection import Chosen, Measure, Preferences, choose, running
from harness.labels import VERDICTS, Verdicts
from harness.score import SEED

MEASURES: tuple[Measure, ...] = ("agreement", "kappa")


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
        orders = self.orders
        return {
            "judge": self.judge,
            "aspects": [asdict(aspect) for aspect in self.aspects],
            "position_bias": None if orders is None else _bias(orders),
            "comparison_and_people": _against(self.compared),
            "rating_and_people": _against(self.rated),
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


def _bias(orders: BothOrders) -> dict[str, Any]:
    interval = orders.bias
    return {
        "n": orders.n,
        "consistent": len(orders.preferences),
        "inconsistent": orders.inconsistent,
        "first": orders.first,
        "second": orders.second,
        "wavering": orders.wavering,
        "one_order_only": orders.single,
        "share": orders.inconsistent / orders.n if orders.n else None,
        "ci95": [interval.low, interval.high] if interval else None,
    }


def _against(found: Against | None) -> dict[str, Any] | None:
    if found is None:
        return None
    ci = [found.interval.low, found.interval.high] if found.interval else None
    return {"n": found.n, "agreement": found.agreement, "ci95": ci, "kappa": found.kappa, "tau": found.tau}


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
        selections=() if data is None else tuple(_selection(data, measure, names) for measure in MEASURES),
    )


def _selection(data: Preferences, measure: Measure, names: Sequence[str]) -> Selection:
    chosen = choose(data, measure, rng=np.random.default_rng(SEED))
    steps = tuple((names[aspect], share, kappa) for aspect, share, kappa in running(data, measure))
    return Selection(measure, len(data.people), tuple(chosen), steps)


def _aspects(ratings: Sequence[Rating], names: Sequence[str], verdicts: Verdicts) -> tuple[AspectScore, ...]:
    ranks: dict[str, int] = {name: rank for rank, name in enumerate(VERDICTS)}
    label = {rating.key: ranks.get(verdicts.of(rating.question_id, rating.pair_id)) for rating in ratings}
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
