"""A run before and after labels, for the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from harness.judging.rescore import Rescored
from harness.score import Score
from harness.stats import Interval

MOST = 20  # changes that are listed


def print_rescored(rescored: Rescored, console: Console) -> None:
    """Print both scores, what changed, and whose labels were used."""
    whose = "people" if rescored.kind == "person" else "models"
    if rescored.raw and rescored.after:
        console.print(_scores(rescored.raw, rescored.after, whose))
        console.print(f"{rescored.looked_at} answered paraphrases have a verdict by {whose}.")
    novel = rescored.novel
    console.print(
        f"Novel questions: {novel.n}; incorrect {novel.incorrect}, partially correct {novel.partial}, "
        f"correct {novel.correct}, unanswered {novel.unanswered}, to label {novel.open}."
    )
    if rescored.disputed:
        console.print(f"Raters differ on {rescored.disputed}: they stay. Decide with `klartext harness adjudicate`.")
    for change in rescored.changes[:MOST]:
        turned = "right now" if change.after else "wrong now"
        console.print(f"{turned}: {change.question_id}, {change.pair_id} is {change.label} ({', '.join(change.by)})")
    if len(rescored.changes) > MOST:
        console.print(f"and {len(rescored.changes) - MOST} more, in rescored.json")
    for item in rescored.labels:
        console.print(f"{item.file}: {item.labels} labels of {', '.join(item.raters)}, sha256 {item.sha256[:12]}…")


def _scores(raw: Score, after: Score, whose: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in ("paraphrases", "n", "errors", "accuracy", "95 % Wilson", "precision"):
        table.add_column(heading, justify="left" if heading == "paraphrases" else "right")
    for name, score in (("by id", raw), (f"after labels by {whose}", after)):
        precision = "" if score.precision is None else f"{score.precision:.3f}"
        cells = (str(score.n), str(score.errors), f"{score.accuracy:.3f}", _range(score.wilson), precision)
        table.add_row(name, *cells)
    return table


def _range(interval: Interval) -> str:
    return f"{interval.low:.3f}-{interval.high:.3f}"
