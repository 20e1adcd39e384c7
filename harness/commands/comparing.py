"""`klartext harness compare`: what changed between two runs, and which answers change between repeats or releases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot import BadData, friendly_errors
from harness.commands import options
from harness.console import chance, folded, plain_console, plain_table, print_json, share
from harness.running.outcomes import Outcome
from harness.running.run import Run, load_run
from harness.scoring.comparison import Comparison, Paired, compare
from harness.scoring.score import Score, score
from harness.scoring.stability import Share, Stability, stability
from harness.statistics import Interval
from harness.systems.system import IN_PROCESS

Both = tuple[Outcome, Outcome]
SYSTEM = ("system", "kind", "system_hash", "method", "encoder")  # of a run: what tells systems apart


def compare_(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN…", help="Folders of runs, the earlier one first.")],
    repeats: Annotated[
        bool, typer.Option("--repeats", help="Only: which answers change. Always so with three runs or more.")
    ] = False,
    most: Annotated[
        int, typer.Option("--list", min=0, help="Changed questions of each kind to list.", metavar="N")
    ] = 20,
    json_: options.Json = False,
) -> None:
    """Show two runs side by side: totals, vignettes, what was fixed or broke; several: answers that change."""
    with friendly_errors():
        if len(runs) < 2:
            raise BadData("One run shows no change. Give at least two.")
        if repeats or len(runs) > 2:
            show_stability(runs, most, json_=json_)
            return
        a, b = runs
        comparison = compare(load_run(a), load_run(b))
        if not comparison.scored and not comparison.spoken:
            raise BadData(f"{a} and {b} have no answered question in common. Run both on the same suite.")
        if not json_:
            _print_comparison(comparison, most=most)
            return
        print_json(
            {
                "total": comparison.total().as_json() if comparison.scored else None,
                "vignettes": [row.as_json() for row in comparison.strata()],
                "expectations": [row.as_json() for row in comparison.expectations()],
                "fixed": [_changed_as_json(both) for both in comparison.fixed],
                "broken": [_changed_as_json(both) for both in comparison.broken],
                "groups": [row.as_json() for row in comparison.family if row.name != "total"],
                "notes": comparison.notes,
            }
        )


def _print_comparison(comparison: Comparison, *, most: int) -> None:
    """Print the table and at most `most` questions of each kind."""

    def cells(row: Paired) -> list[str]:
        interval = f"{_signed(row.change.low)} {_signed(row.change.high)}" if row.change else ""
        shares = [share(row.before), share(row.after), _signed(row.difference), interval]
        return [str(row.n), *shares, str(row.fixed), str(row.broken), chance(row.adjusted)]

    def table(title: str, rows: list[Paired], total: Paired | None) -> Table:
        names = ("n", "A", "B", "change", "95 %", "fixed", "broken", "p")
        found = plain_table(title, "", *names, padding=0)
        for row in rows:
            found.add_row(row.name, *cells(row))
        if total is not None:
            found.add_section()
            found.add_row("Total", *cells(total), style="bold")
        return found

    console = plain_console()
    total = comparison.total() if comparison.scored else None
    if total is not None:
        console.print(table("Answered with the right pair", comparison.strata(), total))
    others = [*comparison.rows["safe"], *comparison.rows["urgent"]]
    if others:
        console.print(table("What matters besides", others, None))
    if comparison.spoken:
        console.print(table("What was expected of messages came", comparison.expectations(), None))
    console.print("p: exact test by pair, two-sided; intervals hold what it does not reject.", style="dim")
    if comparison.adjusted_for:
        console.print(Text(comparison.adjusted_for, style="dim"))
    if total is not None and total.detectable is not None:
        console.print(f"A change of {100 * total.detectable:.1f} points could be seen (power 0.8).", style="dim")
    for note in comparison.notes:
        console.print(Text(note, style="dim"))
    _print_changed("Broken", comparison.broken, console, most=most)
    _print_changed("Fixed", comparison.fixed, console, most=most)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _print_changed(title: str, changed: list[Both], console: Console, *, most: int) -> None:
    if not changed:
        return
    console.print(f"\n{title}: {len(changed)}", style="bold")
    for was, now in changed[:most]:
        before, after = (outcome.answered_with or outcome.decision for outcome in (was, now))
        console.print(Text(f"  {now.text}"))
        about = now.pair_id or " ".join(filter(None, (now.expected, now.wanted)))
        console.print(Text(f"    {about} · {now.vignette} · {before} -> {after}", style="dim"))
    if len(changed) > most:
        console.print(f"  … and {len(changed) - most} more: `--list {len(changed)}` or `--json` shows them.")


def _changed_as_json(both: Both) -> dict[str, Any]:
    was, now = both
    return {
        "id": now.id,
        "text": now.text,
        "vignette": now.vignette,
        "pair_id": now.pair_id,
        "expected": now.expected,
        "wanted": now.wanted,
        "before": {"decision": was.decision, "answered_with": was.answered_with},
        "after": {"decision": now.decision, "answered_with": now.answered_with},
    }


def show_stability(runs: Sequence[Path], most: int, *, json_: bool = False) -> None:
    """Show which answers change between runs of the same questions."""
    loaded = [load_run(folder) for folder in runs]
    found = stability([one.outcomes for one in loaded])
    if not found.compared:
        raise BadData("No question has an answer in two of these runs. Compare runs of the same suite.")
    several = len({tuple(one.identity.get(key) for key in SYSTEM) for one in loaded}) > 1
    if json_:
        found_by = [(str(one.folder), _score(one)) for one in loaded]
        scores = [{"run": name, "score": one.as_json() if one else None} for name, one in found_by]
        print_json({**found.as_json(), **({"systems": scores} if several else {})})
        return
    if several:
        plain_console().print(_systems(loaded))
    title = "Questions that the systems answer differently" if several else f"Stability of {found.runs} runs"
    _print_stability(title, found, [one.identity for one in loaded], most)


def _systems(runs: Sequence[Run]) -> Table:
    """Return how often each of several systems was right, over all questions that it answered."""
    table = plain_table(f"{len(runs)} runs of different systems compared", "Run", "n", "acc.", "95 %", folded("system"))
    for run in runs:
        total = _score(run)
        method = run.identity.get("method", "") if run.identity.get("system") == IN_PROCESS else ""
        name = " ".join(filter(None, (run.identity.get("system", "–"), method)))
        cells = [str(total.n), share(total.accuracy), _between(total.interval)] if total else ["0", "–", ""]
        table.add_row(run.folder.name, *cells, name)
    return table


def _score(run: Run) -> Score | None:
    """Return how a run fared; None where nothing in it has a right pair that was judged."""
    judged = [outcome for outcome in run.outcomes if outcome.right is not None]
    return score(judged) if judged else None


def _print_stability(title: str, found: Stability, identities: Sequence[dict[str, str]], most: int) -> None:
    """Print shares by vignette and pair, what tells the runs apart, and the questions whose answers changed."""
    console = plain_console()
    console.print(_shares(title, "Patient vignette", found.vignettes, found.total))
    console.print("changed: decision, shown pair or choices differ. flipped: right in one run, wrong in another.")
    for key in dict.fromkeys(key for identity in identities for key in identity):
        values = list(dict.fromkeys(identity.get(key, "–") for identity in identities))
        if len(values) > 1:
            console.print(f"The runs differ in {key}: {', '.join(values)}.")
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

    def cells(one: Share) -> list[str]:
        value = share(one.changed / one.n) if one.n else ""
        return [str(one.n), str(one.changed), value, _between(one.interval), str(one.flipped)]

    names = ("n", "chan-\nged", "share", "95 %", "flip-\nped")
    table = plain_table(title, first, *names, padding=(0, 1))
    for name, one in shares.items():
        table.add_row(name, *cells(one))
    if total is not None:
        table.add_section()
        table.add_row("Total", *cells(total), style="bold")
    return table


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f"{share(interval.low)}-{share(interval.high)}"
