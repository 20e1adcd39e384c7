"""The table that a study ends in: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import BadData
from harness.stats import Interval

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A study's result.

    Attributes:
        title: What was studied.
        note: How, in a sentence or two.
        columns: Headings; the first column names the row.
        rows: Cells as text.
        figures: The same as plain numbers, not rounded.
    """

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: tuple[dict[str, Any], ...]

    def as_markdown(self) -> str:
        lines = [self.columns, ("---", *["---:"] * (len(self.columns) - 1)), *self.rows]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        return f"**{self.title}**\n\n{table}\n\n{self.note}\n"

    def as_json(self) -> str:
        document = {"title": self.title, "note": self.note, "rows": list(self.figures)}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def write(self, out: Path) -> None:
        """Write the Markdown to `out` and the JSON beside it."""
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(self.as_markdown(), encoding="utf-8")
            out.with_suffix(".json").write_text(self.as_json(), encoding="utf-8")
        except OSError as error:
            raise BadData(f"{out} cannot be written ({error.strerror}). Choose another file with `--out`.") from error


def share(value: float | None) -> str:
    """Return a share with three digits."""
    return NOTHING if value is None else f"{value:.3f}"


def share_range(interval: Interval | None) -> str:
    return NOTHING if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def mean_and_range(values: Sequence[float]) -> str:
    """Return the mean of the draws, with the smallest and the largest where they differ."""
    if not values:
        return NOTHING
    mean = f"{sum(values) / len(values):.3f}"
    return mean if len(set(values)) == 1 else f"{mean} ({min(values):.3f} to {max(values):.3f})"
