"""`klartext harness advise` and `klartext harness report`: for who must decide what to do about a run."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from bot import BadData, friendly_errors
from harness.options import CatalogOption, DataOption

if TYPE_CHECKING:
    from harness.comparison import Run

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")]


def add_to(harness: typer.Typer) -> None:
    """Add both commands to the harness."""
    harness.command("advise")(advise_)
    harness.command("report")(report_)


def load_scored(folder: Path) -> Run:
    """Read a run; raise BadData when it holds nothing that is right or wrong."""
    from harness.comparison import load_run

    run = load_run(folder)
    if all(outcome.right is None for outcome in run.outcomes):
        raise BadData(f"{folder} holds no answered question with a right pair. Run a suite that has paraphrases.")
    return run


def advise_(
    run: RunArgument,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Say what would improve the system of a run: pairs to merge or rephrase, missing variants, thresholds."""
    from harness.advice import advise
    from harness.advice_report import report
    from harness.labels import verdicts_on

    with friendly_errors():
        loaded = load_scored(run)
        advice = advise(loaded.outcomes, verdicts_on(run, loaded.identity.get("suite", "")))
        if json_:
            print(json.dumps(advice.as_json(), indent=2, ensure_ascii=False))
        else:
            Console(highlight=False, markup=False).print(report(advice))


def report_(
    run: RunArgument,
    baseline: Annotated[Path | None, typer.Option(help="Folder of an earlier run.", metavar="DIR")] = None,
    out: Annotated[
        Path | None, typer.Option(help="HTML page to write; default: RUN/report.html.", metavar="FILE")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Folder for CSV tables.", metavar="DIR")] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write JUnit XML, one test case per question.", metavar="FILE")
    ] = None,
    fhir: Annotated[Path | None, typer.Option(help="Write a FHIR R4 MeasureReport.", metavar="FILE")] = None,
    costs: Annotated[
        Path | None, typer.Option(help="What the questions cost; default: RUN/costs.json.", metavar="FILE")
    ] = None,
    catalog: CatalogOption = "mammography",
    data: DataOption = None,
) -> None:
    """Write one HTML page about a run: charts, advice, and every question behind every number."""
    from harness.comparison import load_run
    from harness.reporting.command import Sources, Wanted, gather, write

    with friendly_errors():
        facts = gather(load_run(run), Sources(catalog, data, baseline, costs))
        wanted = Wanted(out or run / "report.html", csv, junit, fhir)
        for path in write(facts, wanted, now=datetime.now().astimezone()):
            print(path)
