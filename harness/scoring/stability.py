"""Does a system answer the same again? Several runs of the same questions, side by side. Pure.

Two answers are the same when decision, shown pair and offered choices are. Wording is not kept by runs: two texts that
belong to no pair count as the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.running.outcomes import ERROR, Outcome
from harness.statistics import Interval, clustered_share, wilson


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What a patient would have seen."""

    decision: str
    pair_id: str | None
    choices: tuple[str, ...]

    @classmethod
    def of(cls, outcome: Outcome) -> ShownAnswer:
        return cls(outcome.decision, outcome.answered_with, outcome.choices)

    def __str__(self) -> str:
        about = self.pair_id or ", ".join(self.choices)
        return f"{self.decision} {about}".rstrip()


@dataclass(frozen=True, slots=True)
class Repeated:
    """One question in several runs.

    Attributes:
        first: Its outcome in the first run.
        answers: One for each run; None where the system failed or the question was not asked.
        rights: Whether each answer was right; None for novel questions and where there is no answer.
    """

    first: Outcome
    answers: tuple[ShownAnswer | None, ...]
    rights: tuple[bool | None, ...]

    @property
    def given(self) -> tuple[ShownAnswer, ...]:
        return tuple(answer for answer in self.answers if answer is not None)

    @property
    def changed(self) -> bool:
        return len(set(self.given)) > 1

    @property
    def flipped(self) -> bool:
        """Whether it was right in one run and wrong in another."""
        return {True, False} <= set(self.rights)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.first.id,
            "text": self.first.text,
            "vignette": self.first.vignette,
            "pair_id": self.first.pair_id,
            "answers": [
                None
                if answer is None
                else {"decision": answer.decision, "pair_id": answer.pair_id, "choices": list(answer.choices)}
                for answer in self.answers
            ],
            "right": list(self.rights),
        }


@dataclass(frozen=True, slots=True)
class Share:
    """How many questions of a group changed.

    Attributes:
        n: Questions with at least two answers.
        changed: Those whose answers differ.
        flipped: Those that were right in one run and wrong in another.
        wilson: 95 % interval of the share that changed, as if questions were independent; None without questions.
        clustered: The same, with regard to pairs; None with several questions of a single pair.
    """

    n: int
    changed: int
    flipped: int
    wilson: Interval | None
    clustered: Interval | None

    @classmethod
    def of(cls, group: Sequence[Repeated]) -> Share:
        changed = [repeated.changed for repeated in group]
        # Questions without a right pair are clusters of their own.
        by_pair: dict[str, list[bool]] = {}
        for repeated in group:
            by_pair.setdefault(repeated.first.pair_id or repeated.first.id, []).append(repeated.changed)
        return cls(
            n=len(group),
            changed=sum(changed),
            flipped=sum(repeated.flipped for repeated in group),
            wilson=wilson(sum(changed), len(group)),
            clustered=clustered_share([sum(one) for one in by_pair.values()], [len(one) for one in by_pair.values()]),
        )

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval that is shown; of a single pair nothing follows for others."""
        return self.clustered

    def as_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "changed": self.changed,
            "flipped": self.flipped,
            "share": self.changed / self.n if self.n else None,
            "ci95": {
                "wilson": self.wilson.as_json() if self.wilson else None,
                "clustered": self.clustered.as_json() if self.clustered else None,
            },
        }


@dataclass(frozen=True, slots=True)
class Stability:
    """Several runs of the same questions.

    Attributes:
        runs: How many.
        compared: Questions with at least two answers, in the order of the first run that asked them.
        alone: Questions with fewer: asked once only, or the system failed.
    """

    runs: int
    compared: tuple[Repeated, ...]
    alone: int

    @property
    def changed(self) -> list[Repeated]:
        return [repeated for repeated in self.compared if repeated.changed]

    @property
    def total(self) -> Share:
        return Share.of(self.compared)

    def by(self, of: Callable[[Outcome], str]) -> dict[str, Share]:
        """Return the shares of groups, for example of vignettes, in the order in which they come."""
        groups: dict[str, list[Repeated]] = {}
        for repeated in self.compared:
            groups.setdefault(of(repeated.first), []).append(repeated)
        return {name: Share.of(group) for name, group in groups.items()}

    @property
    def vignettes(self) -> dict[str, Share]:
        return self.by(lambda outcome: outcome.vignette)

    @property
    def pairs(self) -> dict[str, Share]:
        """Pairs with an answer that changed, those that changed most first; novel questions are together."""
        shares = self.by(lambda outcome: outcome.pair_id or f"({outcome.kind})")
        unstable = {name: share for name, share in shares.items() if share.changed}
        return dict(sorted(unstable.items(), key=lambda item: -item[1].changed / item[1].n))

    def as_json(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "total": self.total.as_json(),
            "vignettes": {name: share.as_json() for name, share in self.vignettes.items()},
            "pairs": {name: share.as_json() for name, share in self.pairs.items()},
            "alone": self.alone,
            "changed": [repeated.as_json() for repeated in self.changed],
        }


def stability(runs: Sequence[Sequence[Outcome]]) -> Stability:
    """Set runs side by side; questions are the same when id, text and right pair are."""
    by_key = [{outcome.key: outcome for outcome in run} for run in runs]
    firsts: dict[tuple[str, str, str | None], Outcome] = {}
    for run in by_key:
        for key, outcome in run.items():
            firsts.setdefault(key, outcome)
    repeated = [_repeated(first, [run.get(key) for run in by_key]) for key, first in firsts.items()]
    compared = tuple(one for one in repeated if len(one.given) > 1)
    return Stability(len(runs), compared, len(repeated) - len(compared))


def _repeated(first: Outcome, outcomes: Sequence[Outcome | None]) -> Repeated:
    answered = [None if outcome is None or outcome.decision == ERROR else outcome for outcome in outcomes]
    return Repeated(
        first,
        tuple(ShownAnswer.of(outcome) if outcome else None for outcome in answered),
        tuple(outcome.right if outcome else None for outcome in answered),
    )
