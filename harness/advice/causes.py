"""Why questions were missed: what the assistant knows of each miss, its causes, and what would mend a group of them.

Suites are test data: a proposal never holds a suite's question as a new variant. It says what to write about, by the
words in which missed questions differ from what curators wrote, and a curator writes afresh.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bot import Assistant, Catalog, Explanation, Pair, fold, words
from harness.labelling.labels import Verdicts
from harness.running.outcomes import Outcome, accepted_pairs
from harness.scoring.confusions import Confusion

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


Cause = Literal[
    "alarm", "intruding", "narrative", "mislabelled", "threshold", "confused", "gap", "background", "scattered"
]
# In the order in which they are looked for: a miss with several causes is grouped under the first.
CAUSES: dict[Cause, str] = {
    "alarm": "Taken for an emergency",
    "intruding": "Answered, though no pair may fit",
    "narrative": "A story outweighs its question",
    "mislabelled": "Near a variant that looks mislabelled",
    "threshold": "Right, but below the threshold",
    "confused": "Two pairs confused",
    "gap": "No variant near",
    "background": "Background pulled it away",
    "scattered": "Another pair scored higher, without a pattern",
}
CONFUSED_P = 0.05  # before adjusting for the number of pairs: the table shows both
MIN_CONFUSED = 2  # one question is no pattern
Confused = Mapping[frozenset[str], Confusion]
LISTED = 8
KNOWN_SHARE = 0.03  # of a pair's texts: words more common than this are known to it
COMMON_SHARE = 0.25  # of the pairs: words that so many pairs use say nothing about any
MIN_LETTERS = 4  # shorter words are mostly grammar
STEM = 6  # letters by which forms of a word are taken for the same: "Implantat", "Implantaten"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")  # "aren't" is one word
BACKGROUND_SHOWN = 3


def causes(clues: Clues, far: Nearness | None, confused: Confused) -> tuple[Cause, ...]:
    """Return the causes that hold, the one to act on first; at least one.

    Args:
        clues: Of the miss.
        far: Below this in meaning and in wording, no variant of the right pair is near.
        confused: Pairs of pairs that are confused more often than chance would have it.
    """
    if clues.miss.kind in ("alarm", "intruding"):
        return ("alarm",) if clues.miss.kind == "alarm" else ("intruding",)
    first_right = clues.first in clues.miss.accepted
    none_won = clues.none_of_these > clues.first_score
    holds: dict[Cause, bool] = {
        "narrative": clues.part is not None,
        "mislabelled": clues.suspect is not None,
        "threshold": first_right and not none_won,
        "confused": not first_right and frozenset({clues.miss.pair_id, clues.first}) in confused,
        "gap": not first_right and _is_far(clues.nearness, far),
        "background": none_won,
    }
    return tuple(cause for cause in CAUSES if holds.get(cause)) or ("scattered",)


def is_confused(confusion: Confusion) -> bool:
    """Tell whether two pairs are confused often enough to name it as a cause."""
    return confusion.count >= MIN_CONFUSED and confusion.p_value <= CONFUSED_P


def _is_far(nearness: Nearness | None, far: Nearness | None) -> bool:
    if far is None:
        return False  # nothing was understood, so nobody knows what near means
    if nearness is None:
        return True  # the assistant did not even look at the right pair
    return nearness.meaning < far.meaning and nearness.wording < far.wording


class DistinctWords:
    """Knows which pairs of a catalog use a word, and how often."""

    def __init__(self, catalog: Catalog) -> None:
        self._texts = {pair.id: _texts(pair) for pair in catalog.pairs}
        self._pairs_with = Counter(stem for texts in self._texts.values() for stem in set().union(*map(_stems, texts)))

    def of(self, questions: Sequence[str], pair_id: str) -> tuple[str, ...]:
        """Return the words of questions that a pair's texts lack and few pairs use.

        Words that more of the questions share come first, then those that fewer pairs use.
        """
        known = Counter(stem for text in self._texts.get(pair_id, ()) for stem in _stems(text))
        limit = KNOWN_SHARE * len(self._texts.get(pair_id, ()))
        shown: dict[str, str] = {}
        count: Counter[str] = Counter()
        for question in questions:
            found = {_stem(word): word for word in _WORD.findall(question) if len(word) >= MIN_LETTERS}
            shown = {**found, **shown}
            count.update(stem for stem in found if known[stem] <= limit and self._is_telling(stem))
        order = sorted(count, key=lambda stem: (-count[stem], self._pairs_with[stem], stem))
        return tuple(shown[stem] for stem in order[:LISTED])

    def _is_telling(self, stem: str) -> bool:
        return self._pairs_with[stem] <= COMMON_SHARE * len(self._texts)


def _texts(pair: Pair) -> list[str]:
    return [pair.question, *(variant.text for variant in pair.variants)]


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text)}


def _stem(word: str) -> str:
    return fold(word)[:STEM]


def quoted(words: Iterable[str]) -> str:
    """Return words for a sentence."""
    return ", ".join(f"“{word}”" for word in words)


@dataclass(frozen=True, slots=True)
class Entry:
    """The misses of one cause that one action would mend.

    Attributes:
        pairs: The pair, or the two pairs, that the action is about.
        clues: Of the misses.
        words: Which the missed questions have and the pair's texts lack.
        proposal: What to do, for a curator.
    """

    pairs: tuple[str, ...]
    clues: tuple[Clues, ...]
    words: tuple[str, ...]
    proposal: str


@dataclass(frozen=True, slots=True)
class Known:
    """What proposals are made from, besides the clues."""

    distinct: DistinctWords
    confused: Confused


def entries(cause: Cause, clues: Sequence[Clues], known: Known) -> list[Entry]:
    """Return the entries of one cause, the one with most misses first."""
    grouped: dict[tuple[str, ...], list[Clues]] = defaultdict(list)
    for clue in clues:
        grouped[_pairs(cause, clue)].append(clue)
    found = [_entry(cause, pairs, group, known) for pairs, group in grouped.items()]
    return sorted(found, key=lambda entry: (-len(entry.clues), entry.pairs))


def _pairs(cause: Cause, clue: Clues) -> tuple[str, ...]:
    if cause == "confused":
        return tuple(sorted((clue.miss.pair_id, clue.first)))
    if cause == "mislabelled" and clue.suspect is not None:
        return (clue.suspect.pair_id, clue.miss.pair_id)
    return (clue.miss.pair_id,)


def _entry(cause: Cause, pairs: tuple[str, ...], clues: Sequence[Clues], known: Known) -> Entry:
    texts: dict[str, list[str]] = defaultdict(list)
    for clue in clues:
        texts[clue.miss.pair_id].append(clue.miss.outcome.text)
    found = (word for pair_id, missed in texts.items() for word in known.distinct.of(missed, pair_id))
    words = tuple(dict.fromkeys(found))
    draft = Entry(pairs, tuple(clues), words, "")
    return Entry(pairs, tuple(clues), words, _PROPOSALS[cause](draft, known))


def _about(words: Iterable[str]) -> str:
    named = quoted(words)
    return f"about: {named}" if named else "that put its known words in other ways"


def _gap(entry: Entry, _: Known) -> str:
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}."


def _scattered(entry: Entry, _: Known) -> str:
    rivals = Counter(clue.first for clue in entry.clues)
    named = ", ".join(f"{name} ({count})" for name, count in rivals.most_common(3))
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}. Before it came {named}."


def _confused(entry: Entry, known: Known) -> str:
    first, second = entry.pairs
    one = known.confused[frozenset(entry.pairs)]
    both = (
        f"If one answer serves both, merge {first} and {second} or set `same_as`; otherwise write variants of each "
        "that name what the other is not about"
        if one.mutual
        else f"Write variants of {one.first} that {one.second} would not be asked with"
    )
    doubt = "" if one.beyond_chance else " Among so many pairs, this may still be chance."
    return f"{both}, {_about(entry.words)}.{doubt}"


def _threshold(entry: Entry, _: Known) -> str:
    scores = sorted(clue.first_score for clue in entry.clues)
    between = f"{scores[0]:.2f} to {scores[-1]:.2f}" if len(scores) > 1 else f"{scores[0]:.2f}"
    return f"Write variants of {entry.pairs[0]} {_about(entry.words)}. Its probability was {between}."


def _background(entry: Entry, _: Known) -> str:
    texts = [near.text for clue in entry.clues for near in clue.nearest if not near.pair_id]
    shown = quoted(dict.fromkeys(texts[:BACKGROUND_SHOWN]))
    review = f"Review whether these background questions are {entry.pairs[0]} after all: {shown}. " if shown else ""
    return f"{review}Write variants of {entry.pairs[0]} {_about(entry.words)}."


def _narrative(entry: Entry, _: Known) -> str:
    return (
        f"Asked alone, the question in these messages is answered. Write variants of {entry.pairs[0]} as short stories "
        "that end in the question."
    )


def _mislabelled(entry: Entry, _: Known) -> str:
    wrong, right = entry.pairs
    texts = quoted(dict.fromkeys(clue.suspect.text for clue in entry.clues if clue.suspect is not None))
    return f"Review these variants of {wrong}, whose neighbours belong to {right}: {texts}."


def _intruding(entry: Entry, _: Known) -> str:
    about = f"about: {quoted(entry.words)}" if entry.words else "that come as near to it"
    return (
        f"Where {entry.pairs[0]} is no answer (raters say so: `klartext harness labels give`), write background "
        f"questions {about}."
    )


def _alarm(entry: Entry, _: Known) -> str:
    return f"Write harmless examples beside the red flags that ask for {entry.pairs[0]} as frankly as these do."


_PROPOSALS: dict[Cause, Callable[[Entry, Known], str]] = {
    "alarm": _alarm,
    "intruding": _intruding,
    "narrative": _narrative,
    "mislabelled": _mislabelled,
    "threshold": _threshold,
    "confused": _confused,
    "gap": _gap,
    "background": _background,
    "scattered": _scattered,
}
