"""What the assistant says of one question: the flat record behind `klartext answer` and the harness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.matching.decide import Candidate


@dataclass(frozen=True, slots=True)
class Also:
    """The answer to a further part of a combined question."""

    pair_id: str
    score: float
    answer: str


DecisionName = Literal["answered", "clarify", "declined", "urgent"]
Method = Literal["hybrid", "cosine"]


@dataclass(frozen=True, slots=True)
class Response:
    """The decision on one question.

    Attributes:
        question: As it came in.
        lang: Language it was answered in.
        decision: answered, clarify, declined or urgent.
        pair_id: The answering pair when answered.
        score: Of the best pair: a calibrated probability, or the cosine under that method.
        candidates: Pairs ranked, best first, whatever the decision.
        choices: Pair ids offered when clarify.
        answer: The approved text when answered.
        also: Answers to further parts of a combined question.
        flag: The red flag when urgent.
        method: hybrid or cosine.
        catalog: ``name@version``.
        sample: Whether draft content may be shown.
        too_long: Whether the text exceeded what a question may hold.
        reason: Why it was declined; for staff, not for patients.
        elapsed_ms: Time for this question; in a batch, its share.
    """

    question: str
    lang: str
    decision: DecisionName
    pair_id: str | None
    score: float
    candidates: tuple[Candidate, ...]
    choices: tuple[str, ...]
    answer: str | None
    also: tuple[Also, ...]
    flag: str | None
    method: Method
    catalog: str
    sample: bool
    too_long: bool
    reason: str
    elapsed_ms: float

    def as_json(self) -> dict[str, Any]:
        """Return the record of the `klartext answer` contract; `choices` and `flag` only where they say something."""
        record: dict[str, Any] = {
            "question": self.question,
            "lang": self.lang,
            "decision": self.decision,
            "pair_id": self.pair_id,
            "score": round(self.score, 4),
            "candidates": [
                {"pair_id": candidate.pair_id, "score": round(candidate.score, 4)} for candidate in self.candidates
            ],
            "answer": self.answer,
            "method": self.method,
            "catalog": self.catalog,
            "sample": self.sample,
            "elapsed_ms": round(self.elapsed_ms, 3),
        }
        if self.also:
            record["also"] = [
                {"pair_id": part.pair_id, "score": round(part.score, 4), "answer": part.answer} for part in self.also
            ]
        if self.choices:
            record["choices"] = list(self.choices)
        if self.flag:
            record["flag"] = self.flag
        return record


def combine(whole: Response, parts: Sequence[Response]) -> Response:
    """Return the answers to the parts of a combined question as one response.

    The whole stays as it was unless at least two parts are answered directly, by different pairs, and, if the whole
    was answered, by its pair too.
    """
    answered = {part.pair_id: part for part in parts if part.pair_id is not None and part.answer is not None}
    if whole.pair_id is not None and whole.pair_id not in answered:
        return whole
    if len(answered) < 2 or any(part.decision == "urgent" for part in parts):
        return whole
    # A whole that was answered keeps its pair in front: parts lack context, and only add to it.
    first, *rest = sorted(answered.values(), key=lambda part: part.pair_id != whole.pair_id)
    others = tuple(candidate for candidate in whole.candidates if candidate.pair_id != first.pair_id)
    return replace(
        whole,
        decision="answered",
        pair_id=first.pair_id,
        score=first.score,
        candidates=(Candidate(first.pair_id or "", first.score), *others)[: len(whole.candidates)],
        choices=(),
        answer=first.answer,
        also=tuple(Also(part.pair_id or "", part.score, part.answer or "") for part in rest),
        reason="",
    )
