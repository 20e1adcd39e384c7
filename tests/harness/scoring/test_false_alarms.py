"""How often a gate fails a system that did not change, and finds one that did: simulated, with real outcome files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import binom

from harness.running.outcomes import Outcome
from harness.running.run import load_run
from harness.scoring.comparison import compare
from harness.scoring.gate import AtLeast, BaselineLimits, Gates, check_baseline, check_run
from harness.scoring.score import summarise
from tests.harness.runs import write_run

MakeOutcome = Callable[..., Outcome]
PAIRS, EACH = 20, 10
ALPHA = 0.05


def simulated(make_outcome: MakeOutcome, rng: Generator, spread: float, mean: float = 0.8) -> list[Outcome]:
    """Return one run: pairs of which some do well and some badly, by chance, differently from run to run."""
    shares = np.clip(rng.normal(mean, spread, PAIRS), 0, 1)
    return [
        make_outcome(
            f"{pair}/{number}",
            vignette=f"v{number % 2}",
            pair_id=f"pair-{pair}",
            answered_with=f"pair-{pair}" if rng.random() < shares[pair] else (None, "another")[rng.integers(2)],
        )
        for pair in range(PAIRS)
        for number in range(EACH)
    ]


def failures(make_outcome: MakeOutcome, folder: Path, draws: int, spread: float, after: float = 0.8) -> tuple[int, int]:
    """Return how often the gate as a whole failed, and how often its test of the total did."""
    rng, failed, total = np.random.default_rng(20261124), 0, 0
    for draw in range(draws):
        runs = []
        for name, mean in (("before", 0.8), ("after", after)):
            outcomes = simulated(make_outcome, rng, spread, mean)
            runs.append(load_run(write_run(folder / f"{draw}-{name}", outcomes)))
        report = check_baseline(compare(*runs), BaselineLimits(alpha=ALPHA, max_drop=0.05))
        failed += report.failed
        (row,) = [row for row in report.paired if row.name == "total"]
        total += row.p_value < ALPHA
        assert row.change is None or (row.change.low <= 0 <= row.change.high) == (row.p_value >= ALPHA)
    return failed, total


@pytest.mark.parametrize(
    ("spread", "draws"),
    [
        (0.2, 40),
        *[pytest.param(spread, 400, marks=pytest.mark.proof) for spread in (0.0, 0.1, 0.2, 0.3)],
    ],
)
def test_a_system_that_did_not_change_fails_no_more_often_than_the_level(
    make_outcome: MakeOutcome, tmp_path: Path, spread: float, draws: int
) -> None:
    failed, total = failures(make_outcome, tmp_path, draws, spread)

    most = binom.ppf(0.995, draws, ALPHA)
    assert failed <= most
    assert total <= most
    # Nor is the test so careful that it says nothing.
    assert total > 0 or draws < 100


def test_a_system_that_became_much_worse_fails(make_outcome: MakeOutcome, tmp_path: Path) -> None:
    failed, _ = failures(make_outcome, tmp_path, 20, 0.1, after=0.6)

    assert failed >= 18


def test_an_answer_that_changes_from_run_to_run_is_no_drop(make_outcome: MakeOutcome, tmp_path: Path) -> None:
    # Forty questions, each its own pair, answered right by a coin of 0.9: a drop of 5 points comes by chance.
    rng, failed, draws = np.random.default_rng(5), 0, 30
    for draw in range(draws):
        runs = [
            load_run(
                write_run(
                    tmp_path / f"{draw}-{name}",
                    [
                        make_outcome(f"{n}", pair_id=f"p{n}", answered_with=f"p{n}" if rng.random() < 0.9 else None)
                        for n in range(40)
                    ],
                )
            )
            for name in ("before", "after")
        ]
        failed += check_baseline(compare(*runs), BaselineLimits(max_drop=0.05)).failed

    assert failed <= binom.ppf(0.995, draws, ALPHA)


@pytest.mark.parametrize(
    ("sizes", "share", "likeness"),
    [([20] * 5, 0.9, 0.95), ([10] * 20, 0.95, 0.8), ([100] + [5] * 19, 0.8, 0.3)],
)
def test_a_limit_that_is_the_truth_is_seldom_passed(
    make_outcome: MakeOutcome, tmp_path: Path, sizes: list[int], share: float, likeness: float
) -> None:
    rng, held, passed, draws = np.random.default_rng(7), 0, 0, 30
    apart = 1 / likeness - 1
    for draw in range(draws):
        shares = rng.beta(share * apart, (1 - share) * apart, len(sizes))
        outcomes = [
            make_outcome(
                f"{pair}/{number}",
                pair_id=f"pair-{pair}",
                answered_with=f"pair-{pair}" if rng.random() < shares[pair] else None,
            )
            for pair, size in enumerate(sizes)
            for number in range(size)
        ]
        run = load_run(write_run(tmp_path / str(draw), outcomes))
        passed += check_run(run, Gates(accuracy=AtLeast(min=share))).passed
        interval = summarise(run.outcomes).total.interval
        held += interval.low <= share <= interval.high

    assert held >= binom.ppf(0.005, draws, 0.94)
    assert passed <= binom.ppf(0.995, draws, 0.025)
