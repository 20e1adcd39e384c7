"""What a page is made of: figures, whose rows hold numbers that lead to their questions, and drawings in SVG. Pure.

Drawings are made of numbers only: nothing from a question or a catalog gets in. Row drawings use percentages of their
width, so that they grow with the column and dots stay round. Colours are classes of the page's style sheet. They are
decoration to screen readers: the same figures stand beside them as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

ColumnKind = Literal["text", "number", "graphic"]
HEIGHT = 22  # of a row drawing, in pixels


@dataclass(frozen=True, slots=True)
class Column:
    """A column: numbers are aligned to the right; the heading of a graphic may be its axis."""

    name: str
    kind: ColumnKind = "number"
    axis: Markup | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: What it says.
        show: Which questions are behind it: marks (of its vignette, pair and verdict), parted by spaces; empty: none.
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
    titles: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, vignettes: Sequence[str], pairs: Sequence[str], titles: Mapping[str, str]) -> Places:
        return cls(
            {name: number for number, name in enumerate(vignettes)},
            {name: number for number, name in enumerate(pairs)},
            titles,
        )

    def name(self, vignette: str) -> str:
        """Return a vignette's title, as tables in the terminal have it; its id where nobody gave it one."""
        return self.titles.get(vignette, vignette)

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


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values stand: from `low` at the left to `high` at the right."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return a place in percent of the width; a margin keeps dots at the ends whole."""
        inside = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return 4 + 92 * inside

    def ticks(self, step: float) -> list[float]:
        first = -(-self.low // step)
        count = int((self.high - first * step) / step + 1e-9)
        return [round((first + number) * step, 6) for number in range(count + 1)]


def _row(body: Iterable[str]) -> Markup:
    return Markup(f'<svg class="row" height="{HEIGHT}" aria-hidden="true" focusable="false">{"".join(body)}</svg>')


def _line(x1: float, x2: float, kind: str, y: float = 50) -> str:
    return f'<line x1="{x1:.1f}%" x2="{x2:.1f}%" y1="{y:g}%" y2="{y:g}%" class="{kind}"/>'


def _dot(x: float, kind: str, radius: float = 5) -> str:
    return f'<circle cx="{x:.1f}%" cy="50%" r="{radius:g}" class="{kind}"/>'


def _tick(x: float, kind: str) -> str:
    return f'<line x1="{x:.1f}%" x2="{x:.1f}%" y1="15%" y2="85%" class="{kind}"/>'


def axis(scale: Scale, ticks: Sequence[float], *, share: bool = True) -> Markup:
    """Return the heading of a column of drawings: the figures at its ticks."""
    said = "".join(
        f'<text x="{scale.x(tick):.1f}%" y="15" text-anchor="middle">{100 * tick if share else tick:.0f}</text>'
        for tick in ticks
    )
    return _row([said])


def interval(scale: Scale, low: float, value: float, high: float, ticks: Sequence[float] = ()) -> Markup:
    """Return a dot with its interval."""
    grid = (_tick(scale.x(tick), "grid") for tick in ticks)
    return _row([*grid, _line(scale.x(low), scale.x(high), "span"), _dot(scale.x(value), "dot")])


def change(scale: Scale, before: float, after: float) -> Markup:
    """Return where a share was (hollow) and is (filled)."""
    kind = "better" if after > before else "worse" if after < before else "same"
    line = _line(scale.x(before), scale.x(after), f"span {kind}")
    return _row([line, _dot(scale.x(before), "hollow", 4), _dot(scale.x(after), f"dot {kind}")])


def bars(scale: Scale, forth: float, back: float, expected: float) -> Markup:
    """Return two counts as one bar in two tones, and a tick where chance would put its end."""
    return _row(
        [
            _line(scale.x(0), scale.x(forth), "bar"),
            _line(scale.x(forth), scale.x(forth + back), "bar second"),
            _tick(scale.x(expected), "chance"),
        ]
    )


def spread(scale: Scale, quartiles: tuple[float, float, float], target: tuple[float, float] | None) -> Markup:
    """Return a median with its quartiles, before the range in which they should lie."""
    low, median, high = quartiles
    wanted = [_line(scale.x(target[0]), scale.x(target[1]), "target")] if target else []
    return _row([*wanted, _line(scale.x(low), scale.x(high), "span"), _dot(scale.x(median), "dot")])


@dataclass(frozen=True, slots=True)
class Frame:
    """The field of a chart with two axes, in the units of its view box."""

    x: Scale
    y: Scale
    width: int = 680
    height: int = 340
    left: int = 56
    bottom: int = 52
    top: int = 16
    right: int = 36

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x.low) / (self.x.high - self.x.low)
        up = (y - self.y.low) / (self.y.high - self.y.low)
        inner_height = self.height - self.top - self.bottom
        return self.left + across * (self.width - self.left - self.right), self.top + (1 - up) * inner_height


def curve(frame: Frame, line: Sequence[tuple[float, float]], mark: tuple[float, float] | None, said: str) -> Markup:
    """Return risk over coverage as a line, with the point at which the system works.

    Args:
        frame: Scales of both axes, in shares.
        line: Points (coverage, risk), from left to right.
        mark: The point in force.
        said: The chart in words, for screen readers: escaped here.
    """
    steps = " ".join(f"{'L' if n else 'M'}{x:.1f} {y:.1f}" for n, (x, y) in enumerate(frame.place(*p) for p in line))
    body = [*_grid(frame), f'<path d="{steps}" class="curve"/>']
    if mark is not None:
        x, y = frame.place(*mark)
        side = "end" if x > frame.width / 2 else "start"
        shift = -12 if side == "end" else 12
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" class="dot"/>')
        body.append(f'<text x="{x + shift:.1f}" y="{y - 10:.1f}" text-anchor="{side}" class="strong">today</text>')
    size = f'viewBox="0 0 {frame.width} {frame.height}"'
    return Markup('<svg class="chart" {} role="img" aria-label="{}">{}</svg>').format(
        Markup(size), said, Markup("".join(body))
    )


def _grid(frame: Frame) -> Iterable[str]:
    for tick in frame.x.ticks(0.2):
        x, y = frame.place(tick, frame.y.low)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.top}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{100 * tick:.0f} %</text>'
    for tick in frame.y.ticks(next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if frame.y.high / step <= 6.0001)):
        x, y = frame.place(frame.x.low, tick)
        yield f'<line x1="{x:.1f}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{x - 8:.1f}" y="{y + 5:.1f}" text-anchor="end">{100 * tick:.0f} %</text>'
    middle = (frame.left + frame.width) / 2
    below = frame.height - 8
    yield f'<text x="{middle:.0f}" y="{below}" text-anchor="middle">answered directly, of all questions</text>'
    yield f'<text x="{frame.left + 8}" y="{frame.top + 12}" class="strong">wrong, of those answered</text>'
