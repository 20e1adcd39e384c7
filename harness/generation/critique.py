"""How a critic and a corrector are asked; a critique that lacks a score is unscored, never zero."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import Template

from pydantic import Field

from bot import BadData, Catalog, data_folder, fold
from harness.files import Record, read_record
from harness.llm.scores import TOP, scores_in_json, scores_in_lines
from harness.patients.prompts import Prompt, Tasks, load_tasks
from harness.patients.suites import Question
from harness.patients.vignettes import Vignette

RETRY = "#"  # a prompt that is asked again has the id of the first with this and the attempt


class CritiqueAspect(Record):
    """One thing that a question is scored by, 0 to 5."""

    key: str = Field(pattern=r"^[a-z]+$")
    label: str
    asks: str


class RefineTexts(Record):
    """The words of critique and correction in one language."""

    aspects: tuple[CritiqueAspect, ...] = Field(min_length=1)
    critic: str
    critique: str
    correct: str
    reminder: str

    @property
    def labels(self) -> dict[str, str]:
        return {aspect.key: aspect.label for aspect in self.aspects}


def load_refine_texts(language: str) -> RefineTexts:
    """Load the words for a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "tasks" / f"refine-{language}.yaml"
    problem = f"Critique in {language!r} cannot be read. Write {path} after the German one."
    return read_record(path, RefineTexts, problem)


@dataclass(frozen=True)
class CritiquePrompts:
    """Makes the prompts for the questions of one catalog and its patients."""

    texts: RefineTexts
    catalog: Catalog
    vignettes: dict[str, Vignette]

    def critique(self, question: Question, number: int, text: str, siblings: Sequence[str]) -> Prompt:
        """Ask for scores of a question's text in a round."""
        keys = ", ".join(f"{json.dumps(aspect.key)}: …" for aspect in self.texts.aspects)
        aspects = "\n".join(f"- {one.key} ({one.label}): {one.asks}" for one in self.texts.aspects)
        task = Template(self.texts.critique).substitute(
            vignette=self._impersonation(question),
            pair_question=self._pair_question(question),
            text=text,
            siblings=_listed(siblings),
            aspects=aspects,
            keys=keys,
        )
        return self._prompt("critique", question, number, self.texts.critic, task)

    def correction(  # every part of the prompt has its own source
        self, question: Question, number: int, text: str, siblings: Sequence[str], feedback: str
    ) -> Prompt:
        """Ask for a better text, from the critic's feedback."""
        task = Template(self.texts.correct).substitute(
            pair_question=self._pair_question(question), text=text, siblings=_listed(siblings), feedback=feedback
        )
        return self._prompt("correct", question, number, self._impersonation(question), task)

    def again(self, prompt: Prompt, attempt: int) -> Prompt:
        """Ask once more, since the last answer could not be read."""
        return replace(prompt, id=f"{prompt.id}{RETRY}{attempt}", task=f"{prompt.task}\n\n{self.texts.reminder}")

    def _prompt(self, step: str, question: Question, number: int, system: str, task: str) -> Prompt:
        identity = f"{step}/{number}/{question.id}"
        lang = self.catalog.language
        return Prompt(identity, "paraphrase", question.vignette, question.pair_id, lang, system, task, 1)

    @cached_property
    def _tasks(self) -> Tasks:
        return load_tasks(self.catalog.language)

    def _impersonation(self, question: Question) -> str:
        if question.vignette not in self.vignettes:
            raise BadData(
                f"The vignette {question.vignette!r} of the suite is unknown (known: {', '.join(self.vignettes)}). "
                "Give the folder it lies in with `--vignettes`."
            )
        return self._tasks.impersonating(self.vignettes[question.vignette], self.catalog)

    def _pair_question(self, question: Question) -> str:
        return self.catalog.pair(question.pair_id or "").question


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "–"


def parse_scores(answer: str, aspects: Mapping[str, str]) -> dict[str, float] | None:
    """Return the score of every aspect, 0 to 5; None when one is missing or out of range.

    Args:
        answer: What the critic wrote.
        aspects: Label by key; both are recognised, in any case.
    """
    names = {fold(name): key for key, label in aspects.items() for name in (key, label)}
    found = scores_in_json(answer, names)
    if set(found) != set(aspects):
        found = {**scores_in_lines(answer, names), **found}
    if set(found) != set(aspects):
        return None
    scores = {key: found[key] for key in aspects}
    return scores if all(0 <= value <= TOP for value in scores.values()) else None


def total(scores: Sequence[float]) -> float:
    """Return the sum as a share of the maximum, 0 to 1; raise ValueError without scores."""
    if not scores:
        raise ValueError("a total needs scores")
    return sum(scores) / (TOP * len(scores))
