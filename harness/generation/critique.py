"""How a critic and a corrector are asked, and how scores are read out of what the critic wrote.

Asked for a JSON object, models also send one in a fence, with remarks around it, nested, with "4/5" for a number, or a
list with the scores at the ends of lines. What is not clearly a score from 0 to 5 of an aspect is no score: a critique
that lacks one is unscored, never zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Any

from pydantic import Field

from bot import BadData, Catalog, data_folder, fold
from harness.files import Record, read_record
from harness.patients.prompts import Prompt
from harness.patients.suites import Question
from harness.patients.vignettes import Vignette

RETRY = "#"  # a prompt that is asked again has the id of the first with this and the attempt
TOP = 5.0
MOST_STARTS = 40  # brackets tried as the beginning of JSON: hostile answers must not take long
MOST_CHARACTERS = 20_000
_OF_FIVE = re.compile(r"(?<![\d.,])(\d+(?:[.,]\d+)?)\s*(?:/|von|of|out of)\s*(\d+)(?![\d.,])", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\d.,/-])(\d+(?:[.,]\d+)?)(?![\d.,]*\d|\s*(?:/|von|of|out of|%)\s*)")
_SCORE_KEYS = ("score", "punkte", "wert", "wertung", "bewertung", "note", "rating", "value", "points")
_PAIR = re.compile(r'"([^"\n]{1,60})"\s*:\s*("[^"\n]*"|-?\d+(?:[.,]\d+)?)')
_LEAD = re.compile(r"^[\s>*_#|`\-•–\d.)(]+")


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


def parse_scores(answer: str, aspects: Mapping[str, str]) -> dict[str, float] | None:
    """Return the score of every aspect, 0 to 5; None when one is missing or out of range.

    Args:
        answer: What the critic wrote.
        aspects: Label by key; both are recognised, in any case.
    """
    answer = answer[:MOST_CHARACTERS]
    names = {fold(name): key for key, label in aspects.items() for name in (key, label)}
    found = _from_json(answer, names)
    if set(found) != set(aspects):
        found = {**_from_lines(answer, names), **found}
    if set(found) != set(aspects):
        return None
    scores = {key: found[key] for key in aspects}
    return scores if all(0 <= value <= TOP for value in scores.values()) else None


def _from_json(answer: str, names: Mapping[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for document in _objects(answer):
        for name, value in _flat(document):
            key, score = names.get(fold(name)), _score(value)
            if key is not None and score is not None:
                found.setdefault(key, score)
    for name, value in _PAIR.findall(answer):  # of an object that was cut off
        key, score = names.get(fold(name)), _in_text(value.strip('"')) if not value.startswith("-") else None
        if key is not None and score is not None:
            found.setdefault(key, score)
    return found


def _objects(answer: str) -> Iterator[Any]:
    """Yield the JSON objects and lists that stand in a text, outermost first."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(MOST_STARTS):
        starts = [place for place in (answer.find("{", at), answer.find("[", at)) if place >= 0]
        if not starts:
            return
        try:
            document, at = decoder.raw_decode(answer, min(starts))
            yield document
        except (ValueError, RecursionError):
            at = min(starts) + 1


def _flat(document: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield names and values, also of nested objects and of lists of {"aspect": …, "score": …}."""
    if depth > 6:
        return
    if isinstance(document, list):
        for item in document:
            yield from _flat(item, depth + 1)
        return
    if not isinstance(document, dict):
        return
    named = next((value for key, value in document.items() if fold(key) in ("aspect", "aspekt", "name", "key")), None)
    if isinstance(named, str):
        yield named, document
    for key, value in document.items():
        yield key, value
        yield from _flat(value, depth + 1)


def _score(value: Any) -> float | None:
    if isinstance(value, dict):
        inner = [item for key, item in value.items() if fold(key) in _SCORE_KEYS]
        return _score(inner[0]) if len(inner) == 1 else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return _in_text(value) if isinstance(value, str) else None


def _in_text(text: str) -> float | None:
    """Return the score in a short text: "4", "4/5", "4 von 5", "Score: 4"; None when it is not clear."""
    of = [(float(value.replace(",", ".")), int(top)) for value, top in _OF_FIVE.findall(text)]
    if of:
        values = {value for value, top in of if top == int(TOP)}
        return values.pop() if len(values) == 1 else None
    numbers = {float(number.replace(",", ".")) for number in _NUMBER.findall(text)}
    return numbers.pop() if len(numbers) == 1 else None


def _from_lines(answer: str, names: Mapping[str, str]) -> dict[str, float]:
    """Read a list: each aspect's name at the start of a line, its score on that line or before the next name."""
    found: dict[str, float] = {}
    for key, lines in _sections(answer, names):
        text = " ".join(lines)
        score = _in_text(text)
        if score is None:
            score = _at_an_end(lines[0])
        if score is not None:
            found.setdefault(key, score)
    return found


def _sections(answer: str, names: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    key, lines = None, []
    for line in answer.splitlines():
        bare = _LEAD.sub("", line).strip()
        folded = fold(bare)
        name = next(
            (name for name in sorted(names, key=len, reverse=True) if f"{folded} ".startswith(f"{name} ")), None
        )
        if name is not None:
            if key is not None:
                yield key, lines
            key, lines = names[name], [_after(bare, name)]
        elif key is not None:
            lines.append(line)
    if key is not None:
        yield key, lines


def _after(line: str, name: str) -> str:
    """Return what follows a name of so many words."""
    words = list(re.finditer(r"[^\W_]+", line))
    return line[words[len(name.split()) - 1].end() :]


def _at_an_end(text: str) -> float | None:
    """Return a number that stands right after the name or at the very end: ": 4 (wegen 2 Fehlern)", "… gut. 4"."""
    for pattern in (r"^[\s:*|=–-]*(\d+(?:[.,]\d+)?)(?![\d.,]*\d)", r"(?<![\d.,])(\d+(?:[.,]\d+)?)[\s.*|)]*$"):
        match = re.search(pattern, text)
        if match:
            return float(match[1].replace(",", "."))
    return None


def total(scores: Sequence[float]) -> float:
    """Return the sum as a share of the maximum, 0 to 1; raise ValueError without scores."""
    if not scores:
        raise ValueError("a total needs scores")
    return sum(scores) / (TOP * len(scores))
