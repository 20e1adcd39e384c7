"""Decide whether a message is an emergency: the trained alarm, and what rules and alarm amount to together. Pure.

Ridge regression on meaning and wording, trained on urgent texts of every flag against harmless ones, what patients say
every day, complaints that can wait, general questions and everything that patients ordinarily ask. A linear model lets
most ordinary questions pass at once; a model on a quadratic kernel, which hears more but compares with every text,
scores the rest. `bot.matching.emergency` makes a decision of it.

A firm sign of a rule is an alarm by itself. Whatever else must be likely enough by a logistic model whose features are
the scores of the learned alarm, for the message and for its most urgent passage, and what rules and contexts found; its
weights (`red_flag_rules/decision.yaml`) are fitted on texts of authors unknown to the alarm (`klartext qa alarm`).
Messages of very few words alarm by rule only. No clock, no randomness; of the world only the encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import exp
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import yaml
from pydantic import BaseModel, ConfigDict

from bot.matching.features import (
    Bag,
    Floats,
    PackedVectors,
    Postings,
    Vocabulary,
    Whitening,
    fit_whitening,
    quadratic,
    sparse_rows,
)
from bot.matching.red_flags import CONTEXTS, RED_FLAGS, RedFlags, Sign, is_spelt_out
from bot.ports import Encoder
from bot.text import passages, words

RIDGE = 0.3
URGENT_WEIGHT = 10.0  # urgent texts are few, and missing one is worse than a false alarm
PRIOR = 0.1
FALSE_ALARMS = 0.004  # of ordinary questions that nothing was trained on, at the most
# No catalog's questions make the alarm calmer than this: those of MRI, half worried stories, asked for .5 and .4, at
# which 10 more of 120 messages that say something dangerous in passing were missed than at .15, 5 more than at .3.
CALMEST = 0.3
LOOKED_AT = 0.2  # share of these that the quadratic model looks at
DEFAULT_GATE = 0.15
MAX_ORDINARY = 2000  # more ordinary texts than this cost more than they teach


@dataclass(frozen=True)
class Alarm:
    """A fitted model.

    Attributes:
        vocabulary: Terms of the training texts.
        whitening: For vectors.
        term_weights: Of the linear model, shape (vocabulary,).
        meaning_weights: Of the linear model, shape (kept dimensions,).
        postings: Bags of the training texts.
        vectors: Whitened vectors of the training texts.
        dual: Of the quadratic model, shape (texts, 1 + flags): urgent at all, then each flag.
        gate: Score of the linear model from which the quadratic one is asked.
        threshold: Least probability of an alarm that this catalog's ordinary questions ask for; 0: not known.
        flags: Names of the flags, in the order of the columns.
    """

    vocabulary: Vocabulary
    whitening: Whitening
    term_weights: Floats
    meaning_weights: Floats
    postings: Postings
    vectors: PackedVectors
    dual: Floats
    gate: float
    threshold: float
    flags: tuple[str, ...]

    def suspect(self, vectors: Floats, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which texts the quadratic model has to look at, shape (texts,)."""
        bags = [self.vocabulary.bag(text) for text in texts]
        return np.asarray(self._linear(self.whitening.apply(vectors), bags) >= self.gate)

    def scores(self, vectors: Floats, texts: Sequence[str]) -> Floats:
        """Return how urgent each text is and how much it is like each flag, shape (texts, 1 + flags)."""
        return self._quadratic(self.whitening.apply(vectors), [self.vocabulary.bag(text) for text in texts])

    def gated(self, vectors: Floats, texts: Sequence[str]) -> Alarm:
        """Return the alarm with a gate that lets most of these ordinary questions pass.

        Args:
            vectors: Of questions that the alarm was not trained on, shape (questions, dimensions).
            texts: The questions.
        """
        if len(texts) * LOOKED_AT < 1:
            return self
        bags, white = [self.vocabulary.bag(text) for text in texts], self.whitening.apply(vectors)
        return replace(self, gate=float(np.quantile(self._linear(white, bags), 1 - LOOKED_AT)))

    def calmed(self, likely: Sequence[float]) -> Alarm:
        """Return the alarm with a threshold at which few ordinary questions alarm; `likely`: their probabilities."""
        if len(likely) * FALSE_ALARMS < 1:
            return self
        return replace(self, threshold=float(np.quantile(likely, 1 - FALSE_ALARMS)))

    def _linear(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        wording = [self.term_weights[bag.index] @ bag.weight for bag in bags]
        return np.asarray(white @ self.meaning_weights + np.array(wording, dtype=np.float32) + PRIOR, dtype=np.float32)

    def _quadratic(self, white: Floats, bags: Sequence[Bag]) -> Floats:
        if not bags:
            return np.zeros((0, self.dual.shape[1]), dtype=np.float32)
        kernel = quadratic(self.vectors.products(white), self.postings.cosines(bags))
        return np.asarray(kernel @ self.dual + PRIOR, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class AlarmTexts:
    """What an alarm is trained on.

    Attributes:
        urgent: Flag and text.
        harmless: Texts that resemble emergencies and are none, and what patients say every day.
        ordinary: What patients ask.
    """

    urgent: tuple[tuple[str, str], ...]
    harmless: tuple[str, ...]
    ordinary: tuple[str, ...]

    @property
    def step(self) -> int:
        """Which ordinary texts are used: every first, second, third … one."""
        return max(1, -(-len(self.ordinary) // MAX_ORDINARY))

    @property
    def all(self) -> list[str]:
        return [text for _, text in self.urgent] + [*self.harmless, *self.ordinary[:: self.step]]


def fit_alarm(texts: AlarmTexts, vectors: Floats, flags: Sequence[str]) -> Alarm:
    """Fit an alarm; `vectors` belong to `texts.all`, shape (texts, dimensions)."""
    everything = texts.all
    target = np.full((len(everything), 1 + len(flags)), -PRIOR, dtype=np.float32)
    for row, (flag, _) in enumerate(texts.urgent):
        target[row, [0, 1 + list(flags).index(flag)]] = 1 - PRIOR
    weight = np.ones(len(everything), dtype=np.float32)
    weight[: len(texts.urgent)] = URGENT_WEIGHT
    vocabulary, bags = Vocabulary.with_bags(everything)
    rows = sparse_rows(bags, len(vocabulary))
    whitening = fit_whitening(vectors)
    white = whitening.apply(vectors)
    meaning, wording = white @ white.T, (rows @ rows.T).toarray()
    linear = _solve(meaning + wording, target[:, :1], weight)
    return Alarm(
        vocabulary=vocabulary,
        whitening=whitening,
        term_weights=np.asarray(rows.T @ linear, dtype=np.float32)[:, 0],
        meaning_weights=np.asarray(white.T @ linear, dtype=np.float32)[:, 0],
        postings=Postings.of_rows(rows),
        vectors=PackedVectors.of(white),
        dual=_solve(quadratic(meaning, wording), target, weight),
        gate=DEFAULT_GATE,
        threshold=0.0,
        flags=tuple(flags),
    )


def _solve(kernel: Floats, target: Floats, weight: Floats) -> Floats:
    from scipy.linalg import cho_factor, cho_solve

    kernel[np.diag_indices_from(kernel)] += RIDGE / weight
    return np.asarray(cho_solve(cho_factor(kernel, lower=True, overwrite_a=True), target), dtype=np.float32)


FEW, MANY = 6, 40  # words: short lines and long posts are different cases
FEATURES = (
    "message",
    "passage",
    "firm",
    "sign",
    *CONTEXTS,
    "few words",
    "many words",
    "question mark",
    "sign now",
    "message now",
    "message general",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a message is an emergency, and what says so.

    Attributes:
        flag: One of `bot.matching.red_flags.FLAGS`, or None.
        by: What raised it.
        evidence: What a nurse could point at: the words that a rule matched, or the most urgent passage.
        probability: Of an emergency, as far as it was estimated: 1 for a rule, 0 where the model saw no reason to look.
    """

    flag: str | None = None
    by: Literal["rule", "model"] | None = None
    evidence: str = ""
    probability: float = 0.0


CALM = Verdict()


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of one message before it is decided.

    Attributes:
        features: In the order of `FEATURES`.
        flag: The likeliest flag, if it is an emergency.
        evidence: The most urgent passage.
    """

    features: tuple[float, ...]
    flag: str
    evidence: str


class Decision(BaseModel):
    """Weights of the logistic model for one language, and the probability from which a message alarms."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float
    intercept: float
    weights: dict[str, float]

    def probability(self, features: Sequence[float]) -> float:
        total = self.intercept + sum(
            self.weights.get(name, 0.0) * value for name, value in zip(FEATURES, features, strict=True)
        )
        return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@lru_cache(maxsize=1)
def load_decisions() -> dict[str, Decision]:
    """Load the weights by language; languages without their own take those of English."""
    raw: Any = yaml.load((RED_FLAGS / "decision.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    return {language: Decision.model_validate(one) for language, one in raw.items()}


def decision_of(language: str) -> Decision:
    """Return the weights of a language, or those of English."""
    return load_decisions().get(language, load_decisions()["en"])


class Lookout:
    """Looks for emergencies in one language."""

    def __init__(self, rules: RedFlags, alarm: Alarm, encoder: Encoder, decision: Decision) -> None:
        self._rules = rules
        self._alarm = alarm
        self._encoder = encoder
        self._decision = decision
        self._threshold = max(decision.threshold, min(alarm.threshold, CALMEST))

    def by_rule(self, text: str) -> str | None:
        """Return the flag that a text raises by rule alone."""
        return self._rules.check(text)

    def judge(self, texts: Sequence[str], vectors: Floats | None = None) -> list[Verdict]:
        """Return what each message is, in order.

        Args:
            texts: Messages of any length, as `bot.text.seen` gives them.
            vectors: Of the messages where they are known already, shape (messages, dimensions).
        """
        texts, vectors = self._spelt_together(texts, vectors)
        verdicts: list[Verdict] = [CALM] * len(texts)
        left: list[int] = []
        signs = [self._rules.signs(text) for text in texts]
        for number, found in enumerate(signs):
            firm = next((sign for sign in found if sign.firm), None)
            if firm is not None:
                verdicts[number] = Verdict(firm.flag, "rule", firm.words, 1.0)
            elif not self._rules.alone(texts[number]):
                left.append(number)
        known = vectors[left] if vectors is not None else None
        measured = self.measure([texts[number] for number in left], [signs[number] for number in left], known)
        for number, one in zip(left, measured, strict=True):
            if one is not None:
                likely = self._decision.probability(one.features)
                alarms = likely >= self._threshold
                verdicts[number] = (
                    Verdict(one.flag, "model", one.evidence, likely)
                    if alarms
                    else Verdict(None, None, one.evidence, likely)
                )
        return verdicts

    def measure(
        self, texts: Sequence[str], signs: Sequence[Sequence[Sign]], vectors: Floats | None = None, *, gate: bool = True
    ) -> list[Measured | None]:
        """Return what is known of each message; None where neither a sign nor the linear alarm gives reason to look.

        Args:
            texts: As `judge` takes them.
            signs: What the rules found in each.
            vectors: As `judge` takes them.
            gate: Whether the linear alarm may spare the others.
        """
        if not texts:
            return []
        pieces = [(text, *self._further(text)) for text in texts]
        flat = list(chain.from_iterable(pieces))
        starts = np.cumsum([0, *(len(each) for each in pieces)])
        encoded = self._encoded(flat, starts, vectors)
        suspect = self._alarm.suspect(encoded, flat) if gate else np.ones(len(flat), dtype=bool)
        looked_at = [
            number for number, found in enumerate(signs) if found or suspect[starts[number] : starts[number + 1]].any()
        ]
        rows = [row for number in looked_at for row in range(starts[number], starts[number + 1])]
        scores = dict(zip(rows, self._alarm.scores(encoded[rows], [flat[row] for row in rows]), strict=True))
        result: list[Measured | None] = [None] * len(texts)
        for number in looked_at:
            own = np.array([scores[row] for row in range(starts[number], starts[number + 1])])
            result[number] = self._measured(texts[number], pieces[number], own, signs[number])
        return result

    def _spelt_together(self, texts: Sequence[str], vectors: Floats | None) -> tuple[Sequence[str], Floats | None]:
        """Return messages, those that are spelt letter by letter as they are meant: not only piece by piece."""
        spelt = {
            number: min((text, *self._rules.readings(text)), key=lambda said: len(said.split()))
            for number, text in enumerate(texts)
            if is_spelt_out(text)
        }
        if not spelt:
            return texts, vectors
        together = [spelt.get(number, text) for number, text in enumerate(texts)]
        if vectors is not None:
            vectors = vectors.copy()
            vectors[list(spelt)] = self._encoder.encode(list(spelt.values()))
        return together, vectors

    def _further(self, text: str) -> tuple[str, ...]:
        """Return what is judged besides a whole message: its passages, and what else it may say."""
        cut = (piece for said in (text, *self._rules.readings(text)) for piece in passages(said))
        return tuple(piece for piece in cut if piece != text)

    def _encoded(self, flat: list[str], starts: Any, vectors: Floats | None) -> Floats:
        if vectors is None:
            return self._encoder.encode(flat)
        firsts = set(starts[:-1].tolist())
        rest = [row for row in range(len(flat)) if row not in firsts]
        encoded = np.empty((len(flat), vectors.shape[1]), dtype=np.float32)
        encoded[starts[:-1]] = vectors
        if rest:
            encoded[rest] = self._encoder.encode([flat[row] for row in rest])
        return encoded

    def _measured(self, text: str, pieces: Sequence[str], scores: Floats, signs: Sequence[Sign]) -> Measured:
        around, count = self._rules.around(text), len(words(text))
        # The message itself comes first; a message of one passage is its own most urgent passage.
        best = 1 + int(scores[1:, 0].argmax()) if len(scores) > 1 else 0
        message = float(scores[0, 0])
        firm, sign = any(sign.firm for sign in signs), bool(signs)
        features = (
            message,
            float(scores[best, 0]),
            firm,
            sign,
            *(name in around for name in CONTEXTS),
            count <= FEW,
            count > MANY,
            text.rstrip().endswith("?"),
            sign and "now" in around,
            message * ("now" in around),
            message * ("general" in around),
        )
        flag = signs[0].flag if signs else self._alarm.flags[int(scores[best, 1:].argmax())]
        return Measured(tuple(float(value) for value in features), flag, pieces[best])
