"""What a page is made of: figures, whose rows hold numbers that lead to their questions. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

Kind = Literal["text", "number", "graphic"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: numbers are aligned to the right; the heading of a graphic may be its axis."""

    name: str
    kind: Kind = "number"
    axis: Markup | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: What it says.
        show: Which questions are behind it: marks of `questions.Marks`, parted by spaces; empty: none.
        anchor: Where the first of them stand, for browsers without scripts.
        graphic: Drawn instead of the text, which then says the same to those who do not see it.
        shade: Depth of the background, 0 (none) to 4; None: no shading at all.
    """

    text: str
    show: str = ""
    anchor: str = "questions"
    graphic: Markup | None = None
    shade: int | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A table whose rows may be drawn, or a chart with its table below.

    Attributes:
        id: For links.
        topic: What it is about, in a word or two.
        title: What it shows, as a sentence.
        lead: How to read it.
        columns: The first one names the row.
        rows: As many cells as columns.
        chart: A drawing of its own above the table, which is then folded.
        note: Below the table.
    """

    id: str
    topic: str
    title: str
    lead: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    chart: Markup | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """Numbers by which vignettes and pairs are marked in the page."""

    vignettes: Mapping[str, int]
    pairs: Mapping[str, int]

    @classmethod
    def of(cls, vignettes: Sequence[str], pairs: Sequence[str]) -> Places:
        return cls(
            {name: number for number, name in enumerate(vignettes)}, {name: number for number, name in enumerate(pairs)}
        )

    def vignette(self, name: str, text: str, *marks: str) -> Cell:
        """Return a number that leads to questions of a vignette."""
        place = f"v{self.vignettes[name]}"
        return Cell(text, " ".join((place, *marks)), place)

    def pair(self, name: str, text: str, *marks: str) -> Cell:
        """Return a number that leads to questions about a pair."""
        place = f"p{self.pairs[name]}"
        return Cell(text, " ".join((place, *marks)), f"c0-{place}")

    def cell(self, pair: str, vignette: str, text: str, *marks: str, shade: int | None = None) -> Cell:
        """Return a number that leads to questions about a pair in a vignette."""
        both = f"v{self.vignettes[vignette]}", f"p{self.pairs[pair]}"
        return Cell(text, " ".join((*both, *marks)), f"c{self.vignettes[vignette]}-{both[1]}", shade=shade)


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as people read it; a dash when there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def points(share: float) -> str:
    """Return a change of a share in points."""
    return f"{100 * share:+.1f}"


def name_of(vignette: str) -> str:
    """Return a vignette's id as words."""
    words = vignette.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:] or vignette
