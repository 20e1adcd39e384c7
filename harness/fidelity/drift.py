"""Whether the questions of a vignette, taken together, drift out of its ranges. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from harness.fidelity.measures import TOO_HIGH, Z_ONE_SIDED, Counts, Miss, misses
from harness.stats import wilson
from harness.vignettes import Range, Vignette

ALLOWED_OUTSIDE = 0.10  # ranges are meant to hold nine tenths of a patient's questions
FEWEST = 5  # questions that a verdict needs

Verdict = Literal["fits", "drifts up", "drifts down", "scatters", "too few"]


@dataclass(frozen=True, slots=True)
class Judged:
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
    misses: tuple[Miss, ...]


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
    verdict: Verdict

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


def judge(id_: str, counts: Counts, vignette: Vignette) -> Judged:
    """Hold one question against its vignette's ranges."""
    return Judged(id_, vignette.id, counts, tuple(misses(counts, vignette.targets, vignette.language)))


def drift_of(vignette: Vignette, judged: Sequence[Judged]) -> VignetteDrift:
    """Summarise the questions of one vignette; raise ValueError when there is none."""
    if not judged:
        raise ValueError(f"there is no question of {vignette.id} to measure")
    measured = tuple(_drift(name, target, judged) for name, target in vignette.targets.ranges.items())
    return VignetteDrift(vignette.id, len(judged), sum(bool(one.misses) for one in judged), measured)


def _drift(measure: str, target: Range, judged: Sequence[Judged]) -> Drift:
    values = np.array([one.counts.values[measure] for one in judged])
    low, median, high = (float(value) for value in np.percentile(values, [5, 50, 95]))
    sides = [miss.side for one in judged for miss in one.misses if miss.measure == measure]
    above, below = sides.count(TOO_HIGH), len(sides) - sides.count(TOO_HIGH)
    verdict = _verdict(values, target, above=above, below=below)
    return Drift(measure, target, median, low, high, float(values.mean()), len(sides) / len(judged), verdict)


def _verdict(values: np.ndarray[Any, np.dtype[np.float64]], target: Range, *, above: int, below: int) -> Verdict:
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
