"""The paper's tables of the rounds: scores (4, 5), lengths and answers (6, 7), the best (8); tables 2, 11, 12. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats

from harness.authoring.quiz.making import FoundBy, QuizRound, Track, is_key_point
from harness.authoring.quiz.rubric import COMPONENTS, Component
from harness.generation.rounds import ROUNDS, MeanScore
from harness.llm.scores import TOP

Row = tuple[MeanScore | None, ...]
CARRIED = "carried on"
LENGTH, RIGHT, SAME = "words", "answered right", "answer = key point"
FEWEST = 3  # quizzes, for a correlation
# The aspects by which a model's rating agreed best with the physicians (table 2; kappa .539).
TEN: Mapping[Component, tuple[str, ...]] = {
    "context": ("concision", "relevant", "misdirection"),
    "question": ("concluding", "clarity"),
    "answer": ("occurrence", "depth"),
    "distractors": ("common-mistakes",),
    "reasoning": ("logical-flow", "evidence"),
}


@dataclass(frozen=True, slots=True)
class FirstAndKept:
    """The first version beside the kept one by the paper's ten aspects, of those that the rubric has (table 2).

    Attributes:
        means: Mean share of the maximum by component, then ``total``, their mean: of the first and the kept version.
        won, lost, tied: How many quizzes' kept version is rated above, below or like the first one; where the first was
            kept, they are the same and not counted.
        n: How many quizzes were scored.
        unchanged: How many kept their first version.
        aspects: How many of the ten they were rated by: the teach-back rubric lacks clarity and depth.
    """

    means: Mapping[str, tuple[float, float]]
    won: int
    lost: int
    tied: int
    n: int
    unchanged: int
    aspects: int

    def as_json(self) -> dict[str, Any]:
        means = {name: {"first": first, "kept": kept} for name, (first, kept) in self.means.items()}
        counts = {"won": self.won, "lost": self.lost, "tied": self.tied, "first_kept": self.unchanged}
        return {"means": means, "n": self.n, "aspects": self.aspects, **counts}


def first_and_kept(tracks: Sequence[Track]) -> FirstAndKept:
    """Rate the first and the kept version of every scored quiz by the ten aspects."""
    pairs = [(track.rounds[0], track.best) for track in tracks if track.best is not None and track.rounds[0].critiques]
    rated = [(_by_ten(first), _by_ten(kept)) for first, kept in pairs if kept.critiques]
    names = [*COMPONENTS, "total"]
    means = {
        name: (statistics.fmean(first[name] for first, _ in rated), statistics.fmean(kept[name] for _, kept in rated))
        for name in names
        if rated and all(name in first and name in kept for first, kept in rated)
    }
    changed = [
        round(_by_ten(kept)["total"] - _by_ten(first)["total"], 9)
        for first, kept in pairs
        if kept.number > 1 and "total" in _by_ten(first) and "total" in _by_ten(kept)
    ]
    return FirstAndKept(
        means,
        won=sum(each > 0 for each in changed),
        lost=sum(each < 0 for each in changed),
        tied=sum(each == 0 for each in changed),
        n=len(rated),
        unchanged=sum(kept.number == 1 for _, kept in pairs if kept.critiques),
        aspects=max((sum(map(len, _ten_of(first).values())) for first, _ in pairs), default=0),
    )


def _by_ten(one: QuizRound) -> dict[str, float]:
    """Return the share of the maximum by component, and their mean as the paper's total, by those that were scored."""
    shares = {str(part): statistics.fmean(found) / TOP for part, found in _ten_of(one).items() if found}
    return {**shares, "total": statistics.fmean(shares.values())} if shares else {}


def _ten_of(one: QuizRound) -> dict[Component, list[float]]:
    return {
        part: [critique.scores[key] for key in TEN[part] if key in critique.scores]
        for part, critique in one.critiques.items()
    }


def topic_counts(tracks: Sequence[Track]) -> dict[FoundBy, dict[str, int]]:
    """Count the topics by who found them, the most frequent first (tables 11 and 12)."""
    kinds: tuple[FoundBy, ...] = ("person", "model")
    counts = {who: Counter(track.case.topic for track in tracks if track.found_by == who) for who in kinds}
    return {who: dict(count.most_common()) for who, count in counts.items() if count}


@dataclass(frozen=True, slots=True)
class RoundTables:
    """What happened in the rounds, for one group of quizzes.

    Attributes:
        scores: By component, then ``total`` (the mean of the components) and ``carried on``: mean share of the maximum,
            a cell a round. Quizzes that are good enough leave the rounds; carried on, they keep their last total, so
            that rounds can be compared.
        figures: Words, share answered right, share whose answer is the key point; a cell a round.
        n: How many quizzes went through each round.
        stopped: Why they ended, with their number.
        rounds: How many quizzes took how many rounds; `best`: in which round they were best.
        correlations: Of the best round with the words of the case, and with those of the quiz: Pearson's, Spearman's
            and Kendall's; None where there are fewer than three quizzes, or all alike.
    """

    scores: Mapping[str, Row]
    figures: Mapping[str, Row]
    n: tuple[int, ...]
    stopped: Mapping[str, int]
    rounds: Mapping[int, int]
    best: Mapping[int, int]
    correlations: Mapping[str, Mapping[str, float | None]]

    def as_json(self) -> dict[str, Any]:
        def cells(rows: Mapping[str, Row]) -> dict[str, Any]:
            return {name: [cell.as_json() if cell else None for cell in row] for name, row in rows.items()}

        return {
            "scores": cells(self.scores),
            "figures": cells(self.figures),
            "n": list(self.n),
            "stopped": dict(self.stopped),
            "rounds": {str(number): count for number, count in self.rounds.items()},
            "best_round": {str(number): count for number, count in self.best.items()},
            "correlations": {name: dict(row) for name, row in self.correlations.items()},
        }


def round_tables(tracks: Sequence[Track]) -> RoundTables:
    """Summarise the rounds of some quizzes."""
    numbers = range(1, ROUNDS + 1)
    by_round = {number: _in_round(tracks, number) for number in numbers}

    def row(value: Callable[[QuizRound, Track], float | None]) -> Row:
        return tuple(
            _cell([found for one, track in by_round[number] if (found := value(one, track)) is not None])
            for number in numbers
        )

    scores: dict[str, Row] = {
        part: row(lambda one, _, part=part: one.critiques[part].share if one.critiques else None)  # type: ignore[misc]
        for part in COMPONENTS
    }
    scores["total"] = row(lambda one, _: one.total)
    scores[CARRIED] = tuple(_cell(_carried(tracks, number)) for number in numbers)
    figures = {
        LENGTH: row(lambda one, _: float(one.quiz.words)),
        RIGHT: row(lambda one, _: None if one.attempt is None else float(one.attempt.right)),
        SAME: row(lambda one, track: float(is_key_point(one.quiz, track.case))),
    }
    made = [track for track in tracks if track.rounds]
    return RoundTables(
        scores=scores,
        figures=figures,
        n=tuple(len(by_round[number]) for number in numbers),
        stopped=dict(Counter(track.stopped for track in tracks)),
        rounds=dict(sorted(Counter(len(track.rounds) for track in made).items())),
        best=dict(sorted(Counter(track.best.number for track in made if track.best).items())),
        correlations=_correlations(made),
    )


def _in_round(tracks: Sequence[Track], number: int) -> list[tuple[QuizRound, Track]]:
    return [(one, track) for track in tracks for one in track.rounds if one.number == number]


def _carried(tracks: Sequence[Track], number: int) -> list[float]:
    if not any(len(track.rounds) >= number for track in tracks):
        return []
    totals = ([one.total for one in track.rounds[:number] if one.total is not None] for track in tracks)
    return [each[-1] for each in totals if each]


def _cell(values: Sequence[float]) -> MeanScore | None:
    if not values:
        return None
    return MeanScore(len(values), statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def _correlations(tracks: Sequence[Track]) -> dict[str, dict[str, float | None]]:
    best = [float(track.best.number) for track in tracks if track.best]
    lengths = {
        "words of the case": [float(len(track.case.text.split())) for track in tracks if track.best],
        "words of the quiz": [float(track.best.quiz.words) for track in tracks if track.best],
    }
    return {name: _correlation(best, values) for name, values in lengths.items()}


def _correlation(first: Sequence[float], second: Sequence[float]) -> dict[str, float | None]:
    possible = len(first) >= FEWEST and len(set(first)) > 1 and len(set(second)) > 1
    measures = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return {name: float(measure(first, second)[0]) if possible else None for name, measure in measures.items()}
