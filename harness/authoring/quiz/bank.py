"""Examples for each component of a quiz, the checklist of topics and points, and how the nearest are found.

The paper retrieves with ColBERT from MedQA. Here the examples are our own, and relevance is ColBERT's late interaction
(MaxSim: for every word of the query the nearest word of the text, summed up) over the words' vectors of the assistant's
encoder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from pydantic import Field

from bot import Encoder, data_folder, words
from harness.authoring.quiz.rubric import Component, Kind
from harness.files import Record, read_record

FEW = 3  # examples in a prompt
SHORTEST = 4  # letters of a word that is compared: shorter ones are in every text
MOST_WORDS = 400  # of a query or text that are compared; the cases of the paper have 419 on average


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
    """Finds the texts nearest to a query by their words; every word is encoded once."""

    encoder: Encoder
    _vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)

    def nearest(self, query: str, texts: Mapping[str, str], most: int) -> list[str]:
        """Return the keys of the texts nearest to the query, best first; ties keep their order."""
        asked = self._matrix(query)
        scores = {key: self._max_sim(asked, self._matrix(text)) for key, text in texts.items()}
        return sorted(scores, key=lambda key: -scores[key])[:most]

    def examples(self, query: str, examples: Sequence[Example], most: int = FEW) -> list[Example]:
        """Return the examples nearest to a query."""
        keys = self.nearest(query, {str(number): one.text for number, one in enumerate(examples)}, most)
        return [examples[int(key)] for key in keys]

    @staticmethod
    def _max_sim(asked: npt.NDArray[np.float32], text: npt.NDArray[np.float32]) -> float:
        if not len(asked) or not len(text):
            return 0.0
        return round(float((asked @ text.T).max(axis=1).sum()), 4)  # the last digits differ between machines

    def _matrix(self, text: str) -> npt.NDArray[np.float32]:
        compared = list(dict.fromkeys(word for word in words(text) if len(word) >= SHORTEST))[:MOST_WORDS]
        unknown = [word for word in compared if word not in self._vectors]
        if unknown:
            self._vectors.update(zip(unknown, self.encoder.encode(unknown), strict=True))
        if not compared:
            return np.zeros((0, 1), dtype=np.float32)
        return np.stack([self._vectors[word] for word in compared])
