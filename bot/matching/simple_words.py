"""Tell from somebody's own words that they write simply, having little of the language. Pure.

A logit over words and neighbouring words that are frequent in a catalog's variants, fitted on who wrote those: authors
with little of the language against all others (`klartext qa simple`). It is shipped as weights, since whoever writes
has the same habits whatever the exam is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from bot.catalog.catalog import Catalog
from bot.languages.files import cached, load_rows
from bot.text import words

FOLDER = Path(__file__).parent / "simple_words"
LITTLE_LANGUAGE = ("second-language", "newcomer")  # profiles of authors who have little of the language
# Profiles that mix such authors with others: they teach nothing here.
MIXED = ("stories", "border", "background")
LOW_LITERACY = "low-language-literacy"  # the stratum of calibration questions by such patients
MOST_TERMS, LEAST_TEXTS = 1500, 12
L2 = 0.0005
SURE = 1.0  # logit from which one message is enough
LIKELY = 0.0  # from which two messages in a row are
Weights = npt.NDArray[np.float64]
BIAS = ""  # the term of the weight that every message has


@dataclass(frozen=True, slots=True)
class Quality:
    """How well the weights tell messages that nothing was fitted on: shares at `SURE`, 0 to 1."""

    recall: float
    false_alarms: float


@dataclass(frozen=True, slots=True)
class Share:
    """An estimated share, 0 to 1, with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


# What `quality` finds for the shipped weights on the calibration questions of mammography: 1,160 (de) and 1,149 (en) by
# patients with low literacy, twice as many by others.
SHIPPED = {"de": Quality(0.2974, 0.0069), "en": Quality(0.4160, 0.0052)}


def estimated_share(recognised: int, messages: int, language: str) -> Share | None:
    """Return how many of those who wrote messages have little of the language; None where that cannot be told.

    The weights recognise few by one message, and take few others for them: both are known, and are taken out (after
    Rogan and Gladen). The interval is of the number of messages; that recall may be another here is not in it.
    """
    from scipy.stats import binomtest

    if messages == 0 or language not in SHIPPED:
        return None
    known = SHIPPED[language]
    seen = binomtest(recognised, messages).proportion_ci(method="wilson")
    found = [
        min(1.0, max(0.0, (share - known.false_alarms) / (known.recall - known.false_alarms)))
        for share in (recognised / messages, float(seen.low), float(seen.high))
    ]
    return Share(*found)


def terms(text: str) -> list[str]:
    """Return the folded words of a text and its pairs of neighbours; `^` and `$` are its ends."""
    said = words(text)
    ends = ["^", *said, "$"]
    return said + [f"{left} {right}" for left, right in pairwise(ends)]


def plainness(text: str, language: str) -> float:
    """Return the logit of a message being by somebody who has little of the language; -inf in other languages."""
    weights = read_weights(language)
    if not weights or not words(text):
        return -np.inf
    return weights[BIAS] + sum(weights.get(term, 0.0) for term in set(terms(text)))


def fit(catalog: Catalog) -> dict[str, float]:
    """Return the weights of terms, fitted on the catalog's variants; deterministic."""
    from scipy.optimize import minimize  # answering does not need it

    taught = [
        (one.text, one.by.profile in LITTLE_LANGUAGE)
        for pair in catalog.pairs
        for one in pair.variants
        if one.by is not None and one.by.profile is not None and not one.by.profile.startswith(MIXED)
    ]
    counted = Counter(term for text, _ in taught for term in set(terms(text)))
    known = [term for term, number in counted.most_common(MOST_TERMS) if number >= LEAST_TEXTS]
    rows = _rows([text for text, _ in taught], known)
    label = np.array([little for _, little in taught], dtype=np.float64)

    def loss(weights: Weights) -> tuple[float, Weights]:
        odds = 1 / (1 + np.exp(-(rows @ weights[1:] + weights[0])))
        value = -(label * np.log(odds + 1e-9) + (1 - label) * np.log(1 - odds + 1e-9)).mean()
        wrong = (odds - label) / len(label)
        slope = np.concatenate([[wrong.sum()], rows.T @ wrong + 2 * L2 * weights[1:]])
        return float(value + L2 * weights[1:] @ weights[1:]), slope

    best = minimize(loss, np.zeros(len(known) + 1), jac=True, method="L-BFGS-B").x
    return {BIAS: float(best[0]), **{term: float(weight) for term, weight in zip(known, best[1:], strict=True)}}


def _rows(texts: Sequence[str], known: Sequence[str]) -> csr_array:
    place = {term: number for number, term in enumerate(known)}
    cells = [(row, place[term]) for row, text in enumerate(texts) for term in set(terms(text)) if term in place]
    at = tuple(np.array(cells).T) if cells else (np.array([], int), np.array([], int))
    return csr_array((np.ones(len(cells)), at), shape=(len(texts), len(known)))


def quality(catalog: Catalog, weights: dict[str, float]) -> Quality:
    """Measure weights on the calibration questions, which are by other authors."""

    def found(little: bool) -> float:
        texts = [one.text for one in catalog.calibration if (one.stratum == LOW_LITERACY) is little]
        said = [weights[BIAS] + sum(weights.get(term, 0.0) for term in set(terms(text))) >= SURE for text in texts]
        return float(np.mean(said)) if said else float("nan")

    return Quality(found(little=True), found(little=False))


def write(language: str, weights: dict[str, float]) -> Path:
    """Write weights of a language; those that say next to nothing are left out."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{language}.tsv"
    kept = [(term, weight) for term, weight in weights.items() if abs(weight) >= 0.02 or term == BIAS]
    lines = ["term\tweight", *(f"{term}\t{weight:.3f}" for term, weight in sorted(kept))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@cached
def read_weights(language: str) -> dict[str, float]:
    """Return the weights of a language; empty where there are none."""
    return {row["term"]: float(row["weight"]) for row in load_rows(language, "simple_words.tsv")}
