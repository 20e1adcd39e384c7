"""What would improve an assistant, from a run alone: pairs to merge or rephrase, missing variants, thresholds. Pure.

It needs no assistant, so that any system under test can be advised. Where the assistant can be asked,
`harness advise --misses` looks deeper, question by question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from harness.advice.thresholds import ThresholdAdvice, advise_threshold
from harness.labelling.labels import Verdicts
from harness.running.outcomes import ERROR, Outcome
from harness.scoring.confusions import Confusion, confusions, mistakes_of
from harness.statistics import false_discovery

SIGNIFICANT = 0.05
HINT = 0.05  # before adjusting: what is listed at all
LEAST = 30  # questions with a right pair, before anything is said of thresholds
MIN_CONFUSED = 2  # one question is no pattern
RIVALS = 3
MOSTLY_MISSED = (
    "Most questions are missed, whatever pair they ask for: no pair stands out. Does the catalog hold what these "
    "questions ask for, and did anybody ever write like these patients? Add variants in their voice, or see `--misses` "
    "for each question."
)
MOSTLY_MISSED_OUTSIDE = (
    "Most questions are missed, whatever pair they ask for: no pair stands out. See with `--misses` what the system "
    "said instead, and show its makers these questions."
)
NONE_STANDS_OUT = "No pair is confused or missed more than chance would have it."
NOTHING_SCORED = "No question is scored yet: nothing can be said of pairs."
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class ConfusedPairs:
    """Two pairs that are taken for each other.

    Attributes:
        confusion: How often, and how often by chance.
        action: What to do, for a curator.
        questions: Ids of the questions about either for which the other came first.
    """

    confusion: Confusion
    action: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weakness:
    """A pair that is missed more often than others are, in one vignette or in all.

    Attributes:
        pair_id: The pair.
        vignette: The vignette that is compared with the others; None: the pair is compared with all other pairs.
        n, missed: Questions about it (in this vignette), and those not answered with the right pair.
        other_n, other_missed: The same of what it is compared with.
        p_value: Of as many or more misses by chance (Fisher's exact test, one-sided).
        q_value: The same, adjusted for all that were compared (false discovery rate).
        action: What to do, for a curator.
        questions: Ids of the missed questions.
    """

    pair_id: str
    vignette: str | None
    n: int
    missed: int
    other_n: int
    other_missed: int
    p_value: float
    q_value: float
    action: str
    questions: tuple[str, ...]

    @property
    def beyond_chance(self) -> bool:
        return self.q_value <= SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Advice:
    """All advice on a run; lists are ordered, what is least likely by chance first.

    `right` of `n` questions with a right pair were answered right; `ours`: the catalog is the system's, so that pairs
    and variants are the reader's to write.
    """

    confused: tuple[ConfusedPairs, ...]
    strata: tuple[Weakness, ...]
    weak: tuple[Weakness, ...]
    threshold: ThresholdAdvice | None
    right: int = 0
    n: int = 0
    ours: bool = True

    @property
    def headline(self) -> str:
        """What to say where no single pair is to be named; empty where some are."""
        if self.mostly_missed:
            return MOSTLY_MISSED if self.ours else MOSTLY_MISSED_OUTSIDE
        if self.confused or self.strata or self.weak:
            return ""
        return NONE_STANDS_OUT if self.n else NOTHING_SCORED

    @property
    def mostly_missed(self) -> bool:
        """Whether so much is missed that no pair can stand out."""
        return self.n > 0 and self.right < self.n / 2

    def as_json(self) -> dict[str, Any]:
        return {
            "confused": [_confused_as_json(one) for one in self.confused],
            "strata": [{**asdict(one), "beyond_chance": one.beyond_chance} for one in self.strata],
            "weak": [{**asdict(one), "beyond_chance": one.beyond_chance} for one in self.weak],
            "threshold": self.threshold.as_json() if self.threshold and self.n >= LEAST else None,
            "right": self.right,
            "n": self.n,
        }


def _confused_as_json(one: ConfusedPairs) -> dict[str, Any]:
    counts = one.confusion
    return {
        **asdict(counts),
        "mutual": counts.mutual,
        "beyond_chance": counts.beyond_chance,
        "action": one.action,
        "questions": list(one.questions),
    }


def advise(outcomes: Sequence[Outcome], verdicts: Verdicts, *, pairs: int | None = None, ours: bool = True) -> Advice:
    """Return what would improve the assistant of a run.

    Args:
        outcomes: Of the run.
        verdicts: What raters say of answers to its novel questions.
        pairs: How many pairs the catalog has; None: as many as the run names.
        ours: Whether the system answers from this catalog; else its makers have to be told.
    """
    scored = [outcome for outcome in outcomes if outcome.right is not None and outcome.decision != ERROR]
    return Advice(
        confused=tuple(
            _confused(
                scored,
                pairs or len({pair for outcome in scored for pair in (outcome.pair_id, *outcome.candidates) if pair}),
                ours=ours,
            )
        ),
        strata=tuple(_strata(scored, ours=ours)),
        weak=tuple(_weak(scored, ours=ours)),
        threshold=advise_threshold(outcomes, verdicts),
        right=sum(bool(outcome.right) for outcome in scored),
        n=len(scored),
        ours=ours,
    )


def _confused(scored: Sequence[Outcome], pairs: int, *, ours: bool) -> Iterable[ConfusedPairs]:
    for one in confusions(mistakes_of(scored), pairs):
        if one.p_value > HINT or one.count < MIN_CONFUSED:
            continue
        both = {(one.first, one.second), (one.second, one.first)}
        found = [o.id for o in scored if not o.top1 and o.candidates and (o.pair_id, o.candidates[0]) in both]
        yield ConfusedPairs(one, _rephrase(one) if ours else _told_apart(one), tuple(found))


def _rephrase(one: Confusion) -> str:
    if one.mutual:
        return (
            f"If one answer serves both, merge {one.first} and {one.second} or set `same_as`; otherwise rephrase both, "
            "and write variants of each that name what the other is not about."
        )
    return f"Rephrase {one.first}, and write variants of it that {one.second} would not be asked with."


def _told_apart(one: Confusion) -> str:
    both = "each other" if one.mutual else one.second
    said = f"{one.first} and {one.second} are taken for {both}" if one.mutual else f"{one.first} is taken for {both}"
    return f"Tell the system's makers that {said}, with the questions."


def _strata(scored: Sequence[Outcome], *, ours: bool) -> list[Weakness]:
    """Compare each pair in each vignette with the same pair in all other vignettes."""
    cells = _grouped(scored, lambda o: (o.pair_id or "", o.vignette))
    by_pair = _grouped(scored, lambda o: o.pair_id or "")
    compared = [
        ((pair, vignette), cell, rest)
        for (pair, vignette), cell in cells.items()
        if (rest := [o for o in by_pair[pair] if o.vignette != vignette])
    ]
    return _weaknesses(compared, ours=ours)


def _weak(scored: Sequence[Outcome], *, ours: bool) -> list[Weakness]:
    """Compare each pair with all other pairs."""
    compared = [
        ((pair, None), own, rest)
        for pair, own in _grouped(scored, lambda o: o.pair_id or "").items()
        if (rest := [o for o in scored if o.pair_id != pair])
    ]
    return _weaknesses(compared, ours=ours)


Compared = tuple[tuple[str, str | None], list[Outcome], list[Outcome]]


def _weaknesses(compared: Sequence[Compared], *, ours: bool) -> list[Weakness]:
    p_values = [fisher(_missed(own), len(own), _missed(rest), len(rest)) for _, own, rest in compared]
    q_values = false_discovery(p_values)
    found = [
        Weakness(
            pair_id=pair,
            vignette=vignette,
            n=len(own),
            missed=_missed(own),
            other_n=len(rest),
            other_missed=_missed(rest),
            p_value=p_value,
            q_value=q_value,
            action=_write(pair, vignette, own, ours=ours),
            questions=tuple(o.id for o in own if not o.right),
        )
        for ((pair, vignette), own, rest), p_value, q_value in zip(compared, p_values, q_values, strict=True)
        if p_value <= HINT
    ]
    return sorted(found, key=lambda one: (one.p_value, -one.missed, one.pair_id, one.vignette or ""))


def _write(pair: str, vignette: str | None, own: Sequence[Outcome], *, ours: bool) -> str:
    missed = [outcome for outcome in own if not outcome.right]
    rivals = Counter(o.candidates[0] for o in missed if o.candidates and not o.top1).most_common(RIVALS)
    before = f" Before it came {', '.join(f'{name} ({count})' for name, count in rivals)}." if rivals else ""
    unsure = sum(bool(outcome.top1) for outcome in missed)
    first = f" {unsure} of {len(missed)} had it first, but not surely enough." if unsure else ""
    if not ours:
        whose = f" of {vignette}" if vignette else ""
        return f"Show the system's makers the questions{whose} about {pair}.{before}"
    voice = f"in the voice of {vignette}" if vignette else "by several authors"
    return f"Write variants of {pair} {voice}.{before}{first}"


def _missed(outcomes: Iterable[Outcome]) -> int:
    return sum(not outcome.right for outcome in outcomes)


def _grouped(outcomes: Iterable[Outcome], key: Callable[[Outcome], Key]) -> dict[Key, list[Outcome]]:
    groups: dict[Key, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    return dict(groups)


def fisher(missed: int, n: int, other_missed: int, other_n: int) -> float:
    """Return the chance of `missed` or more of `n`, if all misses were spread over both groups at random.

    References:
        Fisher (1922), On the interpretation of chi-squared from contingency tables.
    """
    misses, everyone = missed + other_missed, n + other_n
    found = np.arange(missed, min(n, misses) + 1)  # in this group: as many or more
    ways = _log_ways(misses, found) + _log_ways(everyone - misses, n - found) - _log_ways(everyone, np.array([n]))
    return min(1.0, float(np.exp(ways).sum()))


def _log_ways(n: int, k: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the logarithm of n over k, minus infinity where that is impossible: runs may be large."""
    possible = (k >= 0) & (k <= n)
    inside = np.where(possible, k, 0)
    ways = gammaln(n + 1) - gammaln(inside + 1) - gammaln(n - inside + 1)
    return np.where(possible, ways, -np.inf)
