"""`klartext harness study`: the tables of `docs/accuracy.md`, made again.

What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import friendly_errors
from harness.commands.options import CatalogOption, DataOption, LanguageOption
from harness.console import progress_bar

if TYPE_CHECKING:
    from harness.study.study import StudyTable


study = typer.Typer(help="Measure what the matcher's data and parts are worth.", no_args_is_help=True)
SuiteOption = Annotated[
    str | None, typer.Option("--suite", help="A shipped suite, or its folder. Default: the catalog's own.")
]
EncoderOption = Annotated[str, typer.Option("--encoder", help="Encoder of the assistant.", metavar="NAME")]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Write the table as Markdown to this file, and as JSON beside it.")
]


@contextmanager
def _steps(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar and yield what moves it on."""
    with progress_bar(label) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)


def _show(table: StudyTable, out: Path | None) -> None:
    if out is not None:
        table.write(out)
    print(table.as_markdown(), end="")


@study.command("learning-curve")
def learning_curve_(
    lang: LanguageOption = "de",
    suite: SuiteOption = None,
    catalog: CatalogOption = "mammography",
    encoder: EncoderOption = "embedded",
    size: Annotated[list[int] | None, typer.Option(min=1, help="Variants a pair; give it several times.")] = None,
    draws: Annotated[int, typer.Option(min=1, max=20, help="How often variants are drawn.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the draws.")] = 1,
    data: DataOption = None,
    out: OutOption = None,
) -> None:
    """Train on fewer variants a pair; measure on the suite and on authors that were left out."""
    from harness.study.learning_curve import Plan, learning_curve, steps
    from harness.study.study import Study

    with friendly_errors():
        plan = Plan(tuple(sorted(set(size))) if size else Plan().sizes, draws, seed)
        opened = Study.open(catalog, lang, suite=suite, encoder=encoder, data=data)
        with _steps("trainings", steps(plan)) as progress:
            table = learning_curve(opened, plan, progress)
        _show(table, out)


@study.command("ablation")
def ablation_(
    lang: LanguageOption = "de",
    suite: SuiteOption = None,
    catalog: CatalogOption = "mammography",
    encoder: EncoderOption = "embedded",
    data: DataOption = None,
    out: OutOption = None,
) -> None:
    """Train without each part of the matcher in turn."""
    from harness.study.matchers import STEPS, ablation
    from harness.study.study import Study

    with friendly_errors():
        opened = Study.open(catalog, lang, suite=suite, encoder=encoder, data=data)
        with _steps("rows", STEPS) as progress:
            table = ablation(opened, progress)
        _show(table, out)


@study.command("encoders")
def encoders_(
    encoder: Annotated[
        list[str] | None,
        typer.Option("--encoder", help="Measured beside the embedded one; give it several times.", metavar="NAME"),
    ] = None,
    lang: LanguageOption = "de",
    suite: SuiteOption = None,
    catalog: CatalogOption = "mammography",
    data: DataOption = None,
    out: OutOption = None,
) -> None:
    """Compare encoders by accuracy, speed and memory."""
    from harness.study.matchers import encoders
    from harness.study.study import Study

    with friendly_errors():
        names = list(dict.fromkeys(["embedded", *(encoder or [])]))

        def open_with(name: str) -> Study:
            return Study.open(catalog, lang, suite=suite, encoder=name, data=data)

        with _steps("encoders", len(names)) as progress:
            table = encoders(names, open_with, progress)
        _show(table, out)


@study.command("confusion")
def confusion_(
    lang: LanguageOption = "de",
    suite: SuiteOption = None,
    catalog: CatalogOption = "mammography",
    encoder: EncoderOption = "embedded",
    data: DataOption = None,
    out: OutOption = None,
) -> None:
    """List the pairs that are most taken for each other, and what chance would give."""
    from harness.study.matchers import confusion
    from harness.study.study import Study

    with friendly_errors():
        _show(confusion(Study.open(catalog, lang, suite=suite, encoder=encoder, data=data)), out)
