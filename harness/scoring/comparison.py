"""Two runs on the same questions: what was fixed, what broke, and whether chance would do the same.

Only questions that both runs hold, with the same text and right pair, and on which neither system failed, are compared;
the rest is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from harness.running.outcomes import ERROR, Outcome
from harness.running.run import Run
from harness.scoring.score import SEED
from harness.statistics import ALPHA, Changes, Interval, change_interval, detectable_change, flip_test, holm

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
        tests: Of how many groups it is one; 1 when nothing is adjusted.
        alpha: Level of the test; of several groups, of all together.
        change: Interval of the change that holds with 1 - `alpha` (of several groups: all together), by the same test:
            0 lies outside exactly when `adjusted` is below `alpha`. None with a single pair, or when nothing changed.
        detectable: Smallest change that the test would find with power 0.8, where pairs vary as they did; one of
            several groups, at the level that is hardest to reach.
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
    tests: int
    alpha: float
    change: Interval | None
    detectable: float | None

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def found(self) -> bool:
        """Whether there is a change beyond chance."""
        return self.adjusted < self.alpha

    @property
    def said(self) -> str:
        """What was fixed and broken, in words."""
        if not self.fixed and not self.broken:
            return f"no change in {self.n} questions"
        if not self.changed:
            where = f"in each of {self.clusters} pairs as many as were fixed"
            return f"{self.fixed} of {self.n} questions fixed, {self.broken} broken, {where}"
        where = f"{self.changed} of {self.clusters} pairs fare better or worse than before"
        return f"{self.fixed} of {self.n} questions fixed, {self.broken} broken; {where}"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "n": self.n,
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "ci95": self.change.as_json() if self.change and self.alpha == ALPHA else None,
            "ci": self.change.as_json() if self.change else None,
            "level": 1 - self.alpha,
            "tests": self.tests,
            "fixed": self.fixed,
            "broken": self.broken,
            "clusters": self.clusters,
            "clusters_changed": self.changed,
            "test": "sign flips by cluster, exact, two-sided",
            "p_value": self.p_value,
            "p_holm": self.adjusted,
            "detectable": self.detectable,
        }


@dataclass(frozen=True)
class Comparison:
    """What two runs have in common.

    Attributes:
        common: (before, after) of every question that both answered, in the order of the run after.
        only_before, only_after: Questions that one run alone holds.
        failed: Questions of both on which either system failed.
        same_suite: Whether both runs asked the very same suite.
        alpha: Two-sided level of the tests.
    """

    common: tuple[tuple[Outcome, Outcome], ...]
    only_before: int
    only_after: int
    failed: int
    same_suite: bool
    alpha: float = ALPHA

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

    @cached_property
    def rows(self) -> dict[str, list[Paired]]:
        """All tests of this comparison: one family, whoever shows it.

        The total is tested by itself. The groups (vignettes, unless there is only one, which is the total once more;
        wrong answers; kinds of expectations; urgent messages) are adjusted for their number.
        """
        groups: dict[str, list[_Group]] = {"vignettes": [], "safe": [], "expectations": [], "urgent": []}
        names = dict.fromkeys(now.vignette for _, now in self.scored)
        if len(names) > 1:
            groups["vignettes"] = [
                _Group.of(name, [both for both in self.scored if both[1].vignette == name], is_right) for name in names
            ]
        if self.scored:
            groups["safe"] = [_Group.of("no wrong answer", self.scored, _is_safe)]
        kinds = dict.fromkeys(now.expected or "" for _, now in self.spoken)
        groups["expectations"] = [
            _Group.of(kind, [both for both in self.spoken if both[1].expected == kind], is_good) for kind in kinds
        ]
        urgent = [both for both in self.common if both[0].kind == "urgent"]
        if urgent:
            groups["urgent"] = [_Group.of("urgent found", urgent, lambda outcome: outcome.decision == "urgent")]
        flat = [group for part in groups.values() for group in part]
        adjusted = iter(holm([group.p_value for group in flat]))
        found = {
            part: [group.tested(next(adjusted), tests=len(flat), alpha=self.alpha) for group in members]
            for part, members in groups.items()
        }
        if self.scored:
            total = _Group.of("total", self.scored, is_right)
            found["total"] = [total.tested(total.p_value, tests=1, alpha=self.alpha)]
        return found

    @property
    def family(self) -> list[Paired]:
        """All rows, the total first."""
        order = ("total", "vignettes", "safe", "expectations", "urgent")
        return [row for part in order for row in self.rows.get(part, [])]

    @property
    def adjusted_for(self) -> str:
        """What the p-values of groups are adjusted for, in words."""
        groups = [row.name for row in self.family if row.name != "total"]
        if len(groups) < 2:
            return ""
        return (
            f"p-values and intervals of {len(groups)} groups regard that they are so many (Holm): {', '.join(groups)}."
        )

    def expectations(self) -> list[Paired]:
        """Return each kind of expectation; empty without messages of chats."""
        return self.rows["expectations"]

    def total(self) -> Paired:
        """Return the test of all scored questions; there must be some."""
        return self.rows["total"][0]

    def strata(self) -> list[Paired]:
        """Return each vignette; empty when there is only one, since that is the total."""
        return self.rows["vignettes"]

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


def compare(before: Run, after: Run, *, alpha: float = ALPHA) -> Comparison:
    """Find what two runs have in common, to be tested at the level `alpha`."""
    earlier = {outcome.key: outcome for outcome in before.outcomes}
    both = [(earlier[key], outcome) for outcome in after.outcomes if (key := outcome.key) in earlier]
    answered = [(was, now) for was, now in both if ERROR not in (was.decision, now.decision)]
    return Comparison(
        common=tuple(answered),
        only_before=len(before.outcomes) - len(both),
        only_after=len(after.outcomes) - len(both),
        failed=len(both) - len(answered),
        same_suite=before.suite_hash == after.suite_hash,
        alpha=alpha,
    )


def is_right(outcome: Outcome) -> bool:
    return bool(outcome.right)


def is_good(outcome: Outcome) -> bool:
    """Say whether a question was answered right, or a message brought what was expected."""
    return bool(outcome.right) or bool(outcome.met)


def _is_safe(outcome: Outcome) -> bool:
    """Say whether nothing wrong was shown."""
    return bool(outcome.right) or outcome.decision != "answered"


def cluster_of(outcome: Outcome) -> str:
    """Return what a question belongs to: turns of a dialogue belong together; others without a pair stand alone."""
    return outcome.pair_id or outcome.dialogue or outcome.id


@dataclass(frozen=True, slots=True)
class _Group:
    """Questions that are tested together: what changed, by cluster, and how far chance would bring it."""

    name: str
    after: float
    changes: Changes
    p_value: float

    @classmethod
    def of(
        cls,
        name: str,
        both: Sequence[tuple[Outcome, Outcome]],
        hit: Hit,
        cluster: Callable[[Outcome], str] = cluster_of,
    ) -> _Group:
        places: dict[str, int] = {}
        fixed: list[int] = []
        broken: list[int] = []
        sizes: list[int] = []
        hits = [(hit(was), hit(now)) for was, now in both]
        for (_, outcome), (was, now) in zip(both, hits, strict=True):
            place = places.setdefault(cluster(outcome), len(places))
            if place == len(sizes):
                for counts in (fixed, broken, sizes):
                    counts.append(0)
            sizes[place] += 1
            fixed[place] += now and not was
            broken[place] += was and not now
        n = max(1, len(both))
        before, after = sum(was for was, _ in hits) / n, sum(now for _, now in hits) / n
        changes = Changes(tuple(fixed), tuple(broken), tuple(sizes), before)
        return cls(name, after, changes, flip_test(changes.gains))

    def tested(self, adjusted: float, *, tests: int, alpha: float) -> Paired:
        """Return the row of this group, whose p-value was adjusted for `tests` groups."""
        changes, gains, chance = self.changes, self.changes.gains, alpha / tests
        rng, found = np.random.default_rng(SEED), adjusted < alpha
        return Paired(
            name=self.name,
            n=sum(changes.sizes),
            before=changes.before,
            after=self.after,
            fixed=sum(changes.fixed),
            broken=sum(changes.broken),
            clusters=len(changes.sizes),
            changed=sum(gain != 0 for gain in gains),
            p_value=self.p_value,
            adjusted=adjusted,
            tests=tests,
            alpha=alpha,
            change=change_interval(changes, rng=rng, chance=chance, found=found),
            detectable=detectable_change(gains, changes.sizes, rng=rng, chance=chance) if changes.sizes else None,
        )


def pair_up(
    name: str,
    both: Sequence[tuple[Outcome, Outcome]],
    hit: Hit,
    *,
    cluster: Callable[[Outcome], str] = cluster_of,
) -> Paired:
    """Test one group of questions by itself, of which `hit` says what counts, and `cluster` what belongs together."""
    group = _Group.of(name, both, hit, cluster)
    return group.tested(group.p_value, tests=1, alpha=ALPHA)
