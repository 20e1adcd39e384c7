"""What a gate says: a table for people, JUnit XML for CI."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot import BadData
from harness.gate import GateReport

STYLES = {"pass": "green", "fail": "bold red", "skip": "dim"}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
