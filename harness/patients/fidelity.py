"""What a question measures, whether that lies in its patient's ranges, and whether a vignette's questions drift.

A single short question says little of its author: with one technical term in four words its jargon share is 0.25. A
question counts as outside a range of shares only if chance would rarely (one-sided, `RARE`) bring such a question from
an author at the nearer end of the range; of readability, only if it misses the range by more than its own error of
measurement. The means over many questions, where the noise averages out, are held to the ranges as they stand
(`drift_of`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import special

from bot import BadData
from bot import measure as measure_readability
from harness.patients.lexicon import Lexicon, load_lexicon, tokens
from harness.patients.suites import Question
from harness.patients.vignettes import ALL, Range, Targets, Vignette, load_vignettes
from harness.statistics import wilson

MEASURES = {  # as people read them
    "words": "words",
    "reading_ease": "reading ease",
    "jargon_share": "jargon, %",
    "typo_share": "unknown words, %",
    "foreign_share": "foreign words, %",
    "capital_share": "capitals, %",
    "marks_per_word": "marks, per 100 words",
}
WHOLE = ("words", "reading_ease")  # the others are shares, and shown in hundredths
RARE = 0.05
Z_ONE_SIDED = 1.645
# Standard deviation of the syllables of a word, over the words of the recorded suites (English counts vowel groups).
SYLLABLE_DEVIATION = {"de": 0.95, "en": 0.75}
SYLLABLE_WEIGHT = {"de": 58.5, "en": 84.6}  # of syllables a word in Amstad's and in Flesch's formula
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜÁÉÍÑÓÚ"
MARKS = ".,;:?!…–—"
TOO_LOW, TOO_HIGH = "too low", "too high"
ALLOWED_OUTSIDE = 0.10  # ranges are meant to hold nine tenths of a patient's questions
FEWEST = 5  # questions that a verdict needs
DriftVerdict = Literal["fits", "drifts up", "drifts down", "scatters", "too few"]
OTHER = {"de": "en", "en": "de"}  # what a question in the wrong language is most likely written in


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in one question.

    Attributes:
        words: Words between white space.
        tokens: Folded words; a hyphenated word is two.
        reading_ease: Flesch (en) or Flesch-Amstad (de); higher is easier.
        jargon: Tokens that belong to a technical term.
        typos: Tokens in no word list; colloquial spellings count too, wrong endings and wrong but real words do not.
        foreign: Tokens of another language only.
        capitals: Words that begin with a capital letter.
        marks: Punctuation marks.
    """

    words: int
    tokens: int
    reading_ease: float
    jargon: int
    typos: int
    foreign: int
    capitals: int
    marks: int

    @property
    def drawn(self) -> dict[str, tuple[int, int]]:
        """The measures that are hits among so many words, by the names of `Targets`."""
        return {
            "jargon_share": (self.jargon, self.tokens),
            "typo_share": (self.typos, self.tokens),
            "foreign_share": (self.foreign, self.tokens),
            "capital_share": (min(self.capitals, self.words), self.words),
            "marks_per_word": (self.marks, self.words),
        }

    @property
    def values(self) -> dict[str, float]:
        """All measures by the names of `Targets`."""
        shares = {name: hits / max(1, n) for name, (hits, n) in self.drawn.items()}
        return {"words": float(self.words), "reading_ease": self.reading_ease, **shares}


@dataclass(frozen=True, slots=True)
class RangeMiss:
    """A question that lies outside one of its ranges."""

    measure: str
    value: float
    target: Range
    side: str  # TOO_LOW or TOO_HIGH


def count(text: str, lexicon: Lexicon) -> Counts:
    """Count what a question holds."""
    readability = measure_readability(text, lexicon.language)
    found = tokens(text)
    kinds = [lexicon.kind(token) for token in found]
    return Counts(
        words=readability.words,
        tokens=len(found),
        reading_ease=readability.reading_ease,
        jargon=lexicon.jargon_words(found),
        typos=kinds.count("unknown"),
        foreign=kinds.count("foreign"),
        capitals=sum(word.lstrip("„“\"'«»(").startswith(tuple(_CAPITALS)) for word in text.split()),
        marks=sum(mark in MARKS for mark in text),
    )


def misses(counts: Counts, targets: Targets, language: str) -> list[RangeMiss]:
    """Return the ranges that a question lies outside of, beyond what chance explains."""
    found = []
    for measure, (low, high) in targets.ranges.items():
        value = counts.values[measure]
        if low <= value <= high:
            continue
        limit = low if value < low else high
        if _beyond_chance(measure, counts, limit, language, above=value > high):
            found.append(RangeMiss(measure, value, (low, high), TOO_HIGH if value > high else TOO_LOW))
    return found


def _beyond_chance(measure: str, counts: Counts, limit: float, language: str, *, above: bool) -> bool:
    if measure == "words":
        return True
    if measure == "reading_ease":
        return abs(counts.reading_ease - limit) > Z_ONE_SIDED * ease_error(counts.tokens, language)
    hits, n = counts.drawn[measure]
    return chance(hits, n, limit, above=above, poisson=measure == "marks_per_word") < RARE


def ease_error(words: int, language: str) -> float:
    """Return the standard error of the reading ease of a text of so many words, in points."""
    weight = SYLLABLE_WEIGHT.get(language, SYLLABLE_WEIGHT["en"])
    return weight * SYLLABLE_DEVIATION.get(language, SYLLABLE_DEVIATION["en"]) / math.sqrt(max(1, words))


def chance(hits: int, n: int, rate: float, *, above: bool, poisson: bool = False) -> float:
    """Return how often an author of this rate writes so many (`above`) or so few hits in n words."""
    if above and hits == 0:
        return 1.0
    if poisson:
        return float(special.pdtrc(hits - 1, n * rate) if above else special.pdtr(hits, n * rate))
    share = min(1.0, rate)
    return float(special.bdtrc(hits - 1, n, share) if above else special.bdtr(hits, n, share))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A question with what it measures, and the ranges it misses.

    Attributes:
        id: Of the question.
        vignette: Its id.
        counts: What was counted.
        misses: Empty when the question looks like its patient.
    """

    id: str
    vignette: str
    counts: Counts
    misses: tuple[RangeMiss, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """One measure of one vignette.

    Attributes:
        measure: Name, as in `Targets`.
        target: Lowest and highest.
        median: Of the questions' values; `low` and `high` are the 5th and 95th percentiles.
        mean: Of the questions' values; for shares and readability it is what the range is about.
        outside: Share of the questions outside the range, beyond what chance explains in single questions.
        verdict: ``drifts up`` or ``drifts down`` when the mean lies outside the range beyond its standard error, or
            clearly more than a tenth of the questions lie on that side of it; ``scatters`` when both hold.
    """

    measure: str
    target: Range
    median: float
    low: float
    high: float
    mean: float
    outside: float
    verdict: DriftVerdict

    def as_json(self) -> dict[str, Any]:
        figures = {name: round(getattr(self, name), 4) for name in ("median", "low", "high", "mean", "outside")}
        return {"target": list(self.target), **figures, "verdict": self.verdict}


@dataclass(frozen=True, slots=True)
class VignetteDrift:
    """All measures of a vignette; `outside` counts questions that miss at least one range."""

    vignette: str
    n: int
    outside: int
    measures: tuple[Drift, ...]

    @property
    def fits(self) -> bool:
        return all(drift.verdict in ("fits", "too few") for drift in self.measures)

    def as_json(self) -> dict[str, Any]:
        measures = {drift.measure: drift.as_json() for drift in self.measures}
        return {"n": self.n, "outside": self.outside, "fits": self.fits, "measures": measures}


def judge(id_: str, counts: Counts, vignette: Vignette) -> Judgement:
    """Hold one question against its vignette's ranges."""
    return Judgement(id_, vignette.id, counts, tuple(misses(counts, vignette.targets, vignette.language)))


def drift_of(vignette: Vignette, judged: Sequence[Judgement]) -> VignetteDrift:
    """Summarise the questions of one vignette; raise ValueError when there is none."""
    if not judged:
        raise ValueError(f"there is no question of {vignette.id} to measure")
    measured = tuple(_drift(name, target, judged) for name, target in vignette.targets.ranges.items())
    return VignetteDrift(vignette.id, len(judged), sum(bool(one.misses) for one in judged), measured)


def _drift(measure: str, target: Range, judged: Sequence[Judgement]) -> Drift:
    values = np.array([one.counts.values[measure] for one in judged])
    low, median, high = (float(value) for value in np.percentile(values, [5, 50, 95]))
    sides = [miss.side for one in judged for miss in one.misses if miss.measure == measure]
    above, below = sides.count(TOO_HIGH), len(sides) - sides.count(TOO_HIGH)
    verdict = _verdict(values, target, above=above, below=below)
    return Drift(measure, target, median, low, high, float(values.mean()), len(sides) / len(judged), verdict)


def _verdict(values: np.ndarray[Any, np.dtype[np.float64]], target: Range, *, above: int, below: int) -> DriftVerdict:
    n = len(values)
    if n < FEWEST:
        return "too few"
    margin = Z_ONE_SIDED * float(values.std(ddof=1)) / math.sqrt(n)
    up = float(values.mean()) - margin > target[1] or _clearly_many(above, n)
    down = float(values.mean()) + margin < target[0] or _clearly_many(below, n)
    if up and down:
        return "scatters"
    if up or down:
        return "drifts up" if up else "drifts down"
    return "scatters" if _clearly_many(above + below, n) else "fits"


def _clearly_many(outside: int, n: int) -> bool:
    """Whether more than `ALLOWED_OUTSIDE` are outside even at the lower end of the 95 % interval."""
    interval = wilson(outside, n)
    return interval is not None and interval.low > ALLOWED_OUTSIDE


class FidelityJudge:
    """Measures questions against the vignettes of one language."""

    def __init__(self, vignettes: Sequence[Vignette]) -> None:
        self.vignettes: Mapping[str, Vignette] = {vignette.id: vignette for vignette in vignettes}

    @classmethod
    def open(cls, language: str, folder: Path | None = None) -> FidelityJudge:
        """Know all vignettes that speak `language`, shipped or in a folder."""
        return cls(load_vignettes(language, folder, names=[ALL]))

    def judge(self, id_: str, text: str, vignette: str) -> Judgement:
        """Measure one text; raise BadData when the vignette is unknown."""
        if vignette not in self.vignettes:
            known = ", ".join(self.vignettes)
            raise BadData(
                f"The vignette {vignette!r} has no ranges to measure against (known: {known}). "
                "Give the folder it lies in with `--vignettes`."
            )
        asked_by = self.vignettes[vignette]
        return judge(
            id_,
            count(text, load_lexicon(asked_by.language, asked_by.mixed_with or OTHER.get(asked_by.language, "en"))),
            asked_by,
        )

    def judge_all(self, questions: Sequence[Question]) -> list[Judgement]:
        """Measure all questions that patients are said to have asked (urgent messages are not)."""
        return [self.judge(one.id, one.text, one.vignette) for one in questions if one.kind != "urgent"]

    def drift(self, judged: Sequence[Judgement]) -> list[VignetteDrift]:
        """Summarise by vignette, in the order of their first questions."""
        names = dict.fromkeys(one.vignette for one in judged)
        return [drift_of(self.vignettes[name], [one for one in judged if one.vignette == name]) for name in names]
