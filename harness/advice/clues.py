"""Which outcomes of a run are misses, of what kind, and what the assistant knows about them when it explains itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bot import Assistant, Catalog, Explanation, words
from harness.labelling.labels import Verdicts
from harness.running.outcomes import Outcome, accepted_pairs

MissKind = Literal["wrong", "offered", "unsure", "lost", "intruding", "alarm"]
KINDS: dict[MissKind, str] = {
    "wrong": "answered with another pair",
    "offered": "the right pair was only offered",
    "unsure": "the right pair came first, but was not shown",
    "lost": "the right pair did not come first, and nothing right was shown",
    "intruding": "answered, though raters have not called it correct",
    "alarm": "taken for an emergency",
}
LONG_WORDS = 15  # shorter messages have no story around their question
MIN_WORDS = 3  # of a sentence that is asked alone
REFERENCES = 300  # right answers that "near" is learned from
FAR_QUANTILE = 0.10
ALIEN_NEIGHBOURS = 3  # of the four nearest to a variant
_SENTENCE = re.compile(r"(?<=[.!?;…])\s+")


@dataclass(frozen=True, slots=True)
class Miss:
    """An outcome that should have been another.

    Attributes:
        outcome: As stored with the run.
        kind: What went wrong.
        accepted: The right pair and those that curators declared the same; empty for novel questions.
    """

    outcome: Outcome
    kind: MissKind
    accepted: frozenset[str]

    @property
    def pair_id(self) -> str:
        """The right pair; for novel questions, the pair that was shown instead."""
        return self.outcome.pair_id or self.outcome.answered_with or ""


def misses_of(outcomes: Sequence[Outcome], catalog: Catalog, verdicts: Verdicts) -> list[Miss]:
    """Return the misses of a run, in its order.

    A novel question that was answered is a miss unless raters called the answer correct.
    """
    found = []
    for outcome in outcomes:
        kind = _kind(outcome, verdicts)
        if kind is not None:
            found.append(Miss(outcome, kind, accepted_pairs(catalog, outcome.pair_id)))
    return found


def _kind(outcome: Outcome, verdicts: Verdicts) -> MissKind | None:
    if outcome.right is None:
        shown = outcome.answered_with
        return "intruding" if shown is not None and verdicts.of(outcome.id, shown) != "correct" else None
    if outcome.right:
        return None
    if outcome.decision == "urgent":
        return "alarm"
    if outcome.answered_with is not None:
        return "wrong"
    if outcome.offered:
        return "offered"
    return "unsure" if outcome.top1 else "lost"


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a question is to the nearest variants of a pair: in meaning and in wording, mean of three."""

    meaning: float
    wording: float


@dataclass(frozen=True, slots=True)
class CuratedText:
    """A text of the catalog; the pair id of background is empty."""

    pair_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Clues:
    """What is known of one miss.

    Attributes:
        miss: The miss.
        first: The pair that came first.
        first_score: Its probability.
        none_of_these: Probability that no pair fits.
        nearness: To the right pair; None where no pair is right, or where the assistant did not look at it.
        nearest: Curated texts nearest in meaning, nearest first.
        part: The sentence that would have been answered rightly had it been asked alone.
        suspect: The variant of another pair that is nearest and looks as if it belonged to the right one.
    """

    miss: Miss
    first: str
    first_score: float
    none_of_these: float
    nearness: Nearness | None
    nearest: tuple[CuratedText, ...]
    part: str | None
    suspect: CuratedText | None


class Detective:
    """Gathers clues. Every question costs one explanation; long ones and suspects cost a little more."""

    def __init__(self, assistant: Assistant, language: str) -> None:
        self._assistant = assistant
        self._language = language

    def clues(self, miss: Miss) -> Clues:
        """Explain a miss."""
        right = miss.outcome.pair_id
        told = self._explain(miss.outcome.text, right)
        first = told.pairs[0]
        return Clues(
            miss=miss,
            first=first.pair_id,
            first_score=first.probability,
            none_of_these=told.none_of_these,
            nearness=nearness(told, right) if right else None,
            nearest=tuple(CuratedText(near.pair_id, near.text) for near in told.nearest),
            part=self._part(miss) if right else None,
            suspect=self._suspect(miss, told) if right else None,
        )

    def far_below(self, right: Sequence[Outcome]) -> Nearness | None:
        """Return the nearness that nine of ten rightly understood questions exceed; None without any."""
        sample = right[:: -(-len(right) // REFERENCES) or 1]
        near = [
            found
            for outcome in sample
            if outcome.pair_id and (found := nearness(self._explain(outcome.text, outcome.pair_id), outcome.pair_id))
        ]
        if not near:
            return None
        meaning, wording = np.quantile([(one.meaning, one.wording) for one in near], FAR_QUANTILE, axis=0)
        return Nearness(float(meaning), float(wording))

    def _explain(self, text: str, pair_id: str | None) -> Explanation:
        return self._assistant.explain(text, self._language, about=[pair_id] if pair_id else [])

    def _part(self, miss: Miss) -> str | None:
        """Return the surest sentence of a long message if it alone would have been answered rightly."""
        parts = sentences(miss.outcome.text)
        if len(words(miss.outcome.text)) < LONG_WORDS or len(parts) < 2:
            return None
        responses = self._assistant.answer_all(parts, self._language)
        surest = max(range(len(parts)), key=lambda number: responses[number].score)
        return parts[surest] if responses[surest].pair_id in miss.accepted else None

    def _suspect(self, miss: Miss, told: Explanation) -> CuratedText | None:
        nearest = told.nearest[0] if told.nearest else None
        if nearest is None or not nearest.pair_id or nearest.pair_id in miss.accepted:
            return None
        around = [
            other.pair_id
            for other in self._explain(nearest.text, None).nearest
            if words(other.text) != words(nearest.text)
        ]
        alien = sum(pair_id in miss.accepted for pair_id in around)
        if nearest.pair_id in around or alien < ALIEN_NEIGHBOURS:
            return None
        return CuratedText(nearest.pair_id, nearest.text)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that have enough words to be asked alone."""
    return [part for part in _SENTENCE.split(text.strip()) if len(words(part)) >= MIN_WORDS]


def nearness(told: Explanation, pair_id: str) -> Nearness | None:
    """Return how near the question is to a pair; None when the assistant did not look at the pair."""
    found = next((pair for pair in told.pairs if pair.pair_id == pair_id), None)
    return Nearness(found.views["dense"], found.views["chars"]) if found else None
