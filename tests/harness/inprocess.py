"""`klartext harness …` within the test's process: seconds quicker where it does not matter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

from bot.commands.main import app, assemble


def harness(*args: str | Path, environ: Mapping[str, str] | None = None, typed: str = "") -> Result:
    """Run a command of the harness with these settings and no others."""
    assemble()
    settings: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    return CliRunner().invoke(app, ["harness", *map(str, args)], input=typed, env={**settings, **(environ or {})})
