"""The decision on one question, as programs read it, and how the answers to its parts become one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from bot.matching.complaints import Level, Urgency
from bot.matching.decide import Candidate
from bot.matching.head import Judged
from bot.matching.remarks import Remark

# From which a message is spoken of as a complaint, and part of one counts as such: torn out, much may be one.
SURELY_COMPLAINS = 0.3


@dataclass(frozen=True, slots=True)
class Also:
    """The answer to a further part of a combined question."""

    pair_id: str
    score: float
    answer: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What a patient with a complaint is told: how soon to ask somebody, and the approved text of a pair."""

    pair_id: str
    urgency: Urgency
    text: str
    probability: float = 1.0  # that it is a complaint
    instead: tuple[str, ...] = ()  # the pairs that would be offered if it is none

    @property
    def is_unsure(self) -> bool:
        """Whether it may well be no complaint: said as one, it would frighten people who have none."""
        return self.probability < SURELY_COMPLAINS


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed sentence that is the reply to a message: its key, its language (ISO 639-1) and its text."""

    key: str
    language: str
    text: str


DecisionName = Literal["answered", "clarify", "declined", "urgent"]
# Why nothing was answered, in the words of the `klartext answer` contract.
Reason = Literal["", "complaint", "other-language", "out-of-scope", "too-long", "withheld"]
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
        answer: The approved text when answered; None where it may not be shown just now (`why` says "withheld").
        also: Answers to further parts of a combined question.
        flag: The red flag when urgent.
        method: hybrid or cosine.
        catalog: ``name@version``.
        sample: Whether draft content may be shown.
        too_long: Whether the text exceeded what a question may hold.
        reason: Why it was declined; for staff, not for patients.
        why: The same, in one word; or that an answer is withheld.
        level: How urgent a complaint is; "other" if it has nothing to do with the exam.
        advice: What to do about a complaint.
        elapsed_ms: Time for this question; in a batch, its share.
        fixed: The sentence that answers a message in a language that the catalog lacks.
        remarks: What is heard beside a question, of feelings, of manners and of the place: likeliest first.
        unsure: Whether the red flag was learned, raised by no rule, and is not very likely.
        judged: What was worked out of the question as a whole, for who goes on with it; None in batches.
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
    why: Reason = ""
    level: Level | None = None
    advice: Advice | None = None
    fixed: Fixed | None = None
    remarks: tuple[Remark, ...] = ()
    unsure: bool = False
    judged: Judged | None = field(default=None, compare=False, repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the record of the `klartext answer` contract; what says nothing is left out."""
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
        if self.why:
            record["reason"] = self.why
        if self.advice is not None:
            record["advice"] = asdict(self.advice)
        if self.fixed is not None:
            record["fixed"] = asdict(self.fixed)
        if self.remarks:
            record["remarks"] = [{"kind": one.kind, "score": round(one.probability, 4)} for one in self.remarks]
        return record


def without_texts(response: Response, held: Collection[str]) -> Response:
    """Return a decision without the texts of pairs that may not be shown just now.

    It stays what it is: who asks on is understood as ever, and no other answer comes in the place of the right one.
    """
    advice = response.advice
    also = tuple(replace(part, answer="") if part.pair_id in held else part for part in response.also)
    if advice is not None and advice.pair_id in held:
        advice = replace(advice, text="")
    if response.pair_id in held:
        return replace(response, answer=None, also=also, advice=advice, why="withheld")
    return replace(response, also=also, advice=advice)


def combine(whole: Response, parts: Sequence[Response]) -> Response:
    """Return the answers to the parts of a combined question as one response.

    The whole stays as it was unless at least two parts are answered directly, by different pairs, and, if the whole
    was answered, by its pair too.
    """
    remarks = {one.kind: one for part in (*parts, whole) for one in part.remarks}
    whole = replace(whole, remarks=tuple(sorted(remarks.values(), key=lambda one: -one.probability)))
    complaint = next((part for part in parts if part.advice and not part.advice.is_unsure), None)
    if complaint is not None and whole.decision != "urgent" and whole.advice is None:
        # Whoever asks about parking and says that a breast is red is told what to do about the breast.
        return replace(complaint, question=whole.question, elapsed_ms=whole.elapsed_ms)
    answered = {part.pair_id: part for part in parts if part.pair_id is not None and part.answer is not None}
    of_place = [part for part in parts if part.answer is None and any(not one.is_feeling for one in part.remarks)]
    if whole.pair_id is None and len(answered) == 1 and of_place and whole.decision in ("declined", "clarify"):
        # "How long does it take, and where can I park": one part is a pair's, the other a fact of the place.
        (one,) = answered.values()
        return replace(one, question=whole.question, elapsed_ms=whole.elapsed_ms, remarks=whole.remarks)
    if whole.pair_id is not None and whole.pair_id not in answered:
        return whole
    if len(answered) < 2 or any(part.decision == "urgent" or part is complaint for part in parts):
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
        why="",
    )
