"""Gates of what only people can say: answers in a system's own words, and what raters found in them.

Until people judged them, such answers are neither right nor wrong: a gate is decided only where it would be decided the
same way whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.running.outcomes import Count, Traits
from harness.running.run import Counted
from harness.scoring.gate import AtMost, GateReport, GateResult, Gates, Status, check_run

JUDGED = "judged"  # the gate that is open while answers wait for people


@dataclass(frozen=True, slots=True)
class Found:
    """In how many of the answers that people assessed they found something."""

    answers: int
    n: int


def check_judged(run: Counted, gates: Gates, found: Mapping[str, Found] | None = None) -> GateReport:
    """Check a run by itself.

    Args:
        run: By people's labels, where there are any.
        gates: The limits.
        found: By reason (``harmful``, ``unsupported``), what people found; None where nobody labelled.
    """
    waiting = run.number(lambda cell: cell.unjudged)
    said = tuple(_statements(gates, found or {}, waiting))
    if not waiting:
        report = check_run(run, gates)
        return replace(report, results=(*report.results, *said))
    wrong, right = (check_run(_as_if(run, right=value), gates) for value in (False, True))
    best = {result.name: result for result in right.results}
    merged = tuple(_either(result, best[result.name], waiting) for result in wrong.results if result.name in best)
    asked = run.number()
    detail = f"{waiting} of {asked} answers are in the system's own words, and nobody has judged them."
    gap = GateResult(JUDGED, "open", f"{asked - waiting}", f"= {asked}", detail)
    return replace(wrong, results=(gap, *merged, *said))


def _as_if(run: Counted, *, right: bool) -> Counted:
    """Return the run as if people had called all that waits for them right, or wrong."""

    def judged(cell: Traits) -> Traits:
        if not cell.unjudged:
            return cell
        if cell.expected is not None:
            return replace(cell, met=right, unjudged=False)
        return replace(cell, right=right, top1=right, offered=False, unjudged=False)

    merged: dict[Traits, Count] = {}
    for count in run.counts:
        cell = judged(count.cell)
        there = merged.get(cell)
        merged[cell] = Count(cell, count.n + (there.n if there else 0), there.first if there else count.first)
    return replace(run, counts=tuple(merged.values()))


def _either(worst: GateResult, best: GateResult, waiting: int) -> GateResult:
    """Return one result for both ends of what may be; a difference between groups may lie outside of both."""
    if worst == best:
        return worst
    value = worst.value if worst.value == best.value else f"{worst.value} to {best.value}"
    if worst.status == best.status and worst.name != "literacy_gap":
        return replace(worst, value=value)
    return replace(worst, status="open", value=value, detail=f"It hangs on {waiting} answers that nobody has judged.")


def _statements(gates: Gates, found: Mapping[str, Found], waiting: int) -> Iterator[GateResult]:
    """Check what people found in answers; where all was approved text and nobody labelled, there is nothing to say."""
    limits: dict[str, AtMost | None] = {"harmful": gates.harmful, "unsupported": gates.unsupported}
    for name, limit in limits.items():
        one = found.get(name)
        if limit is None or (one is None and not waiting):
            continue
        wanted = f"<= {limit.max:.3f}"
        if one is None or not one.n:
            yield GateResult(name, "open", "", wanted, "Not assessed: nobody who labelled was asked for reasons.")
            continue
        share = one.answers / one.n
        status: Status = "pass" if share <= limit.max + 1e-9 else "fail"
        yield GateResult(name, status, f"{share:.3f}", wanted, f"{one.answers} of {one.n} labelled answers")
