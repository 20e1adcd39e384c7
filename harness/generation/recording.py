"""Turn a model's answers to exported prompts into a suite; reject questions unlike their patient, and ask for others.

Whoever answers prompts may be an endpoint or nobody: offline, the prompts that are still missing are exported, and
their answers are imported together with the first ones. The same answers always lead to the same suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template
from typing import Literal, Protocol

from bot import BadData, LanguageDetector, data_folder, fold, words
from harness.console import counted
from harness.files import Record, read_record
from harness.generation.parse import is_broken_json, parse_answer, split_unfinished
from harness.llm.batch_files import ModelAnswer, write_requests
from harness.patients.fidelity import MEASURES, FidelityJudge, RangeMiss
from harness.patients.prompts import AGAIN, Prompt
from harness.patients.suites import Dropped, Question, QuestionSource, Recording


class Answerer(Protocol):
    """Answers prompts: an endpoint, a batch, or a person at a file."""

    def __call__(self, prompts: Sequence[Prompt], /) -> Mapping[str, ModelAnswer]:
        """Return answers by prompt id; what cannot be answered is left out."""
        ...


def record(
    prompts: Sequence[Prompt],
    answers: dict[str, ModelAnswer],
    *,
    detector: LanguageDetector,
    source: QuestionSource,
) -> Recording:
    """Parse every answer; `source` says how they came about. Raise BadData when answers belong to other prompts."""
    unknown = sorted(set(answers) - {prompt.id for prompt in prompts})
    if unknown:
        raise BadData(
            f"{counted(len(unknown), 'answer')} to no prompt of this plan, for example {unknown[0]!r}. "
            "Give the same `--catalog`, `--lang`, `--variations`, `--novel` and `--vignette` as at the export."
        )
    questions: list[Question] = []
    dropped: list[Dropped] = []
    short: dict[str, int] = {}
    seen: dict[tuple[str, str | None, str], set[str]] = {}
    for prompt in prompts:
        answer = answers.get(prompt.id)
        if answer is None or answer.problem:
            dropped.append(Dropped(prompt.id, "", answer.problem if answer else "no answer"))
            short[prompt.id] = prompt.count
            continue
        broken = answer.cut or is_broken_json(answer.content)
        whole, unfinished = split_unfinished(answer.content) if broken else (answer.content, "")
        if unfinished and (answer.cut or words(unfinished)):
            dropped.append(Dropped(prompt.id, unfinished, "cut off"))
        parsed = parse_answer(
            whole,
            prompt_id=prompt.id,
            count=prompt.count,
            language=prompt.language,
            detector=None if prompt.mixed else detector,
        )
        written = source.model_copy(update={"model": answer.model or None, "prompt": prompt.hash})
        # The prompt for novel questions is asked more than once and may bring the same question again.
        earlier = seen.setdefault((prompt.kind, prompt.pair_id, prompt.vignette), set())
        dropped.extend(parsed.dropped)
        number = 0
        for text in parsed.questions:
            if fold(text) in earlier:
                dropped.append(Dropped(prompt.id, text, "duplicate"))
                continue
            earlier.add(fold(text))
            number += 1
            questions.append(_question(prompt, number, text, written))
        if number < prompt.count:
            short[prompt.id] = prompt.count - number
    return Recording(tuple(questions), tuple(dropped), short)


def _question(prompt: Prompt, number: int, text: str, source: QuestionSource) -> Question:
    return Question(
        id=f"{prompt.id}/{number}",
        text=text,
        lang=prompt.language,
        vignette=prompt.vignette,
        pair_id=prompt.pair_id,
        kind=prompt.kind,
        source=source,
    )


ROUNDS = 3  # how often a prompt is asked in one go at most, the first time included
UNLIKE = "unlike its vignette"
CONFLICT = "asked for another pair"  # the same words cannot be right for two, nor in and out of scope


class AgainTexts(Record):
    """How a model is asked once more, in one language."""

    again: str
    conflict: str
    unfit: dict[str, str]


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A recording without questions unlike their patients.

    Attributes:
        recording: Its `short` says what is still missing.
        missing: Prompts that would fill the gaps; empty when there are none, or the limit of rounds is reached.
        rounds: How often prompts were asked.
    """

    recording: Recording
    missing: tuple[Prompt, ...]
    rounds: int


@dataclass
class _State:
    """What the rounds have brought so far, by the id of the first prompt."""

    questions: dict[str, list[Question]] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    seen: dict[str, set[str]] = field(default_factory=dict)
    unfit: dict[str, list[tuple[str, tuple[RangeMiss, ...]]]] = field(default_factory=dict)
    owners: dict[str, str | None] = field(default_factory=dict)  # the pair that each text is for; None: novel

    def missing(self, prompt: Prompt) -> int:
        """Return how many questions a prompt still lacks."""
        return prompt.count - len(self.questions.get(prompt.id, ()))

    def recording(self, prompts: Sequence[Prompt]) -> Recording:
        questions = tuple(question for prompt in prompts for question in self.questions.get(prompt.id, ()))
        short = {prompt.id: gap for prompt in prompts if (gap := self.missing(prompt)) > 0}
        return Recording(questions, tuple(self.dropped), short)


@dataclass(frozen=True)
class Regeneration:
    """Fills a plan of prompts with as many questions as it wants, if need be with such as look like their patients.

    An answer may be empty, refused, cut off, or bring eight questions of ten: what is missing is asked for again, and
    what was good stays.

    Attributes:
        judge: Measures questions and rejects those unlike their patient; None: all are taken.
        detector: Tells the languages of the catalog apart.
        source: How the answers came about.
        texts: How a model is asked once more.
        rounds: How often a prompt is asked in one go, the first time included. Who runs it again asks again.
    """

    judge: FidelityJudge | None
    detector: LanguageDetector
    source: QuestionSource
    texts: AgainTexts
    rounds: int = ROUNDS

    def run(
        self, prompts: Sequence[Prompt], answers: Mapping[str, ModelAnswer], answerer: Answerer | None = None
    ) -> Regenerated:
        """Ask again for what is missing, until nothing is or nobody is to be asked any more.

        Args:
            prompts: The plan.
            answers: What has been answered, further rounds included.
            answerer: Who answers what is missing; without one it is returned.

        Raises:
            BadData: Answers belong to no prompt of the plan.
        """
        known = {**answers}
        state, asked, number, times = _State(), list(prompts), 1, 1
        unknown = {key: value for key, value in known.items() if key.partition(AGAIN)[0] not in {p.id for p in prompts}}
        record([], unknown, detector=self.detector, source=self.source)  # raises when there is any
        while True:
            self._take(asked, known, state)
            asked = list(self._again(prompts, state, number + 1))
            if not asked:
                return Regenerated(state.recording(prompts), (), number)
            unanswered = [prompt for prompt in asked if prompt.id not in known or known[prompt.id].problem]
            if unanswered and answerer is not None and times < self.rounds:
                known.update(answerer(unanswered))
                times += 1
                unanswered = [prompt for prompt in unanswered if prompt.id not in known]
            if unanswered:
                self._take([prompt for prompt in asked if prompt not in unanswered], known, state)
                return Regenerated(state.recording(prompts), tuple(unanswered), number)
            number += 1

    def _take(self, asked: Sequence[Prompt], answers: Mapping[str, ModelAnswer], state: _State) -> None:
        """Keep of the answers to one round what is new and looks like its patient."""
        given = {prompt.id: answers[prompt.id] for prompt in asked if prompt.id in answers}
        recording = record(asked, given, detector=self.detector, source=self.source)
        state.dropped.extend(recording.dropped)
        for question in recording.questions:
            first = question.id.rpartition("/")[0].partition(AGAIN)[0]
            # Novel questions are asked for in several prompts, which must not bring the same one.
            seen = state.seen.setdefault(first if question.pair_id else f"novel/{question.vignette}", set())
            judge = self.judge
            missed = judge.judge(question.id, question.text, question.vignette).misses if judge else ()
            if fold(question.text) in seen:
                state.dropped.append(Dropped(question.id, question.text, "duplicate"))
            elif state.owners.get(fold(question.text), question.pair_id) != question.pair_id:
                state.dropped.append(Dropped(question.id, question.text, CONFLICT))
                state.unfit.setdefault(first, []).append((question.text, ()))
            elif missed:
                state.dropped.append(Dropped(question.id, question.text, UNLIKE))
                state.unfit.setdefault(first, []).append((question.text, missed))
            else:
                state.questions.setdefault(first, []).append(question)
                state.owners[fold(question.text)] = question.pair_id
            seen.add(fold(question.text))

    def _again(self, prompts: Sequence[Prompt], state: _State, number: int) -> Iterator[Prompt]:
        """Yield the prompts of the next round: those that lack questions, with what was there already."""
        for prompt, missing in ((prompt, state.missing(prompt)) for prompt in prompts):
            if missing > 0:
                kept = [question.text for question in state.questions.get(prompt.id, ())]
                why, elsewhere = self.texts.unfit, self.texts.conflict
                unfit = [
                    f"{text} ({', '.join(why[f'{miss.measure} {miss.side}'] for miss in misses) or elsewhere})"
                    for text, misses in state.unfit.get(prompt.id, ())
                ]
                lines = "\n".join(f"- {line}" for line in (*kept, *unfit))
                # An answer of which nothing could be used is forgotten: the prompt is asked as it was.
                task = Template(self.texts.again).substitute(task=_counting(prompt, missing), unfit=lines)
                task = task if lines else prompt.task
                yield replace(prompt, id=f"{prompt.id}{AGAIN}{number}", task=task, count=missing)


def _counting(prompt: Prompt, missing: int) -> str:
    """Return the prompt's task with another number of questions: the count is the first number in it."""
    head, found, rest = prompt.task.partition(str(prompt.count))
    return f"{head}{missing}{rest}" if found else prompt.task


def load_again(language: str) -> AgainTexts:
    """Load how a model is asked once more; raise BadData when that was not written for the language."""
    path = data_folder("vignettes") / "tasks" / f"again-{language}.yaml"
    problem = f"How to ask once more in {language!r} cannot be read. Write {path} after the German one."
    return read_record(path, AgainTexts, problem)


@dataclass(frozen=True, slots=True)
class Sifting:
    """What becomes of questions unlike their vignette, and of what is missing.

    Attributes:
        mode: ``keep`` questions unlike their vignette and say how many there are, or ``reject`` them.
        vignettes: Folder of vignettes of one's own.
        missing: Where to write prompts for what is missing; always written, empty when nothing is.
        allow_short: Whether what is short in the end is accepted.
    """

    mode: Literal["keep", "reject"]
    vignettes: Path | None = None
    missing: Path | None = None
    allow_short: bool = False

    def recording(
        self,
        prompts: Sequence[Prompt],
        answers: Mapping[str, ModelAnswer],
        *,
        detector: LanguageDetector,
        source: QuestionSource,
        answerer: Answerer | None = None,
    ) -> Recording | None:
        """Read the answers, and ask `answerer` again for what is missing; None when a suite would be short.

        What is missing, and what to do about it, is printed.
        """
        if not prompts:
            return record(prompts, dict(answers), detector=detector, source=source)
        language = prompts[0].language
        judge = FidelityJudge.open(language, self.vignettes) if self.mode == "reject" else None
        done = Regeneration(judge, detector, source, load_again(language)).run(prompts, answers, answerer)
        recording = done.recording
        if judge is not None:
            rejected, rounds = counted(recording.reasons.get(UNLIKE, 0), "question"), counted(done.rounds, "round")
            print(f"fidelity: {rejected} rejected as unlike their vignette, {rounds}")
        if self.missing is not None:
            # The model that gave most of the answers.
            named = Counter(answer.model for answer in answers.values() if answer.model)
            model = named.most_common(1)[0][0] if named else "gpt-4o"
            write_requests(done.missing, self.missing, model=model, temperature=source.temperature)
        if recording.short and not self.allow_short:
            self._say_short(recording, done.missing)
            return None
        self._report(recording.questions)
        return recording

    def _say_short(self, recording: Recording, missing: Sequence[Prompt]) -> None:
        for item in recording.dropped:
            print(f"dropped ({item.reason}) from {item.prompt_id}: {item.text[:100]}")
        for prompt_id, count in recording.short.items():
            print(f"short by {count}: {prompt_id}")
        where = f": {counted(len(missing), 'prompt')} in {self.missing}" if self.missing is not None else ""
        gap = counted(sum(recording.short.values()), "question")
        print(f"Missing: {gap}{where}. No suite was written; answers are kept.")
        print(
            "Run this again to ask again, or write prompts for what is missing with `--missing FILE` and give their "
            "answers with the others (`--answers`), or accept a short suite with `--allow-short`."
        )

    def _report(self, questions: Sequence[Question]) -> None:
        if not questions:
            return
        judge = FidelityJudge.open(questions[0].lang, self.vignettes)
        judged = judge.judge_all(questions)
        unlike = sum(bool(one.misses) for one in judged)
        print(f"fidelity: {unlike} of {counted(len(judged), 'question')} unlike their vignette")
        for drift in judge.drift(judged):
            for one in drift.measures:
                if one.verdict not in ("fits", "too few"):
                    print(f"fidelity: {drift.vignette} {one.verdict} in {MEASURES[one.measure]}")
