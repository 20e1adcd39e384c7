"""What a message means after an answer: whether it stands alone, asks on, or wants the answer otherwise. Pure.

Two small logistic models, fitted by `klartext qa context` on dialogues (`context_fit.py`). The first reads the wording
of the message alone: character n-grams, words, and its vector. The second weighs that against what the message is
about: the head's probabilities of the message alone, of the last question with it and of the shown pair's question
with it, and how near it comes to what the shown answer says, compared with all other answers. A third, a conditional
logit, says which other pair it would be. No weight belongs to a pair, so all of them serve any catalog; vectors,
however, are those of one encoder, and with another nobody is listened to in context.

What a message means in context is evidence: it never changes what the message says by itself, and red flags are looked
for in the message before anybody asks here.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import log1p
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import yaml
from scipy.sparse import csr_array

from bot.batching import Together
from bot.catalog.catalog import Catalog, Extract, Pair
from bot.matching.features import Bag, Floats, Vocabulary, sparse_rows
from bot.matching.head import Head, Judged
from bot.matching.own_words import OwnWords
from bot.ports import Encoder
from bot.text import sanitise, sentences, words

FOLLOW_UPS = Path(__file__).parent / "follow_ups"
# What a message can be after an answer; `bot/matching/context_fit.py` says how dialogues are labelled.
Kind = Literal["alone", "same", "other", "none", "reaction", "easier", "shorter", "again", "more"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Wish = Literal["easier", "shorter", "again", "more"]
WISHES: tuple[Wish, ...] = get_args(Wish)
ALONE, SAME, OTHER, NONE, REACTION = (KINDS.index(kind) for kind in ("alone", "same", "other", "none", "reaction"))
Action = Literal["alone", "show", "offer", "none", "reaction", "easier", "shorter", "again", "more"]
OFFERED = 3
TOGETHER = 32  # messages of different patients weighed at once
AHEAD = 0.2  # by which the extract that is shown must be nearer than the next
LEAST = 1e-4  # a probability below this says no more than this
VIEWS = ("alone", "after", "beside")
MEASURES = ("own log", "best log", "none log", "own", "best", "none")
PAIR_FEATURES = (
    *(f"{view} log" for view in VIEWS), *VIEWS, "answer meaning", "answer wording", "related", "related back",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """A message after an answer.

    Attributes:
        text: The message.
        shown: Id of the pair whose answer was shown last.
        last_question: What the patient had asked then; None when the pair was picked.
        decision: What the message alone came to: answered, clarify or declined.
        judged: What is known of the message already.
        closely: Whether it matters how likely a message stands alone that surely does.
    """

    text: str
    shown: str
    last_question: str | None
    decision: str
    judged: Judged | None = None
    closely: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """What the wording of a message alone tells.

    Attributes:
        vocabulary: Terms, with the weights of their rarity.
        term_weights: Shape (vocabulary, kinds).
        meaning_weights: Of the encoder's vectors, shape (dimensions, kinds).
        intercept: Shape (kinds,).
    """

    vocabulary: Vocabulary
    term_weights: Floats
    meaning_weights: Floats
    intercept: Floats

    def log_probabilities(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return the logarithms of the kinds' probabilities, shape (texts, kinds)."""
        rows = sparse_rows([self.vocabulary.bag(text) for text in texts], len(self.vocabulary))
        score = rows @ self.term_weights + vectors @ self.meaning_weights + self.intercept
        return np.asarray(np.log(softmax(score) + LEAST), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Limits:
    """From which probability something is done; chosen on authors that nothing was fitted on.

    Attributes:
        alone: Of standing alone: nothing else is then considered.
        alone_answered: The same, where the message alone gets an answer.
        wish: Of wanting the answer easier, shorter, once more, or more of it.
        reaction: Of asking nothing.
        same: For the answer shown last once more.
        other: For another answer.
        offer: For asking back, of the offered together.
        silent: Of asking nothing, or what no pair answers: from here nothing is offered.
        extract: Similarity from which an extract is shown first.
    """

    alone: float
    alone_answered: float
    wish: float
    reaction: float
    same: float
    other: float
    offer: float
    silent: float
    extract: float

    def least_alone(self, decision: str) -> float:
        """Return from which probability a message stands alone, by what it alone came to."""
        return min(self.alone, self.alone_answered) if decision == "answered" else self.alone


@dataclass(frozen=True, slots=True)
class Move:
    """What to do with a message: show the pairs, offer them, or what the action says.

    Attributes:
        action: What to do.
        pair_ids: With which pairs.
        score: How likely these are meant.
        alone: How likely the message is understood without what was said before; at the least, where that is enough.
    """

    action: Action
    pair_ids: tuple[str, ...] = ()
    score: float = 0.0
    alone: float = 1.0


@dataclass(frozen=True, slots=True)
class Guess:
    """What a message may be.

    Attributes:
        kinds: Probabilities, shape (kinds,).
        own: Number of the pair shown last.
        pairs: Of standing for each pair: alone, in context, or the shown one; shape (pairs,).
        decision: What the message alone came to: answered, clarify or declined.
    """

    kinds: Floats
    own: int
    pairs: Floats
    decision: str

    def move(self, limits: Limits, ids: Sequence[str]) -> Move:
        """Decide; `ids` are those of the pairs."""
        if self.kinds[ALONE] >= limits.least_alone(self.decision):
            return Move("alone")
        wish: Wish = max(WISHES, key=lambda kind: float(self.kinds[KINDS.index(kind)]))
        if self.kinds[KINDS.index(wish)] >= limits.wish:
            return Move(wish)
        if self.kinds[REACTION] >= limits.reaction and self.decision == "declined":
            return Move("reaction")
        order = np.argsort(-self.pairs, kind="stable")[:OFFERED]
        best = int(order[0])
        if self.pairs[best] >= (limits.same if best == self.own else limits.other):
            return Move("show", (ids[best],), float(self.pairs[best]))
        if self.decision == "answered":
            return Move("alone")  # only a better answer may stand in place of one
        quiet = self.kinds[NONE] + self.kinds[REACTION]
        if len(order) > 1 and quiet < limits.silent and self.pairs[order].sum() >= limits.offer:
            return Move("offer", tuple(ids[number] for number in order), float(self.pairs[best]))
        if self.decision == "clarify":
            return Move("alone")  # what is offered answers nothing, but may be what was meant
        return Move("reaction" if self.kinds[REACTION] > self.kinds[NONE] else "none")


@dataclass(frozen=True)
class Weights:
    """All that was fitted, for one language.

    Attributes:
        encoder: Whose vectors it knows.
        wording: Of the message alone.
        kinds: Of the features of a message, by name, shape (features, kinds).
        intercept: Shape (kinds,).
        pairs: Of the features of another pair, in the order of `PAIR_FEATURES`.
        limits: From which probability what is done.
    """

    encoder: str
    wording: Wording
    kinds: Floats
    intercept: Floats
    pairs: Floats
    limits: Limits

    @cached_property
    def own_words(self) -> OwnWords:
        """What the own words of a message say of its standing alone, at the least."""
        return OwnWords.of(WEIGHED, self.kinds, self.intercept, least=LEAST)


class Context:
    """Listens to messages after answers, for one language of a catalog."""

    def __init__(self, catalog: Catalog, ids: Sequence[str], head: Head, encoder: Encoder) -> None:
        self._catalog, self._ids, self._head, self._encoder = catalog, tuple(ids), head, encoder
        self._number = {pair_id: number for number, pair_id in enumerate(ids)}
        self._extracts: dict[str, tuple[Floats, csr_array]] = {}
        self._together = Together(self._moves, at_most=TOGETHER)

    @cached_property
    def weights(self) -> Weights | None:
        """What was fitted; None where nothing was for this language or encoder, or there is no pair to ask on to."""
        weights = load_weights(self._catalog.language)
        fits = weights is not None and weights.encoder == self._encoder.name and len(self._ids) > 1
        return weights if fits else None

    def prepare(self) -> None:
        """Work out now what the first message after an answer would wait for."""
        if self.weights is not None:
            _ = self._answers, self._related, self._asked

    def asked_by(self, text: str) -> frozenset[str]:
        """Return the pairs of which a text is a question or variant, but for case, accents and punctuation."""
        return self._asked.get(" ".join(words(text)), frozenset())

    @cached_property
    def _asked(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for pair in (self._catalog.pair(pair_id) for pair_id in self._ids):
            for text in (pair.question, *(variant.text for variant in pair.variants)):
                found.setdefault(" ".join(words(text)), set()).add(pair.id)
        return {text: frozenset(pairs) for text, pairs in found.items() if text}

    def move(self, said: Said) -> Move:
        """Decide on a message, together with those of other threads; without weights every message stands alone."""
        return self._together.ask(said) if self.weights is not None else Move("alone")

    def _moves(self, said: Sequence[Said]) -> list[Move]:
        """Decide on messages; what was said before is looked at only where it may change something."""
        weights = self.weights
        if weights is None:
            return [Move("alone")] * len(said)
        own = self.measure_alone(said)
        alone = weights.own_words.alone(_weighed(own, weights))
        moves = [Move("alone", alone=float(least)) for least in alone]
        open_ = [
            number
            for number, (one, least) in enumerate(zip(said, alone, strict=True))
            if one.closely or least < weights.limits.least_alone(one.decision)
        ]
        if open_:
            measured = self._with_views(own.some(np.array(open_)), [said[number] for number in open_])
            for number, found in zip(open_, guess(measured, weights), strict=True):
                moves[number] = replace(found.move(weights.limits, self._ids), alone=float(found.kinds[ALONE]))
        return moves

    def stands_alone(self, text: str) -> float:
        """Return how likely a message is by its wording to be understood without what was said before, 0 to 1."""
        if self.weights is None:
            return 1.0
        clean = sanitise(text).text
        kinds = self.weights.wording.log_probabilities(self._encoder.encode([clean]), [clean])
        return float(np.exp(kinds[0, ALONE]))

    def measure(self, said: Sequence[Said]) -> Measured:
        """Return what is known of messages before anything is weighed."""
        return self._with_views(self.measure_alone(said), said)

    def measure_alone(self, said: Sequence[Said]) -> Measured:
        """Return what is known of messages by their own words; these stand in the place of the other views, too."""
        texts = [sanitise(one.text).text for one in said]
        judged = self._judged(texts, [one.judged for one in said])
        vectors = np.stack([one.vector for one in judged])
        own = np.array([self._number[one.shown] for one in said], dtype=np.intp)
        meaning, wording = self._answers.nearness(vectors, texts)
        related = self._related
        return Measured(
            texts=tuple(texts),
            vectors=vectors,
            own=own,
            views=np.stack([np.stack([one.pairs for one in judged])] * len(VIEWS)),
            meaning=meaning,
            wording=wording,
            related=np.stack([related[own], related.T[own]]),
            decision=tuple(one.decision for one in said),
        )

    def _judged(self, texts: Sequence[str], known: Sequence[Judged | None]) -> list[Judged]:
        """Return what the head makes of texts; those that are not known yet are judged, each once."""
        new = list(dict.fromkeys(text for text, one in zip(texts, known, strict=True) if one is None))
        vectors = self._encoder.encode(new)
        pairs = self._head.probabilities(vectors, new) if new else vectors
        found = {text: Judged(*one) for text, *one in zip(new, vectors, pairs, strict=True)}
        return [one if one is not None else found[text] for text, one in zip(texts, known, strict=True)]

    def _with_views(self, own: Measured, said: Sequence[Said]) -> Measured:
        """Add what messages are about after the last question, and beside the shown pair's question."""
        questions = [self._catalog.pair(one.shown).question for one in said]
        before = [*(one.last_question or question for one, question in zip(said, questions, strict=True)), *questions]
        texts = [sanitise(f"{one} {text}").text for one, text in zip(before, own.texts * 2, strict=True)]
        judged = np.stack([one.pairs for one in self._judged(texts, [None] * len(texts))])
        return replace(own, views=np.stack([own.views[0], *np.split(judged, 2)]))

    def extract(self, pair: Pair, text: str, judged: Judged | None = None) -> Extract | None:
        """Return what the answer of a pair says of just what a message asks; None where that is not clear.

        `judged`: what is known of the message.
        """
        if self.weights is None:
            return None
        near = self.extract_nearness(pair, text, judged)
        if len(near) < 2 or near[-1] >= near[:-1].max():
            return None  # it asks the pair's question as a whole
        order = np.argsort(-near[:-1], kind="stable")
        best, ahead = near[order[0]], near[order[0]] - near[order[1]] if len(order) > 1 else 1.0
        return pair.extracts[int(order[0])] if best >= self.weights.limits.extract and ahead >= AHEAD else None

    def extract_nearness(self, pair: Pair, text: str, judged: Judged | None = None) -> Floats:
        """Return how near a message is, in meaning and wording, to each extract of a pair and, last, to its question.

        Of shape (extracts + 1,); empty where there is nothing to compare. `judged`: what is known of the message.
        """
        clean = sanitise(text).text
        if not pair.extracts or not words(clean):
            return np.zeros(0, dtype=np.float32)
        evidence = self._head.evidence
        if pair.id not in self._extracts:
            said = [*(each.text for each in pair.extracts), pair.question]
            terms = held([evidence.vocabulary.bag(each) for each in said], len(evidence.vocabulary))
            self._extracts[pair.id] = evidence.whitening.apply(self._encoder.encode(said)), terms
        known, terms = self._extracts[pair.id]
        vectors = judged.vector[None] if judged is not None else self._encoder.encode([clean])
        wording = contained([evidence.vocabulary.bag(clean)], terms)[0]
        return np.asarray(known @ evidence.whitening.apply(vectors)[0] + wording, dtype=np.float32)

    @cached_property
    def _answers(self) -> Answers:
        return Answers.of([self._catalog.pair(pair_id) for pair_id in self._ids], self._head, self._encoder)

    @cached_property
    def _related(self) -> Floats:
        table = np.zeros((len(self._ids), len(self._ids)), dtype=np.float32)
        for number, pair_id in enumerate(self._ids):
            for other in self._catalog.pair(pair_id).related:
                if other in self._number:
                    table[number, self._number[other]] = 1
        return table


@dataclass(frozen=True)
class Answers:
    """What the answers of a catalog say.

    Attributes:
        head: Whose terms and whitening are used.
        vectors: Whitened, of all sentences, shape (sentences, dimensions).
        start: Number of the first sentence of each pair, shape (pairs,).
        terms: That each answer with its easy answer holds, as of `held`.
    """

    head: Head
    vectors: Floats
    start: npt.NDArray[np.intp]
    terms: csr_array

    @classmethod
    def of(cls, pairs: Sequence[Pair], head: Head, encoder: Encoder) -> Answers:
        parts = [(*sentences(pair.answer), *sentences(pair.easy_answer or pair.answer)) for pair in pairs]
        vectors = encoder.encode([sentence for each in parts for sentence in each])
        start = np.cumsum([0, *(len(each) for each in parts[:-1])])
        vocabulary = head.evidence.vocabulary
        bags = [vocabulary.bag(f"{pair.answer} {pair.easy_answer or ''}") for pair in pairs]
        return cls(head, head.evidence.whitening.apply(vectors), start, held(bags, len(vocabulary)))

    def nearness(self, vectors: Floats, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Return cosines with each answer's nearest sentence, and shares of wording found there: (texts, pairs)."""
        evidence = self.head.evidence
        cosine = evidence.whitening.apply(vectors) @ self.vectors.T
        wording = contained([evidence.vocabulary.bag(text) for text in texts], self.terms)
        return np.maximum.reduceat(cosine, self.start, axis=1), wording


def held(bags: Sequence[Bag], columns: int) -> csr_array:
    """Return which terms bags hold, shape (columns, bags)."""
    rows = sparse_rows(bags, columns)
    rows.data = np.ones_like(rows.data)
    return rows.T.tocsr()


def contained(bags: Sequence[Bag], terms: csr_array) -> Floats:
    """Return which share of the weight of each bag others hold too, shape (bags, others), from 0 to 1.

    `terms` are those of the others, as of `held`.
    """
    rows = sparse_rows(bags, terms.shape[0])
    rows.data = np.square(rows.data)
    return np.asarray((rows @ terms).toarray(), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of messages before anything is weighed.

    Attributes:
        texts: The messages.
        vectors: Theirs, shape (messages, dimensions).
        own: Number of the pair shown last, shape (messages,).
        views: The head's probabilities in the order of `VIEWS`, shape (3, messages, pairs + 1).
        meaning: Nearness to each answer, shape (messages, pairs).
        wording: The same in wording.
        related: Whether pairs are related to the shown one, and the shown one to them, shape (2, messages, pairs).
        decision: What each message alone came to.
    """

    texts: tuple[str, ...]
    vectors: Floats
    own: npt.NDArray[np.intp]
    views: Floats
    meaning: Floats
    wording: Floats
    related: Floats
    decision: tuple[str, ...]

    def some(self, which: npt.NDArray[Any]) -> Measured:
        """Return what is known of some of the messages; `which` holds their numbers."""
        return Measured(
            texts=tuple(self.texts[number] for number in which),
            vectors=self.vectors[which],
            own=self.own[which],
            views=self.views[:, which],
            meaning=self.meaning[which],
            wording=self.wording[which],
            related=self.related[:, which],
            decision=tuple(self.decision[number] for number in which),
        )


def guess(measured: Measured, weights: Weights) -> list[Guess]:
    """Weigh what is known of messages."""
    kinds = softmax(_weighed(measured, weights) @ weights.kinds + weights.intercept)
    others = other_pairs(measured, weights.pairs)
    rows = np.arange(len(measured.texts))
    pairs = kinds[:, [OTHER]] * others + kinds[:, [ALONE]] * measured.views[0][:, :-1]
    pairs[rows, measured.own] += kinds[:, SAME]
    return [Guess(*one) for one in zip(kinds, measured.own.tolist(), pairs, measured.decision, strict=True)]


def _weighed(measured: Measured, weights: Weights) -> Floats:
    """Return what is weighed of messages, shape (messages, `WEIGHED`)."""
    wording = weights.wording.log_probabilities(measured.vectors, measured.texts)
    return np.concatenate([features(measured), wording], axis=1)


def features(measured: Measured) -> Floats:
    """Return the features of messages that do not depend on single words, shape (messages, `FEATURES`)."""
    rows = np.arange(len(measured.texts))
    columns: list[npt.NDArray[Any]] = []
    tops: list[npt.NDArray[np.intp]] = []
    for view in measured.views:
        others = _without(view[:, :-1], measured.own)
        top = others.argmax(axis=1)
        each = np.stack([view[rows, measured.own], others[rows, top], view[:, -1]])
        columns += [*_log(each), *each]
        tops.append(top)
    alone, after, beside = tops
    related = measured.related[0]
    columns += [
        alone == after, after == beside, measured.views[1][rows, alone], measured.views[2][rows, alone],
        related[rows, alone], related[rows, after],
    ]  # fmt: skip
    for near in (measured.meaning, measured.wording):
        own, best = near[rows, measured.own], _without(near, measured.own).max(axis=1)
        columns += [own, best, own - best, (near > own[:, None]).sum(axis=1) / 10]
    columns += [np.array([one == name for one in measured.decision]) for name in ("answered", "clarify", "declined")]
    spoken = np.array([_manner(text) for text in measured.texts], dtype=np.float32).reshape(len(rows), -1)
    return np.concatenate([np.stack(columns, axis=1).astype(np.float32), spoken], axis=1)


def other_pairs(measured: Measured, weights: Floats) -> Floats:
    """Return which other pair a message would be about, shape (messages, pairs), rows summing to 1."""
    score = pair_features(measured) @ weights
    score[np.arange(len(score)), measured.own] = -np.inf
    return softmax(score)


def pair_features(measured: Measured) -> Floats:
    """Return the features of pairs for each message, shape (messages, pairs, `PAIR_FEATURES`)."""
    views = measured.views[:, :, :-1]
    near = (2 * measured.meaning, measured.wording)
    return np.asarray(np.stack([*_log(views), *views, *near, *measured.related], axis=2), dtype=np.float32)


def _manner(text: str) -> list[float]:
    """Return how a message is put: its length, a question mark, words that lean on what was said."""
    said, listed = words(text), _words()
    count = len(said)
    found = [float(count <= 1), float(count == 2), float(count == 3), float(count <= 4), float(count >= 9)]
    found += [min(count, 12) / 6, log1p(count), float("?" in text)]
    for group in listed.values():
        found += [float(said[:1] != [] and said[0] in group), float(min(2, sum(word in group for word in said)))]
    return found


@lru_cache(maxsize=1)
def _words() -> Mapping[str, frozenset[str]]:
    raw: Any = yaml.load((FOLLOW_UPS / "words.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return {name: frozenset(listed) for name, listed in raw.items()}


def _names() -> tuple[str, ...]:
    views = [f"{view} {measure}" for view in VIEWS for measure in MEASURES]
    tops = [
        "alone is after", "after is beside", "after of alone", "beside of alone", "alone related", "after related",
    ]  # fmt: skip
    near = [f"answer {what} {how}" for what in ("meaning", "wording") for how in ("own", "best", "ahead", "rank")]
    manner = ["one word", "two words", "three words", "few words", "many words", "words", "log words", "question mark"]
    listed = [f"{name} {how}" for name in _words() for how in ("first", "count")]
    return (*views, *tops, *near, "answered", "clarify", "declined", *manner, *listed)


FEATURES = _names()
# What the second model weighs: the features, then what the first made of the wording.
WEIGHED = (*FEATURES, *(f"wording {kind}" for kind in KINDS))


def softmax(scores: npt.NDArray[Any]) -> Floats:
    """Return probabilities along the last axis."""
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True), dtype=np.float32)


def _log(probabilities: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(probabilities, LEAST)) / 4, dtype=np.float32)


def _without(scores: Floats, own: npt.NDArray[np.intp]) -> Floats:
    """Return the scores with those of the shown pair below all others."""
    others = scores.copy()
    others[np.arange(len(others)), own] = -1
    return others


@lru_cache(maxsize=8)
def load_weights(language: str) -> Weights | None:
    """Return what was fitted for a language; None when nothing was."""
    path = FOLLOW_UPS / "wording" / f"{language}.tsv"
    if not path.is_file():
        return None
    raw: Any = yaml.load((FOLLOW_UPS / "weights.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    own, wording = raw[language], raw[language]["wording"]
    vocabulary = Vocabulary([row[0] for row in rows], np.array([row[1] for row in rows], dtype=np.float32))
    return Weights(
        encoder=raw["encoder"],
        wording=Wording(
            vocabulary,
            np.array([row[2:] for row in rows], dtype=np.float32).reshape(-1, len(KINDS)),
            np.array(wording["meaning"], dtype=np.float32),
            np.array(wording["intercept"], dtype=np.float32),
        ),
        kinds=np.array([own["kinds"][name] for name in WEIGHED], dtype=np.float32),
        intercept=np.array(own["intercept"], dtype=np.float32),
        pairs=np.array([raw["pairs"][name] for name in PAIR_FEATURES], dtype=np.float32),
        limits=Limits(**own["limits"]),
    )
