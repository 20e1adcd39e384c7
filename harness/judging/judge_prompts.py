"""What a model that judges is asked: a label, scores by aspects, or which of two texts is better, in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal

from pydantic import Field

from bot import BadData, data_folder
from harness.files import Record, read_record
from harness.labelling.labels import Item, load_reasons
from harness.labelling.queues import Kinds, items_to_label
from harness.labelling.session import shown_answers
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
    if mode == "compare":
        if beside is None:
            raise BadData("A comparison needs two runs. Give the other one with `--beside RUN`.")
        duels = _duels(ours, theirs)
        prompts = duel_prompts(duels, shown_answers([*ours, *theirs], outcomes, catalog), outcomes[0].lang)
    else:
        both = list(dict.fromkeys((*ours, *theirs)))
        prompts = item_prompts(mode, both, shown_answers(both, outcomes, catalog), outcomes[0].lang)
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
        Item(text[other.id], other.answered_with)
        for other in load_outcomes(beside)
        if other.id in wanted and other.answered_with is not None and other.text == text[other.id].text
    ]


def _duels(ours: Sequence[Item], theirs: Sequence[Item]) -> list[Duel]:
    shown = {item.outcome.id: item.pair_id for item in theirs}
    return [
        Duel(item.outcome.id, item.outcome.text, item.pair_id, shown[item.outcome.id])
        for item in ours
        if shown.get(item.outcome.id, item.pair_id) != item.pair_id
    ]
