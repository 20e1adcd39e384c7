"""What a system made of one question, which pairs count as right, and counts that sum up a run of any size. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from typing import Any

from bot import BadData, Catalog
from harness.patients.suites import Question
from harness.systems.system import Failure, Matched, Reply, SystemReply, own_words

ERROR = "error"
JUDGEABLE = ("first", "same", "pair", "new")  # expected in chats: of these a label of the answer says whether it came
LONGEST = 20_000  # characters of a text that are kept: no patient reads more, and no rater
SAID = "said:"  # how the keys of free texts begin, where labels name a pair
# Fields that came later, and say something of messages in chats alone: lines without them are as before.
SPOKEN_FIELDS = ("expected", "wanted", "met", "urgency", "language", "dialogue")


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Which answers count as right.

    Attributes:
        catalog: How answers cite the catalog.
        sets: For each pair, itself and all that are the same.
    """

    catalog: str
    sets: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, catalog: Catalog) -> Equivalence:
        """Read `same_as`: what is declared one way holds both ways, and through a third pair."""
        sets = {pair.id: frozenset({pair.id}) for pair in catalog.pairs}
        for pair in catalog.pairs:
            for other in pair.same_as:
                merged = sets[pair.id] | sets[other]
                sets |= dict.fromkeys(merged, merged)
        return cls(catalog.ref, sets)

    def accepted(self, pair_id: str | None) -> frozenset[str]:
        """Return what counts as right when a pair is expected; nothing for None. Raise BadData for an unknown pair."""
        if pair_id is None:
            return frozenset()
        if pair_id not in self.sets:
            raise BadData(
                f"There is no pair {pair_id!r} in {self.catalog}. Run `klartext qa list` to see the pair ids."
            )
        return self.sets[pair_id]

    def any_of(self, pair_ids: Iterable[str]) -> frozenset[str]:
        """Return what counts as right when any of several pairs is."""
        return frozenset().union(*(self.accepted(pair_id) for pair_id in pair_ids))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a message that says what should come of it.

    Attributes:
        met: Whether it came; None where nothing was shown before that it could be about.
        offered: Whether the pair that was meant was among the choices; None where no pair was meant.
    """

    met: bool | None
    offered: bool | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system made of one question.

    Attributes:
        id: Of the question.
        text: Of the question.
        lang, vignette, kind, pair_id: Of the question; `pair_id` is the right pair, or None for novel questions.
        decision: answered, clarify, declined or urgent; ``error`` when the system failed: then nothing is scored.
        answered_with: The pair that was shown, if one was.
        score: Of the first candidate.
        candidates: Pair ids ranked, best first.
        choices: Pair ids offered when clarify.
        right: Whether the right pair was shown; None for novel questions, which people label, and for answers in words
            of the system's own until people did.
        offered: Whether the right pair was among the choices; None where `right` is.
        top1: Whether the first candidate was right; None where `right` is.
        elapsed_ms: Time the system took.
        matched: How the shown pair was recognised: by the ``text`` or ``similarity`` of the answer, or by ``id`` alone
            (with text in `said` that is the system's claim: the text is no pair's); ``none`` when text was shown that
            belongs to no pair; None when nothing was shown.
        error: What failed, when the system did.
        runner_up: Score of the second candidate; None where the system gives none.
        expected: The group of messages in chats that it is counted in; None for questions. See `Question.expected`.
        wanted: Which pair, act, level or language was expected; None where there is no choice.
        met: Whether it came; None for questions, and where nothing was shown before that it could be about.
        urgency: How soon the patient was advised to see somebody, if at all.
        language: That the patient was answered in, where the system tells.
        dialogue: Id of the dialogue that it is a turn of.
        said: The text that was shown, where it is not word for word a pair's: raters read it. A very long one is cut.
    """

    id: str
    text: str
    lang: str
    vignette: str
    kind: str
    pair_id: str | None
    decision: str
    answered_with: str | None
    score: float
    candidates: tuple[str, ...]
    choices: tuple[str, ...]
    right: bool | None
    offered: bool | None
    top1: bool | None
    elapsed_ms: float
    matched: Matched | None = None
    error: str | None = None
    runner_up: float | None = None
    expected: str | None = None
    wanted: str | None = None
    met: bool | None = None
    urgency: str | None = None
    language: str | None = None
    dialogue: str | None = None
    said: str | None = None

    @property
    def own_words(self) -> bool:
        """Whether what was shown is text of the system's own."""
        return own_words(self.decision, self.matched, self.said)

    @property
    def unjudged(self) -> bool:
        """Whether it would count, but nobody has said yet whether the system's own words are right."""
        counts = self.pair_id is not None or self.expected in JUDGEABLE
        return self.own_words and counts and self.right is None and self.met is None

    @property
    def shown(self) -> str | None:
        """What labels are about: the pair that was shown, or a key of the free text that was; None for neither."""
        if self.said is None or self.decision != "answered":
            return self.answered_with
        return f"{SAID}{hashlib.sha256(self.said.encode()).hexdigest()[:12]}"

    @classmethod
    def of(cls, question: Question, response: SystemReply, accepted: frozenset[str]) -> Outcome:
        """Score a response; `accepted` holds the right pair and those that curators declared equivalent."""
        candidates = tuple(candidate.pair_id for candidate in response.candidates)
        scored = question.pair_id is not None and not (isinstance(response, Reply) and response.own_words)
        return cls(
            **_asked(question),
            decision=response.decision,
            answered_with=response.pair_id,
            score=round(response.score, 4),
            candidates=candidates,
            choices=response.choices,
            right=response.pair_id in accepted if scored else None,
            offered=any(choice in accepted for choice in response.choices) if scored else None,
            top1=bool(candidates) and candidates[0] in accepted if scored else None,
            elapsed_ms=round(response.elapsed_ms, 3),
            said=_kept(response.said) if isinstance(response, Reply) else None,
            matched=response.matched if isinstance(response, Reply) else ("id" if response.pair_id else None),
            runner_up=None
            if isinstance(response, Reply)
            else (round(response.candidates[1].score, 4) if len(response.candidates) > 1 else None),
        )

    @classmethod
    def judged(cls, question: Question, reply: Reply, verdict: Verdict) -> Outcome:
        """Note what became of a message in a chat; what is right of questions says nothing of it."""
        return cls(
            **_asked(question),
            decision=reply.decision,
            answered_with=reply.pair_id,
            score=round(reply.score, 4),
            candidates=tuple(candidate.pair_id for candidate in reply.candidates),
            choices=reply.choices,
            right=None,
            offered=verdict.offered,
            top1=None,
            elapsed_ms=round(reply.elapsed_ms, 3),
            matched=reply.matched,
            met=verdict.met,
            urgency=reply.urgency,
            language=reply.language,
            said=_kept(reply.said),
        )

    @classmethod
    def failed(cls, question: Question, failure: Failure) -> Outcome:
        """Note that the system failed: neither right nor wrong."""
        return cls(
            **_asked(question),
            decision=ERROR,
            answered_with=None,
            score=0.0,
            candidates=(),
            choices=(),
            right=None,
            offered=None,
            top1=None,
            elapsed_ms=round(failure.elapsed_ms, 3),
            error=failure.reason,
        )

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What tells questions apart: two suites may use one id for different ones."""
        return self.id, self.text, self.pair_id

    def as_line(self) -> str:
        record = asdict(self)
        if self.expected is None:
            record = {name: value for name, value in record.items() if name not in SPOKEN_FIELDS}
        if self.said is None:
            del record["said"]
        return json.dumps(record, ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, line: str) -> Outcome:
        record: dict[str, Any] = json.loads(line)
        return cls(**{**record, "candidates": tuple(record["candidates"]), "choices": tuple(record["choices"])})


def _kept(said: str | None) -> str | None:
    """Return a text that was shown; of a very long one the beginning, with a note that says so."""
    if said is None or len(said) <= LONGEST:
        return said
    return f"{said[:LONGEST]}\n[cut here: {len(said):,} characters]"


def _asked(question: Question) -> dict[str, Any]:
    names = ("id", "text", "lang", "vignette", "kind", "pair_id", "expected", "dialogue")
    wanted = question.expect.wanted if question.expect is not None else None
    return {**{name: getattr(question, name) for name in names}, "wanted": wanted}


Placed = tuple[int, Question]  # a question and its place in the suite, from 0
Row = tuple[int, Outcome]


def accepted_pairs(catalog: Catalog, pair_id: str | None) -> frozenset[str]:
    """Return the pair and those that curators declared the same; for many questions keep an `Equivalence`."""
    return Equivalence.of(catalog).accepted(pair_id)


@dataclass(frozen=True, slots=True)
class Traits:
    """What outcomes may have in common; `Outcome` says what the fields mean."""

    vignette: str
    kind: str
    pair_id: str | None
    decision: str
    right: bool | None
    offered: bool | None
    top1: bool | None
    expected: str | None = None
    met: bool | None = None
    unjudged: bool = False

    @classmethod
    def of(cls, outcome: Outcome) -> Traits:
        return cls(*_TRAITS(outcome))


_TRAITS = attrgetter(*(field.name for field in fields(Traits)))


@dataclass(frozen=True, slots=True)
class Count:
    """How many outcomes a cell holds.

    Attributes:
        cell: What they have in common.
        n: Their number.
        first: Place of the first of them in the run: vignettes and pairs are reported in the order of the suite.
    """

    cell: Traits
    n: int
    first: int


Tally = tuple[Count, ...]  # in the order of `first`


def tally(outcomes: Iterable[Outcome]) -> Tally:
    """Count outcomes that come in the order of the run."""
    return tally_placed(enumerate(outcomes))


def tally_placed(outcomes: Iterable[tuple[int, Outcome]]) -> Tally:
    """Count outcomes that come in any order, each with its place in the run."""
    numbers: dict[Traits, int] = {}
    firsts: dict[Traits, int] = {}
    for place, outcome in outcomes:
        cell = Traits.of(outcome)
        numbers[cell] = numbers.get(cell, 0) + 1
        firsts[cell] = min(place, firsts.get(cell, place))
    return in_order(Count(cell, n, firsts[cell]) for cell, n in numbers.items())


def in_order(counts: Iterable[Count]) -> Tally:
    """Return counts in the order in which their cells appear in the run."""
    return tuple(sorted(counts, key=lambda count: count.first))
