"""`klartext harness gate`: for CI."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal
from xml.etree import ElementTree as ET

import typer
from rich.console import Group
from rich.table import Column
from rich.text import Text

from bot import friendly_errors
from harness.commands import options
from harness.console import folded, plain_console, plain_table, print_json
from harness.files import as_document, writing, xml_text
from harness.judging.rescore import by_people
from harness.labelling.labels import has_labels
from harness.running.run import Counted, load_counted, load_run
from harness.scoring.comparison import compare
from harness.scoring.gate import GateReport, GateResult, Gates, check_baseline, load_config, merge
from harness.scoring.judged import JUDGED, check_judged

STYLES = {"pass": "green", "fail": "bold red", "skip": "dim", "open": "yellow"}
FAILED = 1  # exit code
CODE_QUALITY = Path("gl-code-quality-report.json")


@dataclass(frozen=True, slots=True)
class GateOutput:
    """How the verdict is told besides the exit code."""

    json_: options.Json = False
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write JUnit XML, one test case per gate.", metavar="FILE")
    ] = None
    annotate: Annotated[
        Literal["github", "gitlab"] | None,
        typer.Option("--annotate", help="github: print annotations. gitlab: write gl-code-quality-report.json."),
    ] = None


def gate(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")],
    baseline: options.Baseline = None,
    config: Annotated[
        Path | None, typer.Option(help="Gates; default: ./harness.yaml, else the shipped ones.", metavar="FILE")
    ] = None,
    *,
    said: GateOutput,
) -> None:
    """Exit 1 unless a run is good enough, by itself and beside a baseline; exit 3 when too little data can say."""
    with friendly_errors():
        rules, used = load_config(config)
        report = check_labelled(run, rules.gates)
        if baseline is not None:
            before, after = by_people(load_run(baseline)).run, by_people(load_run(run)).run
            comparison = compare(before, after, alpha=rules.baseline.alpha)
            report = merge(report, check_baseline(comparison, rules.baseline))
        if said.junit is not None:
            write_junit(report, said.junit, run=run.name)
        if said.annotate == "gitlab":
            write_code_quality(report, CODE_QUALITY, limits=used.name)
        if said.json_:
            print_json({"config": str(used), **report.as_json()})
        else:
            _print_gates(report)
            if said.annotate == "gitlab":
                print(f"{CODE_QUALITY} is written. In .gitlab-ci.yml: artifacts: reports: codequality: {CODE_QUALITY}")
            if said.annotate == "github":
                print("".join(github_annotations(report, run=run.name)), end="")
    raise typer.Exit(FAILED if report.failed else rules.too_little_data if report.undecided else 0)


def check_labelled(folder: Path, gates: Gates) -> GateReport:
    """Check a run by itself, by the labels that people gave on it; without any it is counted without being held."""
    if not has_labels(folder):
        return check_judged(load_counted(folder), gates)
    judged = by_people(load_run(folder))
    report = check_judged(Counted.of(judged.run), gates, judged.found)
    return replace(report, notes=(*filter(None, (judged.note,)), *report.notes))


def _print_gates(report: GateReport) -> None:
    """Print the gates as a table, the notes, and the verdict."""
    figures = [Column(name, justify="right") for name in ("value", "limit")]
    table = plain_table(None, "", folded("gate"), *figures, Column("detail", style="dim", overflow="fold"))
    for result in report.results:
        status = Text(result.status, style=STYLES[result.status])
        table.add_row(status, *map(Text, (result.name, result.value, result.limit, result.detail)))
    console = plain_console()
    console.print(Group(table, *(Text(note, style="dim") for note in (*report.notes, *report.alone))))
    failed = [result.name for result in report.results if result.status == "fail"]
    undecided = [result.name for result in report.results if result.status == "open"]
    if failed:
        verdict, style = f"{len(failed)} of {len(report.results)} gates failed: {', '.join(failed)}", STYLES["fail"]
    elif waiting := next((result for result in report.results if result.name == JUDGED), None):
        verdict = f"{waiting.detail} Next: klartext harness labels give RUN --rater NAME"
        style = STYLES["open"]
    elif undecided:
        verdict, style = f"Too little data to say: {', '.join(undecided)}", STYLES["open"]
    else:
        verdict, style = "Gate passed.", "bold green"
    console.print(Text(verdict, style=style))


LEVELS = {"fail": "error", "open": "warning"}


def github_annotations(report: GateReport, *, run: str) -> Iterator[str]:
    """Yield a workflow command for each gate that did not pass: GitHub shows them beside the job."""
    for result in report.results:
        if result.status in LEVELS:
            # The characters that the format itself uses are escaped, as GitHub wants it.
            said = _said(result).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            title = f"{run}: {result.name}".replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
            yield f"::{LEVELS[result.status]} title={title}::{said}\n"


def write_code_quality(report: GateReport, file: Path, *, limits: str) -> None:
    """Write the gates that did not pass as a Code Quality report, which GitLab shows in merge requests."""
    found = [
        {
            "description": f"{result.name}: {_said(result)}",
            "check_name": result.name,
            "fingerprint": hashlib.sha256(result.name.encode()).hexdigest(),
            "severity": "critical" if result.status == "fail" else "minor",
            "location": {"path": limits, "lines": {"begin": 1}},
        }
        for result in report.results
        if result.status in LEVELS
    ]
    with writing(file, "Run the gate in a folder that can be written."):
        file.write_text(as_document(found), encoding="utf-8")


def _said(result: GateResult) -> str:
    return f"{result.value} (limit {result.limit}). {result.detail}".strip()


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
        said = xml_text(_said(result))
        if result.status == "fail":
            ET.SubElement(case, "failure", {"message": said}).text = said
        elif result.status in ("skip", "open"):
            ET.SubElement(case, "skipped", {"message": xml_text(result.detail)})
        else:
            ET.SubElement(case, "system-out").text = said
    ET.indent(root)
    with writing(file, "Choose another file with `--junit`."):
        ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)
