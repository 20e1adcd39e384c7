"""`klartext author …` within the test's process, and answers as Batch output files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from typer.testing import CliRunner, Result

from bot import data_folder
from bot.commands.main import app, assemble

RECORDED = data_folder("vignettes") / "authoring" / "recorded"


def author(*args: str | Path, environ: Mapping[str, str] | None = None, typed: str = "") -> Result:
    """Run a command with these settings and no others."""
    assemble()
    settings: dict[str, str | None] = {name: None for name in os.environ if name.startswith("KLARTEXT_")}
    return CliRunner().invoke(app, ["author", *map(str, args)], input=typed, env={**settings, **(environ or {})})


def answer_waiting(out: Path, reply: Callable[[str, str], str], to: Path) -> int:
    """Answer the prompts that wait in a folder of work by `reply(id, prompt)`, into a Batch output file."""
    waiting = [json.loads(line) for line in (out / "prompts.jsonl").read_text(encoding="utf-8").splitlines()]
    with to.open("a", encoding="utf-8") as file:
        for request in waiting:
            content = reply(request["custom_id"], request["body"]["messages"][-1]["content"])
            body = {"model": "scripted", "choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
            line = {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return len(waiting)
