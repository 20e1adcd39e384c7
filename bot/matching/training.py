"""Teach a catalog: its head, its thresholds and its alarm."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bot.catalog.catalog import CalibrationQuestion, Catalog
from bot.languages.files import cached, digest, load, load_rows
from bot.matching.calibration import Judged, Limit, choose_with_risk, choose_without_risk
from bot.matching.complaints import LEVELS
from bot.matching.decide import read_stories
from bot.matching.emergency import Alarm, AlarmTexts, Lookout, decision_of, fit_alarm
from bot.matching.features import Floats
from bot.matching.fit_head import BACKGROUND, NOTHING, Example, HeldOut, Part, train
from bot.matching.head import Head
from bot.matching.red_flags import FLAGS, load_examples, load_red_flags
from bot.matching.red_flags import digest as red_flags_digest
from bot.matching.store import Trained
from bot.ports import Encoder, Vectors
from bot.resources import numeric_threads
from bot.text import NearCopies, sanitise, sentences, story_pieces

log = logging.getLogger("klartext")
FEW = 200  # a catalog with fewer background questions than this gets the general ones too
# A pair with fewer variants than this learns from the sentences of its answers, too: what patients will ask about
# stands in them. With more they say nothing that patients had not said better.
FEW_VARIANTS = 100
# Kinds of the alarm's lines that no pair answers: complaints, what is asked about illness in general, everyday talk.
UNANSWERED = (
    *("soon", "general", "old-complaints", "urgent-short", "urgent-long"),
    *("smalltalk", "thanks", "hesitation", "refusal", "idioms", "fine"),
)


@dataclass(frozen=True, slots=True)
class Beside:
    """A text that no pair answers.

    Attributes:
        text: What a patient might write.
        author: Who wrote it, where that is known: authors are held out as a whole.
        level: Number of the level in `LEVELS` where it is a complaint; -1: none.
        general: Whether it was written for any catalog, so that a pair of this one may answer it after all.
    """

    text: str
    author: str = BACKGROUND
    level: int = -1
    general: bool = False


def beside(catalog: Catalog) -> tuple[Beside, ...]:
    """Return the texts to learn from that no pair answers: the catalog's own first, then general ones.

    A catalog that says what to do about complaints learns what people write about their health, too.
    """
    found = [Beside(text) for text in catalog.background]
    found += [Beside(one.text, one.author, _LEVEL[one.level]) for one in catalog.near_misses]
    if len(catalog.background) < FEW:  # near misses sound like pairs: they do not teach what else a department is asked
        found += [Beside(text, general=True) for text in general_background(catalog.language)]
    if catalog.complaints is not None:
        found += health_texts(catalog.language)
    return tuple(found)


_LEVEL: dict[str, int] = {"": -1, **{level: number for number, level in enumerate(LEVELS)}}


@cached
def health_texts(language: str) -> tuple[Beside, ...]:
    """Return complaints, and what else people write about their health; empty when none were written in a language."""
    rows = load_rows(language, "health.tsv")
    if not rows:
        return ()
    own = [Beside(row["text"], row["author"], _LEVEL[row["level"]], not row["level"]) for row in rows]
    lines = (line for line in load_examples(language).lines if line.kind in UNANSWERED)
    return (*own, *(Beside(line.text, line.author, _LEVEL[line.level], not line.level) for line in lines))


def canonical_texts(catalog: Catalog) -> list[tuple[str, str]]:
    """Return pair id and text of what clinicians wrote and is learned from: questions, then sentences of answers.

    Sentences are taken of pairs with fewer than `FEW_VARIANTS` variants, each once, and none that two pairs share.
    """
    owners: dict[str, set[str]] = {}
    for pair in catalog.pairs:
        for text in (pair.short_answer, pair.answer, pair.easy_answer):
            for sentence in sentences(text) if text else ():
                owners.setdefault(sentence, set()).add(pair.id)
    few = {pair.id for pair in catalog.pairs if len(pair.variants) < FEW_VARIANTS}
    own = [(min(ids), sentence) for sentence, ids in owners.items() if len(ids) == 1 and ids <= few]
    return [*((pair.id, pair.question) for pair in catalog.pairs), *own]


def taught_digest(catalog: Catalog) -> str:
    """Return what changes with anything that a catalog teaches: texts, who wrote them, and calibration questions."""
    variants = [
        (pair.id, one.text, (one.by.profile or one.by.name) if one.by else None)
        for pair in catalog.pairs
        for one in pair.variants
    ]
    taught = [
        canonical_texts(catalog),
        variants,
        list(catalog.background),
        [one.model_dump() for one in catalog.near_misses],
        [(one.text, one.pair_id, one.also, one.stratum) for one in catalog.calibration],
        catalog.complaints is not None,
    ]
    return hashlib.sha256(json.dumps(taught, ensure_ascii=False).encode()).hexdigest()


@cached
def general_digest(language: str) -> str:
    """Return what changes with any text that catalogs of a language learn from beside their own."""
    return digest(language, "background.yaml", "health.tsv", "red_flag_lines.tsv")


@cached
def general_background(language: str) -> tuple[str, ...]:
    """Return the general background questions of a language; empty when none were written in it."""
    raw: Mapping[str, list[str]] = load(language, "background.yaml") or {}
    return tuple(text for texts in raw.values() for text in texts)


CONFLICT = 0.6  # cosine from which a general background question may well be one that the catalog answers


def indexed_texts(catalog: Catalog) -> list[tuple[str, str]]:
    """Return pair id and text of everything that is learned from; the pair id of background is empty.

    What clinicians wrote comes first (`canonical_texts`), then variants, then background.
    """
    texts = canonical_texts(catalog)
    texts += [(pair.id, variant.text) for pair in catalog.pairs for variant in pair.variants]
    return texts + [("", one.text) for one in beside(catalog)]


@contextmanager
def told(catalog: Catalog) -> Iterator[None]:
    """Log that a language is trained, and when that has ended: a start of minutes must not look like one that hangs."""
    fields = {"catalog": catalog.name, "language": catalog.language}
    begun_s = time.monotonic()
    log.info("training begins; it takes some minutes, once for each content", extra={"fields": fields})
    yield
    log.info("training has ended", extra={"fields": fields | {"seconds": round(time.monotonic() - begun_s, 1)}})


def train_catalog(
    catalog: Catalog, shown: Sequence[str], vectors: Vectors, encoder: Encoder, without: frozenset[Part] = NOTHING
) -> Trained:
    """Train one language of a catalog.

    Args:
        catalog: The catalog.
        shown: Ids of the pairs that may be shown; the others teach "none of these".
        vectors: Of the texts of `indexed_texts`, in that order, shape (texts, dimensions).
        encoder: That made them.
        without: What a study leaves out.
    """
    with threadpool_limits(numeric_threads()):
        examples, kept = _examples(catalog, shown), _without_conflicts(catalog, vectors)
        if "background" in without:
            kept = kept[: len(examples) - len(beside(catalog))]
        head, held_out = train([examples[number] for number in kept], vectors, len(shown) + 1, kept, without)
        calm = _calibration_texts(catalog)
        calm_vectors = encoder.encode(calm)
        judged = _judge(catalog, shown, head, encoder, calm_vectors)
        # What no pair answers may well be a complaint: only questions about the exam say what must not alarm.
        asked = [number for number, one in enumerate(catalog.calibration) if one.pair_id is not None]
        ordinary = [calm[number] for number in asked]
        alarm = _calmed(_fit_alarm(catalog, vectors, encoder), catalog.language, encoder, ordinary, calm_vectors[asked])
    calibrated = judged is not None and "calibration" not in without
    thresholds = choose_with_risk(judged, Limit()) if judged is not None and calibrated else None
    return Trained(head, alarm, thresholds or choose_without_risk(_as_judged(held_out)))


def _examples(catalog: Catalog, shown: Sequence[str]) -> list[Example]:
    label = {pair_id: number for number, pair_id in enumerate(shown)}
    none = len(shown)
    examples = [Example(text, label.get(pair_id, none), "") for pair_id, text in canonical_texts(catalog)]
    for pair in catalog.pairs:
        for variant in pair.variants:
            author = variant.by.profile or variant.by.name or "" if variant.by else ""
            examples.append(Example(variant.text, label.get(pair.id, none), author or "unknown"))
    return examples + [Example(one.text, none, one.author, one.level) for one in beside(catalog)]


def _without_conflicts(catalog: Catalog, vectors: Vectors) -> npt.NDArray[np.intp]:
    """Return which texts to learn from: general background that resembles a text of a pair is left out."""
    texts = beside(catalog)
    first = len(vectors) - len(texts)
    general = np.array([first + number for number, one in enumerate(texts) if one.general], dtype=np.intp)
    near = np.concatenate(
        [
            np.zeros(0),
            *((vectors[some] @ vectors[:first].T).max(axis=1) for some in np.array_split(general, 16) if len(some)),
        ]
    )
    return np.setdiff1d(np.arange(len(vectors)), general[near >= CONFLICT])


def _as_judged(held_out: HeldOut) -> Judged:
    return Judged(held_out.probabilities, held_out.label, ["held out"] * len(held_out.label))


def judge_calibration(catalog: Catalog, shown: Sequence[str], head: Head, encoder: Encoder) -> Judged | None:
    """Return what the head makes of the calibration questions; None when the catalog has none."""
    return _judge(catalog, shown, head, encoder, encoder.encode(_calibration_texts(catalog)))


def _calibration_texts(catalog: Catalog) -> list[str]:
    return [sanitise(question.text).text for question in catalog.calibration]


def _judge(catalog: Catalog, shown: Sequence[str], head: Head, encoder: Encoder, vectors: Vectors) -> Judged | None:
    """Judge calibration questions as messages are, stories by their pieces, too; `vectors` are those of the questions.

    Messages that ask two things are cut besides (`segments`), which is not done here.

    Near copies of training texts are left out: they would make the head look better than it is.
    """
    texts = _calibration_texts(catalog)
    if not texts:
        return None
    trained_on = NearCopies()
    for pair_id, text in indexed_texts(catalog):
        trained_on.add(text, pair_id)
    kept = [number for number, text in enumerate(texts) if trained_on.find(text) is None]
    if not kept:
        return None
    label = {pair_id: number for number, pair_id in enumerate(shown)}
    questions = [catalog.calibration[number] for number in kept]
    asked = [texts[number] for number in kept]
    stories = [story_pieces(text) for text in asked]
    pieces = [piece for of in stories for piece in of]
    of_all = np.concatenate([vectors[kept], encoder.encode(pieces)]) if pieces else vectors[kept]
    pairs = read_stories(head.probabilities(of_all, [*asked, *pieces])[:, :-1], [len(of) for of in stories])
    probabilities = np.append(pairs, 1 - pairs.sum(axis=1, keepdims=True), axis=1)

    def right(question: CalibrationQuestion, row: Floats) -> int:
        """Return the likeliest of the pairs that answer a question: to show any of them is right."""
        known = [label[pair_id] for pair_id in (question.pair_id, *question.also) if pair_id in label]
        return max(known, key=lambda column: row[column], default=len(shown))

    return Judged(
        probabilities=probabilities,
        label=np.array([right(*one) for one in zip(questions, probabilities, strict=True)], dtype=np.int32),
        stratum=[question.stratum for question in questions],
    )


def _fit_alarm(catalog: Catalog, vectors: Vectors, encoder: Encoder) -> Alarm:
    """Train the alarm beside the red-flag rules; `vectors` are those of the index."""
    examples = load_examples(catalog.language)
    first = len(canonical_texts(catalog))  # answers say what to do in an emergency: they are no ordinary questions
    ordinary = tuple(text for _, text in indexed_texts(catalog)[first:])
    texts = AlarmTexts(examples.urgent, examples.harmless, ordinary)
    own = _own_vectors(catalog.language, encoder)
    known = vectors[first:][:: texts.step]
    key = (encoder.name, catalog.language, texts)
    alarm = _fitted.get(key)
    if alarm is None:
        alarm = fit_alarm(texts, np.concatenate([own, known]), FLAGS)
        while len(_fitted) >= MOST_FITTED:
            _fitted.pop(next(iter(_fitted), key), None)  # another thread may have been faster
        _fitted[key] = alarm
    return alarm


# Two languages of one catalog. The same texts are taught again where a catalog's approvals change, not its words.
MOST_FITTED = 2
_fitted: dict[tuple[str, str, AlarmTexts], Alarm] = {}
_known_examples: dict[tuple[str, str, str], Vectors] = {}  # by encoder and language: no catalog changes them


def _own_vectors(language: str, encoder: Encoder) -> Vectors:
    """Return the vectors of the alarm's own examples, shape (examples, dimensions)."""
    key = (encoder.name, language, red_flags_digest(language))
    if key not in _known_examples:
        examples = load_examples(language)
        _known_examples[key] = encoder.encode([text for _, text in examples.urgent] + list(examples.harmless))
    return _known_examples[key]


def _calmed(alarm: Alarm, language: str, encoder: Encoder, ordinary: Sequence[str], vectors: Vectors) -> Alarm:
    """Set the alarm's gate and threshold by ordinary questions that nothing was trained on."""
    if not ordinary:
        return alarm
    gated = alarm.gated(vectors, ordinary)
    seen = Lookout(load_red_flags(language), gated, encoder, decision_of(language)).judge(ordinary, vectors)
    return gated.calmed([verdict.probability for verdict in seen if verdict.by != "rule"])
