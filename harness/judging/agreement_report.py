"""Tables of agreement for the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from harness.judging.agreement import Agreement, Group
from harness.judging.intervals import Estimate
from harness.labels import VERDICTS

COLUMNS = {"agreement": "agree", "kappa": "kappa", "alpha": "alpha", "ac1": "AC1"}
NOTE = """\
In brackets: 95 % intervals, items resampled (agreement of two: Wilson). kappa:
Cohen. alpha: Krippendorff, labels in their order. AC1: Gwet; it holds where
nearly all labels are the same and kappa falls. -: cannot be told, see below."""


def print_agreement(agreement: Agreement, console: Console) -> None:
    """Print who labelled, how far every two agree, and where they differ."""
    labelled = ", ".join(f"{rater} {n}" for rater, n in agreement.labelled.items())
    console.print(f"{agreement.items} items. Labelled: {labelled}.\n")
    console.print(_figures((*agreement.groups, *agreement.pairs)))
    console.print(NOTE, style="dim")
    for group in (*agreement.groups, *agreement.pairs):
        _print_notes(group, console)
    for group in agreement.pairs:
        console.print()
        console.print(_confusion(group))


def _figures(groups: tuple[Group, ...]) -> Table:
    table = Table(title="Agreement", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("raters", overflow="fold")
    table.add_column("n", justify="right")
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for group in groups:
        names = group.name if len(group.raters) > 2 else "\n".join(group.raters)
        cells = [_cell(group.figures.get(name)) for name in COLUMNS]
        table.add_row(names, str(group.n), *cells, end_section=True)
    return table


def _cell(figure: Estimate | None) -> str:
    if figure is None:
        return ""
    if figure.value is None:
        return "-"
    interval = figure.interval
    between = f"[{_short(interval.low)}, {_short(interval.high)}]" if interval else "-"
    return f"{_short(figure.value)}\n{between}"


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def _print_notes(group: Group, console: Console) -> None:
    notes: dict[str, list[str]] = {}
    for name, figure in group.figures.items():
        if figure.note and name in COLUMNS:
            notes.setdefault(figure.note, []).append(COLUMNS[name])
    for note, names in notes.items():
        console.print(f"{group.name}, {', '.join(names)}: {note}.", style="dim")


def _confusion(group: Group) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(f"{group.raters[0]} down, {group.raters[1]} across")
    for verdict in VERDICTS:
        table.add_column(verdict, justify="right")
    if group.confusion is not None:
        for verdict, row in zip(VERDICTS, group.confusion, strict=True):
            table.add_row(verdict, *(str(count) for count in row))
    return table
