"""`klartext harness batch`: have a file of prompts answered by OpenAI's Batch API, across as many calls as it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot import Settings, friendly_errors
from harness.commands import options
from harness.console import counted
from harness.llm.batch_files import holds_patient_text
from harness.llm.opening import endpoint_of, require_openai
from harness.llm.prices import in_words, load_prices, write_costs

if TYPE_CHECKING:
    from harness.llm.batch import State

IN_PROGRESS, INCOMPLETE = 3, 1  # exit codes


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long the command stays, and where it is kept how things stand."""

    wait: Annotated[bool, typer.Option("--wait", help="Until every batch has ended.")] = False
    every: Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks.")] = 60.0
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=1, help="Seconds without a word from the endpoint, then it is tried again."),
    ] = 120.0
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
    with friendly_errors():
        require_openai()
        from harness.llm.batch import BatchTerms, Purse, costs_of, fetch, poll, require_usable, submit
        from harness.llm.batch_service import BatchService, Patience  # openai is slow to import

        state, table = waiting.state or file.with_suffix(".batch.json"), load_prices(prices)
        purse = Purse(table, budget) if budget is not None else None
        require_usable(out, state, file)
        settings = Settings.from_environment()
        if holds_patient_text(file):
            settings.require_patient_text_allowed(endpoint_of(settings))
        with BatchService.open(settings, Patience(timeout_s=waiting.timeout)) as service:
            done = submit(file, state, service, BatchTerms(purse=purse), told=print)
            print(f"{counted(done.requests, 'request')} handed in.")
            while (stands := poll(state, service)).worth_waiting and waiting.wait:
                time.sleep(waiting.every)
            stands = fetch(state, out, service)
        costs = costs_of(stands, out, table)
        write_costs(costs, out.with_suffix(".costs.json"))
        print(in_words(costs))
        if not stands.is_final:
            _show_batches(stands)
            print(f"Next: {_again(file, out, waiting)}")
            raise typer.Exit(IN_PROGRESS)
        _require_answered(stands, file, out, waiting)
        print(
            f"All {stands.requests} requests are answered. Give {out} to the command that wrote them: `--answers {out}`"
        )


def _again(file: Path, out: Path, waiting: Waiting) -> str:
    return f"klartext harness batch {file} --out {out}" + (f" --state {waiting.state}" if waiting.state else "")


def _require_answered(stands: State, file: Path, out: Path, waiting: Waiting) -> None:
    """End with what is missing and the one command that has it answered: two would be paid twice."""
    from harness.llm.batch import NOTHING_DONE, write_rest

    failed = [part for part in stands.parts if part.status in NOTHING_DONE]
    if failed:
        _show_batches(stands)
        number = sum(part.requests for part in failed)
        print(f"{counted(number, 'request')} of {stands.requests} in batches that failed before anything was done.")
        print(f"Next, to hand just these in again: {_again(file, out, waiting)}")
        raise typer.Exit(INCOMPLETE)
    rest = _beside(file, "rest", {file, out})
    left = write_rest(stands, out, rest)
    if left:
        more = _beside(out, "more", {file, out, rest})
        print(f"{left} of {counted(stands.requests, 'request')} have no answer; they are in {rest}.")
        print(f"Next: klartext harness batch {rest} --out {more}")
        print(f"Then give both to the command that wrote them: `--answers {out} --answers {more}`")
        raise typer.Exit(INCOMPLETE)


def _beside(file: Path, ending: str, taken: set[Path]) -> Path:
    """Return a file beside another, with another name than those that are taken."""
    names = (file.with_suffix(f".{ending}{number or ''}.jsonl") for number in (0, 2, 3, 4))
    return next(path for path in names if path.absolute() not in {one.absolute() for one in taken})


def _show_batches(state: State) -> None:
    for number, part in enumerate(state.parts, 1):
        failed = f", {part.failed} failed" if part.failed else ""
        problem = f" ({part.problem})" if part.problem else ""
        unknown = ", which is unknown and not waited for: look at the endpoint's own page" if part.is_unknown else ""
        print(f"part {number}: {part.status}{unknown}, {part.done} of {part.requests} answered{failed}{problem}")
