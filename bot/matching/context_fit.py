"""Fit what is heard in context: on dialogues, authors held out, and on questions that stand alone.

Dialogues (`qa_pairs/<exam>/dialogues/<lang>.tsv`) have a turn a line: author, number of the dialogue, label, text. The
first turn's label is the pair that answers it; later ones are labelled `same`, the id of another pair, `none`,
`reaction`, `easier`, `shorter`, `again`, `more`, or `new:` and an id where the turn stands alone. General examples lie
beside the weights (`follow_ups/lines`). What stands alone is learned from calibration questions, put after answers
to something else.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from scipy.sparse import csr_array, hstack

from bot.catalog.catalog import Catalog
from bot.errors import BadData
from bot.matching.context import (
    ALONE,
    FOLLOW_UPS,
    KINDS,
    OTHER,
    PAIR_FEATURES,
    WEIGHED,
    Context,
    Guess,
    Kind,
    Limits,
    Measured,
    Said,
    Weights,
    Wording,
    features,
    guess,
    pair_features,
    softmax,
)
from bot.matching.features import Floats, Vocabulary, fit_whitening, sparse_rows, terms
from bot.matching.red_flags import load_examples

CALIBRATION = 1500  # questions that stand alone, for each language
LEAST_TEXTS = 8  # that have a term
TERM_RIDGE = 0.17
GENERAL_WEIGHT = 0.5  # of an example that is no turn of a dialogue
RIDGE, WORDING_SCALE = 8.0, 3.0  # weights of rare kinds hang on the wording, which is therefore restrained less
PAIR_RIDGE = 1.0
DIGITS = 3

FURTHER = frozenset(KINDS) - {"alone", "other"}  # labels that name no pair

Outcome = tuple[str, tuple[str, ...]]  # a decision, with the pairs shown or offered
Ask = Callable[[Sequence[str]], Sequence[Outcome]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a patient, with the label that a careful reader gave."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What one patient wrote, in order."""

    author: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A message after an answer, with what it is.

    Attributes:
        author: Who wrote it; empty for calibration questions.
        kind: What it is.
        target: The pair that answers it; None where nothing is to be shown.
        said: The message, and what was shown.
        alone: What the message alone came to.
    """

    author: str
    kind: Kind
    target: str | None
    said: Said
    alone: Outcome


@dataclass(frozen=True)
class Corpus:
    """All that is learned from in one language.

    Attributes:
        language: Of the texts.
        ids: Of the pairs.
        rows: Turns of dialogues, then calibration questions.
        fold: Which part each row belongs to, from 0: authors of dialogues whole; shape (rows,).
        measured: What is known of the rows.
        general: Examples that belong to no dialogue: kind and text.
        general_vectors: Theirs, shape (examples, dimensions).
    """

    language: str
    ids: tuple[str, ...]
    rows: tuple[Row, ...]
    fold: npt.NDArray[np.int64]
    measured: Measured
    general: tuple[tuple[Kind, str], ...]
    general_vectors: Floats

    @property
    def label(self) -> npt.NDArray[np.int64]:
        return np.array([KINDS.index(row.kind) for row in self.rows])

    @property
    def target(self) -> npt.NDArray[np.int64]:
        number = {pair_id: place for place, pair_id in enumerate(self.ids)}
        return np.array([number.get(row.target or "", -1) for row in self.rows])


def read_dialogues(path: Path, ids: Sequence[str]) -> list[Dialogue]:
    """Read the dialogues of a language.

    Raises:
        BadData: There is no such file, or a line is damaged or names no pair.
    """
    if not path.is_file():
        raise BadData(f"There are no dialogues in {path}. Write some: author, dialogue, label, text, tabs between.")
    known, found = frozenset(ids), dict[tuple[str, str], list[Turn]]()
    with path.open(encoding="utf-8", newline="") as file:
        for number, line in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=2):
            label, text = line.get("label") or "", line.get("text") or ""
            key = (line.get("author") or "", line.get("dialogue") or "")
            first = key not in found
            named = label in known or (not first and label.removeprefix("new:") in known)
            if not all((*key, text)) or not (named or (not first and label in FURTHER)):
                raise BadData(f"{path}, line {number}: author, dialogue, a known label and text are wanted.")
            found.setdefault(key, []).append(Turn(label, text))
    return [Dialogue(author, tuple(turns)) for (author, _), turns in found.items()]


def follow_ups(dialogues: Sequence[Dialogue], ask: Ask) -> list[Row]:
    """Return the turns after the first, each as if all before it had been answered as labelled."""
    found: list[tuple[str, Kind, str | None, str, str, str]] = []
    for dialogue in dialogues:
        first = dialogue.turns[0]
        shown, question = first.label, first.text
        for turn in dialogue.turns[1:]:
            kind, target = _meant(turn.label, shown)
            found.append((dialogue.author, kind, target, turn.text, shown, question))
            if kind in ("alone", "other") and target is not None:
                shown, question = target, turn.text
    outcomes = ask([text for _, _, _, text, _, _ in found])
    return [
        Row(author, kind, target, Said(text, shown, question, outcome[0]), outcome)
        for (author, kind, target, text, shown, question), outcome in zip(found, outcomes, strict=True)
    ]


def _meant(label: str, shown: str) -> tuple[Kind, str | None]:
    if label in ("none", "reaction"):
        return next(kind for kind in KINDS if kind == label), None
    if label in KINDS:
        return next(kind for kind in KINDS if kind == label), shown
    return ("alone", label.removeprefix("new:")) if label.startswith("new:") else ("other", label)


def alone_after_others(catalog: Catalog, ids: Sequence[str], ask: Ask, rng: np.random.Generator) -> list[Row]:
    """Return calibration questions as if asked after the answer to another one, about something else."""
    asked = [question for question in catalog.calibration if question.pair_id in ids]
    if not asked:
        return []
    picked = rng.permutation(len(catalog.calibration))[:CALIBRATION]
    outcomes = ask([catalog.calibration[number].text for number in picked])
    rows = []
    for number, outcome in zip(picked, outcomes, strict=True):
        question = catalog.calibration[number]
        right = {question.pair_id, *question.also}
        others = [other for other in asked if other.pair_id not in right]
        before = others[int(rng.integers(len(others)))]
        said = Said(question.text, before.pair_id or "", before.text, outcome[0])
        rows.append(Row("", "alone", question.pair_id, said, outcome))
    return rows


def gather(catalog: Catalog, context: Context, encoder: Any, rows: Sequence[Row], ids: Sequence[str]) -> Corpus:
    """Measure rows, and sort them into folds: an author is left out as a whole."""
    authors = sorted({row.author for row in rows} - {""})
    if len(authors) < 3:
        raise BadData(f"{len(authors)} authors wrote dialogues in {catalog.language!r}; at least 3 are needed.")
    rng = np.random.default_rng(0)
    fold = [authors.index(row.author) if row.author else int(rng.integers(len(authors))) for row in rows]
    measured = joined([context.measure([row.said for row in rows[at : at + 256]]) for at in range(0, len(rows), 256)])
    general = tuple(_general(catalog.language))
    return Corpus(
        catalog.language,
        tuple(ids),
        tuple(rows),
        np.array(fold),
        measured,
        general,
        encoder.encode([text for _, text in general]),
    )


def _general(language: str) -> Iterator[tuple[Kind, str]]:
    with (FOLLOW_UPS / "lines" / f"{language}.tsv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield next(kind for kind in KINDS if kind == line["kind"]), line["text"]
    yield from (("reaction", line.text) for line in load_examples(language).lines if line.kind == "thanks")


def joined(parts: Sequence[Measured]) -> Measured:
    """Return what is known of the messages of all parts, in order."""
    return Measured(
        texts=tuple(text for part in parts for text in part.texts),
        vectors=np.concatenate([part.vectors for part in parts]),
        own=np.concatenate([part.own for part in parts]),
        views=np.concatenate([part.views for part in parts], axis=1),
        meaning=np.concatenate([part.meaning for part in parts]),
        wording=np.concatenate([part.wording for part in parts]),
        related=np.concatenate([part.related for part in parts], axis=1),
        decision=tuple(each for part in parts for each in part.decision),
    )


def fit(
    corpora: Sequence[Corpus], used: Sequence[npt.NDArray[np.bool_]], limits: Sequence[Limits], encoder: str
) -> list[Weights]:
    """Fit all models on some rows of each language; the weights of each language, in order.

    The wording of a row is judged by a model that was not taught with rows of its fold: else the second model would
    trust it more than it may.
    """
    weighed, label, pairs = [], [], []
    wordings = []
    for corpus, rows in zip(corpora, used, strict=True):
        heard = np.zeros((len(corpus.rows), len(KINDS)), dtype=np.float32)
        for left_out in np.unique(corpus.fold[rows]):
            own = np.flatnonzero(rows & (corpus.fold == left_out))
            taught = _fit_wording(corpus, np.flatnonzero(rows & (corpus.fold != left_out)))
            heard[own] = taught.log_probabilities(corpus.measured.vectors[own], corpus.measured.some(own).texts)
        chosen = np.flatnonzero(rows)
        wordings.append(_fit_wording(corpus, chosen))
        weighed.append(np.concatenate([features(corpus.measured.some(chosen)), heard[chosen]], axis=1))
        label.append(corpus.label[chosen])
        other = chosen[corpus.label[chosen] == OTHER]
        pairs.append((pair_features(corpus.measured.some(other)), corpus.measured.own[other], corpus.target[other]))
    kinds, of_pairs = _fit_kinds(weighed, label), _fit_pairs(pairs)
    return [
        Weights(encoder, wording, weights, intercept, of_pairs, own)
        for wording, (weights, intercept), own in zip(wordings, kinds, limits, strict=True)
    ]


def held_out(corpora: Sequence[Corpus], limits: Sequence[Limits], encoder: str) -> list[list[Guess]]:
    """Return the guesses for all rows of each language, by weights that nothing of their author taught."""
    found: list[dict[int, Guess]] = [{} for _ in corpora]
    for fold in np.unique(np.concatenate([corpus.fold for corpus in corpora])):
        used = [corpus.fold != fold for corpus in corpora]
        for place, (corpus, weights) in enumerate(zip(corpora, fit(corpora, used, limits, encoder), strict=True)):
            own = np.flatnonzero(corpus.fold == fold)
            if len(own):
                found[place].update(zip(own.tolist(), guess(corpus.measured.some(own), weights), strict=True))
    return [[each[number] for number in range(len(each))] for each in found]


def _fit_wording(corpus: Corpus, rows: npt.NDArray[np.intp]) -> Wording:
    texts = [*(corpus.measured.texts[number] for number in rows), *(text for _, text in corpus.general)]
    counted = Counter(term for text in texts for term in set(terms(text)))
    kept = sorted(term for term, count in counted.items() if count >= LEAST_TEXTS)
    rarity = np.log((1 + len(texts)) / (1 + np.array([counted[term] for term in kept]))) + 1
    vocabulary = Vocabulary(kept, np.round(rarity, DIGITS).astype(np.float32))
    vectors = np.concatenate([corpus.measured.vectors[rows], corpus.general_vectors])
    wording = sparse_rows([vocabulary.bag(text) for text in texts], len(vocabulary))
    whitening = fit_whitening(vectors)
    moved = (vectors - whitening.mean) @ whitening.matrix
    even = whitening.matrix / np.sqrt((moved**2).sum(axis=1).mean())
    columns = csr_array(hstack([wording, csr_array((vectors - whitening.mean) @ even)]))
    label = np.concatenate([corpus.label[rows], [KINDS.index(kind) for kind, _ in corpus.general]]).astype(np.int64)
    weight = np.where(np.arange(len(texts)) < len(rows), 1.0, GENERAL_WEIGHT)
    beta, intercept = fit_logit(columns, label, weight, TERM_RIDGE)
    # Whitening serves the ridge only: the weights are those of the vectors as they come.
    of_terms, of_meaning = beta[: len(vocabulary)], _rounded(even @ beta[len(vocabulary) :])
    return Wording(vocabulary, _rounded(of_terms), of_meaning, _rounded(intercept - whitening.mean @ of_meaning))


def _fit_kinds(weighed: Sequence[Floats], label: Sequence[npt.NDArray[np.int64]]) -> list[tuple[Floats, Floats]]:
    """Fit one model for all languages, on features of each language by its own mean and spread; undo these at last."""
    wording = np.array([name.startswith("wording ") for name in WEIGHED])
    means = [each.mean(axis=0) for each in weighed]
    scales = [np.where(wording, WORDING_SCALE, 1.0) / (each.std(axis=0) + 1e-6) for each in weighed]
    columns = np.concatenate([(each - mean) * scale for each, mean, scale in zip(weighed, means, scales, strict=True)])
    beta, intercept = fit_logit(columns, np.concatenate(label), np.ones(len(columns)), RIDGE)
    found = []
    for mean, scale in zip(means, scales, strict=True):
        own = _rounded(beta * scale[:, None])
        found.append((own, _rounded(intercept - mean @ own)))
    return found


def fit_logit(
    columns: Any, label: npt.NDArray[np.int64], weight: npt.NDArray[np.float64], ridge: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Fit a multinomial logit with a ridge on all but the intercept.

    Args:
        columns: Features, shape (rows, features); dense or sparse.
        label: Number of the kind of each row.
        weight: How much each row counts.
        ridge: On the sum of squared weights.

    Returns:
        Weights, shape (features, kinds), and intercepts, shape (kinds,).
    """
    from scipy.optimize import minimize

    rows, width, kinds = len(label), columns.shape[1], len(KINDS)
    wanted = np.zeros((rows, kinds))
    wanted[np.arange(rows), label] = 1

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        beta = flat.reshape(width + 1, kinds)
        score = columns @ beta[:-1] + beta[-1]
        score = score - score.max(axis=1, keepdims=True)
        total = np.log(np.exp(score).sum(axis=1, keepdims=True))
        value = (weight[:, None] * wanted * (total - score)).sum() + ridge * (beta[:-1] ** 2).sum()
        error = weight[:, None] * (np.exp(score - total) - wanted)
        slope = np.vstack([columns.T @ error + 2 * ridge * beta[:-1], error.sum(axis=0)])
        return float(value), slope.ravel()

    start = np.zeros((width + 1) * kinds)
    beta = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x.reshape(width + 1, kinds)
    return beta[:-1], beta[-1]


def _fit_pairs(parts: Sequence[tuple[Floats, npt.NDArray[np.intp], npt.NDArray[np.int64]]]) -> Floats:
    """Fit the conditional logit over the pairs that are not shown; each part has its own pairs."""
    from scipy.optimize import minimize

    def loss(beta: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        value, slope = PAIR_RIDGE * float(beta @ beta), 2 * PAIR_RIDGE * beta
        for columns, own, target in parts:
            rows = np.arange(len(own))
            score = columns @ beta
            score[rows, own] = -np.inf
            odds = softmax(score)
            value -= float(np.log(odds[rows, target] + 1e-12).sum())
            slope = slope + np.einsum("np,npk->k", odds, columns) - columns[rows, target].sum(axis=0)
        return value, slope

    return _rounded(minimize(loss, np.zeros(len(PAIR_FEATURES)), jac=True, method="L-BFGS-B").x)


def _rounded(values: npt.NDArray[Any]) -> Floats:
    """Round as they are stored, so that what was measured is what is used."""
    return np.asarray(np.round(values, DIGITS), dtype=np.float32)


def write_weights(languages: Sequence[str], fitted: Sequence[Weights]) -> list[Path]:
    """Store what was fitted beside the words it was fitted with."""
    first, path = fitted[0], FOLLOW_UPS / "weights.yaml"
    by_language = {
        language: {
            "limits": {name: round(float(getattr(one.limits, name)), 3) for name in Limits.__dataclass_fields__},
            "intercept": _listed(one.intercept),
            "kinds": dict(zip(WEIGHED, _listed(one.kinds), strict=True)),
            "wording": {"intercept": _listed(one.wording.intercept), "meaning": _listed(one.wording.meaning_weights)},
        }
        for language, one in zip(languages, fitted, strict=True)
    }
    body = {
        "encoder": first.encoder,
        "pairs": dict(zip(PAIR_FEATURES, _listed(first.pairs), strict=True)),
        **by_language,
    }
    head = f"# Fitted by `klartext qa context --write`. In this order: {', '.join(KINDS)}.\n"
    path.write_text(head + yaml.safe_dump(body, sort_keys=False, default_flow_style=None, width=4000), encoding="utf-8")
    return [path, *(_write_terms(*each) for each in zip(languages, fitted, strict=True))]


def _write_terms(language: str, one: Weights) -> Path:
    path = FOLLOW_UPS / "wording" / f"{language}.tsv"
    lines = ["\t".join(["term", "rarity", *KINDS])]
    for term, rarity, row in zip(
        one.wording.vocabulary.terms, one.wording.vocabulary.idf, one.wording.term_weights, strict=True
    ):
        lines.append("\t".join([term, *(f"{value:.3g}" for value in (rarity, *row))]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _listed(values: Floats) -> Any:
    return np.round(values.astype(np.float64), DIGITS).tolist()


def stands_alone(row: Row) -> bool:
    return row.kind == KINDS[ALONE]
