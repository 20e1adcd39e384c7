"""`klartext harness fidelity`: whether a suite's questions look like the patients who are said to ask them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bot import friendly_errors
from harness.fidelity.drift import Judged, VignetteDrift
from harness.fidelity.judging import FidelityJudge
from harness.fidelity.tables import NOTE, drift_table, outside_lines, reason
from harness.suite import Suite, load_suite


def fidelity(
    suite: Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")],
    vignettes: Annotated[Path | None, typer.Option("--vignettes", help="Folder of vignettes of your own.")] = None,
    most: Annotated[int, typer.Option("--list", min=0, help="Show so many questions unlike their patient.")] = 5,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Measure every question against its vignette's ranges, and show where a vignette drifts."""
    with friendly_errors():
        loaded = load_suite(suite)
        judge = FidelityJudge.open(loaded.meta.language, vignettes)
        judged = judge.judge_all(loaded.questions)
        drifts = judge.drift(judged)
        if json_:
            print(json.dumps(as_json(loaded, judged, drifts), ensure_ascii=False, indent=2))
            return
        console = Console(highlight=False, markup=False, soft_wrap=True)
        for drift in drifts:
            console.print(drift_table(judge.vignettes[drift.vignette].title, drift))
            console.print()
        console.print(NOTE, style="dim")
        texts = {question.id: question.text for question in loaded.questions}
        for line in outside_lines(judged, texts, most):
            console.print(line)


def as_json(suite: Suite, judged: list[Judged], drifts: list[VignetteDrift]) -> dict[str, Any]:
    """Return the whole report as JSON."""
    outside = {one.id: [reason(miss) for miss in one.misses] for one in judged if one.misses}
    return {
        "suite": suite.meta.name,
        "suite_hash": suite.meta.sha256,
        "questions": len(judged),
        "vignettes": {drift.vignette: drift.as_json() for drift in drifts},
        "outside": outside,
    }
