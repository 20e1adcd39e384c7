"""`klartext harness gate` and `klartext harness compare`: for CI, and for who wants to know what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bot import BadData, friendly_errors

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


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
    from harness.comparison import compare, load_counted, load_run
    from harness.gate import check_baseline, check_run, merge
    from harness.gate_config import load_config
    from harness.gate_report import print_gates, write_junit

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
    from harness.compare_report import comparison_as_json, print_comparison
    from harness.comparison import compare, load_run

    with friendly_errors():
        comparison = compare(load_run(a), load_run(b))
        if not comparison.scored:
            raise BadData(f"{a} and {b} have no answered question in common. Run both on the same suite.")
        if json_:
            print(json.dumps(comparison_as_json(comparison), indent=2, ensure_ascii=False))
        else:
            print_comparison(comparison, Console(highlight=False, markup=False), most=most)
