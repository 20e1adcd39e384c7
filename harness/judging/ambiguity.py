"""`klartext harness ambiguous`: which answers people should see, why, and how well the confidences hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from harness.judging.automatic import LEVEL, Judged, automatic_as_json, judge_all, load_unfaithful, write_ambiguous
from harness.judging.confidence import Bin, reliability
from harness.labels import Verdicts, label_files, load_labels
from harness.run import Outcome

MOST_JUDGED = 100_000  # paraphrases that are judged at the end of a run; larger runs are judged when somebody asks
WHY = {
    "close": "the second candidate is nearly as likely",
    "fidelity": "the right pair, but the question does not fit its vignette",
    "judges": "raters differ on it",
}


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


def print_ambiguous(judged: list[Judged], counts: dict[str, Any], console: Console) -> None:
    """Print counts, reasons and the calibration of the confidences."""
    console.print(
        f"{counts['n']} paraphrases: {counts['right']} right, {counts['wrong']} wrong, {counts['ambiguous']} ambiguous "
        f"({counts['ambiguous_right']} of these by id right). {counts['novel_ambiguous']} ambiguous novel questions.",
        soft_wrap=True,
    )
    for name, count in counts["because"].items():
        console.print(f"  {name}: {count} ({WHY[name]})")
    bins = bins_of(judged)
    if not bins:
        console.print("Too few scored paraphrases to tell when two candidates are close: that reason is not used.")
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("confidence", "n", "foretold", "right"):
        table.add_column(heading, justify="right")
    for item in bins:
        table.add_row(f"{item.low:.2f}-{item.high:.2f}", str(item.n), f"{item.foretold:.3f}", f"{item.right:.3f}")
    console.print(table)
    console.print("foretold: from the two scores, learnt on other pairs of this run. right: what came.", style="dim")
