"""`klartext harness refine`: a model critiques each question by aspects and corrects it, until it is good enough."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import Settings, friendly_errors
from harness.commands.options import CatalogOption
from harness.console import progress_bar
from harness.generation.refinery import PROMPTS, ROUNDS_FILE, Asker, Refinery
from harness.generation.rounds import ROUNDS, Cell, Progress, RoundTable, round_table
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.patients.prompts import Prompt


def refine(
    suite: Annotated[str, typer.Option("--suite", help="A shipped suite, or its folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder that keeps every round. Unfinished work in it goes on.")],
    answers: Annotated[
        list[Path] | None, typer.Option("--answers", help="Answers to its prompts.jsonl (Batch output); repeatable.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the endpoint of KLARTEXT_MODEL_URL.")] = False,
    model: Annotated[str, typer.Option("--model", help="Model that critiques and corrects.")] = "gpt-4o",
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="Sampling temperature.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Refine only the first so many paraphrases.")] = None,
    catalog: CatalogOption = "mammography",
    vignettes: Annotated[Path | None, typer.Option("--vignettes", help="Folder of vignettes of your own.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Write the refined questions as a suite.")] = None,
    note: Annotated[str, typer.Option(help="What readers of results must know of that suite.")] = "",
    suites: Annotated[Path, typer.Option(help="Folder that its folder is made in.")] = Path("vignettes/suites"),
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Critique and correct generated questions, at most four rounds; offline by files, or live."""
    with friendly_errors():
        refinery = Refinery.open(out, suite, catalog, vignettes=vignettes, limit=limit)
        taken = refinery.take(answers or ())
        progress = refinery.advance(_endpoint(refinery, model, temperature) if live else None)
        refinery.keep(progress, model=model, temperature=temperature)
        table = round_table(progress.tracks, [aspect.key for aspect in refinery.asking.texts.aspects])
        if json_:
            print(json.dumps({"pending": len(progress.pending), **table.as_json()}, indent=2))
        else:
            _show(table, progress, out, taken)
        if name is not None:
            folder = suites / name
            meta = refinery.write_suite(progress, folder, answered="live" if live else "offline", note=note)
            typer.echo(f"{folder}: {sum(meta.counts.values())} questions", err=json_)


def _endpoint(refinery: Refinery, model: str, temperature: float | None) -> Asker:
    """Ask the configured endpoint; every answer is kept before the next is awaited."""
    from harness.generation.answering import Keeping, answer_into, requests_for, still_open
    from harness.llm.contract import ModelCall
    from harness.llm.opening import open_model

    call, settings, file = ModelCall(model, temperature), Settings.from_environment(), refinery.answers_file
    terms = Keeping().terms(settings, job=f"refine {file.absolute()}")

    def ask(prompts: Sequence[Prompt]) -> dict[str, ModelAnswer]:
        requests = requests_for(prompts)
        with open_model(settings, call, terms) as asked, progress_bar("prompts") as bar:
            task = bar.add_task("prompts", total=len(prompts))
            answer_into(file, asked, still_open(requests, call, file), each=lambda _: bar.advance(task))
        return read_answers([file])

    return ask


def _show(table: RoundTable, progress: Progress, out: Path, taken: int) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    title = "Rounds of critique: mean (standard deviation) of the share of the maximum"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    shown.add_column("aspect", no_wrap=True)
    for number in range(1, ROUNDS + 1):
        shown.add_column(f"round {number}", justify="right", no_wrap=True)
    for aspect, row in table.rows.items():
        shown.add_row(aspect, *map(_cell, row))
    shown.add_section()
    shown.add_row("words", *(_cell(cell, digits=1) for cell in table.lengths))
    shown.add_row("questions", *(str(cell.n) if cell else "" for cell in table.rows["total"]))
    console.print(shown)
    ended = ", ".join(f"{count} {why}" for why, count in table.stopped.items())
    best = ", ".join(f"{count} in round {number}" for number, count in table.best.items())
    console.print("carried on: questions that are done keep their last total.", style="dim")
    console.print(f"{len(progress.tracks)} questions: {ended}. Best: {best or 'none scored yet'}.")
    if taken:
        console.print(f"{taken} answers were new.")
    console.print(f"Every round is in {out / ROUNDS_FILE}.")
    if progress.pending:
        console.print(f"{len(progress.pending)} prompts wait in {out / PROMPTS}: have them answered, and give the")
        console.print("answers with `--answers FILE`.")


def _cell(cell: Cell | None, digits: int = 3) -> str:
    if cell is None:
        return ""
    deviation = "" if cell.deviation is None else f" ({cell.deviation:.{digits}f})".replace("(0.", "(.")
    return f"{cell.mean:.{digits}f}{deviation}"
