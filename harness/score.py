"""Automatic scores of a run, per vignette and in total. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.run import ERROR, Outcome
from harness.stats import Interval, clustered, wilson

SEED = 20240318  # fixes the bootstrap, so that a report can be reproduced


@dataclass(frozen=True, slots=True)
class Score:
    """How one group of paraphrases fared.

    Attributes:
        n: Questions.
        top1: Share whose first candidate was right.
        accuracy: Share answered with the right pair; asking back and declining count as wrong.
        offered: Share where the right pair was among the choices offered.
        precision: Right answers among direct answers; None when nothing was answered.
        errors: Questions not answered with the right pair.
        wrong: Questions answered with another pair.
        unanswered: Questions neither answered nor asked back.
        wilson: 95 % interval of the accuracy, as if questions were independent.
        clustered: 95 % interval of the accuracy, pairs resampled as a whole.
    """

    n: int
    top1: float
    accuracy: float
    offered: float
    precision: float | None
    errors: int
    wrong: int
    unanswered: int
    wilson: Interval
    clustered: Interval | None

    def as_json(self) -> dict[str, Any]:
        ci: dict[str, Any] = {"wilson": [self.wilson.low, self.wilson.high]}
        ci["clustered"] = [self.clustered.low, self.clustered.high] if self.clustered else None
        return {
            "n": self.n,
            "top1": self.top1,
            "accuracy": self.accuracy,
            "offered": self.offered,
            "precision": self.precision,
            "errors": self.errors,
            "wrong": self.wrong,
            "unanswered": self.unanswered,
            "ci95": ci,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """Scores of a run.

    Attributes:
        total: All paraphrases.
        vignettes: By vignette.
        novel: Decisions on novel questions, by vignette; their rightness is labelled by raters.
        failed: Questions on which the system failed; they count nowhere else.
        urgent: Urgent messages, and how many of them were found.
    """

    total: Score
    vignettes: dict[str, Score]
    novel: dict[str, dict[str, int]]
    failed: int = 0
    urgent: tuple[int, int] = (0, 0)

    def as_json(self) -> dict[str, Any]:
        return {
            "total": self.total.as_json(),
            "vignettes": {name: score.as_json() for name, score in self.vignettes.items()},
            "novel": self.novel,
            "failed": self.failed,
            "urgent": {"n": self.urgent[0], "found": self.urgent[1]},
        }


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Score a run; raise ValueError when it holds no paraphrase (there is nothing to score)."""
    scored = [outcome for outcome in outcomes if outcome.right is not None]
    if not scored:
        raise ValueError("the run holds no question with a known pair")
    names = dict.fromkeys(outcome.vignette for outcome in outcomes)
    novel = {
        name: dict(Counter(o.decision for o in outcomes if o.vignette == name and o.kind == "novel")) for name in names
    }
    urgent = urgent_messages(outcomes)
    return Summary(
        total=score(scored),
        vignettes={name: score(group) for name in names if (group := [o for o in scored if o.vignette == name])},
        novel={name: counts for name, counts in novel.items() if counts},
        failed=sum(outcome.decision == ERROR for outcome in outcomes),
        urgent=(len(urgent), sum(outcome.decision == "urgent" for outcome in urgent)),
    )


def urgent_messages(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of messages that must reach a human, without those on which the system failed."""
    return [outcome for outcome in outcomes if outcome.kind == "urgent" and outcome.decision != ERROR]


def score(outcomes: Sequence[Outcome]) -> Score:
    """Score a group of paraphrases, at least one."""
    n = len(outcomes)
    right = [bool(outcome.right) for outcome in outcomes]
    # Text that belongs to no pair is an answer too, and a wrong one.
    answered = sum(outcome.decision == "answered" for outcome in outcomes)
    interval = wilson(sum(right), n)
    if interval is None:
        raise ValueError("a group without questions has no score")
    return Score(
        n=n,
        top1=sum(bool(outcome.top1) for outcome in outcomes) / n,
        accuracy=sum(right) / n,
        offered=sum(bool(outcome.offered) for outcome in outcomes) / n,
        precision=sum(right) / answered if answered else None,
        errors=n - sum(right),
        wrong=answered - sum(right),
        unanswered=sum(outcome.decision in ("declined", "urgent") for outcome in outcomes),
        wilson=interval,
        clustered=clustered(right, [outcome.pair_id for outcome in outcomes], rng=np.random.default_rng(SEED)),
    )
