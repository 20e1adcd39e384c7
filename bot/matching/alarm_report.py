"""What the alarm hears of authors it was not taught by: the table behind its threshold, and its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from bot.errors import BadData
from bot.matching.emergency import (
    FEATURES,
    Alarm,
    AlarmTexts,
    Decision,
    Lookout,
    decision_of,
    fit_alarm,
    load_decisions,
)
from bot.matching.features import Floats
from bot.matching.red_flags import FLAGS, RED_FLAGS, Examples, RedFlags, load_examples, load_red_flags
from bot.ports import Encoder
from bot.text import seen

FOLDS = 3
EVERYDAY = (
    "thanks", "hesitation", "answers", "fear", "refusal", "idioms", "old-complaints", "exam", "smalltalk", "fine",
    "ordinary",
)  # fmt: skip
URGENT_WEIGHT, EVERYDAY_WEIGHT = 3.0, 5.0  # what a missed emergency and a false alarm in small talk weigh in the fit
RIDGE = 0.5
REAL = {"U": "real urgent", "S": "real soon", "N": "real neither"}
SHOWN = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True)
class Judged:
    """Messages that the alarm had not seen, with what it makes of them.

    Attributes:
        group: Author, or where a message is from.
        kind: What it is.
        text: The message.
        firm: Whether it alarms by rule, shape (messages,).
        spared: Whether it has so few words that only rules count, shape (messages,).
        features: Shape (messages, features).
    """

    group: tuple[str, ...]
    kind: tuple[str, ...]
    text: tuple[str, ...]
    firm: npt.NDArray[np.bool_]
    spared: npt.NDArray[np.bool_]
    features: Floats

    @property
    def urgent(self) -> npt.NDArray[np.bool_]:
        return np.array([kind.startswith("urgent") or kind == REAL["U"] for kind in self.kind])


@dataclass(frozen=True, slots=True)
class AlarmStudy:
    """The weights that were fitted, and how often each kind of message alarms at each threshold, by left-out groups."""

    decision: Decision
    judged: Judged
    probability: npt.NDArray[np.float64]

    def alarms(self, threshold: float) -> npt.NDArray[np.bool_]:
        return self.judged.firm | (~self.judged.spared & (self.probability >= threshold))

    def recall(self, threshold: float) -> float:
        """Return the share of the authors' emergencies that alarm."""
        wanted = np.array([kind.startswith("urgent") for kind in self.judged.kind])
        return float(self.alarms(threshold)[wanted].mean())

    def lines(self) -> Iterator[str]:
        """Yield the table: a row a kind, a column a threshold; then precision and recall on real questions."""
        kinds = np.array(self.judged.kind)
        yield f"{'alarms at':16}{'n':>6}  " + "".join(f"{threshold:7.2f}" for threshold in SHOWN)
        for kind in dict.fromkeys(self.judged.kind):
            rates = (self.alarms(threshold)[kinds == kind].mean() for threshold in SHOWN)
            yield f"{kind:16}{(kinds == kind).sum():6}  " + "".join(f"{rate:7.3f}" for rate in rates)
        everyday = np.isin(kinds, EVERYDAY)
        yield f"{'everyday':16}{everyday.sum():6}  " + "".join(
            f"{self.alarms(at)[everyday].mean():7.3f}" for at in SHOWN
        )
        real = np.isin(kinds, list(REAL.values()))
        if not real.any():
            return
        emergency = kinds == REAL["U"]
        precision = [self.alarms(at)[emergency].sum() / max(1, self.alarms(at)[real].sum()) for at in SHOWN]
        yield f"{'real, precision':16}{real.sum():6}  " + "".join(f"{share:7.3f}" for share in precision)


def study_alarm(  # noqa: PLR0913 - what is measured, with what, against what
    language: str,
    ordinary: Sequence[str],
    unseen: Sequence[str],
    encoder: Encoder,
    *,
    real: Path | None = None,
    recall: float = 0.97,
) -> AlarmStudy:
    """Fit the decision on what authors wrote whom the alarm had not seen.

    Args:
        language: Of the examples.
        ordinary: Questions to the catalog that the alarm is taught with.
        unseen: Questions to the catalog that it is not taught with.
        encoder: Turns texts into vectors.
        real: Real people's questions to fit with, a line each: U, S or N, a tab, the text.
        recall: Of the authors' emergencies: the threshold is the highest that keeps it.

    Raises:
        BadData: There are fewer than two authors, or `real` cannot be read.
    """
    examples, rules, encoder = load_examples(language), load_red_flags(language), _Remembering(encoder)
    authors = examples.authors
    if len(authors) < 2:
        raise BadData(
            f"bot/matching/red_flag_rules/lines/{language}.tsv has {len(authors)} authors; at least 2 are needed."
        )
    parts: list[Judged] = []
    for fold in range(min(FOLDS, len(authors))):
        left_out = authors[fold::FOLDS]
        alarm = _taught(examples.without(left_out), ordinary, encoder)
        lines = [line for line in examples.lines if line.author in left_out]
        parts.append(_judged([(line.author, line.kind, line.text) for line in lines], rules, alarm, encoder, language))
    rest = [("catalog", "ordinary", text) for text in unseen] + (_real(real) if real else [])
    parts.append(_judged(rest, rules, _taught(examples, ordinary, encoder), encoder, language))
    judged = _joined(parts)
    probability = _by_group(judged)
    study = AlarmStudy(_decision(judged, np.ones(len(judged.kind), dtype=bool), 0.0), judged, probability)
    thresholds = [at for at in np.arange(0.02, 0.9, 0.01) if study.recall(float(at)) >= recall]
    threshold = round(float(thresholds[-1]), 2) if thresholds else 0.02
    return AlarmStudy(study.decision.model_copy(update={"threshold": threshold}), judged, probability)


def write_decision(language: str, decision: Decision) -> Path:
    """Store the weights of a language beside those of the others."""
    path = RED_FLAGS / "decision.yaml"
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    every = {name: one.model_dump() for name, one in (load_decisions() | {language: decision}).items()}
    body = yaml.safe_dump(every, sort_keys=True, default_flow_style=None, width=120)
    path.write_text("\n".join([*head, body]), encoding="utf-8")
    return path


def _taught(examples: Examples, ordinary: Sequence[str], encoder: Encoder) -> Alarm:
    texts = AlarmTexts(examples.urgent, examples.harmless, tuple(ordinary))
    return fit_alarm(texts, encoder.encode(texts.all), FLAGS)


class _Remembering:
    """Encodes a text once: every fold is taught with nearly the same texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Floats] = {}

    @property
    def name(self) -> str:
        return self._encoder.name

    def encode(self, texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), 512):
            chunk = new[start : start + 512]
            self._known.update(zip(chunk, self._encoder.encode(chunk), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32)


def _judged(
    rows: Sequence[tuple[str, str, str]], rules: RedFlags, alarm: Alarm, encoder: Encoder, language: str
) -> Judged:
    texts = [seen(text) for _, _, text in rows]
    signs = [rules.signs(text) for text in texts]
    lookout = Lookout(rules, alarm, encoder, decision_of(language))
    measured = [
        one
        for start in range(0, len(texts), 256)
        for one in lookout.measure(texts[start : start + 256], signs[start : start + 256], gate=False)
    ]
    return Judged(
        group=tuple(group for group, _, _ in rows),
        kind=tuple(kind for _, kind, _ in rows),
        text=tuple(texts),
        firm=np.array([any(sign.firm for sign in found) for found in signs], dtype=bool),
        spared=np.array([rules.alone(text) for text in texts], dtype=bool),
        features=np.array([one.features for one in measured if one is not None], dtype=np.float32),
    )


def _joined(parts: Sequence[Judged]) -> Judged:
    return Judged(
        group=tuple(group for part in parts for group in part.group),
        kind=tuple(kind for part in parts for kind in part.kind),
        text=tuple(text for part in parts for text in part.text),
        firm=np.concatenate([part.firm for part in parts]),
        spared=np.concatenate([part.spared for part in parts]),
        features=np.concatenate([part.features for part in parts]),
    )


def _by_group(judged: Judged) -> npt.NDArray[np.float64]:
    """Return each message's probability by weights fitted without its group; large groups are cut into parts."""
    names = [
        f"{group}{number % 5}" if group in ("catalog", "real") else group for number, group in enumerate(judged.group)
    ]
    probability = np.zeros(len(names))
    for name in dict.fromkeys(names):
        own = np.array([other == name for other in names])
        decision = _decision(judged, ~own, 0.0)
        probability[own] = [decision.probability(features) for features in judged.features[own]]
    return probability


def _decision(judged: Judged, used: npt.NDArray[np.bool_], threshold: float) -> Decision:
    """Fit a logistic model with a ridge; signs that are firm alarm anyway, so they teach it less."""
    from scipy.optimize import minimize

    urgent = judged.urgent.astype(float)[used]
    kinds = np.array(judged.kind)[used]
    weight = np.where(urgent > 0, URGENT_WEIGHT, np.where(np.isin(kinds, EVERYDAY), EVERYDAY_WEIGHT, 1.0))
    weight[np.char.startswith(kinds.astype(str), "real")] = 1.0
    columns = np.hstack([judged.features[used], np.ones((used.sum(), 1), dtype=np.float32)]).astype(float)

    def loss(beta: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        score = columns @ beta
        value = (weight * (np.logaddexp(0, score) - urgent * score)).sum() + RIDGE * (beta[:-1] ** 2).sum()
        slope = columns.T @ (weight * (1 / (1 + np.exp(-np.clip(score, -30, 30))) - urgent))
        slope[:-1] += 2 * RIDGE * beta[:-1]
        return float(value), slope

    beta = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    weights = {name: round(float(value), 3) for name, value in zip(FEATURES, beta, strict=False)}
    return Decision(threshold=threshold, intercept=round(float(beta[-1]), 3), weights=weights)


def _real(path: Path) -> list[tuple[str, str, str]]:
    if not path.is_file():
        raise BadData(f"There is no file {str(path)!r}. Give lines of U, S or N, a tab, and the text.")
    rows: list[tuple[str, str, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        label, tab, text = line.partition("\t")
        if label not in REAL or not tab or not text.strip():
            raise BadData(f"{path}, line {number}: U, S or N, a tab, and the text are wanted.")
        rows.append(("real", REAL[label], text))
    return rows
