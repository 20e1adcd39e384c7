"""What `klartext harness errors` does."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from bot import Assistant
from harness.misses.browser import Run, browse
from harness.misses.tables import report
from harness.options import progress_bar


def show_errors(folder: Path, *, catalog: str, data: Path | None, as_json: bool) -> None:
    """Explain the misses of a run, write them beside it, and print them."""
    run = Run.load(folder)
    encoder = run.identity.get("encoder", "embedded")
    assistant = Assistant.open(catalog, data=data, encoder=encoder, sample=True, languages=[run.language])
    with progress_bar("misses") as bar:
        task = bar.add_task("misses", total=None)
        findings = browse(run, assistant, lambda done, total: bar.update(task, completed=done, total=total))
    path = findings.write()
    if as_json:
        print(json.dumps(findings.as_json(), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, markup=False)  # questions are data: brackets in them are brackets
    console.print(report(findings))
    console.print(f"\nEverything is in {path}", soft_wrap=True)
