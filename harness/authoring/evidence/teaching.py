"""What the retriever is tuned by, and what that is worth on questions whose passages taught nothing.

Four sources of lessons: the pairs of a catalog, a set of questions whose passages are known, sentences of passages by
rule, and questions that a model makes from passages. A question of the test is searched with a map that was learned
without the documents that answer it, or, from pairs, without the pairs nearest to it: a draft is for what no pair says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Literal, get_args

import numpy as np
from numpy.random import default_rng

from bot import BadData, Catalog, Encoder, data_folder, fold
from harness.authoring.evidence.drafting import Queries
from harness.authoring.evidence.passages import Passage, sentences
from harness.authoring.evidence.retrieval import Bm25, Reach, Retriever
from harness.authoring.evidence.study import (
    Configuration,
    Measured,
    Place,
    StudyQuestion,
    Target,
    measured,
    tuned_configurations,
)
from harness.authoring.evidence.tuning import (
    LEAST,
    Floats,
    Lessons,
    Tuned,
    chosen_strength,
    digest_of,
    hard_negatives,
    held_out,
    learned,
)
from harness.authoring.working import Ask, Unusable, Work, ask_all
from harness.files import Record, read_record
from harness.llm.scores import json_objects
from harness.patients.prompts import hash_of
from harness.statistics import Interval

Source = Literal["pairs", "questions", "sentences", "model"]
SOURCES: tuple[Source, ...] = get_args(Source)
VARIANTS = 10  # of a pair, evenly taken: more teach hardly more
NEAREST = 3  # pairs that a question of the test is not taught by
PASSAGES_EACH = 4  # in one prompt
LONGEST_QUESTION = 300  # characters
DRAWS = 10_000  # of the bootstrap


@dataclass(frozen=True, slots=True)
class Course:
    """Lessons, with what holds out from them.

    Attributes:
        source: Where they come from, for people.
        lessons: Themselves.
        texts: The questions and passages that teach, for the tuned file to know.
        places: Of each candidate, the document that it stands in; empty where it stands in none.
    """

    source: str
    lessons: Lessons
    texts: tuple[str, ...]
    places: tuple[str, ...] = ()

    @property
    def held_out(self) -> str:
        """What a question of the test is not taught by, in words."""
        return "all of the documents that answer it" if self.places else f"the {NEAREST} pairs nearest to it"

    def dropped(self, target: Target, vector: Floats) -> frozenset[int]:
        """Return the candidates that must not teach what a question of the test is searched with."""
        if self.places:
            documents = {each.rpartition("#")[0] for each in target.passages}
            return frozenset(number for number, place in enumerate(self.places) if place in documents)
        alike = self.lessons.queries @ vector
        nearest = np.where(self.lessons.right, alike[:, None], -np.inf).max(axis=0)
        return frozenset(int(number) for number in np.argsort(-nearest, kind="stable")[:NEAREST])


def by_pairs(catalog: Catalog, encoder: Encoder) -> Course:
    """Questions of pairs with all their variants, and the pairs' answers among one another."""
    texts: list[str] = []
    owners: list[int] = []
    for number, pair in enumerate(catalog.pairs):
        asked = [pair.question, *(each.text for each in pair.variants)]
        most = min(VARIANTS, len(asked))
        texts += [asked[place * len(asked) // most] for place in range(most)]
        owners += [number] * most
    answers = [pair.answer for pair in catalog.pairs]
    source = f"{len(texts)} questions of {len(answers)} pairs of {catalog.ref} ({catalog.language})"
    course = _course(source, texts, answers, [frozenset([each]) for each in owners], encoder)
    return replace(course, lessons=replace(course.lessons, searched=False))


def by_targets(source: str, targets: Sequence[Target], retriever: Retriever) -> Course:
    """Questions whose passages are known, against what BM25 and the encoder rank high beside them."""
    numbers = {passage.id: number for number, passage in enumerate(retriever.passages)}
    right = [frozenset(numbers[each] for each in target.passages) for target in targets]
    answering = {numbers[each] for target in targets for each in target.passages}
    course = _course(
        f"{len(targets)} {source}, {len(answering)} passages",
        [target.question for target in targets],
        [each.with_heading for each in retriever.passages],
        right,
        retriever.encoder,
    )
    return replace(course, places=tuple(each.document for each in retriever.passages))


def by_sentences(retriever: Retriever) -> Course:
    """By rule: the longest sentence of a passage is the question, and the passage without it the answer."""
    taken = [
        (passage, max(found, key=len)) for passage in retriever.passages if len(found := sentences(passage.text)) > 1
    ]
    course = _course(
        f"{len(taken)} sentences of {len(retriever.passages)} passages by rule",
        [sentence for _, sentence in taken],
        [replace(passage, text=passage.text.replace(sentence, "").strip()).with_heading for passage, sentence in taken],
        [frozenset([number]) for number in range(len(taken))],
        retriever.encoder,
    )
    whole = tuple(passage.with_heading for passage, _ in taken)  # what the map has seen, for those who search it
    return replace(course, texts=whole, places=tuple(passage.document for passage, _ in taken))


def _course(
    source: str, questions: Sequence[str], answers: Sequence[str], right: Sequence[frozenset[int]], encoder: Encoder
) -> Course:
    answering = frozenset().union(*right)
    if len(answering) < LEAST:
        raise BadData(
            f"There is too little to tune by: {source}; {len(answering)} of them are found by a question, and {LEAST} "
            "are the least. Give more with `--questions`, or `--teach pairs` with a larger `--catalog`."
        )
    queries = np.asarray(encoder.encode(list(questions)), dtype=np.float32)
    candidates = np.asarray(encoder.encode(list(answers)), dtype=np.float32)
    marked = np.array([[number in mine for number in range(len(answers))] for mine in right])
    words = Bm25(answers)
    sparse = [np.argsort(-words.scores(question), kind="stable") for question in questions]
    dense = list(np.argsort(-(queries @ candidates.T), axis=1, kind="stable"))
    lessons = Lessons(queries, candidates, marked, hard_negatives([sparse, dense], marked))  # type: ignore[list-item]
    return Course(source, lessons, (*questions, *(answers[number] for number in sorted(answering))))


# --- questions that a model makes --------------------------------------------------------------------------


class TeachingTexts(Record):
    """What a model is asked, in one language."""

    ask: str

    @property
    def digest(self) -> str:
        return hash_of([{"ask": self.ask}])


def load_teaching(language: str) -> TeachingTexts:
    """Load the prompt for a language; raise BadData when nobody wrote it."""
    path = data_folder("vignettes") / "authoring" / f"evidence-teach-{language}.yaml"
    problem = f"The prompt in {language!r} cannot be read ({{reason}}). Write {path} after the German one."
    return read_record(path, TeachingTexts, problem)


def asked_of(passages: Sequence[Passage], texts: TeachingTexts) -> Work[list[StudyQuestion]]:
    """Have questions made from all passages: each with words of the passage that answer it, or it does not count."""
    batches = [passages[start : start + PASSAGES_EACH] for start in range(0, len(passages), PASSAGES_EACH)]
    asks = []
    for number, batch in enumerate(batches, 1):
        listed = "\n".join(f"{place}: {each.with_heading}" for place, each in enumerate(batch, 1))
        messages = [{"role": "user", "content": Template(texts.ask).substitute(listed=listed)}]
        asks.append(
            Ask(f"ask/{number}-{hash_of(messages)[:8]}", messages, _questions_on(batch), labels={"step": "ask"})
        )
    answers = yield from ask_all(asks)
    made = [each for found in answers for each in found or ()]
    return [each.model_copy(update={"id": f"m{number:03}"}) for number, each in enumerate(made, 1)]


def _questions_on(batch: Sequence[Passage]) -> Callable[[str], list[StudyQuestion]]:
    """Return what reads a model's questions; those whose words do not stand in their passage are left out."""

    def read(answer: str) -> list[StudyQuestion]:
        listed = next((each["questions"] for each in json_objects(answer) if "questions" in each), None)
        if not isinstance(listed, list):
            raise Unusable("there is no JSON object with questions in it")
        found: list[StudyQuestion] = []
        for each in listed:
            number, question, quote = (
                (each.get("passage"), each.get("question"), each.get("quote")) if isinstance(each, dict) else ("",) * 3
            )
            if not isinstance(number, int) or not 0 < number <= len(batch):
                continue
            if not isinstance(question, str) or not isinstance(quote, str) or len(question) > LONGEST_QUESTION:
                continue
            passage, asked, said = batch[number - 1], " ".join(question.split()), " ".join(quote.split())
            if asked and said and fold(said) in fold(passage.text):
                found.append(
                    StudyQuestion(id="m", question=asked, passages=(Place(document=passage.document, quote=said),))
                )
        if not found:
            raise Unusable("none of its questions quotes the passage that answers it")
        return found

    return read


# --- what it is worth ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """One way to search without and with the map, on the same questions."""

    before: Measured
    after: Measured

    def change(self) -> tuple[float, Interval]:
        """Return the change of MRR with its 95 % interval: a bootstrap over questions (seeded)."""
        ranks = zip(self.before.ranks, self.after.ranks, strict=True)
        gains = np.array([_inverse(late) - _inverse(early) for early, late in ranks])
        drawn = default_rng(0).integers(len(gains), size=(DRAWS, len(gains)))
        low, high = np.percentile(gains[drawn].mean(axis=1), [2.5, 97.5])
        return float(gains.mean()), Interval(float(low), float(high))


def _inverse(rank: int | None) -> float:
    return 1 / rank if rank else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """Questions whose passages are known, what is looked for with each, and what searches."""

    targets: Sequence[Target]
    queries: Mapping[str, Queries]
    retriever: Retriever


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was learned from a course, and what it gained where it had taught nothing."""

    tuned: Tuned | None
    strength: float | None
    comparisons: tuple[Comparison, ...]

    @property
    def gains(self) -> tuple[str, ...]:
        """Ways to search that gained more than chance would: the interval lies above 0."""
        return tuple(each.before.name for each in self.comparisons if each.change()[1].low > 0)

    @property
    def verdict(self) -> str:
        """Whether to use it, in a line."""
        if not self.gains:
            return "No gain on questions whose answers taught nothing can be told from chance: search without it."
        chance = [each.before.name for each in self.comparisons if each.before.name not in self.gains]
        rest = f" Not told from chance: {', '.join(chance)}." if chance else ""
        return f"Gains on questions whose answers taught nothing: {', '.join(self.gains)}.{rest}"


def tune(course: Course, trial: Trial, given: float | None = None) -> Tuning:
    """Learn from all lessons for use, and for each question of the test from what is left for it.

    Args:
        course: What teaches.
        trial: What is asked.
        given: Strength of the penalty; None: chosen within the lessons.
    """
    lessons, retriever, targets, queries = course.lessons, trial.retriever, trial.targets, trial.queries
    encoder = retriever.encoder
    strength = given or chosen_strength(lessons)
    seen = frozenset(map(digest_of, course.texts))
    tuned = Tuned(encoder.name, learned(lessons, strength), course.source, seen) if strength is not None else None
    vectors = np.asarray(encoder.encode([each.question for each in targets]), dtype=np.float32)
    dropped = [course.dropped(target, vector) for target, vector in zip(targets, vectors, strict=True)]
    # Pairs stand apart from the test, so that one strength from all of them tells nothing of it; passages do not.
    changes = held_out(lessons, dropped, given if course.places else strength) if tuned is not None else []
    plain = retriever.tuned_by(None)
    searchers = [plain.tuned_by(Tuned(encoder.name, change)) for change in changes] or [plain] * len(targets)
    comparisons = []
    for row in tuned_configurations(plain, Reach(rerank=False), {"glossary"}):
        ranks = [
            measured(replace(row, retriever=searcher), [target], queries).ranks[0]
            for searcher, target in zip(searchers, targets, strict=True)
        ]
        before = measured(_untuned(row), targets, queries)
        comparisons.append(Comparison(before, Measured(f"{row.name}, held out", tuple(ranks))))
    return Tuning(tuned, strength, tuple(comparisons))


def _untuned(row: Configuration) -> Configuration:
    return replace(row, name=row.name.removesuffix(", tuned"))
