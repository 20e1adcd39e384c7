"""`klartext harness gate` and `klartext harness compare`: for CI, and for who wants to know what changed.

What a gate says: a table for people, JUnit XML for CI.

Two runs side by side: totals, vignettes, and the questions that changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree as ET

import typer
from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot import BadData, friendly_errors
from harness.running.outcomes import Outcome
from harness.scoring.comparison import Comparison, Paired
from harness.scoring.gate import GateReport

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
STYLES = {"pass": "green", "fail": "bold red", "skip": "dim"}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Both = tuple[Outcome, Outcome]


def add_to(harness: typer.Typer) -> None:
    """Add both commands to the harness."""
    harness.command()(gate)
    harness.command("compare")(compare_)


def gate(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    baseline: Annotated[Path | None, typer.Option(help="Folder of an earlier run.", metavar="DIR")] = None,
    config: Annotated[
        Path | None, typer.Option(help="Gates; default: ./harness.yaml, else the shipped ones.", metavar="FILE")
    ] = None,
    json_: JsonOption = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, one test case per gate.", metavar="FILE")] = None,
) -> None:
    """Exit 1 unless a run is good enough: by itself, and beside a baseline by paired tests."""
    from harness.running.results import load_counted, load_run
    from harness.scoring.comparison import compare
    from harness.scoring.gate import check_baseline, check_run, load_config, merge

    with friendly_errors():
        rules, used = load_config(config)
        report = check_run(load_counted(run), rules.gates)
        if baseline is not None:
            comparison = compare(load_run(baseline), load_run(run))
            report = merge(report, check_baseline(comparison, rules.baseline))
        if junit is not None:
            write_junit(report, junit, run=run.name)
        if json_:
            print(json.dumps({"config": str(used), **report.as_json()}, indent=2, ensure_ascii=False))
        else:
            print_gates(report, Console(highlight=False, markup=False))
    raise typer.Exit(0 if report.passed else 1)


def compare_(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of the earlier run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of the later run.")],
    most: Annotated[int, typer.Option("--list", min=0, help="Changed questions of each kind to list.")] = 20,
    json_: JsonOption = False,
) -> None:
    """Show two runs side by side: totals, vignettes, and which questions were fixed or broken."""
    from harness.running.results import load_run
    from harness.scoring.comparison import compare

    with friendly_errors():
        comparison = compare(load_run(a), load_run(b))
        if not comparison.scored:
            raise BadData(f"{a} and {b} have no answered question in common. Run both on the same suite.")
        if json_:
            print(json.dumps(comparison_as_json(comparison), indent=2, ensure_ascii=False))
        else:
            print_comparison(comparison, Console(highlight=False, markup=False), most=most)


def print_gates(report: GateReport, console: Console) -> None:
    """Print the gates as a table, the notes, and the verdict."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("gate", no_wrap=True)
    for name in ("value", "limit"):
        table.add_column(name, justify="right")
    table.add_column("detail", style="dim")
    for result in report.results:
        status = Text(result.status, style=STYLES[result.status])
        table.add_row(status, *map(Text, (result.name, result.value, result.limit, result.detail)))
    notes = [Text(note, style="dim") for note in report.notes]
    console.print(Group(table, *(Padding(note, (0, 0, 0, 0)) for note in notes)))
    failed = [result.name for result in report.results if result.status == "fail"]
    verdict = f"{len(failed)} of {len(report.results)} gates failed: {', '.join(failed)}" if failed else "Gate passed."
    console.print(Text(verdict, style="bold red" if failed else "bold green"))


def write_junit(report: GateReport, file: Path, *, run: str) -> None:
    """Write one test case per gate, as CI servers read them."""
    counts = {status: sum(result.status == status for result in report.results) for status in STYLES}
    totals = {
        "tests": str(len(report.results)),
        "failures": str(counts["fail"]),
        "skipped": str(counts["skip"]),
        "errors": "0",
    }
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", {"name": "klartext harness gate", **totals})
    for result in report.results:
        case = ET.SubElement(
            suite, "testcase", {"classname": xml_text(run), "name": xml_text(result.name), "time": "0"}
        )
        said = xml_text(f"{result.value} (limit {result.limit}). {result.detail}".strip())
        if result.status == "fail":
            ET.SubElement(case, "failure", {"message": said}).text = said
        elif result.status == "skip":
            ET.SubElement(case, "skipped", {"message": xml_text(result.detail)})
        else:
            ET.SubElement(case, "system-out").text = said
    ET.indent(root)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise BadData(f"{file} cannot be written ({error.strerror}). Choose another file with `--junit`.") from error


def xml_text(text: str) -> str:
    """XML 1.0 cannot hold every character, not even escaped."""
    return _NOT_XML.sub("\ufffd", text)


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
