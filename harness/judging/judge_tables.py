"""A judge's report for the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from harness.judging.comparing import Against, BothOrders
from harness.judging.judge_prompts import load_instructions
from harness.judging.judge_report import JudgeReport, Selection

NOTE = """\
in sample: on the pairs that the aspects were chosen on. held out: on pairs that
the choice had not seen (5 folds by question, 10 splits); trust this one. -: too
few questions."""


def print_judge(report: JudgeReport, whose: str, console: Console) -> None:
    """Print what a judge said and how far it agrees with labels by people (or by models, if so asked)."""
    console.print(f"Judge {report.judge}, beside labels by {whose}\n", style="bold")
    if report.aspects:
        console.print(_aspects(report, whose))
    if report.orders is not None:
        console.print(_orders(report.orders))
    for name, found in (("Comparison", report.compared), ("Rating", report.rated)):
        if found is not None:
            console.print(f"{name} and {whose}: {_against(found)}")
    for selection in report.selections:
        console.print()
        console.print(_selection(selection))
    if report.selections:
        console.print(NOTE, style="dim")
    console.print()


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    return table


def _aspects(report: JudgeReport, whose: str) -> Table:
    table = _table("Scores by aspect, share of the highest", "aspect", "n", "mean", f"tau with {whose}", "labelled")
    for aspect in report.aspects:
        cells = (str(aspect.n), f"{aspect.mean:.3f}", _number(aspect.tau), str(aspect.labelled))
        table.add_row(aspect.name, *cells, style="bold" if aspect.name == "total" else "")
    return table


def _orders(orders: BothOrders) -> str:
    share = f"{orders.inconsistent / orders.n:.1%}" if orders.n else "-"
    interval = f" [{orders.bias.low:.1%}, {orders.bias.high:.1%}]" if orders.bias else ""
    single = f" {orders.single} were judged in one order only and are left out." if orders.single else ""
    return (
        f"Both orders: {orders.n} pairs, {len(orders.preferences)} consistent; position bias {share}{interval}: "
        f"{orders.first} for the first, {orders.second} for the second, {orders.wavering} wavering.{single}"
    )


def _against(found: Against) -> str:
    between = f" [{found.interval.low:.2f}, {found.interval.high:.2f}]" if found.interval else ""
    return (
        f"n {found.n}, agreement {found.agreement:.3f}{between}, kappa {_number(found.kappa)}, tau {_number(found.tau)}"
    )


def _selection(selection: Selection) -> Table:
    names = [aspect.id for aspect in load_instructions().aspects]
    title = f"Aspects chosen by {selection.measure}, {selection.pairs} pairs"
    table = _table(title, "search", "in sample", "held out", "aspects")
    table.columns[3].justify = "left"
    for chosen in selection.chosen:
        held = _number(chosen.held_out) if chosen.spread is None else f"{chosen.held_out:.3f} ±{chosen.spread:.3f}"
        subset = "all" if len(chosen.subset) == len(names) else ", ".join(names[aspect] for aspect in chosen.subset)
        table.add_row(chosen.search, f"{chosen.in_sample:.3f}", held, subset)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
