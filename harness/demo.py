"""`klartext demo`: evaluate the assistant on the recorded suite, then open the chat."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from bot import friendly_errors
from bot import run_chat as open_chat
from harness.commands import print_tables, run_with_bar, verdicts_of
from harness.score import summarise
from harness.suite import load_suite
from harness.systems import InProcess, Opening


def demo(
    no_chat: Annotated[bool, typer.Option("--no-chat", help="End after the tables.")] = False,
    lang: Annotated[Literal["de", "en"], typer.Option("--lang", help="Which recorded suite.")] = "de",
    data: Annotated[Path | None, typer.Option("--data", help="Folder for index and database.")] = None,
) -> None:
    """Evaluate the assistant on the recorded questions, beside the published method, then open the chat."""
    with friendly_errors():
        _evaluate(lang, data)
        if not no_chat:
            open_chat("mammography", encoder="embedded", data=data)


def _evaluate(lang: str, data: Path | None) -> None:
    Console(stderr=True).print("Opening the catalog (the first time it is embedded and trained, about half a minute) …")
    suite = load_suite(f"mammography-{lang}")
    hybrid = InProcess.open(Opening("mammography", "embedded", "hybrid", data), lang)
    cosine = InProcess(hybrid.assistant, "cosine", {**hybrid.identity, "method": "cosine"})
    catalog = hybrid.assistant.catalog(lang)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run_with_bar(suite, hybrid, catalog, Path(folder) / "hybrid")
        beside = run_with_bar(suite, cosine, catalog, Path(folder) / "cosine")
        verdicts = verdicts_of(suite, Path(folder) / "hybrid")
    print_tables(suite, outcomes, summarise(outcomes), verdicts=verdicts, beside=(beside, summarise(beside)))
