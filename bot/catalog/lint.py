"""Check a catalog as a careful curator would. Every finding names file, line, pair and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from pathlib import Path

import numpy as np
import yaml

from bot.catalog.agreement import across_texts
from bot.catalog.amounts import TIMES, amounts, as_values, lacking, listed
from bot.catalog.catalog import Catalog, Document, Pair, background_file, language_files, read_catalog, read_yaml
from bot.catalog.checked import Checked, PairText, Place, Values, texts_of
from bot.catalog.exam import lint_exam
from bot.catalog.readability import formula, measure
from bot.catalog.statements import answers_first, difficult, measured, sentences, vague_times
from bot.errors import Finding
from bot.ports import Encoder, Vectors
from bot.text import NearCopies

MIN_VARIANTS = 20
ANSWER_WORDS = (50, 120)  # where a pair has no target of its own
OFF_TARGET = 0.25  # share of the target, and at least this many words:
OFF_TARGET_WORDS = 12
EASY_WORDS = 60  # where a pair has no target of its own; else:
EASY_SHARE = 1.5
EASY_SENTENCE = 10.0
EASY_LONGEST = 15  # words of one sentence
SHORT_SENTENCES, SHORT_WORDS = 2, 34
SAME, ONE = "State the same facts in both.", "Remove one of them."
SAME_MATTER = 4  # words that two sentences of different pairs share when they may state the same amount
CONFUSABLE = 0.3  # cosine, around the mean of all pairs, from which two are listed as confusable neighbours
LISTED_NEIGHBOURS = 12
NEARER = 0.1  # cosine by which a later sentence of an answer is nearer to its question than the first


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
        read = read_catalog(folder, language, findings)
        if read is None:
            problem = "The rest of this file was not checked, nor compared with other languages."
            remedy = "Mend its errors above, then check again."
            findings.append(Finding(path, 0, "", problem, remedy, "warning"))
            continue
        checked = loaded[language] = Checked(*read)
        found = [*_texts(checked, today), *_between_pairs(checked), *_copies(checked)]
        if encoder is not None:
            found += [*_first_sentences(checked, encoder), *_confusable(checked, encoder)]
        findings += sorted(found, key=lambda finding: _ORDER[finding.severity])
    return [*findings, *across_texts(loaded), *lint_exam(folder, today=today)]


_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class _Places(Document):
    """Stands for a file where there is none: its lines are the numbers of the places that were asked for."""

    asked: list[Place]

    def line(self, location: Place) -> int:
        self.asked.append(location)
        return len(self.asked)


@dataclass(frozen=True, slots=True)
class FieldFinding:
    """A finding about a pair that stands in no file yet: the language and the field that it is about."""

    language: str
    field: str
    finding: Finding


def lint_pair(catalogs: Mapping[str, Catalog], pairs: Mapping[str, Pair], *, today: date) -> list[FieldFinding]:
    """Return what `lint` finds of one pair as it is drafted, worst first; how it goes with other pairs is left out.

    Args:
        catalogs: That it belongs to, by language.
        pairs: The pair as it is drafted, by language.
        today: Decides whether its review has expired.
    """
    drafted = {
        language: Checked(
            replace(catalogs[language], pairs=(pair,), background=(), path=Path(f"{language}.yaml")),
            _Places(None, yaml.ScalarNode("", ""), []),
        )
        for language, pair in pairs.items()
    }
    found = [each for checked in drafted.values() for each in (*_texts(checked, today), *_copies(checked))]
    found += across_texts(drafted)
    placed = [_in_field(each, drafted[each.path.stem].document) for each in found]
    return sorted(placed, key=lambda each: _ORDER[each.finding.severity])


def _in_field(finding: Finding, document: Document) -> FieldFinding:
    place = document.asked[finding.line - 1][2:] if isinstance(document, _Places) and finding.line else ()
    within = [str(step) for step in place if not isinstance(step, int)]
    name = "" if within in ([], ["id"]) else ".".join(within).removesuffix(".text").removesuffix(".facet")
    name = {"review": "valid_until", "": _AT_TOP.get(finding.rule, "")}.get(name, name)
    problem = _LINE_OF.sub(r"(\1)", finding.problem)  # there are no files, and so no lines
    remedy = _LINE_OF.sub(r"(\1)", finding.remedy)
    return FieldFinding(finding.path.stem, name, replace(finding, problem=problem, remedy=remedy))


# Where what is missing belongs; and how findings name a line of a file.
_AT_TOP = {"easy-answer": "easy_answer", "sources": "sources"}
_LINE_OF = re.compile(r"\((\w\w)\.yaml:\d+\)")


def _texts(checked: Checked, today: date) -> Iterator[Finding]:
    for number, pair in enumerate(checked.catalog.pairs):
        for text in texts_of(pair):
            where: Place = ("pairs", number, *text.at)
            yield from _answer(checked, pair, text, where)
            yield from _easy_answer(checked, pair, text, where)
            yield from _short_answer(checked, pair, text, where)
            yield from _wording(checked, pair, text, where)
            yield from _extracts(checked, pair, text, where)
        yield from _review(checked, number, pair, today)
        if len(pair.variants) < MIN_VARIANTS:
            problem = f"{len(pair.variants)} variants; patients put a question in at least {MIN_VARIANTS} ways."
            at: Place = ("pairs", number, "variants")
            said: Values = {"n": len(pair.variants), "least": MIN_VARIANTS}
            yield checked.found(pair, at, problem, "Collect more.", "variants", code="few-variants", values=said)
        if not pair.sources:
            top: Place = ("pairs", number, "id")
            yield checked.found(pair, top, "No source.", "Name a public guideline.", "sources", code="no-source")


def _answer(checked: Checked, pair: Pair, text: PairText, where: Place) -> Iterator[Finding]:
    words, target = measure(text.answer, checked.catalog.language).words, pair.words_target
    low, high = ANSWER_WORDS
    if target is not None:
        off = max(OFF_TARGET_WORDS, round(OFF_TARGET * target))
        low, high = target - off, target + off
    if not low <= words <= high:
        problem = f"The answer{text.name} has {words} words, outside {low} to {high}."
        remedy = "Shorten or complete it, or set `words_target` to what the question needs."
        said: Values = {"country": text.country, "words": words, "low": low, "high": high}
        yield checked.found(pair, (*where, "answer"), problem, remedy, "length", code="length", values=said)


def _easy_answer(checked: Checked, pair: Pair, text: PairText, where: Place) -> Iterator[Finding]:
    language, place = checked.catalog.language, (*where, "easy_answer")
    if text.easy is None:
        problem, remedy = f"There is no easy answer{text.name}.", "Write one in easy language under `easy_answer`."
        at: Place = (*where, "answer" if text.at else "id")
        said: Values = {"country": text.country}
        yield checked.found(pair, at, problem, remedy, "easy-answer", "error", code="no-easy-answer", values=said)
        return
    found = measure(text.easy, language)
    most = EASY_WORDS if pair.words_target is None else max(EASY_WORDS, round(EASY_SHARE * pair.words_target))
    if found.words >= most:
        problem = f"The easy answer{text.name} has {found.words} words; fewer than {most} are easy."
        said = {"country": text.country, "words": found.words, "most": most - 1}
        yield checked.found(pair, place, problem, "Shorten it.", "readability", "error", code="easy-long", values=said)
    if found.words_per_sentence > EASY_SENTENCE:
        problem = f"Its sentences have {found.words_per_sentence:.1f} words on average, over {EASY_SENTENCE:.0f}."
        said = {"mean": f"{found.words_per_sentence:.1f}", "most": f"{EASY_SENTENCE:.0f}", "country": text.country}
        remedy = "Split the long ones."
        yield checked.found(pair, place, problem, remedy, "readability", "error", code="easy-sentences", values=said)
    how = formula(language)
    if how is not None and found.reading_ease < how.easy:
        problem = f"Its reading ease is {found.reading_ease:.0f}, below {how.easy:.0f}."
        said = {"ease": f"{found.reading_ease:.0f}", "least": f"{how.easy:.0f}", "country": text.country}
        remedy = "Use shorter words."
        yield checked.found(pair, place, problem, remedy, "readability", "error", code="easy-ease", values=said)
    for sentence in sentences(text.easy):
        if (words := len(sentence.split())) > EASY_LONGEST:
            problem = f"A sentence of the easy answer{text.name} has {words} words: {sentence!r}."
            said = {"country": text.country, "words": words, "sentence": sentence, "most": EASY_LONGEST}
            remedy = f"Split it: at most {EASY_LONGEST}."
            yield checked.found(pair, place, problem, remedy, "readability", code="long-sentence", values=said)
    for word, plain in difficult(text.easy, language):
        problem = f"The easy answer{text.name} says {word!r} and does not explain it."
        remedy = f"Write {plain!r}, or say in the next sentence what it is."
        yield checked.found(
            pair, place, problem, remedy, "jargon", code="jargon", values={"word": word, "plain": plain}
        )


def _short_answer(checked: Checked, pair: Pair, text: PairText, where: Place) -> Iterator[Finding]:
    """Find short answers that are long, hard to read, or say what their answer does not."""
    language, place = checked.catalog.language, (*where, "short_answer")
    if text.short is None:
        problem, remedy = f"There is no short answer{text.name}.", "Write one or two sentences under `short_answer`."
        at: Place = (*where, "answer")
        yield checked.found(
            pair, at, problem, remedy, "short-answer", code="no-short-answer", values={"country": text.country}
        )
        return
    found = measure(text.short, language)
    if found.sentences > SHORT_SENTENCES or found.words > SHORT_WORDS:
        problem = f"The short answer{text.name} has {found.sentences} sentences and {found.words} words."
        remedy = f"At most {SHORT_SENTENCES} sentences and {SHORT_WORDS} words; the rest stands in the answer."
        said: Values = {"country": text.country, "sentences": found.sentences, "words": found.words}
        said |= {"most_sentences": SHORT_SENTENCES, "most_words": SHORT_WORDS}
        yield checked.found(pair, place, problem, remedy, "short-answer", "error", code="short-long", values=said)
    how = formula(language)
    if how is not None and found.reading_ease < how.short:
        problem = f"The reading ease of the short answer{text.name} is {found.reading_ease:.0f}."
        said = {"country": text.country, "ease": f"{found.reading_ease:.0f}", "least": f"{how.short:.0f}"}
        remedy = "Use shorter words and sentences."
        yield checked.found(pair, place, problem, remedy, "short-answer", code="short-ease", values=said)
    if invented := lacking(amounts(text.short, language), amounts(text.answer, language)):
        problem = f"Only the short answer{text.name} says {listed(invented)}."
        said = {"country": text.country, "amounts": as_values(invented)}
        remedy = "It may say nothing that the answer does not."
        yield checked.found(pair, place, problem, remedy, "numbers", "error", code="short-only", values=said)
    for sentence in vague_times(text.short, language):
        problem = f"The short answer{text.name} gives no time: {sentence!r}."
        said = {"text": "short_answer", "country": text.country, "sentence": sentence}
        remedy = "Say by when, as the answer does."
        yield checked.found(pair, place, problem, remedy, "time-frame", code="no-time", values=said)
    for word, plain in difficult(text.short, language):
        problem = f"The short answer{text.name} says {word!r} and does not explain it."
        said = {"word": word, "plain": plain}
        yield checked.found(pair, place, problem, f"Write {plain!r}.", "jargon", "info", code="jargon", values=said)


def _extracts(checked: Checked, pair: Pair, text: PairText, where: Place) -> Iterator[Finding]:
    """Find extracts that say something else than their answer: only its own sentences were approved."""
    said = frozenset(sentences(text.answer))
    for number, each in enumerate(text.extracts):
        place: Place = (*where, "extracts", number)
        for sentence in (sentence for sentence in sentences(each.text) if sentence not in said):
            problem = f"The extract on {each.facet!r} says what the answer{text.name} does not: {sentence!r}."
            remedy = "Copy whole sentences of the answer, word for word."
            told: Values = {"facet": each.facet, "country": text.country, "sentence": sentence}
            yield checked.found(
                pair, (*place, "text"), problem, remedy, "extract", "error", code="extract", values=told
            )
        if each.facet not in pair.facets:
            problem = f"The extract on {each.facet!r} is about no facet of the pair."
            at, remedy = (*place, "facet"), "Name one of `facets`, or add it."
            yield checked.found(
                pair, at, problem, remedy, "extract", code="extract-facet", values={"facet": each.facet}
            )


def _wording(checked: Checked, pair: Pair, text: PairText, where: Place) -> Iterator[Finding]:
    language = checked.catalog.language
    for key, words in (("answer", text.answer), ("easy_answer", text.easy or "")):
        for sentence in vague_times(words, language):
            problem = f"The {key.replace('_', ' ')}{text.name} gives no time: {sentence!r}."
            remedy = "Say by when: today, within a few days, within two weeks."
            said: Values = {"text": key, "country": text.country, "sentence": sentence}
            yield checked.found(pair, (*where, key), problem, remedy, "time-frame", code="no-time", values=said)
    if text.easy is None:
        return
    own, easy = amounts(text.answer, language), amounts(text.easy, language)
    if invented := lacking(easy, own):
        problem = f"Only the easy answer{text.name} says {listed(invented)}."
        told: Values = {"country": text.country, "amounts": as_values(invented)}
        at: Place = (*where, "easy_answer")
        yield checked.found(pair, at, problem, SAME, "numbers", code="easy-only", values=told)
    only = lacking(own, easy)
    units = {each.unit for each in only} & TIMES
    rivals = [each for each in easy if each.unit in units]
    if rivals and not invented:
        times = [each for each in only if each.unit in {rival.unit for rival in rivals}]
        problem = f"Only the answer{text.name} says {listed(times)}; the easy answer says {listed(rivals)}."
        told = {"country": text.country, "amounts": as_values(times), "others": as_values(rivals)}
        yield checked.found(pair, (*where, "answer"), problem, SAME, "numbers", code="times-differ", values=told)
    elif only:
        problem = f"Only the answer{text.name} says {listed(only)}; who reads the easy one is not told."
        remedy = "Say it there too where it matters."
        told, at = {"country": text.country, "amounts": as_values(only)}, (*where, "easy_answer")
        yield checked.found(pair, at, problem, remedy, "numbers", "info", code="answer-only", values=told)


def _between_pairs(checked: Checked) -> Iterator[Finding]:
    """Find amounts that two pairs state differently about what seems the same matter."""
    catalog = checked.catalog
    known = [
        (number, pair, *stated)
        for number, pair in enumerate(catalog.pairs)
        for stated in measured(pair.answer, catalog.language)
    ]
    for (first, one, unit, here, about), (second, other, unit_there, there, beside) in combinations(known, 2):
        apart = first != second and unit == unit_there and not here & there
        if apart and len(about & beside) >= SAME_MATTER:
            problem = f"Says {_numbers(here)} where {other.id} says {_numbers(there)}, of what seems the same."
            remedy = "Make both agree, or say what differs."
            said: Values = {"here": _numbers(here), "there": _numbers(there), "other": other.id}
            at: Place = ("pairs", first, "answer")
            yield checked.found(one, at, problem, remedy, "numbers", "info", code="pairs-differ", values=said)


def _numbers(found: frozenset[str]) -> str:
    return ", ".join(sorted(found, key=lambda each: (len(each), each)))


def _review(checked: Checked, number: int, pair: Pair, today: date) -> Iterator[Finding]:
    review, at = pair.review, ("pairs", number, "review")
    if review.status == "approved" and (review.by is None or review.on is None):
        problem, remedy = "Approved without a name or a date.", "Fill in `by` and `on`."
        yield checked.found(pair, at, problem, remedy, "review", "error", code="review-nameless")
    if review.on is not None and review.on > today:
        problem, remedy = f"Reviewed on {review.on}, which is still to come.", "Correct `on`."
        yield checked.found(
            pair, at, problem, remedy, "review", "error", code="review-early", values={"day": str(review.on)}
        )
    if review.status == "approved" and review.valid_until is None:
        problem, remedy = "Approved without an end: it would never expire.", "Fill in `valid_until`."
        yield checked.found(pair, at, problem, remedy, "review", code="review-endless")
    if review.valid_until is not None and review.valid_until < today:
        problem = f"The review expired on {review.valid_until}."
        remedy, day = "Have a clinician review it again.", str(review.valid_until)
        yield checked.found(pair, at, problem, remedy, "review", "error", code="review-over", values={"day": day})
    if review.status == "draft":
        problem = "Draft: shown in sample mode only."
        yield checked.found(pair, at, problem, "Have a clinician review it.", "review", "info", code="review-draft")


def _copies(checked: Checked) -> Iterator[Finding]:
    """Find duplicate and near-duplicate variants inside a pair, across pairs, and among background questions."""
    known, path = NearCopies(), checked.catalog.path
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
                said: Values = {"text": variant.text, "copy": copy.text, "pair": copy.label.split(" ")[0]}
                code = "copy-here" if said["pair"] == pair.id else "copy"
                yield Finding(path, line, pair.id, problem, ONE, rule="near-copy", code=code, values=said)
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
                pair, said = copy.label.split(" ")[0], {"text": text}
                yield Finding(path, line, pair, problem, ONE, rule="near-copy", code="copy-background", values=said)


def _first_sentences(checked: Checked, encoder: Encoder) -> Iterator[Finding]:
    """Find answers that begin with something else than a later sentence says of what was asked."""
    language = checked.catalog.language
    for number, pair in enumerate(checked.catalog.pairs):
        for text in texts_of(pair):
            parts = sentences(text.answer)
            if len(parts) < 2 or answers_first(pair.question, text.answer, language):
                continue
            question, *said = encoder.encode([pair.question, *parts])
            near = [
                float(question @ each) / max(float(np.linalg.norm(question) * np.linalg.norm(each)), 1e-12)
                for each in said
            ]
            best = int(np.argmax(near))
            if near[best] - near[0] > NEARER:
                problem = (
                    f"The answer{text.name} begins with something else; nearer to the question is {parts[best]!r}."
                )
                remedy = "Begin with the answer itself: yes, no, how long, how much, whom to call."
                at: Place = ("pairs", number, *text.at, "answer")
                said_: Values = {"sentence": parts[best], "country": text.country}
                yield checked.found(pair, at, problem, remedy, "first-sentence", "info", code="not-first", values=said_)


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
        if similar[first, second] < CONFUSABLE:
            break
        problem = f"Confusable with {pairs[second].id}: of all pairs, few ask for things so near to each other."
        remedy = "Keep their variants apart, or declare them `same_as`."
        at: Place = ("pairs", first, "id")
        other = pairs[second].id
        yield checked.found(
            pairs[first], at, problem, remedy, "confusable", "info", code="confusable", values={"other": other}
        )


def _centre(pair: Pair, encoder: Encoder) -> Vectors:
    vectors = encoder.encode([pair.question, *(variant.text for variant in pair.variants)])
    return np.asarray(vectors.mean(axis=0), dtype=np.float32)


def worst(findings: Sequence[Finding]) -> str | None:
    """Return the worst severity, or None without findings."""
    return min((finding.severity for finding in findings), key=_ORDER.__getitem__, default=None)
