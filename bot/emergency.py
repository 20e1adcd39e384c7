"""Decide whether a message is an emergency, by rules, by what stands around their signs and by the learned alarm.

A firm sign of a rule is an alarm by itself. Whatever else must be likely enough by a logistic model whose features are
the scores of the learned alarm, for the message and for its most urgent passage, and what rules and contexts found; its
weights (`bot/red_flags/decision.yaml`) are fitted on texts of authors unknown to the alarm (`klartext qa alarm`).
Messages of very few words alarm by rule only. No clock, no randomness; of the world only the encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import exp
from typing import Any, Literal

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict

from bot.matching.alarm import Alarm
from bot.matching.disguise import is_spelt_out
from bot.matching.features import Floats
from bot.matching.passages import passages
from bot.matching.text import words
from bot.ports import Encoder
from bot.safety import CONTEXTS, RED_FLAGS, RedFlags, Sign

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
        flag: One of `bot.safety.FLAGS`, or None.
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
        self._threshold = max(decision.threshold, alarm.threshold)

    def by_rule(self, text: str) -> str | None:
        """Return the flag that a text raises by rule alone."""
        return self._rules.check(text)

    def judge(self, texts: Sequence[str], vectors: Floats | None = None) -> list[Verdict]:
        """Return what each message is, in order.

        Args:
            texts: Messages of any length, as `bot.matching.text.seen` gives them.
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
