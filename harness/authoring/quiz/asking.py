"""The prompts for quizzes, and how their answers are read. Pure.

The prompts follow table 14 of MCQG-C++ (seed paper 000): examples first, each cut to what the step needs, then what is
given.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal

from bot import data_folder, fold
from harness.authoring.quiz.bank import Bank, Example, Outline
from harness.authoring.quiz.rubric import COMPONENTS, Component, Critique, Kind, Rubric, read_critique
from harness.authoring.working import Ask, Unusable
from harness.files import Record, read_record
from harness.llm.scores import TOP, json_objects

Step = Literal["context", "question", "answer", "distractors"]
STEPS: tuple[Step, ...] = ("context", "question", "answer", "distractors")
Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")
MOST_TOPICS = 5  # as in the paper
LONGEST = {"context": 2500, "question": 400, "answer": 300, "option": 300, "key point": 160}  # characters
FEWEST_DISTRACTORS, MOST_DISTRACTORS = 2, 5
LETTERS = "ABCDEF"
# What a component is called where a model labels it, in any language: the longest that fits counts.
_LABELS: Mapping[str, tuple[str, ...]] = {
    "context": ("context", "kontext"),
    "question": ("question", "frage"),
    "answer": ("correct answer", "answer", "richtige antwort", "antwort"),
    "distractors": (
        *("distractor options", "distractors", "falsche antworten", "falsche antwortmöglichkeiten", "distraktoren"),
    ),
    "reasoning": ("reasoning", "begründung"),
}
_NAMES = {name: component for component, names in _LABELS.items() for name in names}
_LABEL = re.compile(
    rf"^[\s#>*_-]*({'|'.join(sorted(map(re.escape, _NAMES), key=len, reverse=True))})[\s*_]*:[\s*_]*", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*•–]\s*)?(?:\(?[A-Fa-f1-6][).:]\s+|[-*•–]\s*)?")
_LETTER = re.compile(r"^[\s*_\"'(]*(?:option\s+)?([A-F])(?![\w-])", re.IGNORECASE)
_DIFFICULTY_WORDS: Mapping[str, Difficulty] = {
    **{"easy": "easy", "leicht": "easy", "einfach": "easy"},
    **{"medium": "medium", "mittel": "medium", "moderate": "medium"},
    **{"hard": "hard", "schwer": "hard", "difficult": "hard", "schwierig": "hard"},
}


class Words(Record):
    """What is said for one kind of quiz."""

    system: str
    examples: str  # the heading of examples
    style: str  # what a good quiz of this kind is


class QuizTexts(Record):
    """The words of all prompts in one language; slots as in `string.Template`."""

    kinds: dict[Kind, Words]
    names: dict[str, str]  # of the components, and of case, topic, key_point, options and attempt
    topics: str
    point: str
    make: dict[Step, str]
    attempt: str
    critique: str
    correct: str
    judge: str

    @property
    def hash(self) -> str:
        return hash_of_record(self)


def load_texts(language: str) -> QuizTexts:
    """Load the words for a language; raise BadData when nobody wrote them."""
    path = data_folder("vignettes") / "authoring" / f"quiz-{language}.yaml"
    return read_record(path, QuizTexts, f"{path} holds no prompts ({{reason}}). Mend it after the German one.")


def hash_of_record(record: Record) -> str:
    """Return a short content hash, for what a work depends on."""
    return hashlib.sha256(record.model_dump_json().encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Case:
    """What a quiz is made from.

    Attributes:
        id: Of the pair or file; part of prompt ids.
        text: The approved answer, or a medical case.
        topic, key_point: Given by a person; both empty where the model is to find them.
        facets: What a pair's answer covers: points among which test points are found, too.
        pair_id: The pair it comes from; empty for another text.
    """

    id: str
    text: str
    topic: str = ""
    key_point: str = ""
    facets: tuple[str, ...] = ()
    pair_id: str = ""


@dataclass(frozen=True, slots=True)
class Quiz:
    """A multiple-choice question with one correct answer."""

    context: str
    question: str
    answer: str
    distractors: tuple[str, ...]

    @property
    def words(self) -> int:
        """How long it is as it is read: context, question and all options."""
        return len(" ".join((self.context, self.question, self.answer, *self.distractors)).split())

    def shuffled(self, seed: str) -> tuple[str, ...]:
        """Return all options in an order that depends on the seed only."""
        options = [self.answer, *self.distractors]
        random.Random(seed).shuffle(options)
        return tuple(options)

    def as_json(self) -> dict[str, Any]:
        return {
            "context": self.context,
            "question": self.question,
            "answer": self.answer,
            "distractors": list(self.distractors),
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """How the model answered its own question.

    Attributes:
        options: As they were shown.
        chosen: One of them.
        reasoning: Step by step.
        right: Whether it is the correct answer.
    """

    options: tuple[str, ...]
    chosen: str
    reasoning: str
    right: bool


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge said of two versions, A and B, as shown."""

    better: Literal["a", "b", "tie"]
    difficulty: Mapping[str, Difficulty]
    errors: Mapping[str, tuple[str, ...]]
    reason: str


@dataclass(frozen=True)
class QuizPrompts:
    """Makes the prompts for one kind of quiz in one language."""

    texts: QuizTexts
    rubric: Rubric
    bank: Bank

    @property
    def _words(self) -> Words:
        return self.texts.kinds[self.rubric.kind]

    def topics(self, id_: str, case: Case, outline: Outline) -> Ask[tuple[str, ...]]:
        """Ask which topics of the checklist the case is fit for; at most five."""
        listed = "\n".join(
            f"{section.section}\n" + "\n".join(f"- {topic}" for topic in section.topics)
            for section in outline.checklist
        )
        task = self._fill(self.texts.topics, checklist=listed, case=case.text, most=str(MOST_TOPICS))
        known = {fold(topic): topic for topic in outline.topics}
        return self._ask(id_, task, lambda text: _read_topics(text, known))

    def point(self, id_: str, case: Case, topic: str, points: Sequence[str]) -> Ask[str]:
        """Ask for one test point of a topic; `points` were retrieved for it."""
        listed = "\n".join(f"- {point}" for point in points)
        return self._ask(id_, self._fill(self.texts.point, case=case.text, topic=topic, points=listed), _read_point)

    def make(self, id_: str, step: Step, case: Case, so_far: Mapping[str, str], few: Sequence[Example]) -> Ask[Any]:
        """Ask for one component; `so_far` holds those that there are."""
        slots = {"case": case.text, "topic": case.topic, "key_point": case.key_point, **so_far}
        task = self._fill(self.texts.make[step], examples=self._examples(step, few), **slots)
        if step == "distractors":
            return self._ask(id_, task, lambda text: read_distractors(text, so_far["answer"]))
        return self._ask(id_, task, lambda text: _read_part(text, step))

    def attempt(self, id_: str, quiz: Quiz, options: tuple[str, ...], few: Sequence[Example]) -> Ask[Attempt]:
        """Ask the question itself, with reasons for the answer and against the other options."""
        shown = "\n\n".join(
            self._parts(
                context=one.context,
                question=one.question,
                options=_lettered(Quiz("", "", one.answer, one.distractors).shuffled(one.question)),
                answer=one.answer,
                reasoning=one.reasoning,
            )
            for one in few
        )
        task = self._fill(
            self.texts.attempt,
            examples=shown,
            context=quiz.context,
            question=quiz.question,
            options=_lettered(options),
        )
        return self._ask(id_, task, lambda text: read_attempt(text, options, quiz.answer))

    def critique(self, id_: str, component: Component, case: Case, quiz: Quiz, attempt: Attempt) -> Ask[Critique]:
        """Ask for feedback and a score from 0 to 5 of every aspect of one component."""
        aspects, worked = self.rubric.of(component), self.bank.worked
        first = worked.versions[0]
        example = {
            key: {"feedback": said[1:].strip(), "score": int(said[0])}
            for key, said in worked.scored.get(component, {}).items()
            if key in aspects
        }
        task = self._fill(
            self.texts.critique,
            component=self.texts.names[component],
            example=self._parts(case=worked.case, topic=worked.topic, key_point=worked.key_point)
            + "\n"
            + self._parts(
                context=first.context,
                question=first.question,
                answer=first.answer,
                attempt=worked.attempt,
                reasoning=worked.reasoning,
                distractors=_bulleted(first.distractors),
            ),
            example_feedback=json.dumps(example, ensure_ascii=False),
            aspects="\n".join(f"- {key} ({one.label}): {one.asks}" for key, one in aspects.items()),
            form=", ".join(f'"{key}": {{"feedback": "…", "score": 0–5}}' for key in aspects),
            given=self._given(case, quiz, attempt),
        )
        schema = {
            "type": "object",
            "properties": dict.fromkeys(aspects, _SCORED),
            "required": list(aspects),
            "additionalProperties": False,
        }
        return self._ask(id_, task, lambda text: read_critique(text, aspects), schema)

    def correct(
        self, id_: str, case: Case, quiz: Quiz, attempt: Attempt, said: Mapping[Component, Critique]
    ) -> Ask[Quiz]:
        """Ask for a better version, from all feedback."""
        versions = []
        for number, one in enumerate(self.bank.worked.versions, 1):
            parts = self._parts(
                context=one.context,
                question=one.question,
                answer=one.answer,
                distractors=_bulleted(one.distractors),
            )
            feedback = "\n".join(
                f"{self.texts.names[part]}: {one.feedback[part]}" for part in COMPONENTS if part in one.feedback
            )
            versions.append(f"[{number}]\n{parts}\n{feedback}")
        feedback = "\n\n".join(
            f"{self.texts.names[part]} ({said[part].total:g}/{said[part].most:g}):\n"
            + said[part].in_words(self.rubric.of(part))
            for part in COMPONENTS
        )
        task = self._fill(
            self.texts.correct,
            examples="\n\n".join(versions),
            given=self._given(case, quiz, attempt),
            feedback=feedback,
        )
        return self._ask(id_, task, read_quiz)

    def judge(self, id_: str, case: Case, first: Quiz, second: Quiz) -> Ask[Preference]:
        """Ask which of two versions is better, how difficult each is, and what is wrong in it; blind."""
        parts = [part for part in COMPONENTS if part != "reasoning"]
        guide = "\n".join(
            f"{self.texts.names[part]}\n"
            + "\n".join(f"- {one.label}: {one.asks}" for one in self.rubric.of(part).values())
            for part in parts
        )
        task = self._fill(
            self.texts.judge,
            guide=guide,
            case=case.text,
            topic=case.topic,
            key_point=case.key_point,
            a=self._whole(first),
            b=self._whole(second),
        )
        return self._ask(id_, task, read_preference)

    def _ask(
        self, id_: str, task: str, read: Callable[[str], Any], schema: Mapping[str, Any] | None = None
    ) -> Ask[Any]:
        messages = [{"role": "system", "content": self._words.system}, {"role": "user", "content": task}]
        return Ask(id_, messages, read, schema, {"step": id_.partition("/")[0]})

    def _fill(self, template: str, **slots: str) -> str:
        said = {"style": self._words.style, "heading": self._words.examples, "top": f"{TOP:g}"}
        return Template(template).substitute(**said, **slots).strip()

    def _examples(self, step: Step, few: Sequence[Example]) -> str:
        """Return the examples, each cut to what the step needs."""
        upto = STEPS[: STEPS.index(step) + 1]
        shown = []
        for one in few:
            parts = {"context": one.context, "question": one.question, "answer": one.answer}
            parts["distractors"] = _bulleted(one.distractors)
            shown.append(self._parts(**{part: parts[part] for part in upto}))
        return "\n\n".join(shown)

    def _given(self, case: Case, quiz: Quiz, attempt: Attempt) -> str:
        return self._parts(
            case=case.text,
            topic=case.topic,
            key_point=case.key_point,
            context=quiz.context,
            question=quiz.question,
            answer=quiz.answer,
            attempt=attempt.chosen,
            reasoning=attempt.reasoning,
            distractors=_bulleted(quiz.distractors),
        )

    def _whole(self, quiz: Quiz) -> str:
        parts = {"context": quiz.context, "question": quiz.question, "answer": quiz.answer}
        return self._parts(**parts, distractors=_bulleted(quiz.distractors))

    def _parts(self, **parts: str) -> str:
        """Return labelled parts, each on lines of its own."""
        lines = []
        for key, text in parts.items():
            if text:
                between = "\n" if text.startswith(("- ", "A: ")) else " "
                lines.append(f"{self.texts.names[key]}:{between}{text}")
        return "\n".join(lines)


_SCORED = {
    "type": "object",
    "properties": {"feedback": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["feedback", "score"],
    "additionalProperties": False,
}


def _lettered(options: Sequence[str]) -> str:
    return "\n".join(f"{letter}: {option}" for letter, option in zip(LETTERS, options, strict=False))


def _bulleted(options: Sequence[str]) -> str:
    return "\n".join(f"- {option}" for option in options)


def _plain(text: str) -> str:
    """Return a text on one line, without the marks and quotes that models put around it."""
    return " ".join(text.split()).strip("*_`\"'„“”»« ").strip()


def _sections(text: str) -> dict[str, str]:
    """Return what stands after each label that begins a line; what comes before the first under an empty key."""
    found: dict[str, list[str]] = {"": []}
    at = ""
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label is not None:
            at = _NAMES[label[1].lower()]
            if at in found:  # said again: what came first counts
                at = "again"
        found.setdefault(at, []).append(line[label.end() :] if label is not None else line)
    return {key: "\n".join(lines).strip() for key, lines in found.items()}


def _from_json(text: str, *wanted: str) -> Mapping[str, Any]:
    """Return the JSON object of an answer that has most of the keys wanted, the first of equals; empty without any.

    Models also write others: an example of the form that is asked for, or what they thought.
    """
    return max(json_objects(text), key=lambda each: sum(key in each for key in wanted), default={})


def _checked(text: str, part: str) -> str:
    plain = _plain(text)
    if not plain:
        raise Unusable(f"it has no {part}")
    if len(plain) > LONGEST[part]:
        raise Unusable(f"the {part} has {len(plain)} characters, at most {LONGEST[part]} are asked for")
    return plain


def _read_part(text: str, step: Step) -> str:
    said = _from_json(text, step).get(step)
    if isinstance(said, str):
        return _checked(said, step)
    sections = _sections(text)
    return _checked(sections.get(step) or sections[""], step)


def read_distractors(text: str, answer: str) -> tuple[str, ...]:
    """Return the wrong options, each on a line of its own; raise Unusable when fewer than two are left.

    The right answer among them, and options that come twice, are left out.
    """
    said = _from_json(text, "distractors").get("distractors")
    sections = _sections(text)
    lines = said if isinstance(said, list) else (sections.get("distractors") or sections[""]).splitlines()
    kept: dict[str, str] = {}
    for line in lines:
        option = _plain(_BULLET.sub("", str(line), count=1))
        if option and fold(option) and fold(option) != fold(answer):
            kept.setdefault(fold(option), _checked(option, "option"))
    if len(kept) < FEWEST_DISTRACTORS:
        raise Unusable(f"it has {len(kept)} wrong options, at least {FEWEST_DISTRACTORS} are needed")
    return tuple(kept.values())[:MOST_DISTRACTORS]


def read_quiz(text: str) -> Quiz:
    """Read a whole quiz; raise Unusable when a part is missing."""
    said = _from_json(text, *STEPS)
    parts = {part: str(said.get(part) or "") for part in STEPS[:3]}
    if not all(parts.values()):
        sections = _sections(text)
        parts = {part: sections.get(part, "") for part in STEPS[:3]}
    context, question, answer = (_checked(parts[part], part) for part in STEPS[:3])
    return Quiz(context, question, answer, read_distractors(text, answer))


def read_attempt(text: str, options: tuple[str, ...], answer: str) -> Attempt:
    """Read which option was chosen, by its letter, else by its words; raise Unusable when that is not clear."""
    said = _from_json(text, "answer", "reasoning")
    sections = _sections(text)
    chosen = _plain(str(said.get("answer") or sections.get("answer") or ""))
    reasoning = str(said.get("reasoning") or sections.get("reasoning") or sections[""]).strip()
    option = _option(chosen, options)
    if not reasoning:
        raise Unusable("it gives no reasons")
    return Attempt(options, option, reasoning, fold(option) == fold(answer))


def _option(chosen: str, options: Sequence[str]) -> str:
    """Return the option that is meant.

    The letter comes first, since an answer may name other options to reject them: "B, not the others". Where it stands
    beside the words of another option alone, nobody knows which is meant.
    """
    said = fold(chosen)
    named = [option for option in options if fold(option) and f" {fold(option)} " in f" {said} "]
    # Not of an option that begins with such a word itself: "A lump", "E. coli in the urine".
    begun = [option for option in named if " " in fold(option) and said.startswith(fold(option))]
    letter = None if begun else _LETTER.match(chosen)
    if letter is None:
        named = [option for option in named if fold(option) == said] or named
        if len(named) != 1:
            raise Unusable("it chooses none of the options, or several")
        return named[0]
    lettered = options[LETTERS.index(letter[1].upper()) :][:1]
    if not lettered:
        raise Unusable("it chooses none of the options, or several")
    if named and lettered[0] not in named:
        raise Unusable("its letter is of one option, its words are of another")
    return lettered[0]


def _read_topics(text: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Return topics of the checklist, at most five; others are left out."""
    said = _from_json(text, "topics").get("topics")
    lines = [str(each) for each in said] if isinstance(said, list) else text.splitlines()
    found = [known[name] for line in lines if (name := fold(_plain(_BULLET.sub("", line, count=1)))) in known]
    if not found:
        raise Unusable("it names no topic of the checklist")
    return tuple(dict.fromkeys(found))[:MOST_TOPICS]


def _read_point(text: str) -> str:
    said = _from_json(text, "key_point").get("key_point")
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _checked(said if isinstance(said, str) else first.rpartition(":")[2], "key point")


def read_preference(text: str) -> Preference:
    """Read a judgement; raise Unusable unless it says which is better and how difficult both are."""
    said = _from_json(text, "better", "difficulty_a", "difficulty_b")
    better = fold(str(said.get("better") or ""))
    better = {"unentschieden": "tie", "gleich": "tie"}.get(better, better)
    if better not in ("a", "b", "tie"):
        raise Unusable("it does not say which is better")
    difficulty = {}
    for side in ("a", "b"):
        level = _DIFFICULTY_WORDS.get(fold(str(said.get(f"difficulty_{side}") or "")))
        if level is None:
            raise Unusable(f"it does not say how difficult {side.upper()} is")
        difficulty[side] = level
    errors = {side: _texts(said.get(f"errors_{side}")) for side in ("a", "b")}
    return Preference(better, difficulty, errors, " ".join(str(said.get("reason") or "").split()))  # type: ignore[arg-type]


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
