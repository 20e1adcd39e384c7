"""Check a catalog as a careful curator would. Every finding names file, line, pair and remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from bot.catalog.catalog import Catalog, Document, Pair, background_file, language_files, load_catalog, read_yaml
from bot.catalog.readability import measure
from bot.errors import BadCatalog, Finding
from bot.ports import Encoder, Vectors
from bot.text import NearCopies

MIN_VARIANTS = 20
ANSWER_WORDS = (50, 120)
EASY_WORDS = 60
EASY_SENTENCE = 10.0
EASY_EASE = {"de": 65.0, "en": 75.0}
CONFUSABLE = 0.75  # cosine between canonical questions from which a pair is listed as a confusable neighbour
LISTED_NEIGHBOURS = 12


@dataclass(frozen=True, slots=True)
class Checked:
    """A catalog with the lines of its file."""

    catalog: Catalog
    document: Document

    def line(self, *location: str | int) -> int:
        return self.document.line(location)


def lint(folder: Path, *, today: date, encoder: Encoder | None = None) -> list[Finding]:
    """Return all findings of a catalog folder, worst first within each language.

    Args:
        folder: The catalog.
        today: Decides which reviews have expired.
        encoder: Measures how confusable pairs are; without it that check is left out.
    """
    findings: list[Finding] = []
    loaded: dict[str, Checked] = {}
    for language, path in language_files(folder).items():
        try:
            catalog = load_catalog(folder, language)
        except BadCatalog as error:
            findings.extend(error.findings)
            continue
        document = read_yaml(path, findings)
        if document is None:
            continue
        checked = loaded[language] = Checked(catalog, document)
        found = [*_texts(checked, today), *_copies(checked)]
        if encoder is not None:
            found += _confusable(checked, encoder)
        findings += sorted(found, key=lambda finding: _ORDER[finding.severity])
    return findings + list(_across_languages(loaded))


_ORDER = {"error": 0, "warning": 1, "info": 2}


def _texts(checked: Checked, today: date) -> Iterator[Finding]:
    for number, pair in enumerate(checked.catalog.pairs):
        yield from _answer(checked, number, pair)
        yield from _easy_answer(checked, number, pair)
        yield from _review(checked, number, pair, today)
        if len(pair.variants) < MIN_VARIANTS:
            problem = f"{len(pair.variants)} variants; patients put a question in at least {MIN_VARIANTS} ways."
            yield _finding(checked, pair, number, "variants", problem, "Collect more.", "variants", "warning")
        if not pair.sources:
            yield _finding(checked, pair, number, "id", "No source.", "Name a public guideline.", "sources", "warning")


def _answer(checked: Checked, number: int, pair: Pair) -> Iterator[Finding]:
    words = measure(pair.answer, checked.catalog.language).words
    low, high = ANSWER_WORDS
    if not low <= words <= high:
        problem = f"The answer has {words} words, outside {low} to {high}."
        yield _finding(checked, pair, number, "answer", problem, "Shorten or complete it.", "length", "warning")


def _easy_answer(checked: Checked, number: int, pair: Pair) -> Iterator[Finding]:
    if pair.easy_answer is None:
        problem, remedy = "There is no easy answer.", "Write one in easy language under `easy_answer`."
        yield _finding(checked, pair, number, "id", problem, remedy, "easy-answer")
        return
    language = checked.catalog.language
    found = measure(pair.easy_answer, language)
    if found.words >= EASY_WORDS:
        problem = f"The easy answer has {found.words} words; fewer than {EASY_WORDS} are easy."
        yield _finding(checked, pair, number, "easy_answer", problem, "Shorten it.", "readability")
    if found.words_per_sentence > EASY_SENTENCE:
        problem = f"Its sentences have {found.words_per_sentence:.1f} words on average, over {EASY_SENTENCE:.0f}."
        yield _finding(checked, pair, number, "easy_answer", problem, "Split the long ones.", "readability")
    wanted = EASY_EASE.get(language, EASY_EASE["en"])
    if found.reading_ease < wanted:
        problem = f"Its reading ease is {found.reading_ease:.0f}, below {wanted:.0f}."
        yield _finding(checked, pair, number, "easy_answer", problem, "Use shorter words.", "readability")


def _review(checked: Checked, number: int, pair: Pair, today: date) -> Iterator[Finding]:
    review = pair.review
    if review.status == "approved" and (review.by is None or review.on is None):
        problem, remedy = "Approved without a name or a date.", "Fill in `by` and `on`."
        yield _finding(checked, pair, number, "review", problem, remedy, "review")
    if review.valid_until is not None and review.valid_until < today:
        problem = f"The review expired on {review.valid_until}."
        yield _finding(checked, pair, number, "review", problem, "Have a clinician review it again.", "review")
    if review.status == "draft":
        problem = "Draft: shown in sample mode only."
        yield _finding(checked, pair, number, "review", problem, "Have a clinician review it.", "review", "info")


def _copies(checked: Checked) -> Iterator[Finding]:
    """Find duplicate and near-duplicate variants inside a pair, across pairs, and among background questions."""
    known = NearCopies()
    for pair in checked.catalog.pairs:
        known.add(pair.question, f"{pair.id} (its question)")
    for number, pair in enumerate(checked.catalog.pairs):
        for place, variant in enumerate(pair.variants):
            copy = known.find(variant.text)
            if copy is not None:
                where = "this pair" if copy.label.split(" ")[0] == pair.id else f"the pair {copy.label}"
                kind = "repeats" if copy.similarity == 1 else f"nearly repeats ({copy.similarity:.2f})"
                line = checked.line("pairs", number, "variants", place)
                problem = f"The variant {variant.text!r} {kind} {copy.text!r} of {where}."
                yield Finding(checked.catalog.path, line, pair.id, problem, "Remove one of them.", rule="near-copy")
            known.add(variant.text, pair.id)
    yield from _background_copies(checked, known)


def _background_copies(checked: Checked, known: NearCopies) -> Iterator[Finding]:
    path = background_file(checked.catalog.path.parent, checked.catalog.language)
    document = read_yaml(path, []) if checked.catalog.background else None
    if document is None:
        return
    for topic, texts in document.data["questions"].items():
        for number, text in enumerate(texts):
            copy = known.find(text)
            if copy is not None:
                line = document.line(("questions", topic, number))
                problem = f"The background question {text!r} is (nearly) a text of the pair {copy.label}."
                yield Finding(path, line, copy.label.split(" ")[0], problem, "Remove one of them.", rule="near-copy")


def _confusable(checked: Checked, encoder: Encoder) -> Iterator[Finding]:
    """List the pairs of canonical questions that are nearest in meaning: where a wrong answer is likeliest."""
    pairs = checked.catalog.pairs
    centres = np.stack([_centre(pair, encoder) for pair in pairs])
    centres -= centres.mean(axis=0)
    # Zero where there is a single pair, or all are the same.
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    similar = centres @ centres.T
    nearest = sorted(combinations(range(len(pairs)), 2), key=lambda two: -similar[two])
    for first, second in nearest[:LISTED_NEIGHBOURS]:
        problem = f"Confusable with {pairs[second].id} (similarity {similar[first, second]:.2f})."
        remedy = "Keep their variants apart, or declare them `same_as`."
        yield _finding(checked, pairs[first], first, "id", problem, remedy, "confusable", "info")


def _centre(pair: Pair, encoder: Encoder) -> Vectors:
    vectors = encoder.encode([pair.question, *(variant.text for variant in pair.variants)])
    return np.asarray(vectors.mean(axis=0), dtype=np.float32)


def _across_languages(loaded: dict[str, Checked]) -> Iterator[Finding]:
    for (one, first), (other, second) in permutations(loaded.items(), 2):
        path = second.catalog.path
        for missing in sorted(set(first.catalog.by_id) - set(second.catalog.by_id)):
            yield Finding(path, 0, missing, f"The pair is in {one} only.", f"Add it in {other}.", rule="ids")


def _finding(  # noqa: PLR0913 - one place that turns a problem into a finding
    checked: Checked,
    pair: Pair,
    number: int,
    key: str,
    problem: str,
    remedy: str,
    rule: str,
    severity: str = "error",
) -> Finding:
    return Finding(checked.catalog.path, checked.line("pairs", number, key), pair.id, problem, remedy, severity, rule)


def worst(findings: Sequence[Finding]) -> str | None:
    """Return the worst severity, or None without findings."""
    return min((finding.severity for finding in findings), key=_ORDER.__getitem__, default=None)
