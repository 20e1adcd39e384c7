"""Automatic scores of a run, per vignette and in total. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.running.outcomes import ERROR, Count, Outcome, Tally, Traits, tally
from harness.statistics import Interval, clustered_share, wilson

SEED = 20240318  # fixes what is drawn at random, so that a report can be reproduced


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
        clustered: The same, with regard to how alike questions about one pair fare; None with a single pair, unless it
            was asked one question.
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

    @property
    def interval(self) -> Interval:
        """The 95 % interval that is shown; of a single pair nothing follows for others, so it leaves all open."""
        return self.clustered or Interval(0.0, 1.0)

    def as_json(self) -> dict[str, Any]:
        figures = asdict(self)
        del figures["wilson"], figures["clustered"]
        clustered = self.clustered.as_json() if self.clustered else None
        return {**figures, "ci95": {"wilson": self.wilson.as_json(), "clustered": clustered}}


@dataclass(frozen=True, slots=True)
class Summary:
    """Scores of a run.

    Attributes:
        total: All paraphrases.
        vignettes: By vignette.
        novel: Decisions on novel questions, by vignette; their rightness is labelled by raters.
        failed: Questions on which the system failed; they count nowhere else.
        urgent: Urgent messages, and how many of them were found.
        asked: All questions of the run.
    """

    total: Score
    vignettes: dict[str, Score]
    novel: dict[str, dict[str, int]]
    failed: int = 0
    urgent: tuple[int, int] = (0, 0)
    asked: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "total": self.total.as_json(),
            "vignettes": {name: score.as_json() for name, score in self.vignettes.items()},
            "novel": self.novel,
            "failed": self.failed,
            "urgent": {"n": self.urgent[0], "found": self.urgent[1]},
        }


def summarise(outcomes: Iterable[Outcome]) -> Summary:
    """Score a run; raise ValueError when it holds no paraphrase (there is nothing to score)."""
    return summarise_tally(tally(outcomes))


def summarise_tally(counts: Tally) -> Summary:
    """Score a run that was counted; raise ValueError when it holds no paraphrase."""
    scored = [count for count in counts if count.cell.right is not None]
    if not scored:
        raise ValueError("the run holds no question with a known pair")
    names = dict.fromkeys(count.cell.vignette for count in counts)
    groups = {name: [count for count in scored if count.cell.vignette == name] for name in names}
    urgent = [count for count in counts if count.cell.kind == "urgent" and count.cell.decision != ERROR]
    return Summary(
        total=score_tally(scored),
        vignettes={name: score_tally(group) for name, group in groups.items() if group},
        novel=_novel_decisions(counts),
        failed=_sum(counts, lambda cell: cell.decision == ERROR),
        urgent=(_sum(urgent, lambda _: True), _sum(urgent, lambda cell: cell.decision == "urgent")),
        asked=_sum(counts, lambda _: True),
    )


def _novel_decisions(counts: Tally) -> dict[str, dict[str, int]]:
    """Return decisions on novel questions by vignette, in the order in which they come in the run."""
    found: dict[str, dict[str, int]] = {}
    for count in counts:
        if count.cell.kind == "novel":
            decisions = found.setdefault(count.cell.vignette, {})
            decisions[count.cell.decision] = decisions.get(count.cell.decision, 0) + count.n
    names = dict.fromkeys(count.cell.vignette for count in counts)
    return {name: found[name] for name in names if name in found}


def score(outcomes: Iterable[Outcome]) -> Score:
    """Score a group of paraphrases, at least one."""
    return score_tally(tally(outcomes))


def score_tally(counts: Sequence[Count]) -> Score:
    """Score a group of paraphrases that were counted, in the order of the run."""
    n = sum(count.n for count in counts)
    right = _sum(counts, lambda cell: bool(cell.right))
    interval = wilson(right, n)
    if interval is None:
        raise ValueError("a group without questions has no score")
    # Text that belongs to no pair is an answer too, and a wrong one.
    answered = _sum(counts, lambda cell: cell.decision == "answered")
    return Score(
        n=n,
        top1=_sum(counts, lambda cell: bool(cell.top1)) / n,
        accuracy=right / n,
        offered=_sum(counts, lambda cell: bool(cell.offered)) / n,
        precision=right / answered if answered else None,
        errors=n - right,
        wrong=answered - right,
        unanswered=_sum(counts, lambda cell: cell.decision in ("declined", "urgent")),
        wilson=interval,
        clustered=clustered_of(counts, lambda cell: bool(cell.right)),
    )


def clustered_of(counts: Iterable[Count], hit: Callable[[Traits], bool]) -> Interval | None:
    """Bound the share of outcomes that `hit` counts, by pair; None with several questions of a single pair."""
    hits: dict[str | None, int] = {}
    sizes: dict[str | None, int] = {}
    for count in counts:
        pair_id = count.cell.pair_id
        hits[pair_id] = hits.get(pair_id, 0) + (count.n if hit(count.cell) else 0)
        sizes[pair_id] = sizes.get(pair_id, 0) + count.n
    return clustered_share(list(hits.values()), list(sizes.values()))


def _sum(counts: Iterable[Count], wanted: Callable[[Traits], bool]) -> int:
    return sum(count.n for count in counts if wanted(count.cell))
