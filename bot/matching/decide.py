"""Answer, ask back, or decline. Pure: probabilities in, a decision out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bot.matching.features import Floats
from bot.text import Sanitised, story_pieces, words

CHOICES = 3
# Lowest summed probability for asking back about a story. Of MRI's calibration stories that are about a pair, 13 %
# (German) and 21 % (English) are then neither answered nor asked back; at the catalog's own thresholds 19 and 35 %.
# Nineteen of twenty that are asked back have the right pair among the choices, as before.
STORY_CLARIFY = 0.3
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


class Unread(Declined):
    """Do not answer, without looking at what a message says."""


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


LEAST = 1e-3  # probability that nothing falls below: a story says nothing for certain
# Conditional logit over the pairs and "none of these", fitted on the messages of more than 24 words among the
# calibration questions of mammography and MRI, German and English, and on 512 stories by two voices that no head had
# learned from (each catalog and language counts the same; docs/accuracy.md has figures with each of them left out).
# NONE is then .8 higher: beside stories, short questions would pay for the risk that the catalogs' mixes share.
OF_WHOLE, OF_BEST, OF_SECOND = 1.03, 0.44, 0.29  # logarithms of a pair's scores: the whole's, its two best pieces'
NONE, OF_NONE, OF_UNSURE = -2.34, 1.45, -0.89  # "none": constant, what the whole leaves over, what its best pair does


def read_stories(scores: Floats, counts: Sequence[int]) -> Floats:
    """Return the probabilities of all pairs for texts, of stories by their pieces, too, shape (texts, pairs).

    The whole of a story knows what it is about, and is unsure; a sentence of it may ask, or only tell something beside.

    Args:
        scores: Of every pair for the texts and then for the pieces of all, in order, shape (texts + pieces, pairs).
        counts: How many pieces each text has, shape (texts,).
    """
    result = np.array(scores[: len(counts)])
    ends = len(counts) + np.cumsum(counts)
    for number, (count, end) in enumerate(zip(counts, ends, strict=True)):
        if count:
            result[number] = _of_story(scores[number], scores[end - count : end])
    return result


def _of_story(whole: Floats, pieces: Floats) -> Floats:
    best = -np.sort(-np.concatenate([pieces, np.zeros_like(pieces[:1])]), axis=0)[:2]
    pairs = np.dot([OF_WHOLE, OF_BEST, OF_SECOND], [np.log(part + LEAST) for part in (whole, *best)])
    left = np.log(np.maximum([1 - whole.sum(), 1 - whole.max()], 0) + LEAST)
    logits = np.append(pairs, NONE + np.dot([OF_NONE, OF_UNSURE], left))
    odds = np.exp(logits - logits.max())
    return np.asarray(odds[:-1] / odds.sum(), dtype=np.float32)


def last_questions(scores: Floats, stories: Sequence[Sequence[str]]) -> list[Floats | None]:
    """Return what the scores of each story's last question are by itself; None where no question mark ends a piece.

    Args:
        scores: As `read_stories` takes them.
        stories: The pieces of each text, in order.
    """
    ends = len(scores) - sum(map(len, stories)) + np.cumsum([len(pieces) for pieces in stories])
    asking = [max((n for n, piece in enumerate(pieces) if piece.endswith("?")), default=-1) for pieces in stories]
    return [
        scores[end - len(pieces) + last] if last >= 0 else None
        for pieces, last, end in zip(stories, asking, ends, strict=True)
    ]


def offer_asked(scores: Floats, pair_ids: Sequence[str], thresholds: Thresholds) -> Clarify | None:
    """Ask back about a story's last question where that by itself would be answered; None where it would not be.

    A sentence out of a story may mean something else in it: so nothing is answered, but its writer is asked.
    """
    order = np.argsort(-scores, kind="stable")[:CHOICES]
    if len(order) < 2 or scores[order[0]] < thresholds.answer:
        return None
    return Clarify(tuple(Candidate(pair_ids[column], float(scores[column])) for column in order))


def says_nothing(text: str) -> bool:
    """Tell whether no word of a text has two different letters: whatever such keys resemble, nothing was asked."""
    return all(len(word) >= MIN_REPEATED and len(set(word)) == 1 for word in words(text))


def decide_message(
    text: Sanitised,
    ranked: Sequence[Candidate],
    thresholds: Thresholds,
    *,
    asked: Candidate | None = None,
    last: Clarify | None = None,
) -> Decision:
    """Decide on a message that a head has read.

    Args:
        text: The message.
        ranked: All pairs, best first.
        thresholds: Of the head.
        asked: The pair whose own question the message is, word for word: its curators said what it means.
        last: What a story's last question asks back.
    """
    if (unread := unreadable(text)) is not None:
        return unread
    if asked is not None:
        return Answered(asked)
    decision = decide(ranked, thresholds, story=bool(story_pieces(text.text)))
    return last if last is not None and isinstance(decision, Declined) else decision


def word_for_word(text: str, ranked: Sequence[Candidate], question: Callable[[str], str]) -> Candidate | None:
    """Return the candidate of which a text is the question, but for case, accents and punctuation; None of several.

    `question`: returns a pair's own question.
    """
    said = words(text)
    found = [one for one in ranked if said and words(question(one.pair_id)) == said]
    return found[0] if len(found) == 1 else None


def unreadable(text: Sanitised) -> Unread | None:
    """Return why a message cannot be read; None where it can."""
    if text.too_long:
        return Unread("the text is too long")
    if not text.text:
        return Unread("the text is empty")
    return Unread("the text has no words") if says_nothing(text.text) else None


def decide(ranked: Sequence[Candidate], thresholds: Thresholds, *, story: bool = False) -> Decision:
    """Decide from all pairs ranked by calibrated probability, best first ("none of these" holds the rest).

    `story`: whether a story is told around the question, which its writer would have to tell again.
    """
    if not ranked:
        return Declined("the catalog has no pair that may be shown")
    best = ranked[0]
    if best.score >= thresholds.answer:
        return Answered(best)
    covered, least = best.score, min(thresholds.clarify, STORY_CLARIFY) if story else thresholds.clarify
    for count in range(2, min(CHOICES, len(ranked)) + 1):
        covered += ranked[count - 1].score
        if covered >= least:
            return Clarify(tuple(ranked[:count]))
    return Declined(
        f"best pair {best.score:.3f} < {thresholds.answer:.3f}, "
        f"the {min(CHOICES, len(ranked))} best together {covered:.3f} < {least:.3f}"
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
