"""The rounds of critique and correction, replayed from the answers that there are, and their means by round. Pure.

Siblings (all paraphrases of a pair by one patient) go through the rounds side by side, since one aspect is that they
differ: everyone's critique in a round sees the texts that the others have in it. The same answers always lead to the
same rounds, so a process that is killed, or answers that come from elsewhere, lose nothing. The table of means and
standard deviations is Table 4 of MCQG-C++ (seed paper 000).
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot import fold
from harness.generation.critique import CritiquePrompts, parse_scores, total
from harness.generation.parse import parse_answer
from harness.llm.batch_files import ModelAnswer
from harness.llm.scores import TOP
from harness.patients.prompts import Prompt
from harness.patients.suites import Question

ENOUGH = 0.9  # of the maximum; the paper stops there
ROUNDS = 4  # critiques at most, as in the paper
ATTEMPTS = 2  # readings of one prompt, before it counts as unanswered
FEEDBACK_CHARACTERS = 1500
GOOD, LAST, UNSCORED, UNCORRECTED, UNCHANGED = "good enough", "last round", "unscored", "no correction", "unchanged"
UNREAD = (UNSCORED, UNCORRECTED)  # stopped since no answer could be read
T = TypeVar("T")
TOTAL, CARRIED = "total", "carried on"


@dataclass(frozen=True, slots=True)
class Round:
    """One text of a question, and what the critic said of it.

    Attributes:
        number: 1 is the question as it was generated.
        text: What was critiqued.
        scores: By aspect, 0 to 5; None when the critique could not be read.
        total: Share of the maximum, 0 to 1; None likewise.
        feedback: The critic's words.
        critic: Model that critiqued; `critique` is the hash of its prompt.
        writer: Model that wrote the text, for corrections; `correction` is the hash of its prompt.
    """

    number: int
    text: str
    scores: dict[str, float] | None
    total: float | None
    feedback: str
    critic: str
    critique: str
    writer: str | None = None
    correction: str | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """A question on its way through the rounds.

    Attributes:
        question: As it was generated.
        rounds: What happened so far.
        stopped: Why it ended; None while it goes on.
    """

    question: Question
    rounds: tuple[Round, ...]
    stopped: str | None

    @property
    def best(self) -> Round | None:
        """The round with the highest total, the earliest of equals; None when none was scored."""
        scored = [one for one in self.rounds if one.total is not None]
        return max(scored, key=lambda one: one.total or 0.0) if scored else None


@dataclass(frozen=True, slots=True)
class Progress:
    """All tracks, and the prompts that must be answered before they can go on."""

    tracks: tuple[Track, ...]
    pending: tuple[Prompt, ...]


@dataclass
class _Runner:
    """A question while its rounds are replayed."""

    question: Question
    text: str
    writer: str | None = None
    correction: str | None = None
    rounds: list[Round] = field(default_factory=list)
    stopped: str | None = None

    def track(self) -> Track:
        return Track(self.question, tuple(self.rounds), self.stopped)


@dataclass(frozen=True, slots=True)
class _Reply(Generic[T]):
    """What was read from an answer; `value` is None when no attempt could be read."""

    value: T | None
    answer: ModelAnswer
    prompt: Prompt


def replay(questions: Sequence[Question], asking: CritiquePrompts, answers: Mapping[str, ModelAnswer]) -> Progress:
    """Go through the rounds as far as the answers reach; questions without a pair are left alone."""
    groups: dict[tuple[str, str | None], list[_Runner]] = {}
    for question in questions:
        if question.kind == "paraphrase":
            groups.setdefault((question.vignette, question.pair_id), []).append(_Runner(question, question.text))
    pending = [prompt for group in groups.values() for prompt in _Replay(asking, answers).group(group)]
    return Progress(tuple(runner.track() for group in groups.values() for runner in group), tuple(pending))


@dataclass(frozen=True)
class _Replay:
    asking: CritiquePrompts
    answers: Mapping[str, ModelAnswer]

    def group(self, runners: Sequence[_Runner]) -> list[Prompt]:
        """Advance siblings in step, and return the prompts they wait for."""
        for number in range(1, ROUNDS + 1):
            texts = {runner.question.id: runner.text for runner in runners}  # as they stand when the round begins
            for step in (self._criticise, self._correct):
                pending = [
                    prompt
                    for runner in runners
                    if runner.stopped is None and (prompt := step(runner, number, texts)) is not None
                ]
                if pending:
                    return pending
        return []

    def _criticise(self, runner: _Runner, number: int, texts: Mapping[str, str]) -> Prompt | None:
        siblings = _siblings(runner, texts)
        prompt = self.asking.critique(runner.question, number, texts[runner.question.id], siblings)
        reply = self._read(prompt, lambda text: parse_scores(text, self.asking.texts.labels))
        if isinstance(reply, Prompt):
            return reply
        share = None if reply.value is None else total(list(reply.value.values()))
        runner.rounds.append(
            Round(
                number=number,
                text=runner.text,
                scores=reply.value,
                total=share,
                feedback=reply.answer.content.strip()[:FEEDBACK_CHARACTERS],
                critic=reply.answer.model,
                critique=reply.prompt.hash,
                writer=runner.writer,
                correction=runner.correction,
            )
        )
        runner.stopped = _stop(share, number)
        return None

    def _correct(self, runner: _Runner, number: int, texts: Mapping[str, str]) -> Prompt | None:
        siblings, feedback = _siblings(runner, texts), runner.rounds[-1].feedback
        prompt = self.asking.correction(runner.question, number, runner.text, siblings, feedback)
        reply = self._read(prompt, lambda text: _one_question(text, prompt))
        if isinstance(reply, Prompt):
            return reply
        if reply.value is None:
            runner.stopped = UNCORRECTED
        elif fold(reply.value) == fold(runner.text):
            runner.stopped = UNCHANGED
        else:
            runner.text, runner.writer, runner.correction = reply.value, reply.answer.model, reply.prompt.hash
        return None

    def _read(self, prompt: Prompt, parse: Callable[[str], T | None]) -> _Reply[T] | Prompt:
        """Return what the answer to a prompt holds, or the prompt that must be asked (again) first."""
        attempt, asked = 1, prompt
        while True:
            answer = self.answers.get(asked.id)
            if answer is None or answer.problem:
                return asked
            value = parse(answer.content)
            if value is not None or attempt == ATTEMPTS:
                return _Reply(value, answer, asked)
            attempt += 1
            asked = self.asking.again(prompt, attempt)


def _stop(share: float | None, number: int) -> str | None:
    if share is None:
        return UNSCORED
    if share >= ENOUGH - 1e-9:
        return GOOD
    return LAST if number == ROUNDS else None


def _siblings(runner: _Runner, texts: Mapping[str, str]) -> list[str]:
    return [text for id_, text in texts.items() if id_ != runner.question.id]


def _one_question(answer: str, prompt: Prompt) -> str | None:
    """Return the first question of an answer; a corrected text may come with a label, quotes or a remark."""
    parsed = parse_answer(answer, prompt_id=prompt.id, count=1, language=prompt.language)
    return parsed.questions[0] if parsed.questions else None


@dataclass(frozen=True, slots=True)
class MeanScore:
    """Mean and standard deviation (None with one value) of shares of the maximum, 0 to 1, over n questions."""

    n: int
    mean: float
    deviation: float | None

    def as_json(self) -> dict[str, Any]:
        return {"n": self.n, "mean": self.mean, "sd": self.deviation}


@dataclass(frozen=True, slots=True)
class RoundTable:
    """Scores by round.

    Attributes:
        rows: By aspect, then ``total`` and ``carried on``: a cell a round, None where nobody was scored.
            Questions that are good enough leave the rounds, so later rounds hold the harder ones; carried on, they keep
            their last total, so that rounds can be compared.
        stopped: Why questions ended, with their number; those that go on are counted as ``under way``.
        best: How many questions were best in which round.
        lengths: Words of the texts in each round.
    """

    rows: dict[str, tuple[MeanScore | None, ...]]
    stopped: dict[str, int]
    best: dict[int, int]
    lengths: tuple[MeanScore | None, ...]

    def as_json(self) -> dict[str, Any]:
        def cells(row: Sequence[MeanScore | None]) -> list[dict[str, Any] | None]:
            return [cell.as_json() if cell else None for cell in row]

        return {
            "rounds": {name: cells(row) for name, row in self.rows.items()},
            "stopped": self.stopped,
            "best_round": {str(number): count for number, count in self.best.items()},
            "words": cells(self.lengths),
        }


def round_table(tracks: Sequence[Track], aspects: Sequence[str]) -> RoundTable:
    """Summarise the rounds of all questions."""
    numbers = range(1, ROUNDS + 1)
    scored = {number: [one for one in _in_round(tracks, number) if one.scores is not None] for number in numbers}
    rows = {
        aspect: tuple(_cell([(one.scores or {})[aspect] / TOP for one in scored[number]]) for number in numbers)
        for aspect in aspects
    }
    rows[TOTAL] = tuple(_cell([one.total or 0.0 for one in scored[number]]) for number in numbers)
    rows[CARRIED] = tuple(_cell(_carried(tracks, number)) for number in numbers)
    return RoundTable(
        rows=rows,
        stopped=dict(Counter(track.stopped or "under way" for track in tracks)),
        best=dict(sorted(Counter(track.best.number for track in tracks if track.best).items())),
        lengths=tuple(_cell([float(len(one.text.split())) for one in _in_round(tracks, number)]) for number in numbers),
    )


def _in_round(tracks: Sequence[Track], number: int) -> list[Round]:
    return [one for track in tracks for one in track.rounds if one.number == number]


def _carried(tracks: Sequence[Track], number: int) -> list[float]:
    """Return each question's last total up to a round; none once a round that somebody must go through is open."""
    if not any(one.number == number for track in tracks for one in track.rounds):
        return []
    last = ([one.total for one in track.rounds if one.number <= number and one.total is not None] for track in tracks)
    return [totals[-1] for totals in last if totals]


def _cell(values: Sequence[float]) -> MeanScore | None:
    if not values:
        return None
    return MeanScore(len(values), statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)
