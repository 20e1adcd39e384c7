"""Decide whether a run is good enough, by itself and beside a baseline, by the limits of `harness.yaml`.

A gate that is left out is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import Field, ValidationError

from bot import BadData
from harness.files import Record
from harness.running.outcomes import ERROR
from harness.running.run import Counted, Run
from harness.scoring.comparison import Comparison, Paired, pair_up
from harness.scoring.expectations import Expectation, Met, expectations_of
from harness.scoring.score import Summary, summarise_tally
from harness.statistics import detectable_change

DEFAULT = Path(__file__).parent / "harness.yaml"
LOCAL = Path("harness.yaml")
Status = Literal["pass", "fail", "skip", "open"]
ROUNDING = 1e-9  # 0.9 - 0.7 is a little more than 0.2 to a computer, but not to a reader of harness.yaml


class AtLeast(Record):
    """The smallest share that passes."""

    min: float = Field(ge=0, le=1)


class AtMost(Record):
    """The largest share that passes."""

    max: float = Field(ge=0, le=1)


class WidestGap(Record):
    """The largest difference that passes."""

    margin: float = Field(ge=0, le=1)


class ExpectedShare(Record):
    """Limits for one kind of expectation in chats.

    Attributes:
        min: The smallest share of its messages, over all vignettes.
        worst: The smallest share in any vignette; None: a vignette fails when its whole 95 % interval lies below `min`.
        least: With fewer messages than this, nothing is said: in total, and of a vignette beside `worst`.
    """

    min: float = Field(ge=0, le=1)
    worst: float | None = Field(default=None, ge=0, le=1)
    least: int = Field(default=20, ge=1)


Share = Annotated[float, Field(ge=0, le=1)]
ExpectedKind = Literal[
    "first",
    "same",
    "pair",
    "new",
    "act",
    "nothing",
    "reaction",
    "everyday",
    "remark",
    "complaint",
    "alarm",
    "language",
    "foreign",
    "real-manner",
    "unanswered",
]


class Gates(Record):
    """Limits for the run itself; `docs/reference.md` says what each figure is."""

    accuracy: AtLeast | None = None
    worst_vignette: AtLeast | None = None
    literacy_gap: WidestGap | None = None
    precision: AtLeast | None = None
    urgent_recall: AtLeast | None = None
    top1: AtLeast | None = None
    offered: AtLeast | None = None
    failures: AtMost | None = None
    expectations: dict[ExpectedKind, Share | ExpectedShare] = Field(default={})

    def expected(self, kind: ExpectedKind) -> ExpectedShare | None:
        """Return the limits of a kind; a number alone is the smallest share."""
        limit = self.expectations.get(kind)
        return ExpectedShare(min=limit) if isinstance(limit, float | int) else limit


class BaselineLimits(Record):
    """Limits for the change since a baseline.

    Attributes:
        alpha: Two-sided level of the paired tests; a change for the worse that is significant fails.
        max_drop: A drop of accuracy by more than this fails even when chance may explain it; None: not checked.
    """

    alpha: float = Field(default=0.05, gt=0, lt=1)
    max_drop: float | None = Field(default=None, ge=0, le=1)


class GateConfig(Record):
    """What `harness.yaml` says."""

    gates: Gates
    baseline: BaselineLimits = BaselineLimits()


def load_config(path: Path | None) -> tuple[GateConfig, Path]:
    """Load the given file, else ``harness.yaml`` of the current folder, else the shipped one; say which it was."""
    chosen = path or (LOCAL if LOCAL.is_file() else DEFAULT)
    try:
        raw = yaml.safe_load(chosen.read_text(encoding="utf-8"))
        return GateConfig.model_validate(raw), chosen
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        known = ", ".join(Gates.model_fields) if first["loc"][:1] == ("gates",) else "gates, baseline"
        unknown = first["type"] == "extra_forbidden" or "[key]" in first["loc"]
        if first["loc"][:2] == ("gates", "expectations"):
            known = ", ".join(get_args(ExpectedKind)) if "[key]" in first["loc"] else "min, worst, least"
        hint = f"Known here: {known}." if unknown else "See docs/reference.md."
        raise BadData(f"{chosen}: {place}: {first['msg']}. {hint}") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise BadData(f"The gates {chosen} cannot be read ({reason}). Give a file with `--config`.") from error


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate.

    Attributes:
        name: As in `harness.yaml`, or what is compared with the baseline.
        status: pass, fail, skip, or open: there is too little data to say.
        value: The measured figure, as people read it.
        limit: What it must reach, likewise.
        detail: What explains the figure, or why the gate was skipped.
    """

    name: str
    status: Status
    value: str
    limit: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """All gates of a run.

    Attributes:
        results: In the order in which they are shown.
        notes: What readers must know: what was left out, what the suite could detect.
        paired: The comparison with the baseline, total first; empty without one.
    """

    results: tuple[GateResult, ...]
    notes: tuple[str, ...]
    paired: tuple[Paired, ...] = ()

    @property
    def failed(self) -> bool:
        return any(result.status == "fail" for result in self.results)

    @property
    def undecided(self) -> bool:
        """Whether nothing failed, and something could not be said."""
        return not self.failed and any(result.status == "open" for result in self.results)

    @property
    def passed(self) -> bool:
        return not self.failed and not self.undecided

    def as_json(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "undecided": self.undecided,
            "gates": [asdict(result) for result in self.results],
            "notes": list(self.notes),
            "baseline": [row.as_json() for row in self.paired],
        }


def check_run(run: Run | Counted, gates: Gates) -> GateReport:
    """Check a run by itself."""
    counted = run if isinstance(run, Counted) else Counted.of(run)
    complete = _complete(counted)
    expected = [*_expected(counted, gates)]
    if not counted.number(lambda cell: cell.right is not None):
        if expectations_of(counted.counts):
            return GateReport((*complete, *expected, *_urgent(counted, gates), *_failures(counted, gates)), ())
        nothing = GateResult("questions", "fail", "0", ">= 1", "The run holds no answered question with a right pair.")
        return GateReport((nothing, *complete, *_urgent(counted, gates)), ())
    summary = summarise_tally(counted.counts)
    n = summary.total.n
    best = detectable_change(n, 0.0)
    at_best = "none" if best is None else _points(best)
    note = f"Smallest change that {n} questions could show beside a baseline, at best (power 0.8): {at_best}."
    shares = _shares(summary, gates)
    results = (*complete, *shares, *expected, *_urgent(counted, gates), *_failures(counted, gates))
    return GateReport(results, (note,))


def _complete(run: Counted) -> list[GateResult]:
    """A run that was killed may have asked the easy questions first."""
    if run.questions is None:
        return []
    held = run.number()
    finished = held >= run.questions
    detail = "" if finished else "The run was not finished. Run it again: it goes on where it was."
    return [GateResult("complete", "pass" if finished else "fail", str(held), f"= {run.questions}", detail)]


def _shares(summary: Summary, gates: Gates) -> Iterator[GateResult]:
    total, strata = summary.total, summary.vignettes
    worst = min(strata, key=lambda name: strata[name].accuracy)
    best = max(strata, key=lambda name: strata[name].accuracy)
    low, high = strata[worst].accuracy, strata[best].accuracy
    interval = f"95 % {_share(total.wilson.low)} to {_share(total.wilson.high)}, {total.n} questions"
    yield from _at_least("accuracy", total.accuracy, gates.accuracy, interval)
    yield from _at_least("worst_vignette", low, gates.worst_vignette, f"{worst}, {strata[worst].n} questions")
    if gates.literacy_gap:
        margin, gap = gates.literacy_gap.margin, high - low
        if len(strata) < 2:
            yield GateResult("literacy_gap", "skip", "", f"<= {_share(margin)}", "There is only one vignette.")
        else:
            detail = f"{best} {_share(high)}, {worst} {_share(low)}"
            yield GateResult(
                "literacy_gap", _status(gap <= margin + ROUNDING), _share(gap), f"<= {_share(margin)}", detail
            )
    yield from _at_least("precision", total.precision, gates.precision, f"{total.wrong} wrong answers")
    yield from _at_least("top1", total.top1, gates.top1, "")
    yield from _at_least("offered", total.offered, gates.offered, "")


def _at_least(name: str, value: float | None, gate: AtLeast | None, detail: str) -> Iterator[GateResult]:
    if gate is None:
        return
    limit = f">= {_share(gate.min)}"
    if value is None:
        yield GateResult(name, "skip", "", limit, "Nothing was answered.")
    else:
        yield GateResult(name, _status(value >= gate.min - ROUNDING), _share(value), limit, detail)


def _expected(run: Counted, gates: Gates) -> Iterator[GateResult]:
    """Check messages in chats: each kind over all vignettes, and that no vignette is left behind."""
    found = expectations_of(run.counts)
    if not found:
        return
    if not set(found) & set(gates.expectations):
        there = f"The run expects {', '.join(found)}, and `gates: expectations` has a limit for none of it."
        yield GateResult("expectations", "open", "", "", there)
    absent: list[str] = []
    for kind in gates.expectations:
        rules = gates.expected(kind)
        if rules is None:
            continue
        name, limit, one = f"expected: {kind}", f">= {_share(rules.min)}", found.get(kind)
        share = one.total.share if one is not None else None
        if one is None or share is None:
            absent.append(kind)
            continue
        interval = one.total.wilson
        said = f", 95 % {_share(interval.low)} to {_share(interval.high)}" if interval else ""
        detail = f"{one.total.met} of {one.total.n}{said}"
        if one.total.n < rules.least:
            too_few = f"{detail}. Too little data to say: at least {rules.least} messages are needed."
            yield GateResult(name, "open", _share(share), limit, too_few)
            continue
        yield GateResult(name, _status(share >= rules.min - ROUNDING), _share(share), limit, detail)
        if len(one.vignettes) > 1:
            yield _left_behind(one, rules)
    if absent:
        yield GateResult("expected: others", "skip", "", "", f"The run has no message of kind {', '.join(absent)}.")


def _left_behind(one: Expectation, rules: ExpectedShare) -> GateResult:
    """Check the vignette that fares worst, among those of which something can be said."""
    name = f"worst vignette: {one.name}"
    least = 1 if rules.worst is None else rules.least
    limit = "not below" if rules.worst is None else f">= {_share(rules.worst)}"

    def reached(met: Met) -> float:
        """What is compared: without a limit of its own, a vignette fails only beyond chance."""
        interval = met.wilson
        return interval.high if rules.worst is None and interval is not None else met.share or 0.0

    judged = {vignette: met for vignette, met in one.vignettes.items() if met.n >= least}
    if not judged:
        detail = f"Too little data to say: no vignette has {least} messages."
        return GateResult(name, "open", "", limit, detail)
    worst = min(judged, key=lambda vignette: reached(judged[vignette]))
    met = judged[worst]
    wanted = rules.min if rules.worst is None else rules.worst
    few = len(one.vignettes) - len(judged)
    more = f"; {few} vignettes have too few messages" if few else ""
    interval = met.wilson
    said = f", 95 % {_share(interval.low)} to {_share(interval.high)}" if interval else ""
    detail = f"{worst}, {met.met} of {met.n}{said}{more}"
    return GateResult(name, _status(reached(met) >= wanted - ROUNDING), _share(met.share or 0.0), limit, detail)


def _urgent(run: Counted, gates: Gates) -> Iterator[GateResult]:
    urgent = run.number(lambda cell: cell.kind == "urgent")
    found = run.number(lambda cell: cell.kind == "urgent" and cell.decision == "urgent")
    if gates.urgent_recall is None:
        return
    if not urgent:
        limit = f">= {_share(gates.urgent_recall.min)}"
        yield GateResult("urgent_recall", "skip", "", limit, "The suite has no urgent messages.")
        return
    # Here a failure counts as missed: whoever is in danger does not care why nobody came.
    yield from _at_least("urgent_recall", found / urgent, gates.urgent_recall, f"{found} of {urgent} messages found")


def _failures(run: Counted, gates: Gates) -> Iterator[GateResult]:
    if gates.failures is None:
        return
    failed, asked = run.number(lambda cell: cell.decision == ERROR), run.number()
    share = failed / asked
    detail = f"{failed} of {asked}, for example: {run.failure}" if failed else ""
    limit = f"<= {_share(gates.failures.max)}"
    yield GateResult("failures", _status(share <= gates.failures.max + ROUNDING), _share(share), limit, detail)


def check_baseline(comparison: Comparison, rules: BaselineLimits) -> GateReport:
    """Check the change since a baseline, in total and per vignette, by paired tests on the common questions."""
    rows = comparison.expectations(alpha=rules.alpha)
    if not comparison.scored and not rows:
        nothing = GateResult("change: total", "fail", "", "", "The runs have no question in common.")
        return GateReport((nothing,), tuple(comparison.notes))
    total = comparison.total(alpha=rules.alpha) if comparison.scored else None
    if total is not None:
        safe = pair_up(
            "no wrong answer", comparison.scored, lambda o: bool(o.right) or o.decision != "answered", alpha=rules.alpha
        )
        rows = [total, *comparison.strata(alpha=rules.alpha), safe, *rows]
    urgent = [both for both in comparison.common if both[0].kind == "urgent"]
    if urgent:
        rows.append(pair_up("urgent found", urgent, lambda o: o.decision == "urgent", alpha=rules.alpha))
    results = [_change(row, rules, drop=row is total) for row in rows]
    worse = f"not worse: no change for the worse with p < {rules.alpha:g} (exact McNemar; groups by Holm)."
    return GateReport(tuple(results), (*comparison.notes, worse, _detectable(rows)), tuple(rows))


def _change(row: Paired, rules: BaselineLimits, *, drop: bool) -> GateResult:
    worse = row.difference < 0 and row.adjusted < rules.alpha
    too_far = drop and rules.max_drop is not None and -row.difference > rules.max_drop + ROUNDING
    limit = f"not worse, >= {-rules.max_drop:+.3f}" if drop and rules.max_drop is not None else "not worse"
    interval = f", 95 % {row.change.low:+.3f} to {row.change.high:+.3f}" if row.change else ""
    detail = f"{row.fixed} fixed, {row.broken} broken of {row.n}, p = {row.adjusted:.2g}{interval}"
    return GateResult(f"change: {row.name}", _status(not (worse or too_far)), f"{row.difference:+.3f}", limit, detail)


def _detectable(rows: list[Paired]) -> str:
    said = [f"{row.name} {'none' if row.detectable is None else _points(row.detectable)}" for row in rows]
    return f"Smallest change that these questions could show (power 0.8): {', '.join(said)}."


def merge(*reports: GateReport) -> GateReport:
    """Return several reports as one."""

    def joined(part: Callable[[GateReport], tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(item for report in reports for item in part(report))

    return GateReport(joined(lambda r: r.results), joined(lambda r: r.notes), joined(lambda r: r.paired))


def _status(holds: bool) -> Status:
    return "pass" if holds else "fail"


def _share(value: float) -> str:
    return f"{value:.3f}"


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"
