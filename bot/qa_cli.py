"""`klartext qa`: commands for curators."""

from __future__ import annotations

import typer

qa = typer.Typer(help="Curate question-answer pairs.", no_args_is_help=True)


@qa.callback()
def _qa() -> None:
    """Curate question-answer pairs."""
