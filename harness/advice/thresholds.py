"""What other thresholds for direct answers would have done to a run: in counts, and as advice per vignette. Pure.

For advice nothing but the run is needed: the threshold in force is the lowest score that was answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.labelling.labels import Verdicts
from harness.running.outcomes import ERROR, Outcome

STEPS = (-0.20, -0.15, -0.10, -0.05, 0.0, 0.05, 0.10)
LIMIT = 0.03  # of all questions of a vignette, answered wrongly: the default of `klartext qa calibrate`
TRIED = tuple(round(0.01 * step, 2) for step in range(5, 100))
SHOWN_EVERY = 10  # of those tried
MIN_SCORES = 10  # different ones: below that, scores do not grade anything
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Move:
    """The run under another threshold for direct answers.

    Attributes:
        answer: The threshold.
        right: Questions that would have been answered with the right pair.
        wrong: Questions that would have been answered with another pair.
        novel: Novel questions that would have been answered, but for answers that raters called correct.
        worst: Share of all questions answered wrongly in the worst vignette, those novel ones included.
        current: Whether this is the threshold in force.
    """

    answer: float
    right: int
    wrong: int
    novel: int
    worst: float
    current: bool

    @property
    def keeps_limit(self) -> bool:
        return self.worst <= LIMIT


def moves(outcomes: Sequence[Outcome], threshold: float, verdicts: Verdicts) -> list[Move]:
    """Return what thresholds around the one in force would have done, lowest first.

    What was not answered is answered with its first candidate from the new threshold on; emergencies stay what they
    are. Combined questions are judged by their first part.
    """
    levels = sorted({round(threshold + step, 2) for step in STEPS if 0 < threshold + step < 1})
    judged = _Judged.of(outcomes, verdicts)
    return [_counted_move(judged, level, current=level == round(threshold, 2)) for level in levels]


def _counted_move(judged: _Judged, level: float, *, current: bool) -> Move:
    answered = judged.was if current else judged.answered(level)
    wrong = answered & ~judged.right
    worst = max(float(wrong[inside].mean()) for inside in judged.strata.values())
    right, novel = int((answered & judged.right & judged.scored).sum()), int((wrong & ~judged.scored).sum())
    return Move(level, right, int(wrong.sum()) - novel, novel, worst, current)


def best_move(found: Sequence[Move]) -> Move | None:
    """Return the lower threshold that gains most within the limit; None when none does."""
    now = next((move for move in found if move.current), None)
    lower = [move for move in found if now and move.answer < now.answer and move.keeps_limit and move.right > now.right]
    return min(lower, key=lambda move: move.answer, default=None)


@dataclass(frozen=True, slots=True)
class Effect:
    """One group of questions under one threshold.

    Attributes:
        n: Questions, novel ones included.
        scored: Questions that have a right pair.
        accuracy: Answered with the right pair, of those that have one; None without any.
        precision: Right among direct answers; None when nothing is answered.
        wrong: Answered wrongly, of all; novel questions count as wrong unless raters called the answer correct.
    """

    n: int
    scored: int
    accuracy: float | None
    precision: float | None
    wrong: float


@dataclass(frozen=True, slots=True)
class ThresholdMove:
    """A run under a threshold.

    Attributes:
        answer: Lowest score that is answered.
        current: Whether this is what the run did.
        total: Its effect.
        vignettes: The same, by vignette.
    """

    answer: float
    current: bool
    total: Effect
    vignettes: dict[str, Effect]

    @property
    def worst(self) -> float:
        """Share of all questions that are answered wrongly, in the worst vignette."""
        return max(effect.wrong for effect in self.vignettes.values())

    @property
    def keeps_limit(self) -> bool:
        return self.worst <= LIMIT


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """Which threshold to try.

    Attributes:
        moves: A selection, lowest threshold first; exactly one is the current one.
        best: The one that answers most rightly while no vignette gets more than `LIMIT` wrong answers; None: none does.
        held_out: Effect of choosing so on one half of the pairs, on the other half; both ways together. None when
            either half allows no threshold.
    """

    moves: tuple[ThresholdMove, ...]
    best: ThresholdMove | None
    held_out: Effect | None

    @property
    def current(self) -> ThresholdMove:
        return next(move for move in self.moves if move.current)

    @property
    def headline(self) -> str:
        """The advice as a sentence."""
        limit, now, best = f"{LIMIT:.0%} wrong answers in every vignette", self.current, self.best
        if best is None:
            return f"No threshold keeps within {limit}: mend pairs and variants first"
        if best.current:
            return f"No other threshold answers more rightly within {limit}"
        if (best.total.accuracy or 0.0) < (now.total.accuracy or 0.0) / 2:
            return (
                f"Only a threshold of {best.answer:.2f} keeps within {limit}, and it would answer no more than "
                f"{_percent(best.total.accuracy)} rightly: mend pairs and variants first"
            )
        direction = "lower" if best.answer < now.answer else "higher"
        return (
            f"A {direction} threshold, {best.answer:.2f} instead of {now.answer:.2f}, would answer "
            f"{_percent(best.total.accuracy)} rightly instead of {_percent(now.total.accuracy)}, at precision "
            f"{_percent(best.total.precision)} instead of {_percent(now.total.precision)}, within {limit}"
        )

    @property
    def caution(self) -> str:
        """How far to trust it."""
        held_out = self.held_out
        check = (
            f"Thresholds chosen so on half of the pairs answer {_percent(held_out.accuracy)} of the other halves "
            f"rightly, at precision {_percent(held_out.precision)}. "
            if held_out
            else ""
        )
        return f"{check}A suite is no ground to set one: let `klartext qa calibrate` choose, on calibration questions."

    @property
    def said(self) -> str:
        """The advice in words."""
        return f"{self.headline}. {self.caution}"

    def as_json(self) -> dict[str, Any]:
        moves = [{**asdict(move), "worst": move.worst, "keeps_limit": move.keeps_limit} for move in self.moves]
        return {
            "said": self.said,
            "best": self.best.answer if self.best else None,
            "held_out": asdict(self.held_out) if self.held_out else None,
            "moves": moves,
        }


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"


@dataclass(frozen=True, slots=True)
class _Judged:
    """Questions as arrays of one length.

    Attributes:
        score: Of the first candidate.
        right: Whether the first candidate is right, or raters called it correct.
        scored: Whether there is a right pair.
        was: Whether it was answered.
        open: Whether another threshold decides on it: emergencies stay what they are.
        vignette: Whose question it is.
    """

    score: npt.NDArray[np.float64]
    right: Bools
    scored: Bools
    was: Bools
    open: Bools
    vignette: npt.NDArray[np.str_]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], verdicts: Verdicts) -> _Judged:
        def right(outcome: Outcome) -> bool:
            if outcome.top1 is not None:
                return outcome.top1
            return bool(outcome.candidates) and verdicts.of(outcome.id, outcome.candidates[0]) == "correct"

        return cls(
            score=np.array([o.score for o in outcomes], dtype=np.float64),
            right=np.array([right(o) for o in outcomes], dtype=np.bool_),
            scored=np.array([o.top1 is not None for o in outcomes], dtype=np.bool_),
            was=np.array([o.answered_with is not None for o in outcomes], dtype=np.bool_),
            open=np.array([o.decision != "urgent" and bool(o.candidates) for o in outcomes], dtype=np.bool_),
            vignette=np.array([o.vignette for o in outcomes], dtype=np.str_),
        )

    @property
    def strata(self) -> dict[str, Bools]:
        """Which questions are of each vignette, in the order of the run."""
        return {str(name): self.vignette == name for name in dict.fromkeys(self.vignette)}

    def only(self, chosen: Bools) -> _Judged:
        """Return some of the questions."""
        return _Judged(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def answered(self, level: float) -> Bools:
        return self.open & (self.score >= level)

    def effect(self, answered: Bools) -> Effect:
        n, scored, count = len(self.score), int(self.scored.sum()), int(answered.sum())
        right = int((answered & self.right).sum())
        return Effect(
            n=n,
            scored=scored,
            accuracy=int((answered & self.right & self.scored).sum()) / scored if scored else None,
            precision=right / count if count else None,
            wrong=(count - right) / n,
        )

    def move(self, level: float, *, current: bool = False) -> ThresholdMove:
        answered = self.was if current else self.answered(level)
        by_name = {name: self.only(inside).effect(answered[inside]) for name, inside in self.strata.items()}
        return ThresholdMove(level, current, self.effect(answered), by_name)


def advise_threshold(outcomes: Sequence[Outcome], verdicts: Verdicts) -> ThresholdAdvice | None:
    """Return what thresholds would have done; None when the run answered nothing, or when its scores grade nothing."""
    asked = [one for one in outcomes if one.decision != ERROR and one.kind != "urgent" and not one.unjudged]
    judged = replace(
        _Judged.of(asked, verdicts), was=np.array([o.decision == "answered" for o in asked], dtype=np.bool_)
    )
    if not judged.was.any() or not judged.scored.any() or len(np.unique(judged.score)) < MIN_SCORES:
        return None
    current = judged.move(float(judged.score[judged.was].min()), current=True)
    levels = [level for level in TRIED if judged.score.min() <= level <= judged.score.max()]
    tried = [judged.move(level) for level in levels]
    best = _best([current, *tried])
    shown = [move for move in tried if round(100 * move.answer) % SHOWN_EVERY == 0 or move is best]
    moves = sorted([current, *shown], key=lambda move: (move.answer, move.current))
    return ThresholdAdvice(tuple(moves), best, _held_out(asked, judged, levels))


def _best(moves: Iterable[ThresholdMove]) -> ThresholdMove | None:
    """Prefer what is in force, then the higher threshold, among those that answer equally many rightly."""
    allowed = [move for move in moves if move.keeps_limit and move.total.accuracy is not None]
    return max(allowed, key=lambda move: (move.total.accuracy or 0.0, move.current, move.answer), default=None)


def _held_out(asked: Sequence[Outcome], judged: _Judged, levels: Sequence[float]) -> Effect | None:
    """Choose on every other pair and every other novel question, and answer the rest so; then the other way round."""
    keys = [outcome.pair_id or outcome.id for outcome in asked]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    first = np.array([rank[key] % 2 == 0 for key in keys])
    answered = np.zeros(len(asked), dtype=np.bool_)
    for half in (first, ~first):
        other = judged.only(~half)
        chosen = _best(map(other.move, levels)) if other.scored.any() else None
        if chosen is None or not half.any():
            return None
        answered |= half & judged.answered(chosen.answer)
    return judged.effect(answered)
