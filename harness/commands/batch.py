"""`klartext harness batch`: submit, poll, fetch."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import Settings, friendly_errors

if TYPE_CHECKING:
    from harness.llm.batch_state import State

IN_PROGRESS, INCOMPLETE = 3, 1  # exit codes
PromptsArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Batch input file, of `prompts export`.")]
StateOption = Annotated[
    Path | None, typer.Option("--state", help="Where it is kept how things stand. Default: FILE with .batch.json.")
]
PricesOption = Annotated[Path | None, typer.Option("--prices", help="Price table (YAML). Default: the shipped one.")]


def _at(file: Path, state: Path | None) -> Path:
    return state or file.with_suffix(".batch.json")


def submit_(
    file: PromptsArgument,
    state: StateOption = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that the answers may cost.")] = None,
    prices: PricesOption = None,
) -> None:
    """Hand in every request, in as many batches as it takes; run again, it goes on and hands in nothing twice."""
    from harness.llm.batch import BatchTerms, Purse, submit  # openai is slow to import
    from harness.llm.batch_service import BatchService
    from harness.llm.prices import load_prices

    with friendly_errors():
        purse = Purse(load_prices(prices), budget) if budget is not None else None
        with BatchService.open(Settings.from_environment()) as service:
            done = submit(file, _at(file, state), service, BatchTerms(purse=purse), told=print)
        print(f"{done.requests} requests handed in. Next: klartext harness batch poll {file}")


def poll_(
    file: PromptsArgument,
    state: StateOption = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until every batch has ended.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 60.0,
) -> None:
    """Say how the batches stand; exit 3 while some are under way."""
    from harness.llm.batch import poll
    from harness.llm.batch_service import BatchService

    with friendly_errors():
        with BatchService.open(Settings.from_environment()) as service:
            while not (stands := poll(_at(file, state), service)).is_final and wait:
                time.sleep(every)
        _show(stands)
        if stands.is_final:
            print(f"Next: klartext harness batch fetch {file} --out answers.jsonl")
    raise typer.Exit(0 if stands.is_final else IN_PROGRESS)


def fetch_(
    file: PromptsArgument,
    out: Annotated[Path, typer.Option("--out", help="Batch output file (JSONL) to write, for `prompts import`.")],
    state: StateOption = None,
    prices: PricesOption = None,
) -> None:
    """Fetch what has ended; exit 3 while some is under way, 1 when requests are left without an answer."""
    from harness.llm.batch import costs_of, fetch, write_rest
    from harness.llm.batch_service import BatchService
    from harness.llm.prices import in_words, load_prices, write_costs

    with friendly_errors():
        table = load_prices(prices)
        with BatchService.open(Settings.from_environment()) as service:
            stands = fetch(_at(file, state), out, service)
        costs = costs_of(stands, out, table)
        write_costs(costs, out.with_suffix(".costs.json"))
        print(in_words(costs))
        if not stands.is_final:
            _show(stands)
            raise typer.Exit(IN_PROGRESS)
        rest = file.with_suffix(".rest.jsonl")
        left = write_rest(stands, out, rest)
        if left:
            print(f"{left} of {stands.requests} requests have no answer. Next: klartext harness batch submit {rest}")
            raise typer.Exit(INCOMPLETE)
        print(f"All {stands.requests} requests are answered. Next: klartext harness prompts import {out} --name NAME")


def _show(state: State) -> None:
    for number, part in enumerate(state.parts, 1):
        failed = f", {part.failed} failed" if part.failed else ""
        problem = f" ({part.problem})" if part.problem else ""
        print(f"part {number}: {part.status}, {part.done} of {part.requests} answered{failed}{problem}")
