"""How a critic and a corrector are asked, in words that lie with the vignettes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import Template

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot import BadData, Catalog, data_folder
from harness.prompts import Prompt
from harness.questions import Question
from harness.vignettes import Vignette

RETRY = "#"  # a prompt that is asked again has the id of the first with this and the attempt


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Aspect(_Edge):
    """One thing that a question is scored by, 0 to 5."""

    key: str = Field(pattern=r"^[a-z]+$")
    label: str
    asks: str


class RefineTexts(_Edge):
    """The words of critique and correction in one language."""

    aspects: tuple[Aspect, ...] = Field(min_length=1)
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
    try:
        return RefineTexts.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise BadData(f"Critique in {language!r} cannot be read. Write {path} after the German one.") from error


@dataclass(frozen=True)
class Asking:
    """Makes the prompts for the questions of one catalog and its patients."""

    texts: RefineTexts
    catalog: Catalog
    vignettes: dict[str, Vignette]

    def critique(self, question: Question, number: int, text: str, siblings: Sequence[str]) -> Prompt:
        """Ask for scores of a question's text in a round."""
        keys = ", ".join(f"{json.dumps(aspect.key)}: …" for aspect in self.texts.aspects)
        aspects = "\n".join(f"- {one.key} ({one.label}): {one.asks}" for one in self.texts.aspects)
        task = Template(self.texts.critique).substitute(
            vignette=self._vignette(question).impersonation,
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
        return self._prompt("correct", question, number, self._vignette(question).impersonation, task)

    def again(self, prompt: Prompt, attempt: int) -> Prompt:
        """Ask once more, since the last answer could not be read."""
        return replace(prompt, id=f"{prompt.id}{RETRY}{attempt}", task=f"{prompt.task}\n\n{self.texts.reminder}")

    def _prompt(self, step: str, question: Question, number: int, system: str, task: str) -> Prompt:
        identity = f"{step}/{number}/{question.id}"
        lang = self.catalog.language
        return Prompt(identity, "paraphrase", question.vignette, question.pair_id, lang, system, task, 1)

    def _vignette(self, question: Question) -> Vignette:
        if question.vignette not in self.vignettes:
            raise BadData(
                f"The vignette {question.vignette!r} of the suite is unknown (known: {', '.join(self.vignettes)}). "
                "Give the folder it lies in with `--vignettes`."
            )
        return self.vignettes[question.vignette]

    def _pair_question(self, question: Question) -> str:
        return self.catalog.pair(question.pair_id or "").question


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "–"
