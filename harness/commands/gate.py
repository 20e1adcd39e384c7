"""`klartext harness gate` and `klartext harness compare`: for CI, and for who wants to know what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree as ET

import typer
from rich.console import Console, Group
from rich.table import Column, Table
from rich.text import Text

from bot import BadData, friendly_errors
from harness.commands import options
from harness.console import chance, plain_console, plain_table, print_json, share
from harness.files import writing, xml_text
from harness.running.outcomes import Outcome
from harness.running.run import load_counted, load_run
from harness.scoring.comparison import Comparison, Paired, compare
from harness.scoring.gate import GateReport, check_baseline, check_run, load_config, merge

STYLES = {"pass": "green", "fail": "bold red", "skip": "dim", "open": "yellow"}
FAILED, TOO_LITTLE = 1, 3  # exit codes
Both = tuple[Outcome, Outcome]


def gate(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    baseline: options.Baseline = None,
    config: Annotated[
        Path | None, typer.Option(help="Gates; default: ./harness.yaml, else the shipped ones.", metavar="FILE")
    ] = None,
    json_: options.Json = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML, one test case per gate.", metavar="FILE")] = None,
) -> None:
    """Exit 1 unless a run is good enough, by itself and beside a baseline; exit 3 when too little data can say."""
    with friendly_errors():
        rules, used = load_config(config)
        report = check_run(load_counted(run), rules.gates)
        if baseline is not None:
            comparison = compare(load_run(baseline), load_run(run))
            report = merge(report, check_baseline(comparison, rules.baseline))
        if junit is not None:
            write_junit(report, junit, run=run.name)
        if json_:
            print_json({"config": str(used), **report.as_json()})
        else:
            _print_gates(report)
    raise typer.Exit(FAILED if report.failed else TOO_LITTLE if report.undecided else 0)


def _print_gates(report: GateReport) -> None:
    """Print the gates as a table, the notes, and the verdict."""
    figures = [Column(name, justify="right") for name in ("value", "limit")]
    table = plain_table(None, "", Column("gate", no_wrap=True), *figures, Column("detail", style="dim"))
    for result in report.results:
        status = Text(result.status, style=STYLES[result.status])
        table.add_row(status, *map(Text, (result.name, result.value, result.limit, result.detail)))
    console = plain_console()
    console.print(Group(table, *(Text(note, style="dim") for note in report.notes)))
    failed = [result.name for result in report.results if result.status == "fail"]
    undecided = [result.name for result in report.results if result.status == "open"]
    if failed:
        verdict, style = f"{len(failed)} of {len(report.results)} gates failed: {', '.join(failed)}", STYLES["fail"]
    elif undecided:
        verdict, style = f"Too little data to say: {', '.join(undecided)}", STYLES["open"]
    else:
        verdict, style = "Gate passed.", "bold green"
    console.print(Text(verdict, style=style))


def write_junit(report: GateReport, file: Path, *, run: str) -> None:
    """Write one test case per gate, as CI servers read them."""
    counts = {status: str(sum(result.status == status for result in report.results)) for status in STYLES}
    unsaid = str(int(counts["skip"]) + int(counts["open"]))
    totals = {"tests": str(len(report.results)), "failures": counts["fail"], "skipped": unsaid, "errors": "0"}
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", {"name": "klartext harness gate", **totals})
    for result in report.results:
        named = {"classname": xml_text(run), "name": xml_text(result.name), "time": "0"}
        case = ET.SubElement(suite, "testcase", named)
        said = xml_text(f"{result.value} (limit {result.limit}). {result.detail}".strip())
        if result.status == "fail":
            ET.SubElement(case, "failure", {"message": said}).text = said
        elif result.status in ("skip", "open"):
            ET.SubElement(case, "skipped", {"message": xml_text(result.detail)})
        else:
            ET.SubElement(case, "system-out").text = said
    ET.indent(root)
    with writing(file, "Choose another file with `--junit`."):
        ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def compare_(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of the earlier run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of the later run.")],
    most: Annotated[int, typer.Option("--list", min=0, help="Changed questions of each kind to list.")] = 20,
    json_: options.Json = False,
) -> None:
    """Show two runs side by side: totals, vignettes, and which questions were fixed or broken."""
    with friendly_errors():
        comparison = compare(load_run(a), load_run(b))
        if not comparison.scored and not comparison.spoken:
            raise BadData(f"{a} and {b} have no answered question in common. Run both on the same suite.")
        if not json_:
            _print_comparison(comparison, most=most)
            return
        print_json(
            {
                "total": comparison.total().as_json() if comparison.scored else None,
                "vignettes": [row.as_json() for row in comparison.strata()],
                "expectations": [row.as_json() for row in comparison.expectations()],
                "fixed": [_changed_as_json(both) for both in comparison.fixed],
                "broken": [_changed_as_json(both) for both in comparison.broken],
                "notes": comparison.notes,
            }
        )


def _print_comparison(comparison: Comparison, *, most: int) -> None:
    """Print the table and at most `most` questions of each kind."""

    def cells(row: Paired) -> list[str]:
        interval = f"{_signed(row.change.low)} {_signed(row.change.high)}" if row.change else ""
        shares = [share(row.before), share(row.after), _signed(row.difference), interval]
        return [str(row.n), *shares, str(row.fixed), str(row.broken), chance(row.adjusted)]

    def table(title: str, rows: list[Paired], total: Paired | None) -> Table:
        names = ("n", "A", "B", "change", "95 %", "fixed", "broken", "p")
        found = plain_table(title, "", *names, padding=0)
        for row in rows:
            found.add_row(row.name, *cells(row))
        if total is not None:
            found.add_section()
            found.add_row("Total", *cells(total), style="bold")
        return found

    console = plain_console()
    total = comparison.total() if comparison.scored else None
    if total is not None:
        console.print(table("Answered with the right pair", comparison.strata(), total))
    if comparison.spoken:
        console.print(table("What was expected of messages came", comparison.expectations(), None))
    console.print("p: exact McNemar, two-sided; rows adjusted for their number (Holm).", style="dim")
    if total is not None and total.detectable is not None:
        console.print(f"A change of {100 * total.detectable:.1f} points could be seen (power 0.8).", style="dim")
    for note in comparison.notes:
        console.print(Text(note, style="dim"))
    _print_changed("Broken", comparison.broken, console, most=most)
    _print_changed("Fixed", comparison.fixed, console, most=most)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _print_changed(title: str, changed: list[Both], console: Console, *, most: int) -> None:
    if not changed:
        return
    console.print(f"\n{title}: {len(changed)}", style="bold")
    for was, now in changed[:most]:
        before, after = (outcome.answered_with or outcome.decision for outcome in (was, now))
        console.print(Text(f"  {now.text}"))
        about = now.pair_id or " ".join(filter(None, (now.expected, now.wanted)))
        console.print(Text(f"    {about} · {now.vignette} · {before} -> {after}", style="dim"))
    if len(changed) > most:
        console.print(f"  … and {len(changed) - most} more: `--list {len(changed)}` or `--json` shows them.")


def _changed_as_json(both: Both) -> dict[str, Any]:
    was, now = both
    return {
        "id": now.id,
        "text": now.text,
        "vignette": now.vignette,
        "pair_id": now.pair_id,
        "expected": now.expected,
        "wanted": now.wanted,
        "before": {"decision": was.decision, "answered_with": was.answered_with},
        "after": {"decision": now.decision, "answered_with": now.answered_with},
    }
