"""`klartext harness stability`: ask the same again, or compare runs that are there, and list what changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from bot import BadData, friendly_errors
from harness.commands.options import CatalogOption, DataOption, FormatOption, JobsOption, SchedulerOption
from harness.scoring.stability import Share, Stability
from harness.scoring.statistics import Interval


def stability_(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]…", help="Runs to compare, at least two.")] = None,
    suite: Annotated[str | None, typer.Option("--suite", help="Ask this suite again and again instead.")] = None,
    repeats: Annotated[int, typer.Option(min=2, max=100, help="How often, with --suite.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Folder for the repeats, with --suite; they are continued.")] = None,
    system: Annotated[str, typer.Option(help="System under test: klartext, or a YAML file.")] = "klartext",
    method: Annotated[Literal["hybrid", "cosine"], typer.Option(help="How the assistant matches.")] = "hybrid",
    catalog: CatalogOption = "mammography",
    encoder: Annotated[str, typer.Option(help="Encoder of the assistant.", metavar="NAME")] = "embedded",
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
    format_: FormatOption = None,
    most: Annotated[int, typer.Option("--list", min=0, help="Changed questions to list.")] = 20,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    data: DataOption = None,
) -> None:
    """List answers that change between repeats of a suite, or between runs of several releases."""
    from harness.commands.running import ask_into
    from harness.running.results import load_run
    from harness.running.run import How
    from harness.scoring.stability import stability
    from harness.systems.system import Opening, require_known

    with friendly_errors():
        _require_one_way(runs or [], suite, out)
        if suite is not None and out is not None:
            require_known(system)
            opening = Opening(catalog, encoder, method, data)
            runs = [out / f"repeat-{number}" for number in range(1, repeats + 1)]
            ask_into(suite, runs, opening, system=system, how=How(jobs, scheduler, format_))
        loaded = [load_run(run) for run in runs or ()]
        found = stability([run.outcomes for run in loaded])
        if not found.compared:
            raise BadData("No question has an answer in two of these runs. Compare runs of the same suite.")
        if json_:
            print(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
        else:
            differences = _differences([run.identity for run in loaded])
            print_stability(found, Console(highlight=False, markup=False), most=most, differences=differences)


def _require_one_way(runs: list[Path], suite: str | None, out: Path | None) -> None:
    if (suite is None) == (not runs) or (suite is None) != (out is None):
        raise BadData("Give either runs to compare, or `--suite NAME --out DIR` to ask a suite again and again.")
    if len(runs) == 1:
        raise BadData("One run shows no change. Give at least two.")


def _differences(identities: list[dict[str, str]]) -> list[str]:
    """Return what tells the runs apart, besides their answers."""
    keys = dict.fromkeys(key for identity in identities for key in identity)
    values = {key: list(dict.fromkeys(identity.get(key, "–") for identity in identities)) for key in keys}
    return [f"{key}: {', '.join(found)}" for key, found in values.items() if len(found) > 1]


def print_stability(found: Stability, console: Console, *, most: int, differences: list[str]) -> None:
    """Print shares by vignette and pair, and the questions whose answers changed."""
    console.print(_shares(f"Stability of {found.runs} runs", "Patient vignette", found.vignettes, found.total))
    console.print("changed: decision, shown pair or choices differ. flipped: right in one run, wrong in another.")
    for difference in differences:
        console.print(f"The runs differ in {difference}.")
    if found.alone:
        console.print(f"{found.alone} questions have fewer than two answers: not compared.")
    if found.pairs:
        console.print()
        console.print(_shares("Pairs whose answers changed", "Pair", found.pairs))
    changed = found.changed
    for repeated in changed[:most]:
        answers = " | ".join("–" if answer is None else str(answer) for answer in repeated.answers)
        console.print(f"\n{repeated.first.id} ({repeated.first.pair_id or repeated.first.kind})", style="bold")
        console.print(f"  {repeated.first.text}\n  {answers}")
    if len(changed) > most:
        console.print(f"\n… and {len(changed) - most} more; `--list N` shows more, `--json` all.")


def _shares(title: str, first: str, shares: dict[str, Share], total: Share | None = None) -> Table:
    """Return a table that fits 80 columns."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column(first, no_wrap=True)
    for name in ("n", "chan-\nged", "share", "95 %\nWilson", "95 %\nby pair", "flip-\nped"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, share in shares.items():
        table.add_row(name, *_cells(share))
    if total is not None:
        table.add_section()
        table.add_row("Total", *_cells(total), style="bold")
    return table


def _cells(share: Share) -> list[str]:
    value = _three(share.changed / share.n) if share.n else ""
    intervals = (_range(share.wilson), _range(share.clustered))
    return [str(share.n), str(share.changed), value, *intervals, str(share.flipped)]


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f"{_three(interval.low)}-{_three(interval.high)}"


def _three(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
