"""What is printed everywhere alike: progress bars, tables, figures."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(label: str) -> Progress:
    """Return a progress bar on standard error."""
    return Progress(
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=False,
    )


def chance(value: float) -> str:
    """Return a p- or q-value as people read it."""
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
