"""Two runs side by side: totals, vignettes, and the questions that changed."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.comparison import Comparison, Paired
from harness.run import Outcome

Both = tuple[Outcome, Outcome]


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "total": comparison.total().as_json(),
        "vignettes": [row.as_json() for row in comparison.strata()],
        "fixed": [_changed_as_json(both) for both in comparison.fixed],
        "broken": [_changed_as_json(both) for both in comparison.broken],
        "notes": comparison.notes,
    }


def print_comparison(comparison: Comparison, console: Console, *, most: int) -> None:
    """Print the table and at most `most` questions of each kind."""
    table = Table(title="Answered with the right pair", title_justify="left", box=box.SIMPLE_HEAD)
    table.padding, table.show_edge = 0, False  # fits 80 columns
    table.add_column("", no_wrap=True)
    for name in ("n", "A", "B", "change", "95 %", "fixed", "broken", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.strata():
        table.add_row(row.name, *_cells(row))
    table.add_section()
    total = comparison.total()
    table.add_row("Total", *_cells(total), style="bold")
    console.print(table)
    console.print("p: exact McNemar, two-sided; vignettes adjusted for their number (Holm).", style="dim")
    if total.detectable is not None:
        console.print(f"A change of {100 * total.detectable:.1f} points could be seen (power 0.8).", style="dim")
    for note in comparison.notes:
        console.print(Text(note, style="dim"))
    _print_changed("Broken", comparison.broken, console, most=most)
    _print_changed("Fixed", comparison.fixed, console, most=most)


def _cells(row: Paired) -> list[str]:
    interval = f"{_signed(row.change.low)} {_signed(row.change.high)}" if row.change else ""
    shares = [_plain(row.before), _plain(row.after), _signed(row.difference), interval]
    p_value = "<.001" if row.adjusted < 0.001 else _plain(row.adjusted)
    return [str(row.n), *shares, str(row.fixed), str(row.broken), p_value]


def _plain(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def _signed(share: float) -> str:
    return f"{share:+.3f}".replace("0.", ".", 1)


def _print_changed(title: str, changed: list[Both], console: Console, *, most: int) -> None:
    if not changed:
        return
    console.print(f"\n{title}: {len(changed)}", style="bold")
    for was, now in changed[:most]:
        console.print(Text(f"  {now.text}"))
        console.print(Text(f"    {now.pair_id} · {now.vignette} · {_told(was)} -> {_told(now)}", style="dim"))
    if len(changed) > most:
        console.print(f"  … and {len(changed) - most} more: `--list {len(changed)}` or `--json` shows them.")


def _told(outcome: Outcome) -> str:
    return outcome.answered_with or outcome.decision


def _changed_as_json(both: Both) -> dict[str, Any]:
    was, now = both
    return {
        "id": now.id,
        "text": now.text,
        "vignette": now.vignette,
        "pair_id": now.pair_id,
        "before": {"decision": was.decision, "answered_with": was.answered_with},
        "after": {"decision": now.decision, "answered_with": now.answered_with},
    }
