"""`klartext harness study` and `klartext bench`: what the matcher's parts are worth, and how long things take.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import friendly_errors
from harness.commands import options
from harness.console import progress_bar

if TYPE_CHECKING:
    from harness.study.study import Study, StudyTable

OutOption = Annotated[
    Path | None, typer.Option("--out", help="Write the table as Markdown to this file, and as JSON beside it.")
]


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What is studied."""

    lang: options.Language = "de"
    suite: Annotated[
        str | None, typer.Option("--suite", help="A shipped suite, or its folder. Default: the catalog's own.")
    ] = None
    catalog: options.CatalogPath = "mammography"

    def open(self, encoder: str, data: Path | None) -> Study:
        """Open catalog and suite with an encoder."""
        from harness.study.study import Study

        return Study.open(self.catalog, self.lang, suite=self.suite, encoder=encoder, data=data)


def _show(table: StudyTable, out: Path | None) -> None:
    if out is not None:
        table.write(out)
    print(table.as_markdown(), end="")


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """How many variants a pair are drawn, and how often."""

    size: Annotated[list[int] | None, typer.Option(min=1, help="Variants a pair; give it several times.")] = None
    draws: Annotated[int, typer.Option(min=1, max=20, help="How often variants are drawn.")] = 3
    seed: Annotated[int, typer.Option(min=0, help="Fixes the draws.")] = 1


def learning_curve_(
    subject: StudyOptions,
    encoder: options.Encoder = "embedded",
    *,
    drawn: DrawOptions,
    data: options.Data = None,
    out: OutOption = None,
) -> None:
    """Train on fewer variants a pair; measure on the suite and on authors that were left out."""
    from harness.study.learning_curve import CurvePlan, learning_curve, steps

    with friendly_errors():
        plan = CurvePlan(tuple(sorted(set(drawn.size))) if drawn.size else CurvePlan().sizes, drawn.draws, drawn.seed)
        study = subject.open(encoder, data)
        with progress_bar("trainings", steps(plan)) as advance:
            table = learning_curve(study, plan, advance)
        _show(table, out)


def ablation_(
    subject: StudyOptions, encoder: options.Encoder = "embedded", data: options.Data = None, out: OutOption = None
) -> None:
    """Train without each part of the matcher in turn."""
    from harness.study.matchers import STEPS, ablation

    with friendly_errors():
        study = subject.open(encoder, data)
        with progress_bar("rows", STEPS) as advance:
            table = ablation(study, advance)
        _show(table, out)


def encoders_(
    encoder: Annotated[
        list[str] | None,
        typer.Option("--encoder", help="Measured beside the embedded one; give it several times.", metavar="NAME"),
    ] = None,
    *,
    subject: StudyOptions,
    data: options.Data = None,
    out: OutOption = None,
) -> None:
    """Compare encoders by accuracy, speed and memory."""
    from harness.study.matchers import encoders

    with friendly_errors():
        names = list(dict.fromkeys(["embedded", *(encoder or [])]))
        with progress_bar("encoders", len(names)) as advance:
            table = encoders(names, lambda name: subject.open(name, data), advance)
        _show(table, out)


def confusion_(
    subject: StudyOptions, encoder: options.Encoder = "embedded", data: options.Data = None, out: OutOption = None
) -> None:
    """List the pairs that are most taken for each other, and what chance would give."""
    from harness.study.matchers import confusion

    with friendly_errors():
        _show(confusion(subject.open(encoder, data)), out)


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is measured instead of decisions, a run, start-up and memory."""

    scale: Annotated[bool, typer.Option("--scale", help="Large catalogs instead; takes minutes.")] = False
    harness: Annotated[bool, typer.Option("--harness", help="Running instead: overhead, workers, a million.")] = False
    service: Annotated[bool, typer.Option("--service", help="The service beside a bare endpoint instead.")] = False


def bench(
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Repeats of each measurement.")] = 7,
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
    *,
    instead: BenchOptions,
) -> None:
    """Measure decisions, a whole run, start-up and memory, or large catalogs; exit 1 if a limit is exceeded."""
    with friendly_errors():
        if instead.service:
            from harness.benches.service import measure_service

            figures = measure_service(repeats, data)
        elif instead.harness:
            from harness.benches.running import measure_running  # for those who have the extra

            figures = measure_running(repeats, data)
        elif instead.scale:
            from harness.benches.catalogs import measure_scale

            figures = measure_scale(repeats)
        else:
            from harness.benches.assistant import measure

            figures = measure(repeats, data)
        table = Table("figure", "measured", "limit", "medians", box=box.SIMPLE_HEAD)
        for figure in figures:
            measured, limit = f"{figure.value:.3g} {figure.unit}", f"{figure.limit:g} {figure.unit}"
            table.add_row(figure.name, measured, limit, figure.detail, style=None if figure.holds else "bold red")
        Console(highlight=False).print(table)
        if out is not None:
            out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(0 if all(figure.holds for figure in figures) else 1)
