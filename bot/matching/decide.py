"""Answer, ask back, or decline. Pure: probabilities in, a decision out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.matching.features import Floats
from bot.text import words

CHOICES = 3
MIN_WORDS_COSINE = 3  # seed paper 004: fewer than three words are not answered
MIN_REPEATED = 3  # letters; shorter words, such as "aa", may be abbreviations
COSINE_THRESHOLD = 0.5  # the paper prints none


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair and how well it fits: a calibrated probability, or the raw cosine under that method."""

    pair_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Answered:
    """Show this pair's answer."""

    best: Candidate


@dataclass(frozen=True, slots=True)
class Clarify:
    """Ask which of these pairs is meant: two or three, likeliest first."""

    choices: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """Do not answer."""

    reason: str  # for curators and the explanation, never for the patient


Decision = Answered | Clarify | Declined


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When to answer and when to ask back.

    Attributes:
        answer: Lowest probability of the best pair for a direct answer.
        clarify: Lowest summed probability of the offered pairs for asking back.
        cosine: Lowest cosine of the published method for an answer.
    """

    answer: float = 0.55
    clarify: float = 0.55
    cosine: float = COSINE_THRESHOLD


# How much the whole of a story counts beside the piece of it that asks (geometric mean): the piece may well ask about
# something else that the story is about.
WHOLE = 0.1
LEAST = 1e-3  # probability that no piece falls below: a story says nothing for certain


def of_story(whole: Floats, pieces: Floats) -> Floats:
    """Return the scores of a story from its own and those of the pieces of it that ask.

    Args:
        whole: Scores of every pair for the whole, shape (pairs,).
        pieces: Scores for each piece, shape (pieces, pairs).
    """
    told = np.exp(WHOLE * np.log(whole + LEAST) + (1 - WHOLE) * np.log(pieces.max(axis=0) + LEAST))
    return np.asarray(np.maximum(whole, told - LEAST), dtype=np.float32)


def says_nothing(text: str) -> bool:
    """Tell whether no word of a text has two different letters: whatever such keys resemble, nothing was asked."""
    return all(len(word) >= MIN_REPEATED and len(set(word)) == 1 for word in words(text))


def decide(ranked: Sequence[Candidate], thresholds: Thresholds) -> Decision:
    """Decide from all pairs ranked by calibrated probability, best first ("none of these" holds the rest)."""
    if not ranked:
        return Declined("the catalog has no pair that may be shown")
    best = ranked[0]
    if best.score >= thresholds.answer:
        return Answered(best)
    covered = best.score
    for count in range(2, min(CHOICES, len(ranked)) + 1):
        covered += ranked[count - 1].score
        if covered >= thresholds.clarify:
            return Clarify(tuple(ranked[:count]))
    return Declined(
        f"best pair {best.score:.3f} < {thresholds.answer:.3f}, "
        f"the {min(CHOICES, len(ranked))} best together {covered:.3f} < {thresholds.clarify:.3f}"
    )


def decide_by_cosine(text: str, ranked: Sequence[Candidate], thresholds: Thresholds) -> Decision:
    """Decide as the seed paper's assistant did: nearest canonical question, three words or more, one threshold."""
    if not ranked:
        return Declined("the catalog has no pair that may be shown")
    count = len(words(text))
    if count < MIN_WORDS_COSINE:
        return Declined(f"{count} words < {MIN_WORDS_COSINE}")
    best = ranked[0]
    if best.score < thresholds.cosine:
        return Declined(f"cosine {best.score:.3f} < {thresholds.cosine:.3f}")
    return Answered(best)
