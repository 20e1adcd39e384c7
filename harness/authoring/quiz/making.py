"""The making of a quiz, from its case to the version that is kept: begin, answer, criticise, correct. Pure.

Figure 2 of MCQG-C++ (seed paper 000). Context, question, answer and distractors are asked for one after the other, each
with examples that were retrieved by a query that grows by what there is. Then, at most four times: the model answers
its own question, criticises each component, and, below 90 % of all points, corrects all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from statistics import fmean
from typing import Any, Literal

from pydantic import ValidationError

from bot import Quiz as Attached
from bot import fold
from harness.authoring.quiz.asking import STEPS, Attempt, Case, Preference, Quiz, QuizPrompts
from harness.authoring.quiz.bank import LateInteraction, Outline
from harness.authoring.quiz.rubric import COMPONENTS, Component, Critique
from harness.authoring.working import Work, ask, ask_all, together
from harness.generation.rounds import ENOUGH, GOOD, LAST, ROUNDS, UNCHANGED, UNCORRECTED, UNSCORED

UNMADE = "no question"  # a component could not be read
POINTS = 8  # retrieved for a topic
EXEMPLARS = 2  # answered questions in the prompt of an attempt, as in the paper
FoundBy = Literal["person", "model"]


@dataclass(frozen=True, slots=True)
class QuizRound:
    """One version of a quiz, how the model answered it, and what it said of it.

    Attributes:
        number: 1 is the version as it was first made.
        attempt: None when no answer could be read.
        critiques: By component; empty when one of them could not be read.
    """

    number: int
    quiz: Quiz
    attempt: Attempt | None
    critiques: Mapping[Component, Critique]

    @property
    def points(self) -> float | None:
        """Share of all points of the rubric, by which rounds end and a version is kept; None when it is not scored."""
        if not self.critiques:
            return None
        return sum(one.total for one in self.critiques.values()) / sum(one.most for one in self.critiques.values())

    @property
    def total(self) -> float | None:
        """Mean of the components' shares, however many aspects each has: the total of the paper's tables 4 and 5."""
        return fmean(one.share for one in self.critiques.values()) if self.critiques else None

    def as_json(self) -> dict[str, Any]:
        attempt = self.attempt and {
            "options": list(self.attempt.options),
            "chosen": self.attempt.chosen,
            "right": self.attempt.right,
            "reasoning": self.attempt.reasoning,
        }
        return {
            "round": self.number,
            **self.quiz.as_json(),
            "words": self.quiz.words,
            "attempt": attempt,
            "critiques": {part: one.as_json() for part, one in self.critiques.items()},
            "points": self.points,
            "total": self.total,
        }


@dataclass(frozen=True, slots=True)
class Track:
    """A quiz on its way through the rounds.

    Attributes:
        id: Of the quiz: that of its case, with a number where the case has several.
        case: With topic and key point.
        found_by: Who found topic and key point.
        rounds: What happened.
        stopped: Why it ended.
        verdicts: What a judge said of the first (A) and the kept version (B), in the order in which they were shown.
    """

    id: str
    case: Case
    found_by: FoundBy
    rounds: tuple[QuizRound, ...]
    stopped: str
    verdicts: Mapping[str, Preference]

    @property
    def best(self) -> QuizRound | None:
        """The version that is kept: the most points, the earliest of equals; else the first; None without any."""
        scored = [one for one in self.rounds if one.points is not None]
        return max(scored, key=lambda one: one.points or 0.0) if scored else next(iter(self.rounds), None)

    @property
    def compared(self) -> tuple[Quiz, Quiz] | None:
        """The first version and the one that is kept; None where they are the same."""
        best = self.best
        return (self.rounds[0].quiz, best.quiz) if best is not None and best.number > 1 else None


@dataclass(frozen=True)
class QuizMaking:
    """What the making of quizzes needs.

    Attributes:
        prompts: Words, rubric and examples.
        outline: The checklist, for cases without topic.
        retriever: Finds examples and points.
        topics: How many of the topics that a model finds become a quiz, 1 to 5.
        judge: Whether the first and the kept version are compared blind.
    """

    prompts: QuizPrompts
    outline: Outline
    retriever: LateInteraction
    topics: int = 1
    judge: bool = False

    def all(self, cases: Sequence[Case]) -> Work[list[Track]]:
        """Make the quizzes of all cases, side by side."""
        taken = frozenset(case.id for case in cases)
        found = yield from together([self._of_case(case, taken) for case in cases])
        return [track for tracks in found for track in tracks]

    def _of_case(self, case: Case, taken: frozenset[str]) -> Work[list[Track]]:
        if case.topic:
            return [(yield from self._quiz(case.id, case, "person"))]
        topics = yield from ask(self.prompts.topics(f"topics/{case.id}", case, self.outline))
        chosen = (topics or ())[: self.topics]
        points = yield from ask_all(
            [
                self.prompts.point(f"point/{case.id}/{number}", case, topic, self._points(case, topic))
                for number, topic in enumerate(chosen, 1)
            ]
        )
        ready = [
            replace(case, topic=topic, key_point=point)
            for topic, point in zip(chosen, points, strict=True)
            if point is not None
        ]
        numbered = (f"{case.id}-{number}" for number in count(1))
        free = (id_ for id_ in numbered if id_ not in taken)  # another case may have that id
        ids = [case.id] if len(ready) == 1 else [next(free) for _ in ready]
        return (yield from together([self._quiz(id_, one, "model") for id_, one in zip(ids, ready, strict=True)]))

    def _points(self, case: Case, topic: str) -> list[str]:
        """Return the points of the outline, and of the pair, that are nearest to case and topic."""
        facets = [facet.replace("-", " ") for facet in case.facets]
        return self.retriever.points(case.text, topic, (*self.outline.points, *facets), POINTS)

    def _quiz(self, id_: str, case: Case, found_by: FoundBy) -> Work[Track]:
        quiz = yield from self._begin(id_, case)
        if quiz is None:
            return Track(id_, case, found_by, (), UNMADE, {})
        rounds: list[QuizRound] = []
        stopped = ""
        while not stopped:
            one = yield from self._round(id_, case, quiz, len(rounds) + 1)
            rounds.append(one)
            if one.attempt is None or one.points is None:
                stopped = UNSCORED
            elif one.points >= ENOUGH - 1e-9:
                stopped = GOOD
            elif one.number == ROUNDS:
                stopped = LAST
            else:
                correction = self.prompts.correct(f"correct/{id_}/{one.number}", case, quiz, one.attempt, one.critiques)
                better: Quiz | None = yield from ask(correction)
                if better is None:
                    stopped = UNCORRECTED
                elif better == quiz:
                    stopped = UNCHANGED
                else:
                    quiz = better
        track = Track(id_, case, found_by, tuple(rounds), stopped, {})
        return replace(track, verdicts=(yield from self._judged(track)))

    def _begin(self, id_: str, case: Case) -> Work[Quiz | None]:
        """Make the first version, one component after the other."""
        made: dict[str, Any] = {}
        query = f"{case.text} {case.topic} {case.key_point}"
        for step in STEPS:
            few = self.retriever.examples(query, self.prompts.bank.examples)
            part = yield from ask(self.prompts.make(f"{step}/{id_}", step, case, made, few))
            if part is None:
                return None
            made[step] = part
            query = f"{query} {part}" if isinstance(part, str) else query
        return Quiz(**made)

    def _round(self, id_: str, case: Case, quiz: Quiz, number: int) -> Work[QuizRound]:
        """Have a version answered and criticised."""
        solved = [one for one in self.prompts.bank.examples if one.reasoning]
        few = self.retriever.examples(f"{quiz.context} {quiz.question}", solved, EXEMPLARS)
        options = quiz.shuffled(f"{id_}/{number}")
        attempt: Attempt | None = yield from ask(self.prompts.attempt(f"attempt/{id_}/{number}", quiz, options, few))
        if attempt is None:
            return QuizRound(number, quiz, None, {})
        said = yield from ask_all(
            [self.prompts.critique(f"critique/{id_}/{number}/{part}", part, case, quiz, attempt) for part in COMPONENTS]
        )
        read = {part: one for part, one in zip(COMPONENTS, said, strict=True) if one is not None}
        return QuizRound(number, quiz, attempt, read if len(read) == len(COMPONENTS) else {})

    def _judged(self, track: Track) -> Work[dict[str, Preference]]:
        """Have the first and the kept version compared, in both orders."""
        if not self.judge or track.compared is None:
            return {}
        first, kept = track.compared
        asks = {"ab": (first, kept), "ba": (kept, first)}
        said = yield from ask_all(
            [self.prompts.judge(f"judge/{track.id}/{order}", track.case, *shown) for order, shown in asks.items()]
        )
        return {order: one for order, one in zip(asks, said, strict=True) if one is not None}


def remarks(case: Case, quiz: Quiz) -> list[str]:
    """Return what a curator should look at, found by rule and not by a model."""
    found = []
    text, numbers = fold(case.text).split(), {each for each in fold(quiz.answer).split() if each.isdigit()}
    strange = sorted(numbers - set(text))
    if strange:
        found.append(f"The correct answer has numbers that the text lacks: {', '.join(strange)}.")
    if fold(quiz.answer) and f" {fold(quiz.answer)} " in f" {fold(quiz.context)} ":
        found.append("The correct answer stands in the context.")
    lengths = [len(each) for each in (quiz.answer, *quiz.distractors)]
    if lengths[0] > 1.5 * max(lengths[1:]):
        found.append("The correct answer is much longer than the others: its length gives it away.")
    said = {fold(each) for each in quiz.distractors}
    if len(said) < len(quiz.distractors):
        found.append("Two options say the same.")
    if case.pair_id:
        found += _unaskable(case, quiz)
    return found


def _unaskable(case: Case, quiz: Quiz) -> list[str]:
    """Return why the assistant could not ask a quiz that is attached to a pair."""
    try:
        Attached.model_validate({"topic": case.topic, "key_point": case.key_point, **quiz.as_json()})
    except ValidationError as error:
        said = [(".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, ")) for each in error.errors()]
        problems = "; ".join(f"{name}: {message}" if name else message for name, message in said)
        return [f"The assistant cannot ask it, so cut it before you attach it: {problems}."]
    return []


def is_key_point(quiz: Quiz, case: Case) -> bool:
    """Tell whether the correct answer is the key point, word for word but for case and punctuation."""
    return fold(quiz.answer) == fold(case.key_point)
