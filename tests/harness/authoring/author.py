"""`klartext author …` within the test's process, and answers of a model as lines of a Batch output file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

from bot.commands.main import app, assemble


def author(*args: str | Path, environ: Mapping[str, str] | None = None) -> Result:
    """Run a command with these settings and no others."""
    assemble()
    settings: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    return CliRunner().invoke(app, ["author", *map(str, args)], env={**settings, **(environ or {})})


def answered(file: Path, answers: Mapping[str, str]) -> Path:
    lines = [
        {"custom_id": id_, "response": {"status_code": 200, "body": {"model": "m", "choices": [
            {"message": {"content": text}, "finish_reason": "stop"}]}}}
        for id_, text in answers.items()
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
