"""Runs made of outcomes, for tests of gates and comparisons."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from harness.running.outcomes import Outcome
from harness.running.run import Run
from harness.running.store import OUTCOMES, RUN

HASH = "a" * 64


def run_of(outcomes: Sequence[Outcome], *, suite_hash: str = HASH, questions: int | None = None) -> Run:
    return Run(Path("run"), tuple(outcomes), {"suite": "mine", "suite_hash": suite_hash}, questions)


def write_run(folder: Path, outcomes: Sequence[Outcome], *, suite_hash: str = HASH) -> Path:
    """Write outcomes as `klartext harness run` does."""
    folder.mkdir()
    (folder / OUTCOMES).write_text("".join(outcome.as_line() for outcome in outcomes), encoding="utf-8")
    identity = {"suite": "mine", "suite_hash": suite_hash, "system": "klartext", "questions": len(outcomes)}
    (folder / RUN).write_text(json.dumps(identity), encoding="utf-8")
    return folder
