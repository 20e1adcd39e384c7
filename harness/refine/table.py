"""Round-wise means and standard deviations, as in Table 4 of MCQG-C++ (seed paper 000). Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.refine.rounds import ROUNDS, Round, Track
from harness.refine.scores import TOP

TOTAL, CARRIED = "total", "carried on"


@dataclass(frozen=True, slots=True)
class Cell:
    """Mean and standard deviation (None with one value) of shares of the maximum, 0 to 1, over n questions."""

    n: int
    mean: float
    deviation: float | None

    def as_json(self) -> dict[str, Any]:
        return {"n": self.n, "mean": self.mean, "sd": self.deviation}


@dataclass(frozen=True, slots=True)
class RoundTable:
    """Scores by round.

    Attributes:
        rows: By aspect, then ``total`` and ``carried on``: a cell a round, None where nobody was scored.
            Questions that are good enough leave the rounds, so later rounds hold the harder ones; carried on, they keep
            their last total, so that rounds can be compared.
        stopped: Why questions ended, with their number; those that go on are counted as ``under way``.
        best: How many questions were best in which round.
        lengths: Words of the texts in each round.
    """

    rows: dict[str, tuple[Cell | None, ...]]
    stopped: dict[str, int]
    best: dict[int, int]
    lengths: tuple[Cell | None, ...]

    def as_json(self) -> dict[str, Any]:
        def cells(row: Sequence[Cell | None]) -> list[dict[str, Any] | None]:
            return [cell.as_json() if cell else None for cell in row]

        return {
            "rounds": {name: cells(row) for name, row in self.rows.items()},
            "stopped": self.stopped,
            "best_round": {str(number): count for number, count in self.best.items()},
            "words": cells(self.lengths),
        }


def round_table(tracks: Sequence[Track], aspects: Sequence[str]) -> RoundTable:
    """Summarise the rounds of all questions."""
    numbers = range(1, ROUNDS + 1)
    scored = {number: [one for one in _in_round(tracks, number) if one.scores is not None] for number in numbers}
    rows = {
        aspect: tuple(_cell([(one.scores or {})[aspect] / TOP for one in scored[number]]) for number in numbers)
        for aspect in aspects
    }
    rows[TOTAL] = tuple(_cell([one.total or 0.0 for one in scored[number]]) for number in numbers)
    rows[CARRIED] = tuple(_cell(_carried(tracks, number)) for number in numbers)
    return RoundTable(
        rows=rows,
        stopped=dict(Counter(track.stopped or "under way" for track in tracks)),
        best=dict(sorted(Counter(track.best.number for track in tracks if track.best).items())),
        lengths=tuple(_cell([float(len(one.text.split())) for one in _in_round(tracks, number)]) for number in numbers),
    )


def _in_round(tracks: Sequence[Track], number: int) -> list[Round]:
    return [one for track in tracks for one in track.rounds if one.number == number]


def _carried(tracks: Sequence[Track], number: int) -> list[float]:
    """Return each question's last total up to a round; none once a round that somebody must go through is open."""
    if not any(one.number == number for track in tracks for one in track.rounds):
        return []
    last = ([one.total for one in track.rounds if one.number <= number and one.total is not None] for track in tracks)
    return [totals[-1] for totals in last if totals]


def _cell(values: Sequence[float]) -> Cell | None:
    if not values:
        return None
    return Cell(len(values), statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)
