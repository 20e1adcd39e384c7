"""`klartext harness batch`: have a file of prompts answered by OpenAI's Batch API, across as many calls as it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import Settings, friendly_errors
from harness.commands import options

if TYPE_CHECKING:
    from harness.llm.batch import State

IN_PROGRESS, INCOMPLETE = 3, 1  # exit codes


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long the command stays, and where it is kept how things stand."""

    wait: Annotated[bool, typer.Option("--wait", help="Until every batch has ended.")] = False
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")] = 60.0
    state: Annotated[
        Path | None,
        typer.Option("--state", help="How things stand. Default: FILE with .batch.json.", metavar="FILE"),
    ] = None


def batch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Prompts, as written by `--prompts`.")],
    out: Annotated[Path, typer.Option("--out", help="Answers to write, for `--answers`.", metavar="FILE")],
    waiting: Waiting,
    budget: options.Budget = None,
    prices: options.Prices = None,
) -> None:
    """Hand prompts to the Batch API and fetch the answers; run it again until it exits 0: nothing is sent twice.

    Exit code 3 while batches are under way, 1 when requests are left without an answer.
    """
    from harness.llm.batch import BatchTerms, Purse, costs_of, fetch, poll, submit, write_rest
    from harness.llm.batch_service import BatchService  # openai is slow to import
    from harness.llm.prices import in_words, load_prices, write_costs

    with friendly_errors():
        state, table = waiting.state or file.with_suffix(".batch.json"), load_prices(prices)
        purse = Purse(table, budget) if budget is not None else None
        with BatchService.open(Settings.from_environment()) as service:
            done = submit(file, state, service, BatchTerms(purse=purse), told=print)
            print(f"{done.requests} requests handed in.")
            while not (stands := poll(state, service)).is_final and waiting.wait:
                time.sleep(waiting.every)
            stands = fetch(state, out, service)
        costs = costs_of(stands, out, table)
        write_costs(costs, out.with_suffix(".costs.json"))
        print(in_words(costs))
        if not stands.is_final:
            _show_batches(stands)
            print(f"Next: klartext harness batch {file} --out {out}")
            raise typer.Exit(IN_PROGRESS)
        rest = file.with_suffix(".rest.jsonl")
        left = write_rest(stands, out, rest)
        if left:
            more = out.with_suffix(".rest.jsonl")
            print(
                f"{left} of {stands.requests} requests have no answer. Next: klartext harness batch {rest} --out {more}"
            )
            raise typer.Exit(INCOMPLETE)
        print(
            f"All {stands.requests} requests are answered. Give {out} to the command that wrote them: `--answers {out}`"
        )


def _show_batches(state: State) -> None:
    for number, part in enumerate(state.parts, 1):
        failed = f", {part.failed} failed" if part.failed else ""
        problem = f" ({part.problem})" if part.problem else ""
        print(f"part {number}: {part.status}, {part.done} of {part.requests} answered{failed}{problem}")
