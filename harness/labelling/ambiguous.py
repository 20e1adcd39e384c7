"""Automatic verdicts in three ways: right, wrong, or ambiguous: then people look. The paper's figures stay apart.

How sure one may be that the first candidate is right is learnt from its distance to the second, on the run's own
paraphrases, whose right pair is known, and never on the pair that is judged.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from bot import BadData
from harness.files import as_lines, numbered_lines, replace_text, unreadable, writing
from harness.labelling.labels import Verdicts, label_files, load_labels
from harness.running.outcomes import ERROR, Outcome

FOLDS = 5
MIN_KNOWN, MIN_PAIRS = 50, 5
EDGES = (0.0, 0.5, 0.8, 0.95, 1.0)
Floats = NDArray[np.float64]
AMBIGUOUS = "ambiguous.jsonl"
LEVEL = 0.8  # a first candidate that is right less often than this is too close to the second
Automatic = Literal["right", "wrong", "ambiguous"]
Doubt = Literal["close", "fidelity", "judges"]
MOST_JUDGED = 100_000  # paraphrases that are judged at the end of a run; larger runs are judged when somebody asks


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising curve from margin to the share of right first candidates."""

    margins: Floats
    shares: Floats

    @classmethod
    def fit(cls, margins: Floats, right: Floats) -> Curve:
        order = np.argsort(margins, kind="stable")
        values, first = np.unique(margins[order], return_index=True)
        counts = np.diff(np.append(first, len(order))).astype(np.float64)
        means = np.add.reduceat(right[order], first) / counts
        return cls(values, np.asarray(isotonic_regression(means, weights=counts).x))

    def at(self, margin: float) -> float:
        return float(np.interp(margin, self.margins, self.shares))


def confidences(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return, by question id, the probability that the first candidate is right, 0 to 1.

    Only outcomes with two scores have one. The curve for a paraphrase is fitted (isotonic regression) on the
    paraphrases of other pairs, that for a novel question on all. Empty where there is too little to learn from.

    References:
        Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.
    """
    scored = [outcome for outcome in outcomes if outcome.runner_up is not None and outcome.decision != "error"]
    known = [outcome for outcome in scored if outcome.top1 is not None]
    if len(known) < MIN_KNOWN or len({outcome.pair_id for outcome in known}) < MIN_PAIRS:
        return {}
    margins = np.array([_margin(outcome) for outcome in known])
    right = np.array([bool(outcome.top1) for outcome in known], dtype=np.float64)
    folds = np.array([_fold(outcome.pair_id) for outcome in known])
    curves = {
        fold: Curve.fit(margins[folds != fold], right[folds != fold])
        for fold in set(folds.tolist())
        if np.any(folds != fold)
    }
    whole = Curve.fit(margins, right)
    return {
        outcome.id: curves.get(_fold(outcome.pair_id), whole).at(_margin(outcome))
        if outcome.top1 is not None
        else whole.at(_margin(outcome))
        for outcome in scored
    }


def _margin(outcome: Outcome) -> float:
    return outcome.score - (outcome.runner_up or 0.0)


def _fold(pair_id: str | None) -> int:
    return zlib.crc32((pair_id or "").encode()) % FOLDS


@dataclass(frozen=True, slots=True)
class Bin:
    """Outcomes whose confidence lies between two edges: what was foretold, and what came."""

    low: float
    high: float
    n: int
    foretold: float
    right: float


def reliability(outcomes: Sequence[Outcome], confidence: Mapping[str, float]) -> list[Bin]:
    """Return how well confidences hold on paraphrases; bins without questions are left out."""
    known = [(confidence[o.id], bool(o.top1)) for o in outcomes if o.top1 is not None and o.id in confidence]
    bins = []
    for low, high in pairwise(EDGES):
        inside = [(p, hit) for p, hit in known if low <= p < high or (high == 1.0 and p == 1.0)]
        if inside:
            shares = np.mean(np.array(inside, dtype=np.float64), axis=0)
            bins.append(Bin(low, high, len(inside), float(shares[0]), float(shares[1])))
    return bins


@dataclass(frozen=True, slots=True)
class Judged:
    """What the machine says of one outcome.

    Attributes:
        outcome: It.
        verdict: right, wrong or ambiguous; None for novel questions without a doubt, which people label anyway.
        because: Why it is ambiguous: ``close`` (the second candidate is nearly as likely), ``fidelity`` (the right
            pair, but the question does not fit its vignette), ``judges`` (raters differ on what was shown).
        confidence: Probability that the first candidate is right; None where it cannot be told.
    """

    outcome: Outcome
    verdict: Automatic | None
    because: tuple[Doubt, ...]
    confidence: float | None


def judge_all(
    outcomes: Sequence[Outcome],
    verdicts: Verdicts,
    *,
    unfaithful: Collection[str] = (),
    level: float = LEVEL,
) -> list[Judged]:
    """Judge every outcome on which the system did not fail.

    Args:
        outcomes: Of a run.
        verdicts: What raters and models said so far.
        unfaithful: Ids of questions that do not fit their vignette.
        level: 0 to 1; below this confidence an answer is ambiguous.
    """
    sure = confidences(outcomes)
    judged = []
    for outcome in outcomes:
        if outcome.decision == ERROR or outcome.kind == "urgent":
            continue
        because = _doubts(outcome, verdicts, unfaithful, sure.get(outcome.id, 1.0) < level)
        plain: Automatic | None = None if outcome.right is None else ("right" if outcome.right else "wrong")
        judged.append(Judged(outcome, "ambiguous" if because else plain, because, sure.get(outcome.id)))
    return judged


def _doubts(outcome: Outcome, verdicts: Verdicts, unfaithful: Collection[str], close: bool) -> tuple[Doubt, ...]:
    """Return why an answer is ambiguous; what was not answered is not: nothing was shown that could be right."""
    if outcome.answered_with is None:
        return ()
    doubts: list[Doubt] = []
    if close:
        doubts.append("close")
    if outcome.right and outcome.id in unfaithful:
        doubts.append("fidelity")
    if verdicts.of(outcome.id, outcome.answered_with) == "disputed":
        doubts.append("judges")
    return tuple(doubts)


def automatic_as_json(judged: Sequence[Judged], *, level: float = LEVEL) -> dict[str, Any]:
    """Return counts for ``summary.json``; `n` is paraphrases, and right, wrong and ambiguous sum to it."""
    known = [item for item in judged if item.outcome.right is not None]
    counts = Counter(item.verdict for item in known)
    return {
        "n": len(known),
        **{verdict: counts[verdict] for verdict in ("right", "wrong", "ambiguous")},
        "ambiguous_right": sum(bool(item.outcome.right) for item in known if item.verdict == "ambiguous"),
        "because": dict(sorted(Counter(doubt for item in known for doubt in item.because).items())),
        "novel_ambiguous": sum(item.verdict == "ambiguous" for item in judged if item.outcome.right is None),
        "level": level,
    }


def write_ambiguous(run: Path, judged: Sequence[Judged]) -> int:
    """Write the queue of ambiguous outcomes to the run, anew; return how many there are."""
    lines = [
        {
            "question_id": item.outcome.id,
            "pair_id": item.outcome.answered_with,
            "because": item.because,
            "confidence": None if item.confidence is None else round(item.confidence, 4),
        }
        for item in judged
        if item.verdict == "ambiguous"
    ]
    with writing(run / AMBIGUOUS, "Make the run's folder writable."):
        replace_text(run / AMBIGUOUS, as_lines(lines))
    return len(lines)


def load_ambiguous(run: Path) -> set[str]:
    """Return the ids of the ambiguous questions of a run; none when nobody has looked for them."""
    path = run / AMBIGUOUS
    if not path.is_file():
        return set()
    try:
        return {str(json.loads(line)["question_id"]) for _, line in numbered_lines(path)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData(f"{path} is no queue. Run `klartext harness labels queue {run}` to write it anew.") from error


def load_unfaithful(path: Path | None) -> Collection[str]:
    """Read the ids of questions that do not fit their vignette.

    Args:
        path: What `klartext harness suite check --fidelity --json` prints (its `outside`), a JSON list of ids, a JSON
            object with ids as keys, or JSON lines with `question_id` or `id`.

    Raises:
        BadData: The file holds something else.
    """
    if path is None:
        return frozenset()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(
            f"{path} cannot be read ({unreadable(error)}). Give the file of questions that failed."
        ) from error
    try:
        data: object = json.loads(text)
    except ValueError:
        data = None
    if isinstance(data, Mapping) and isinstance(data.get("outside"), Mapping):
        return frozenset(data["outside"])
    if isinstance(data, list) and all(isinstance(item, str) for item in data):
        return frozenset(data)
    if isinstance(data, Mapping) and not {"question_id", "id"} & set(data):
        return frozenset(data)
    try:
        records = [json.loads(line) for line in text.split("\n") if line.strip()]
        return frozenset(str(record.get("question_id") or record["id"]) for record in records)
    except (ValueError, KeyError, AttributeError) as error:
        raise BadData(
            f"{path} holds no question ids: give a JSON list, a JSON object, or JSON lines with `id`."
        ) from error


def find_ambiguous(
    run: Path, outcomes: list[Outcome], *, suite: str, unfaithful: Path | None = None, level: float = LEVEL
) -> tuple[list[Judged], dict[str, Any]]:
    """Judge a run in three ways and write its queue of ambiguous answers; return the verdicts and their counts."""
    verdicts = Verdicts(load_labels(label_files(run, suite)))
    judged = judge_all(outcomes, verdicts, unfaithful=load_unfaithful(unfaithful), level=level)
    write_ambiguous(run, judged)
    return judged, automatic_as_json(judged, level=level)


def bins_of(judged: list[Judged]) -> list[Bin]:
    """Return foretold and observed shares of right first candidates."""
    confidence = {item.outcome.id: item.confidence for item in judged if item.confidence is not None}
    return reliability([item.outcome for item in judged], confidence)
