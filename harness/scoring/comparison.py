"""Two runs on the same questions: what was fixed, what broke, and whether chance would do the same.

Only questions that both runs hold, with the same text and right pair, and on which neither system failed, are compared;
the rest is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.running.outcomes import ERROR, Outcome
from harness.running.run import Run
from harness.scoring.score import SEED
from harness.statistics import Interval, change_interval, detectable_change, flip_test, holm

Hit = Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True)
class Paired:
    """One group of questions in two runs.

    Attributes:
        name: The vignette, or what the group is.
        n: Questions.
        before, after: Shares.
        fixed: Questions that hit only after.
        broken: Questions that hit only before.
        clusters: Pairs of questions and answers (of chats: dialogues) that the questions belong to.
        changed: Of these, where more questions were fixed than broke, or the other way round.
        p_value: Exact test by pair, two-sided (`flip_test`).
        adjusted: The same, adjusted (Holm) when it is one of several groups.
        change: 95 % interval of the change, by the same test; None with a single pair, or when nothing changed.
        detectable: Smallest change that the test would find with power 0.8, where pairs vary as they did.
    """

    name: str
    n: int
    before: float
    after: float
    fixed: int
    broken: int
    clusters: int
    changed: int
    p_value: float
    adjusted: float
    change: Interval | None
    detectable: float | None

    @property
    def difference(self) -> float:
        return self.after - self.before

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n": self.n,
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "ci95": self.change.as_json() if self.change else None,
            "fixed": self.fixed,
            "broken": self.broken,
            "clusters": self.clusters,
            "clusters_changed": self.changed,
            "test": "sign flips by cluster, exact, two-sided",
            "p_value": self.p_value,
            "p_holm": self.adjusted,
            "detectable": self.detectable,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs have in common.

    Attributes:
        common: (before, after) of every question that both answered, in the order of the run after.
        only_before, only_after: Questions that one run alone holds.
        failed: Questions of both on which either system failed.
        same_suite: Whether both runs asked the very same suite.
    """

    common: tuple[tuple[Outcome, Outcome], ...]
    only_before: int
    only_after: int
    failed: int
    same_suite: bool

    @property
    def scored(self) -> list[tuple[Outcome, Outcome]]:
        """The common questions that have a right pair."""
        return [(was, now) for was, now in self.common if was.right is not None and now.right is not None]

    @property
    def spoken(self) -> list[tuple[Outcome, Outcome]]:
        """The common messages of chats that could be scored in both runs."""
        return [
            (was, now)
            for was, now in self.common
            if was.met is not None and now.met is not None and (was.expected, was.wanted) == (now.expected, now.wanted)
        ]

    @property
    def fixed(self) -> list[tuple[Outcome, Outcome]]:
        return [(was, now) for was, now in (*self.scored, *self.spoken) if is_good(now) and not is_good(was)]

    @property
    def broken(self) -> list[tuple[Outcome, Outcome]]:
        return [(was, now) for was, now in (*self.scored, *self.spoken) if is_good(was) and not is_good(now)]

    def expectations(self) -> list[Paired]:
        """Return each kind of expectation, with p-values adjusted for their number; empty without messages of chats."""
        names = dict.fromkeys(now.expected or "" for _, now in self.spoken)
        groups = {name: [both for both in self.spoken if both[1].expected == name] for name in names}
        return holm_adjusted([pair_up(name, group, is_good) for name, group in groups.items()])

    def total(self) -> Paired:
        return pair_up("total", self.scored, is_right)

    def strata(self) -> list[Paired]:
        """Return each vignette, with p-values adjusted for their number."""
        names = dict.fromkeys(now.vignette for _, now in self.scored)
        groups = {name: [both for both in self.scored if both[1].vignette == name] for name in names}
        return holm_adjusted([pair_up(name, group, is_right) for name, group in groups.items()])

    @property
    def notes(self) -> list[str]:
        """What readers must know of the questions that are not compared."""
        said = [] if self.same_suite else ["The runs asked different suites (their hashes differ)."]
        left_out = [
            (self.only_before, "only in the baseline"),
            (self.only_after, "only in the new run"),
            (self.failed, "without an answer, since a system failed"),
        ]
        said += [f"{count} questions {why}: not compared." for count, why in left_out if count]
        return said


def compare(before: Run, after: Run) -> Comparison:
    """Find what two runs have in common."""
    earlier = {outcome.key: outcome for outcome in before.outcomes}
    both = [(earlier[key], outcome) for outcome in after.outcomes if (key := outcome.key) in earlier]
    answered = [(was, now) for was, now in both if ERROR not in (was.decision, now.decision)]
    return Comparison(
        common=tuple(answered),
        only_before=len(before.outcomes) - len(both),
        only_after=len(after.outcomes) - len(both),
        failed=len(both) - len(answered),
        same_suite=before.suite_hash == after.suite_hash,
    )


def holm_adjusted(rows: Sequence[Paired]) -> list[Paired]:
    """Return rows with their p-values adjusted for being so many."""
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, adjusted=value) for row, value in zip(rows, adjusted, strict=True)]


def is_right(outcome: Outcome) -> bool:
    return bool(outcome.right)


def is_good(outcome: Outcome) -> bool:
    """Say whether a question was answered right, or a message brought what was expected."""
    return bool(outcome.right) or bool(outcome.met)


def cluster_of(outcome: Outcome) -> str:
    """Return what a question belongs to: turns of a dialogue belong together; others without a pair stand alone."""
    return outcome.pair_id or outcome.dialogue or outcome.id


def pair_up(
    name: str,
    both: Sequence[tuple[Outcome, Outcome]],
    hit: Hit,
    *,
    cluster: Callable[[Outcome], str] = cluster_of,
) -> Paired:
    """Test one group of questions, of which `hit` says what counts, and `cluster` what belongs together."""
    before, after = [hit(was) for was, _ in both], [hit(now) for _, now in both]
    groups: dict[str, list[int]] = {}
    for (_, outcome), was, now in zip(both, before, after, strict=True):
        groups.setdefault(cluster(outcome), []).append(int(now) - int(was))
    gains, sizes = [sum(group) for group in groups.values()], [len(group) for group in groups.values()]
    n, p_value = len(both), flip_test(gains)
    return Paired(
        name=name,
        n=n,
        before=sum(before) / n if n else 0.0,
        after=sum(after) / n if n else 0.0,
        fixed=sum(now and not was for was, now in zip(before, after, strict=True)),
        broken=sum(was and not now for was, now in zip(before, after, strict=True)),
        clusters=len(groups),
        changed=sum(gain != 0 for gain in gains),
        p_value=p_value,
        adjusted=p_value,
        change=change_interval(gains, sizes, rng=np.random.default_rng(SEED)),
        detectable=detectable_change(gains, sizes) if n else None,
    )
