"""What a quiz is scored by: aspects of its five components, 0 to 5 each, as data. A critique is read defensively.

The exam rubric has the thirty aspects of MCQG-C++ (seed paper 000, tables 13, 15 and 18). The paper's text and table 13
name three of the reasoning; the fourth, its correctness, stands in table 18 only and is worded by us. The teach-back
rubric is ours: it keeps what also holds for patients, leaves out what makes an exam hard, and adds what patients need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from bot import BadData, data_folder, fold
from harness.authoring.working import Unusable
from harness.console import nearest
from harness.files import Record, read_record
from harness.llm.scores import TOP, json_objects, scores_in_json, scores_in_lines

Kind = Literal["exam", "teach-back"]
Component = Literal["context", "question", "answer", "distractors", "reasoning"]
COMPONENTS: tuple[Component, ...] = ("context", "question", "answer", "distractors", "reasoning")
KINDS: tuple[Kind, ...] = ("exam", "teach-back")
PUBLISHED: Mapping[Component, tuple[str, ...]] = {
    "context": (
        *("relevant", "concision", "coherent", "consistent", "specific", "fluent"),
        *("clueing", "completeness", "misdirection"),
    ),
    "question": ("relevant", "clear", "concluding", "difficulty", "clarity"),
    "answer": ("relevant", "occurrence", "justification", "depth", "guesswork"),
    "distractors": ("format", "length", "relation", "variation", "plausibility", "differentiation", "common-mistakes"),
    "reasoning": ("logical-flow", "correctness", "evidence", "options"),
}
FOR_PATIENTS: Mapping[Component, tuple[str, ...]] = {
    "context": ("plain-words", "unburdened"),
    "question": ("plain-words", "one-thing", "unburdened"),
    "answer": ("approved", "plain-words"),
    "distractors": ("harmless", "plain-words"),
    "reasoning": (),
}
KNOWN = {component: (*PUBLISHED[component], *FOR_PATIENTS[component]) for component in COMPONENTS}
MOST_FEEDBACK = 400  # characters of one aspect's reason


class Aspect(Record):
    """One thing that is scored: its name for people, and what is asked of it."""

    label: str = Field(min_length=1)
    asks: str = Field(min_length=1)


class Rubric(Record):
    """What the components of a quiz are scored by.

    Attributes:
        kind: Which examples, checklist and words go with it.
        aspects: By component, then by key; every component has at least one.
    """

    kind: Kind
    aspects: dict[str, dict[str, Aspect]]

    def of(self, component: Component) -> Mapping[str, Aspect]:
        return self.aspects[component]

    @property
    def count(self) -> int:
        return sum(len(aspects) for aspects in self.aspects.values())


def load_rubric(name: str, language: str) -> Rubric:
    """Load a shipped rubric by name, or one of your own by its file.

    Raises:
        BadData: It cannot be read, or has components or aspects that are not known, or lacks a component.
    """
    folder = data_folder("vignettes") / "authoring" / "quiz"
    path = folder / f"rubric-{name}-{language}.yaml" if name in KINDS else Path(name)
    like = folder / f"rubric-teach-back-{language}.yaml"
    problem = f"{path} is no rubric ({{reason}}). Give `--rubric exam` or `teach-back`, or a file like {like}."
    rubric = read_record(path, Rubric, problem)
    for component, aspects in rubric.aspects.items():
        if component not in KNOWN:
            raise BadData(f"{path}: there is no component {component!r} (known: {', '.join(COMPONENTS)}). Rename it.")
        for key in aspects:
            if key not in KNOWN[component]:
                raise BadData(
                    f"{path}: the {component} has no aspect {key!r} (known, for example: "
                    f"{nearest(key, KNOWN[component])}). Rename it or take it out."
                )
    lacking = [component for component in COMPONENTS if not rubric.aspects.get(component)]
    if lacking:
        raise BadData(f"{path} has no aspect of the {lacking[0]}. Give every component at least one.")
    return rubric


@dataclass(frozen=True, slots=True)
class Critique:
    """What a critic said of one component.

    Attributes:
        scores: By aspect, 0 to 5; every aspect of the rubric has one.
        feedback: Why, by aspect; the whole answer under an empty key where no aspect has words of its own.
    """

    scores: Mapping[str, float]
    feedback: Mapping[str, str]

    @property
    def total(self) -> float:
        return sum(self.scores.values())

    @property
    def most(self) -> float:
        return TOP * len(self.scores)

    @property
    def share(self) -> float:
        """Of the highest possible total, 0 to 1."""
        return self.total / self.most

    def in_words(self, aspects: Mapping[str, Aspect]) -> str:
        """Return it as a corrector is told: each aspect's reason with its score, then the total."""
        lines = [
            f"- {aspects[key].label}: {self.feedback.get(key, '')} {score:g}/{TOP:g}".replace(":  ", ": ")
            for key, score in self.scores.items()
        ]
        whole = self.feedback.get("")
        return "\n".join(([whole] if whole else []) + lines)

    def as_json(self) -> dict[str, object]:
        return {"share": self.share, "scores": dict(self.scores), "feedback": dict(self.feedback)}


def read_critique(text: str, aspects: Mapping[str, Aspect]) -> Critique:
    """Read a critique of one component; raise Unusable unless every aspect has one clear score from 0 to 5."""
    names = {fold(name): key for key, aspect in aspects.items() for name in (key, aspect.label)}
    scores = scores_in_json(text, names)
    if set(scores) != set(aspects):
        scores = {**scores_in_lines(text, names), **scores}
    missing = [key for key in aspects if key not in scores]
    if missing:
        raise Unusable(f"{len(missing)} of {len(aspects)} aspects have no score, the first of them {missing[0]}")
    wrong = [key for key in aspects if not 0 <= scores[key] <= TOP]
    if wrong:
        raise Unusable(f"the score of {wrong[0]} is not from 0 to {TOP:g}")
    feedback = _feedback(text, names)
    return Critique({key: scores[key] for key in aspects}, feedback or {"": " ".join(text.split())[:MOST_FEEDBACK]})


def _feedback(text: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons in JSON such as ``{"clear": {"feedback": "…", "score": 4}}``."""
    found: dict[str, str] = {}
    for document in json_objects(text):
        for name, value in document.items():
            key = names.get(fold(name))
            words = [each for each in value.values() if isinstance(each, str)] if isinstance(value, dict) else []
            if key is not None and words:
                found.setdefault(key, " ".join(max(words, key=len).split())[:MOST_FEEDBACK])
    return found
