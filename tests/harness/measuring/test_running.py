"""The synthetic million: drawn with a seed, stored as runs are, and the same in both formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness.measuring.running import SEED, write_jsonl, write_parquet
from harness.running.outcomes import Outcome
from harness.running.run import load_outcomes
from harness.running.store import find_store
from harness.scoring.score import summarise, summarise_tally


def test_drawn_outcomes_are_a_run_in_both_formats(make_outcome: Callable[..., Outcome], tmp_path: Path) -> None:
    real = [
        make_outcome("ä 1"),
        make_outcome("2", pair_id="costs"),
        make_outcome("3", pair_id=None, vignette="anxious"),
        make_outcome("4", answered_with=None, decision="clarify", choices=("pain", "costs")),
    ]
    drawn = np.random.default_rng(SEED).integers(0, len(real), 2500)
    write_jsonl(real, drawn, tmp_path / "lines")
    write_parquet(real, drawn, tmp_path / "parts")

    lines, parts = load_outcomes(tmp_path / "lines"), load_outcomes(tmp_path / "parts")

    assert lines == parts
    assert [outcome.id for outcome in lines] == [f"drawn-{number}" for number in range(2500)]
    assert [outcome.candidates for outcome in lines] == [real[which].candidates for which in drawn]
    scores = [summarise_tally(find_store(tmp_path / name).tally()) for name in ("lines", "parts")]
    assert scores == [summarise(lines)] * 2
