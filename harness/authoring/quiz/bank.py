"""Examples for each component of a quiz, the checklist of topics and points, and how the nearest are found.

The paper retrieves with ColBERT from MedQA. Here the examples are our own, and relevance is ColBERT's late interaction
(MaxSim: for every part of the query the nearest part of the text, summed up) over sentences instead of tokens: the
assistant's encoder knows sentences, and over its vectors of single words the points that it found were arbitrary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from pydantic import Field

from bot import Encoder, data_folder
from harness.authoring.quiz.rubric import Component, Kind
from harness.files import Record, read_record

FEW = 3  # examples in a prompt
MOST_SENTENCES = 60  # of a query or text that are compared; the cases of the paper have 419 words on average
_SENTENCE_END = re.compile(r"(?<=[.?!:;])\s+")
Vector = npt.NDArray[np.float32]
Vectors = npt.NDArray[np.float32]


class Example(Record):
    """A quiz of our own that prompts show, or parts of it."""

    topic: str
    key_point: str
    context: str
    question: str
    answer: str
    distractors: tuple[str, ...] = Field(min_length=2, max_length=5)
    reasoning: str = ""

    @property
    def text(self) -> str:
        return " ".join((self.topic, self.key_point, self.context, self.question, self.answer))


class Version(Record):
    """One of several versions of a quiz, each better than the one before.

    Attributes:
        feedback: What was said of each component, with its score in the words: ``… 38/45``.
    """

    context: str
    question: str
    answer: str
    distractors: tuple[str, ...] = Field(min_length=2, max_length=5)
    feedback: dict[Component, str]


class Worked(Record):
    """An example of critique and correction.

    Attributes:
        attempt, reasoning: How the first version was answered.
        scored: What was said of the first version, by component and aspect, with the score in front: ``4 …``.
        versions: Three, each improved by what was said of the one before.
    """

    case: str
    topic: str
    key_point: str
    attempt: str
    reasoning: str
    scored: dict[Component, dict[str, str]]
    versions: tuple[Version, ...] = Field(min_length=2)


class Bank(Record):
    """Examples of one kind in one language; at least two have a reasoning."""

    examples: tuple[Example, ...] = Field(min_length=FEW)
    worked: Worked


class Section(Record):
    """A section of the checklist: topics to choose from."""

    section: str
    topics: tuple[str, ...] = Field(min_length=1)


class Outline(Record):
    """What can be asked about: a checklist of topics, and the points that test points are found among."""

    checklist: tuple[Section, ...] = Field(min_length=1)
    points: tuple[str, ...] = Field(min_length=1)

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(topic for section in self.checklist for topic in section.topics)


def load_bank(kind: Kind, language: str) -> Bank:
    """Load the shipped examples of a kind; raise BadData when they cannot be read."""
    path = data_folder("vignettes") / "authoring" / "quiz" / f"bank-{kind}-{language}.yaml"
    return read_record(path, Bank, f"{path} holds no examples ({{reason}}). Mend it after the German one.")


def load_outline(kind: Kind, language: str) -> Outline:
    """Load the shipped checklist of a kind; raise BadData when it cannot be read."""
    path = data_folder("vignettes") / "authoring" / "quiz" / f"outline-{kind}-{language}.yaml"
    return read_record(path, Outline, f"{path} is no checklist ({{reason}}). Mend it after the German one.")


@dataclass
class LateInteraction:
    """Finds the texts nearest to a query, sentence by sentence; every sentence is encoded once."""

    encoder: Encoder
    _vectors: dict[str, Vector] = field(default_factory=dict)

    def examples(self, query: str, examples: Sequence[Example], most: int = FEW) -> list[Example]:
        """Return the examples nearest to a query, best first; ties keep their order."""
        asked = self._matrix(query)
        scores = [self._max_sim(asked, self._matrix(one.text)) for one in examples]
        return [examples[number] for number in sorted(range(len(examples)), key=lambda n: -scores[n])[:most]]

    def points(self, case: str, topic: str, points: Sequence[str], most: int) -> list[str]:
        """Return the points nearest to a topic and to some sentence of a case, best first."""
        sentences, wanted = self._matrix(case), self._matrix(topic)
        scores = {}
        for point in dict.fromkeys(points):
            own = self._matrix(point)
            scores[point] = self._max_sim(own, sentences) / max(1, len(own)) + self._max_sim(wanted, own)
        return sorted(scores, key=lambda point: -scores[point])[:most]

    @staticmethod
    def _max_sim(asked: Vectors, text: Vectors) -> float:
        if not len(asked) or not len(text):
            return 0.0
        return round(float((asked @ text.T).max(axis=1).sum()), 4)  # the last digits differ between machines

    def _matrix(self, text: str) -> Vectors:
        compared = list(dict.fromkeys(one for one in _SENTENCE_END.split(text.strip()) if one))[:MOST_SENTENCES]
        unknown = [one for one in compared if one not in self._vectors]
        if unknown:
            self._vectors.update(zip(unknown, self.encoder.encode(unknown), strict=True))
        return np.stack([self._vectors[one] for one in compared]) if compared else np.zeros((0, 1), np.float32)
