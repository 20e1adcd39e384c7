"""`klartext harness ambiguous`, `agreement`, `rescore` and `judge`: what a run is worth, and who says so."""

from __future__ import annotations

import typer


def add_to(harness: typer.Typer) -> None:
    """Add the commands to the harness."""
