"""`klartext bench`: how long things take, as medians and as ratios within one run.

Machines are noisy, so only ratios are compared with the limits; every limit is printed beside its figure.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import friendly_errors
from harness.benches.assistant import measure
from harness.benches.catalogs import measure_scale
from harness.benches.figures import Figure


def bench(
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Repeats of each measurement.")] = 7,
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
    scale: Annotated[bool, typer.Option("--scale", help="Large catalogs instead; takes minutes.")] = False,
    harness: Annotated[bool, typer.Option("--harness", help="Running instead: overhead, workers, a million.")] = False,
    service: Annotated[bool, typer.Option("--service", help="The service beside a bare endpoint instead.")] = False,
) -> None:
    """Measure decisions, a whole run, start-up and memory, or large catalogs; exit 1 if a limit is exceeded."""
    with friendly_errors():
        figures = _service_figures(repeats, data) if service else _figures(repeats, data, scale=scale, harness=harness)
        table = Table("figure", "measured", "limit", "medians", box=box.SIMPLE_HEAD)
        for figure in figures:
            style = None if figure.holds else "bold red"
            table.add_row(
                figure.name,
                f"{figure.value:.3g} {figure.unit}",
                f"{figure.limit:g} {figure.unit}",
                figure.detail,
                style=style,
            )
        Console(highlight=False).print(table)
        if out is not None:
            out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(0 if all(figure.holds for figure in figures) else 1)


def _service_figures(repeats: int, data: Path | None) -> list[Figure]:
    from harness.benches.service import measure_service

    return measure_service(repeats, data)


def _figures(repeats: int, data: Path | None, *, scale: bool, harness: bool) -> list[Figure]:
    if harness:
        from harness.benches.running import measure_running  # for those who have the extra

        return measure_running(repeats, data)
    return measure_scale(repeats) if scale else measure(repeats, data)
