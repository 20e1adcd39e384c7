"""What another threshold would have done to this run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.labels import Verdicts
from harness.run import Outcome

STEPS = (-0.20, -0.15, -0.10, -0.05, 0.0, 0.05, 0.10)
LIMIT = 0.03  # of all questions of a vignette, answered wrongly: the default of `klartext qa calibrate`


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
    judged = [_Judged(outcome, _is_right(outcome, verdicts)) for outcome in outcomes]
    return [_move(judged, level, current=level == round(threshold, 2)) for level in levels]


@dataclass(frozen=True, slots=True)
class _Judged:
    outcome: Outcome
    right: bool  # if it is answered with its first candidate

    def answered(self, level: float, *, current: bool) -> bool:
        if current:
            return self.outcome.answered_with is not None
        return self.outcome.decision != "urgent" and bool(self.outcome.candidates) and self.outcome.score >= level


def _is_right(outcome: Outcome, verdicts: Verdicts) -> bool:
    if outcome.top1 is not None:
        return outcome.top1
    return bool(outcome.candidates) and verdicts.of(outcome.id, outcome.candidates[0]) == "correct"


def _move(judged: Sequence[_Judged], level: float, *, current: bool) -> Move:
    answered = [one for one in judged if one.answered(level, current=current)]
    wrong = [one.outcome for one in answered if not one.right]
    right = sum(one.right and one.outcome.top1 is not None for one in answered)
    novel = sum(outcome.top1 is None for outcome in wrong)
    sizes = Counter(one.outcome.vignette for one in judged)
    worst = max(sum(outcome.vignette == name for outcome in wrong) / size for name, size in sizes.items())
    return Move(level, right, len(wrong) - novel, novel, worst, current)


def best_move(found: Sequence[Move]) -> Move | None:
    """Return the lower threshold that gains most within the limit; None when none does."""
    now = next((move for move in found if move.current), None)
    lower = [move for move in found if now and move.answer < now.answer and move.keeps_limit and move.right > now.right]
    return min(lower, key=lambda move: move.answer, default=None)
