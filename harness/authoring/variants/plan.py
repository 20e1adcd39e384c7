"""What drafting a catalog's variants takes before it begins: calls, tokens, costs, and the accuracy to expect. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from typing import Any

from bot import data_folder
from harness.authoring.working import Ask
from harness.files import Record, read_record
from harness.llm.contract import Usage, usage_of
from harness.llm.prices import Price

BATCH = 60  # texts of one blind check
TOKENS_A_TEXT = 36  # that a voice writes, with facet and marks of JSON: the shipped variants' mean is 33 to 35
TOKENS_A_CHECK = 12  # of what is said of one text: 10 with short ids


class LearningCurve(Record):
    """Accuracy by variants a pair, as it was measured once."""

    measured: str
    points: Mapping[int, float]

    def at(self, variants: float) -> float:
        """Return the accuracy to expect: between points along the logarithm, beyond the last as there."""
        known = sorted(self.points.items())
        if variants >= known[-1][0]:
            return known[-1][1]
        (low, worse), (high, better) = next(each for each in pairwise(known) if variants < each[1][0])
        return worse + (better - worse) * log((1 + variants) / (1 + low)) / log((1 + high) / (1 + low))


def load_curve() -> LearningCurve:
    """Load what was measured; raise BadData when the file is broken."""
    path = data_folder("vignettes") / "authoring" / "learning-curve.yaml"
    return read_record(path, LearningCurve, f"{path} is no learning curve ({{reason}}). Mend it.")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a work takes.

    Attributes:
        drafts, checks: Calls.
        texts: Asked for, in all.
        a_pair: Asked for, a pair.
        usage: Tokens of all calls, estimated.
        cost: None where the price table has no price for the model.
    """

    drafts: int
    checks: int
    texts: int
    a_pair: float
    usage: Usage
    cost: float | None

    def as_json(self) -> dict[str, Any]:
        tokens = {"input_tokens": self.usage.input_tokens, "output_tokens": self.usage.output_tokens}
        calls = {"drafts": self.drafts, "checks": self.checks, "texts": self.texts, "texts_a_pair": self.a_pair}
        return {**calls, **tokens, "cost": self.cost}


def planned(asks: Sequence[Ask[Any]], check: Ask[Any], *, count: int, pairs: int, price: Price | None) -> Plan:
    """Return what drafts and blind checks take; `check` is a prompt of a check without texts."""
    texts = count * len(asks)
    checks = ceil(texts / BATCH)
    entering = sum(usage_of({}, one.messages).input_tokens for one in asks)
    entering += checks * usage_of({}, check.messages).input_tokens + texts * TOKENS_A_TEXT
    usage = Usage(entering, texts * (TOKENS_A_TEXT + TOKENS_A_CHECK), estimated=True)
    return Plan(len(asks), checks, texts, texts / max(1, pairs), usage, price.of(usage) if price else None)
