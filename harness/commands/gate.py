"""`klartext harness gate`: for CI."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree as ET

import typer
from rich.console import Group
from rich.table import Column
from rich.text import Text

from bot import friendly_errors
from harness.commands import options
from harness.console import plain_console, plain_table, print_json
from harness.files import writing, xml_text
from harness.running.run import load_counted, load_run
from harness.scoring.comparison import compare
from harness.scoring.gate import GateReport, check_baseline, check_run, load_config, merge

STYLES = {"pass": "green", "fail": "bold red", "skip": "dim", "open": "yellow"}
FAILED = 1  # exit code


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
    raise typer.Exit(FAILED if report.failed else rules.too_little_data if report.undecided else 0)


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
