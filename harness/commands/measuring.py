"""`klartext harness study` and `klartext bench`: what the matcher's parts are worth, and how long things take.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, friendly_errors
from harness.commands import options
from harness.console import progress_bar

if TYPE_CHECKING:
    from harness.measuring.study import Study, StudyTable

OutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Write the table as Markdown to this file, and as JSON beside it.", metavar="FILE"),
]


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """What is studied."""

    lang: options.Language = "de"
    suite: Annotated[
        str | None, typer.Option("--suite", help="A shipped suite, or its folder. Default: the catalog's own.")
    ] = None
    catalog: options.CatalogPath = "mammography"
    encoder: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder", help="Default: embedded. For `encoders` several, beside the embedded.", metavar="NAME"
        ),
    ] = None

    def open(self, encoder: str, data: Path | None) -> Study:
        """Open catalog and suite with an encoder."""
        from harness.measuring.study import Study

        return Study.open(self.catalog, self.lang, suite=self.suite, encoder=encoder, data=data)

    @property
    def one_encoder(self) -> str:
        names = self.encoder or ["embedded"]
        if len(names) > 1:
            raise BadData(f"This study takes one `--encoder`, not {len(names)}. `study encoders` compares several.")
        return names[0]


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """How many variants a pair are drawn, and how often."""

    size: Annotated[
        list[int] | None, typer.Option("--size", min=1, help="learning-curve: variants a pair; repeatable.")
    ] = None
    draws: Annotated[
        int, typer.Option("--draws", min=1, max=20, help="learning-curve: how often variants are drawn.")
    ] = 3
    seed: Annotated[int, typer.Option("--seed", min=0, help="learning-curve: fixes the draws.")] = 1


def study(
    what: Annotated[
        Literal["learning-curve", "ablation", "encoders", "confusion"],
        typer.Argument(
            metavar="WHAT",
            help="learning-curve: fewer variants a pair. ablation: without each part. encoders: side by side. "
            "confusion: pairs taken for each other.",
        ),
    ],
    subject: StudyOptions,
    drawn: DrawOptions,
    data: options.Data = None,
    out: OutOption = None,
) -> None:
    """Measure what the matcher's data and parts are worth; it is trained anew for every row."""
    with friendly_errors():
        table = _studied(what, subject, drawn, data)
        if out is not None:
            table.write(out)
        print(table.as_markdown(), end="")


def _studied(what: str, subject: StudyOptions, drawn: DrawOptions, data: Path | None) -> StudyTable:
    from harness.measuring.learning_curve import CurvePlan, learning_curve, steps
    from harness.measuring.matchers import STEPS, ablation, confusion, encoders

    if what == "learning-curve":
        plan = CurvePlan(tuple(sorted(set(drawn.size))) if drawn.size else CurvePlan().sizes, drawn.draws, drawn.seed)
        opened = subject.open(subject.one_encoder, data)
        with progress_bar("trainings", steps(plan)) as advance:
            return learning_curve(opened, plan, advance)
    if what == "ablation":
        opened = subject.open(subject.one_encoder, data)
        with progress_bar("rows", STEPS) as advance:
            return ablation(opened, advance)
    if what == "encoders":
        names = list(dict.fromkeys(["embedded", *(subject.encoder or [])]))
        with progress_bar("encoders", len(names)) as advance:
            return encoders(names, lambda name: subject.open(name, data), advance)
    return confusion(subject.open(subject.one_encoder, data))


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is measured instead of decisions, a run, start-up and memory."""

    scale: Annotated[bool, typer.Option("--scale", help="Large catalogs instead; takes minutes.")] = False
    harness: Annotated[bool, typer.Option("--harness", help="Running instead: overhead, workers, a million.")] = False
    service: Annotated[bool, typer.Option("--service", help="The service beside a bare endpoint instead.")] = False


def bench(
    context: typer.Context,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Repeats of each measurement.")] = 7,
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
    *,
    instead: BenchOptions,
) -> None:
    """Measure decisions, a whole run, start-up and memory, or large catalogs; exit 1 if a limit is exceeded."""
    if context.invoked_subcommand is not None:
        return
    with friendly_errors():
        if instead.service:
            from harness.measuring.service import measure_service

            figures = measure_service(repeats, data)
        elif instead.harness:
            from harness.measuring.running import measure_running  # for those who have the extra

            figures = measure_running(repeats, data)
        elif instead.scale:
            from harness.measuring.catalogs import measure_scale

            figures = measure_scale(repeats)
        else:
            from harness.measuring.assistant import measure

            figures = measure(repeats, data)
        table = Table("figure", "measured", "limit", "medians", box=box.SIMPLE_HEAD)
        for figure in figures:
            measured, limit = f"{figure.value:.3g} {figure.unit}", f"{figure.limit:g} {figure.unit}"
            table.add_row(figure.name, measured, limit, figure.detail, style=None if figure.holds else "bold red")
        Console(highlight=False).print(table)
        if out is not None:
            out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n", encoding="utf-8")
    raise typer.Exit(0 if all(figure.holds for figure in figures) else 1)


def bench_rasa(
    env: Annotated[
        Path | None,
        typer.Option(
            help="Environment with Rasa 3.6. Default: KLARTEXT_TEST_RASA, rasa-env or .rasa.", metavar="FOLDER"
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help="What both are asked: a shipped suite, or its folder.")] = (
        "mammography-six-de"
    ),
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Of Rasa's classifiers.")] = 100,
    wordings: Annotated[
        int | None, typer.Option(min=2, help="Of each pair, that Rasa is taught. Default: all.", metavar="N")
    ] = None,
    out: OutOption = None,
) -> None:
    """Measure a real Rasa 3.6, trained on the sample, beside ours; exit 1 if ours is not as far ahead as is wanted."""
    from harness.measuring.rasa import Plan, measure_rasa
    from harness.measuring.rasa_server import RasaEnvironment

    with friendly_errors():
        plan = Plan(suite, epochs, wordings)
        if out is not None and not out.absolute().parent.is_dir():
            raise BadData(f"{out} cannot be written: there is no folder {out.parent}. Choose another `--out`.")
        contest = measure_rasa(RasaEnvironment.find(env), plan, lambda line: typer.echo(line, err=True))
        print(contest.as_markdown(), end="")
        if out is not None:
            contest.write(out)
    raise typer.Exit(0 if all(each.holds for each in contest.wanted) else 1)
