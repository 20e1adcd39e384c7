"""What is printed everywhere alike: plain consoles, tables without a frame, JSON, progress bars."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from math import floor, log10
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from bot import plain_text

# Control characters beyond ASCII, and what is invisible or turns the direction of writing: JSON has escapes for them.
_UNSHOWN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
PIPE_WIDTH = 1000  # characters: what is read by CI logs and `grep` is never wrapped


class _PlainConsole(Console):
    """Prints texts of others, too: none of them steers the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain_text(text), **how)


def plain_console(*, soft_wrap: bool = False) -> Console:
    """Return a console that prints as it is told: names and questions are data, and brackets in them are brackets.

    On a terminal it wraps at the terminal's width; into a file or pipe it does not wrap.
    """
    console = _PlainConsole(highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def plain_table(title: str | None, *columns: str | Column, padding: int | tuple[int, ...] = (0, 1, 0, 0)) -> Table:
    """Return a table without a frame, so that it fits 80 columns.

    The first column names the row, further ones that are given by name hold numbers; none of these wraps.
    """
    first, *others = columns
    named = Column(first, no_wrap=True) if isinstance(first, str) else first
    numbers = [Column(one, justify="right", no_wrap=True) if isinstance(one, str) else one for one in others]
    look: dict[str, Any] = {"title_justify": "left", "box": box.SIMPLE_HEAD, "padding": padding, "show_edge": False}
    return Table(named, *numbers, title=title, **look)


def folded(name: str, width: int | None = None) -> Column:
    """Return a column of text that is broken where it has to be."""
    return Column(name, overflow="fold", max_width=width)


def print_json(record: Any) -> None:
    """Print a record as people read JSON."""
    print(_UNSHOWN.sub(_escaped, json.dumps(record, indent=2, ensure_ascii=False)))


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error; yield what moves it on, by one or by so many, and may name the total."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done=1, total=total: bar.update(task, advance=done, total=total)


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 question``, ``2 questions``; `many` where it is more than an s."""
    return f"{n} {one if n == 1 else many or f'{one}s'}"


def printable(text: str) -> str:
    """Return text of others without characters that steer a terminal; line ends stay."""
    return "".join(one if one == "\n" or one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def nearest(name: str, known: Iterable[str], most: int = 3) -> str:
    """Return those known names that are most like a mistaken one, and how many more there are."""
    names = sorted(known)
    near = get_close_matches(name, names, most, cutoff=0.4) or names[:most]
    more = len(names) - len(near)
    return ", ".join(near) + (f" and {more} more" if more else "")


def money(value: float, currency: str = "") -> str:
    """Return a sum with six digits that count, never as 4.5e-05."""
    digits = max(0, 5 - floor(log10(value))) if value > 0 else 0
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {currency}".strip()


def share(value: float | None, *, digits: int = 3, none: str = "") -> str:
    """Return a share without its leading zero; `none` when there is none."""
    return none if value is None else f"{value:.{digits}f}".removeprefix("0")


def chance(value: float) -> str:
    """Return a p- or q-value as people read it."""
    return "<.001" if value < 0.001 else share(value)
