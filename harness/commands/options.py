"""Options that several commands of the harness share, and their progress bar."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

CatalogOption = Annotated[str, typer.Option("--catalog", help="A shipped exam, or a catalog folder.", metavar="PATH")]
LanguageOption = Annotated[Literal["de", "en"], typer.Option("--lang", help="Language of the questions.")]
DataOption = Annotated[
    Path | None, typer.Option("--data", help="Folder for index and database. Default: KLARTEXT_DATA.")
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, max=256, help="Processes; for systems outside, questions under way. Default: as pays."
    ),
]
SchedulerOption = Annotated[
    str | None, typer.Option("--scheduler", help="Ask on a Dask scheduler's workers.", metavar="tcp://HOST:PORT")
]
FormatOption = Annotated[
    Literal["jsonl", "parquet"] | None,
    typer.Option("--format", help="How outcomes are stored. Default: Parquet on Dask, else JSON lines."),
]
