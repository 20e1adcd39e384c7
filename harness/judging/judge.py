"""Ask a model to judge (a label, scores by aspects, the better of two texts in both orders), and read what it answered.

Answers are read defensively and kept in the run, one file for each judge and kind. What cannot be read is counted, and
never scored 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, Field

from bot import BadData, data_folder, fold
from harness.files import Record, as_lines, read_lines, read_record, replace_text, writing
from harness.labelling.exchange import add_labels
from harness.labelling.labels import Item, Label, Rater, Verdict, load_reasons
from harness.labelling.rater_files import Kinds, file_name, items_to_label
from harness.labelling.session import shown_answers
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.llm.scores import json_objects, score_in_text, scores_in_json
from harness.running.outcomes import Outcome
from harness.running.run import load_outcomes

JudgeMode = Literal["label", "rate", "compare"]
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, ...] = ("ab", "ba")
HIGHEST = 5
LANGUAGES = {"de": "German", "en": "English"}


class Aspect(Record):
    """Something a judge scores from 0 to `HIGHEST`."""

    id: str = Field(pattern=r"^[a-z][a-z-]*$")
    component: str
    text: str = Field(min_length=1)


class Instructions(Record):
    """How judges are told to judge."""

    system: str
    aspects: tuple[Aspect, ...] = Field(min_length=1)
    tasks: dict[JudgeMode, str]


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One request to a judge.

    Attributes:
        id: ``label/QUESTION#PAIR``, ``rate/QUESTION#PAIR`` or ``compare/ORDER/QUESTION#A#B``: it tells all that is
            needed to read the answer. In order ``ab`` the text of A is shown first.
        system: Who the model is.
        task: What it is asked.
    """

    id: str
    system: str
    task: str

    @property
    def messages(self) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.task}]


@dataclass(frozen=True, slots=True)
class Duel:
    """Two texts shown for one question, A by the run, B by the run beside it."""

    question_id: str
    question: str
    a: str
    b: str


@cache
def load_instructions() -> Instructions:
    """Read aspects and tasks from `vignettes/judge/judge.yaml`; raise BadData when it is broken."""
    path = data_folder("vignettes") / "judge" / "judge.yaml"
    return read_record(path, Instructions, f"{path} holds no instructions for judges ({{reason}}). Mend it.")


def item_prompts(
    mode: Literal["label", "rate"], items: Sequence[Item], answers: Mapping[str, str], language: str
) -> list[JudgePrompt]:
    """Return one prompt for each item; `answers` holds the text of every pair."""
    told = load_instructions()
    task = Template(told.tasks[mode])
    system = _system(told, language)
    reasons = "; ".join(f"{reason.code} ({reason.text})" for reason in load_reasons())
    example = ", ".join(f'"{aspect.id}": {number}' for number, aspect in enumerate(told.aspects[:2], 3))
    aspects = "\n".join(f"- {aspect.id}: {aspect.text}" for aspect in told.aspects)
    return [
        JudgePrompt(
            f"{mode}/{item.outcome.id}#{item.pair_id}",
            system,
            task.substitute(
                question=item.outcome.text,
                answer=answers[item.pair_id],
                reasons=reasons,
                aspects=aspects,
                example=example,
            ),
        )
        for item in items
    ]


def duel_prompts(duels: Sequence[Duel], answers: Mapping[str, str], language: str) -> list[JudgePrompt]:
    """Return two prompts for each duel, one for each order."""
    return [prompt for duel in duels for prompt in _both_orders(duel, answers, language)]


def _both_orders(duel: Duel, answers: Mapping[str, str], language: str) -> Iterator[JudgePrompt]:
    told = load_instructions()
    aspects = "; ".join(aspect.text for aspect in told.aspects)
    for order in ORDERS:
        first, second = (duel.a, duel.b) if order == "ab" else (duel.b, duel.a)
        yield JudgePrompt(
            f"compare/{order}/{duel.question_id}#{duel.a}#{duel.b}",
            _system(told, language),
            Template(told.tasks["compare"]).substitute(
                question=duel.question, first=answers[first], second=answers[second], aspects=aspects
            ),
        )


def _system(told: Instructions, language: str) -> str:
    return Template(told.system).substitute(language=LANGUAGES.get(language, language))


def plan(run: Path, mode: JudgeMode, *, beside: Path | None, items: Kinds, catalog: str) -> list[JudgePrompt]:
    """Return the prompts of a mode.

    Args:
        run: Folder of the run.
        mode: ``compare`` takes questions that both runs answered differently; ``rate`` with `beside` both answers.
        beside: Folder of another run of the suite.
        items: Which answers.
        catalog: Where the texts are.

    Raises:
        BadData: There is nothing to judge, or no run to compare with.
    """
    outcomes = load_outcomes(run)
    ours = items_to_label(run, outcomes, items)
    theirs = _others(ours, outcomes, beside, items)
    known = [*outcomes, *(load_outcomes(beside) if beside is not None else ())]
    if mode == "compare":
        if beside is None:
            raise BadData("A comparison needs two runs. Give the other one with `--beside RUN`.")
        duels = _duels(ours, theirs)
        prompts = duel_prompts(duels, shown_answers([*ours, *theirs], known, catalog), outcomes[0].lang)
    else:
        both = list(dict.fromkeys((*ours, *theirs)))
        prompts = item_prompts(mode, both, shown_answers(both, known, catalog), outcomes[0].lang)
    if not prompts:
        raise BadData(f"{run} holds nothing to judge. Choose other answers with `--items`, or another run.")
    return prompts


def _others(ours: Sequence[Item], outcomes: Sequence[Outcome], beside: Path | None, items: Kinds) -> list[Item]:
    """Return what the run beside showed for questions of this run: the novel ones, and those asked of ours."""
    if beside is None:
        return []
    wanted = {item.outcome.id for item in ours} | {o.id for o in outcomes if o.kind == "novel" and items != "ambiguous"}
    text = {outcome.id: outcome for outcome in outcomes}
    return [
        Item(text[other.id], other.shown)
        for other in load_outcomes(beside)
        if other.id in wanted and other.shown is not None and other.text == text[other.id].text
    ]


def _duels(ours: Sequence[Item], theirs: Sequence[Item]) -> list[Duel]:
    shown = {item.outcome.id: item.pair_id for item in theirs}
    return [
        Duel(item.outcome.id, item.outcome.text, item.pair_id, shown[item.outcome.id])
        for item in ours
        if shown.get(item.outcome.id, item.pair_id) != item.pair_id
    ]


Better = Literal["a", "b", "tie"]
_VERDICTS: dict[str, Verdict] = {
    "incorrect": "incorrect",
    "wrong": "incorrect",
    "partial": "partial",
    "partially correct": "partial",
    "partly correct": "partial",
    "correct": "correct",
}
_CHOICE = re.compile(r"^\W*(?:text|answer|option)?\W*([012])\W*$", re.IGNORECASE)
_TIE = ("tie", "none", "neither", "equal", "both", "same")
_CHARACTERS = 4000  # an answer is short; what comes after is rambling
FOLDER = "judges"
Kept = TypeVar("Kept", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ReadLabel:
    """A label as a model gave it; the reason is empty when it is none that we know."""

    verdict: Verdict
    reason: str
    comment: str


def read_label(answer: str, *, reasons: Collection[str]) -> ReadLabel | None:
    """Return the label in an answer; None when there is none, or more than one."""
    data = next(json_objects(answer[:_CHARACTERS]), None)
    if data is None:
        verdict = _plain_verdict(answer)
        return ReadLabel(verdict, "", "") if verdict else None
    verdict = _VERDICTS.get(_text(data.get("label")).lower())
    if verdict is None:
        return None
    reason = _text(data.get("reason"))
    return ReadLabel(verdict, reason if reason in reasons else "", _text(data.get("comment"))[:500])


def _plain_verdict(answer: str) -> Verdict | None:
    """Read a bare word, such as ``Label: partially correct.``; a sentence about labels is no label."""
    text = re.sub(r"^\W*(?:label|verdict)\W*", "", answer.strip(), flags=re.IGNORECASE)
    return _VERDICTS.get(text.strip(" \n\t.!*[]\"'`").lower())


def read_scores(answer: str, *, aspects: Collection[str]) -> dict[str, float]:
    """Return the scores in an answer by aspect, 0 to `HIGHEST`; what is missing or out of range is left out."""
    text = answer[:_CHARACTERS]
    names = {fold(aspect): aspect for aspect in aspects}
    found = scores_in_json(text, names)
    if not any(True for _ in json_objects(text)):
        for line in text.splitlines():  # such as ``- on-topic: 4/5, it says so``
            name, colon, value = line.partition(":")
            key = names.get(fold(re.sub(r"^[\s\-*•\d.)]+", "", name)))
            score = score_in_text(re.split(r"[,;(]\s", value)[0]) if colon else None
            if key is not None and score is not None:
                found.setdefault(key, score)
    return {aspect: found[aspect] for aspect in aspects if 0 <= found.get(aspect, -1) <= HIGHEST}


def read_choice(answer: str, *, order: str) -> Better | None:
    """Return which text is better: the first shown is A in order ``ab``, B in ``ba``; None when it is not said."""
    data = next(json_objects(answer[:_CHARACTERS]), None)
    said = _text(data.get("better", data.get("preference"))) if data is not None else answer
    match = _CHOICE.match(said)
    if match is None:
        return "tie" if said.strip(" .!*\"'\n").lower() in _TIE else None
    if match[1] == "0":
        return "tie"
    return "a" if (match[1] == "1") == (order == "ab") else "b"


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


class Judge(Protocol):
    """Anything that answers prompts: a live endpoint, or files that hold the answers."""

    def ask(self, prompts: Sequence[JudgePrompt]) -> Mapping[str, ModelAnswer]:
        """Return answers by prompt id; prompts without an answer are left out."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """A judge that answered offline: the output files of a Batch."""

    files: Sequence[Path]

    def ask(self, prompts: Sequence[JudgePrompt]) -> Mapping[str, ModelAnswer]:
        wanted = {prompt.id for prompt in prompts}
        return {key: answer for key, answer in read_answers(self.files).items() if key in wanted}


class Rating(Record):
    """Scores of one shown text by aspect."""

    question_id: str
    pair_id: str
    scores: dict[str, float] = Field(min_length=1)

    @property
    def key(self) -> tuple[str, ...]:
        return self.question_id, self.pair_id

    @property
    def total(self) -> float:
        """Share of the highest possible score of what was scored, 0 to 1."""
        return sum(self.scores.values()) / (HIGHEST * len(self.scores))


class DuelVerdict(Record):
    """What a judge preferred in one order."""

    question_id: str
    a: str
    b: str
    order: Order
    better: Better

    @property
    def key(self) -> tuple[str, ...]:
        return self.question_id, self.a, self.b, self.order


@dataclass
class Taken:
    """What was read from a judge's answers.

    Attributes:
        labels, ratings, comparisons: As read.
        unread: Answers that said nothing readable, by mode; they count nowhere.
        strange: Ids that belong to no question of the run, or to no prompt of ours.
    """

    labels: list[Label] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)
    comparisons: list[DuelVerdict] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)
    strange: list[str] = field(default_factory=list)


def take(answers: Mapping[str, ModelAnswer], *, rater: Rater, known: Collection[str]) -> Taken:
    """Read a judge's answers.

    Args:
        answers: By prompt id.
        rater: The model.
        known: Ids of the run's questions.
    """
    taken = Taken()
    for prompt_id, answer in answers.items():
        asked = PromptId.read(prompt_id)
        if asked is None or asked.question not in known:
            taken.strange.append(prompt_id)
        elif answer.problem or not _read(taken, asked, answer.content, rater):
            taken.unread[asked.mode] += 1
    return taken


TRIES = 3  # how often a judge is asked the same in one go, when its answer cannot be read


def ask_until_read(
    prompts: Sequence[JudgePrompt],
    ask: Callable[[Sequence[JudgePrompt], int], tuple[Mapping[str, ModelAnswer], bool]],
    *,
    rater: Rater,
    known: Collection[str],
) -> dict[str, ModelAnswer]:
    """Ask a judge, and once more whatever it answered in a way that cannot be read, as another sample.

    Args:
        prompts: What is asked.
        ask: Answers prompts, given the number of the try (0 for the first), and says whether anything was really asked.
        rater: The model.
        known: Ids of the run's questions.
    """
    answers: dict[str, ModelAnswer] = {}
    todo = list(prompts)
    attempt = asked = 0
    while todo and asked < TRIES:
        found, anew = ask(todo, attempt)
        answers.update(found)
        attempt, asked = attempt + 1, asked + anew
        if not found:
            break  # nobody answers any more
        todo = [
            prompt
            for prompt in todo
            if prompt.id not in answers or take({prompt.id: answers[prompt.id]}, rater=rater, known=known).unread
        ]
    return answers


@dataclass(frozen=True, slots=True)
class PromptId:
    """What the id of a prompt tells: `JudgePrompt` says how it is written."""

    mode: str
    question: str
    pairs: tuple[str, ...]
    order: Order

    @classmethod
    def read(cls, prompt_id: str) -> PromptId | None:
        """Return what an id tells; None when it is none of ours."""
        mode, _, rest = prompt_id.partition("/")
        if mode in ("label", "rate"):
            question, *pairs = rest.rsplit("#", 1)
            return cls(mode, question, tuple(pairs), "ab") if pairs else None
        order, _, duel = rest.partition("/")
        question, *pairs = duel.rsplit("#", 2)
        if mode != "compare" or len(pairs) != 2 or order not in ORDERS:
            return None
        return cls(mode, question, tuple(pairs), "ab" if order == "ab" else "ba")


def _read(taken: Taken, asked: PromptId, text: str, rater: Rater) -> bool:
    """Take what an answer says; return whether it says anything."""
    if asked.mode == "compare":
        better = read_choice(text, order=asked.order)
        if better is not None:
            a, b = asked.pairs
            found = DuelVerdict(question_id=asked.question, a=a, b=b, order=asked.order, better=better)
            taken.comparisons.append(found)
        return better is not None
    (pair,) = asked.pairs
    if asked.mode == "rate":
        scores = read_scores(text, aspects=[aspect.id for aspect in load_instructions().aspects])
        if scores:
            taken.ratings.append(Rating(question_id=asked.question, pair_id=pair, scores=scores))
        return bool(scores)
    read = read_label(text, reasons=[reason.code for reason in load_reasons()])
    if read is not None:
        said = {"label": read.verdict, "reason": read.reason, "comment": read.comment, "rater": rater}
        taken.labels.append(Label.model_validate({"question_id": asked.question, "pair_id": pair, **said}))
    return read is not None


def keep(run: Path, taken: Taken, rater: Rater) -> None:
    """Store what a judge said beside what it said before; of the same thing the latest counts."""
    add_labels(run, taken.labels)
    _merge(_file(run, rater, "ratings"), taken.ratings, Rating)
    _merge(_file(run, rater, "comparisons"), taken.comparisons, DuelVerdict)


def judges_of(run: Path) -> list[str]:
    """Return the file names, without ending, of the judges of a run."""
    return sorted({path.name.rsplit(".", 2)[0] for path in (run / FOLDER).glob("*.*.jsonl")})


def load_ratings(run: Path, judge: str) -> list[Rating]:
    return _load(run / FOLDER / f"{judge}.ratings.jsonl", Rating)


def load_comparisons(run: Path, judge: str) -> list[DuelVerdict]:
    return _load(run / FOLDER / f"{judge}.comparisons.jsonl", DuelVerdict)


def _file(run: Path, rater: Rater, kind: str) -> Path:
    return run / FOLDER / f"{file_name(rater).removesuffix('.jsonl')}.{kind}.jsonl"


def _load(path: Path, record: type[Kept]) -> list[Kept]:
    return read_lines(path, record, ": {reason}. Remove the line, and import again.") if path.is_file() else []


def _merge(path: Path, records: Sequence[Rating | DuelVerdict], record: type[Rating] | type[DuelVerdict]) -> None:
    if not records:
        return
    merged = {item.key: item for item in (*_load(path, record), *records)}
    with writing(path, "Make the run's folder writable."):
        replace_text(path, as_lines(item.model_dump() for item in merged.values()))
