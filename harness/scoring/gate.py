"""Decide whether a run is good enough, by itself and beside a baseline, by the limits of `harness.yaml`.

A gate that is left out is not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import yaml
from pydantic import Field, ValidationError

from bot import BadData
from harness.files import Record, first_fault, unreadable
from harness.running.outcomes import ERROR, Count, Traits
from harness.running.run import Counted, Run
from harness.scoring.comparison import Comparison, Paired
from harness.scoring.expectations import Expectation, Met, expectations_of
from harness.scoring.score import Summary, clustered_of, summarise_tally
from harness.statistics import Interval, detectable_change, largest_gap, wilson

DEFAULT = Path(__file__).parent / "harness.yaml"
LOCAL = Path("harness.yaml")
Status = Literal["pass", "fail", "skip", "open"]
FEWEST_SHARED = 6  # pairs that vignettes must share to be compared: fewer show nothing at 5 % (2 / 2**5 > 0.05)
LARGE_DROP = 0.20  # what may not go unseen of a group, and of the total where `max_drop` is not given
ROUNDING = 1e-9  # 0.9 - 0.7 is a little more than 0.2 to a computer, but not to a reader of harness.yaml


Basis = Literal["bound", "estimate"]


class AtLeast(Record):
    """The smallest share that passes.

    A share below `min` fails, in few questions only if its whole 95 % interval lies below. One above passes only when
    its interval lies above, too; between the two there is too little data to say. So the system has to show
    that it is good enough; nobody has to show that it is not.

    Attributes:
        min: The limit, 0 to 1.
        by: `bound`: as just said. `estimate`: the share alone decides, whatever chance would do.
        least: With fewer questions nothing passes.
    """

    min: float = Field(ge=0, le=1)
    by: Basis = "bound"
    least: int = Field(default=30, ge=1)


class AtMost(Record):
    """The largest share that passes."""

    max: float = Field(ge=0, le=1)


class WidestGap(Record):
    """The largest difference between two vignettes that passes.

    It fails when a larger one is shown (the 95 % interval of the largest difference lies above `margin`), passes when a
    larger one is ruled out, and else there is too little data: of several vignettes one always fares worst by chance.

    Attributes:
        margin: The limit, 0 to 1.
        by: `bound`: as just said. `estimate`: the difference alone decides.
    """

    margin: float = Field(ge=0, le=1)
    by: Basis = "bound"


class ExpectedShare(Record):
    """Limits for one kind of expectation in chats.

    Attributes:
        min: The smallest share of its messages, over all vignettes.
        by: As of `AtLeast`.
        worst: The smallest share in any vignette; None: a vignette fails when its whole 95 % interval lies below `min`.
        least: With fewer messages than this, nothing is said: in total, and of a vignette beside `worst`.
    """

    min: float = Field(ge=0, le=1)
    by: Basis = "bound"
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
    harmful: AtMost | None = None
    unsupported: AtMost | None = None
    expectations: dict[ExpectedKind, Share | ExpectedShare] = Field(default={})

    def expected(self, kind: ExpectedKind) -> ExpectedShare | None:
        """Return the limits of a kind; a number alone is the smallest share."""
        limit = self.expectations.get(kind)
        return ExpectedShare(min=limit) if isinstance(limit, float | int) else limit


class BaselineLimits(Record):
    """Limits for the change since a baseline.

    Attributes:
        alpha: Two-sided level of the paired tests; a change for the worse that is significant fails.
        max_drop: A drop of accuracy by more than this must be ruled out to pass; None: `LARGE_DROP`, as for groups.
    """

    alpha: float = Field(default=0.05, gt=0, lt=1)
    max_drop: float | None = Field(default=None, ge=0, le=1)


TooLittle = Literal[0, 1, 3]


class GateConfig(Record):
    """What `harness.yaml` says.

    Attributes:
        gates: For the run itself.
        baseline: For the change since another run.
        rehearsal: Suites that are asked before a release is made, by name; those about other exams are passed over.
        too_little_data: Exit code when nothing failed, but something could not be said: 3, or 1 (as failed), or 0.
    """

    gates: Gates
    baseline: BaselineLimits = BaselineLimits()
    rehearsal: tuple[str, ...] | None = None
    too_little_data: TooLittle = 3


def load_config(path: Path | None) -> tuple[GateConfig, Path]:
    """Load the given file, else ``harness.yaml`` of the current folder, else the shipped one; say which it was."""
    chosen = path or (LOCAL if LOCAL.is_file() else DEFAULT)
    try:
        raw = yaml.safe_load(chosen.read_text(encoding="utf-8"))
        return GateConfig.model_validate(raw), chosen
    except ValidationError as error:
        first = error.errors()[0]
        known = (
            ", ".join(Gates.model_fields)
            if first["loc"][:1] == ("gates",)
            else "gates, baseline, rehearsal, too_little_data"
        )
        unknown = first["type"] == "extra_forbidden" or "[key]" in first["loc"]
        if first["loc"][:2] == ("gates", "expectations"):
            known = ", ".join(get_args(ExpectedKind)) if "[key]" in first["loc"] else "min, by, worst, least"
        hint = f"Known here: {known}." if unknown else "See docs/reference.md."
        raise BadData(f"{chosen}: {first_fault(error)}. {hint}") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadData(
            f"The gates {chosen} cannot be read ({unreadable(error)}). Give a file with `--config`."
        ) from error


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
        alone: Notes that a comparison with a baseline replaces by its own.
    """

    results: tuple[GateResult, ...]
    notes: tuple[str, ...]
    paired: tuple[Paired, ...] = ()
    alone: tuple[str, ...] = ()

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
            "notes": [*self.notes, *self.alone],
            "baseline": [row.as_json() for row in self.paired],
        }


def check_run(run: Run | Counted, gates: Gates) -> GateReport:
    """Check a run by itself; where every limit would have to be skipped, nothing is known, and nothing passes."""
    report = _checked(run, gates)
    limits = [result for result in report.results if result.name != "complete"]
    if any(result.status != "skip" for result in limits):
        return report
    opened = [replace(result, status="open") if result.status == "skip" else result for result in report.results]
    return replace(report, results=tuple(opened))


def _checked(run: Run | Counted, gates: Gates) -> GateReport:
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
    sizes: Counter[str | None] = Counter()
    for count in counted.counts:
        sizes[count.cell.pair_id] += count.n if count.cell.right is not None else 0
    sizes = +sizes
    best = detectable_change([], list(sizes.values()))
    at_best = "none" if best is None else _points(best)
    note = (
        f"Smallest change that {n} questions about {len(sizes)} pairs could show beside a baseline, at best (power "
        f"0.8): {at_best}."
    )
    shares = _shares(counted, summary, gates)
    results = (*complete, *shares, *expected, *_urgent(counted, gates), *_failures(counted, gates))
    return GateReport(results, (), alone=(note,))


def _complete(run: Counted) -> list[GateResult]:
    """A run that was killed may have asked the easy questions first."""
    if run.questions is None:
        return []
    held = run.number()
    finished = held >= run.questions
    detail = "" if finished else "The run was not finished. Run it again: it goes on where it was."
    return [GateResult("complete", "pass" if finished else "fail", str(held), f"= {run.questions}", detail)]


def _shares(run: Counted, summary: Summary, gates: Gates) -> Iterator[GateResult]:
    total, strata = summary.total, summary.vignettes
    scored = [count for count in run.counts if count.cell.right is not None]
    answered = [count for count in scored if count.cell.decision == "answered"]

    def measured(hit: Callable[[Traits], bool], of: Sequence[Count] = scored) -> Measured:
        return Measured.of(of, hit)

    yield from _at_least("accuracy", Measured(total.accuracy, total.n, total.clustered), gates.accuracy)
    if gates.worst_vignette:
        by = {name: Measured(one.accuracy, one.n, one.clustered) for name, one in strata.items()}
        # Each vignette must pass; shown is the one that comes nearest to failing.
        results = [next(_at_least("worst_vignette", one, gates.worst_vignette, name)) for name, one in by.items()]
        order: tuple[Status, ...] = ("fail", "open", "pass")
        yield min(results, key=lambda result: (order.index(result.status), result.value))
    if gates.literacy_gap:
        yield _gap(scored, gates.literacy_gap)
    yield from _at_least("precision", measured(lambda cell: bool(cell.right), answered), gates.precision)
    yield from _at_least("top1", measured(lambda cell: bool(cell.top1)), gates.top1)
    yield from _at_least("offered", measured(lambda cell: bool(cell.offered)), gates.offered)


@dataclass(frozen=True, slots=True)
class Measured:
    """A share with its 95 % interval.

    `value` is None when `n` is 0, `interval` also when all questions are about one pair, which says nothing of others.
    """

    value: float | None
    n: int
    interval: Interval | None

    @classmethod
    def of(cls, counts: Sequence[Count], hit: Callable[[Traits], bool]) -> Measured:
        n = sum(count.n for count in counts)
        hits = sum(count.n for count in counts if hit(count.cell))
        return cls(hits / n if n else None, n, clustered_of(counts, hit))


def _at_least(name: str, found: Measured, gate: AtLeast | None, about: str = "") -> Iterator[GateResult]:
    if gate is None:
        return
    limit = f">= {_share(gate.min)}"
    if found.value is None:
        yield GateResult(name, "skip", "", limit, "Nothing was answered.")
        return
    between = _between(found.interval) if found.interval else ""
    detail = ", ".join(filter(None, (about, between, f"{found.n} questions")))
    status, why = _verdict(found, gate.min, gate.by, gate.least)
    yield GateResult(name, status, _share(found.value), limit, f"{detail}{why}")


def _verdict(found: Measured, limit: float, by: Basis, least: int) -> tuple[Status, str]:
    """Return the verdict on a share, and why if it is not what the share alone would bring."""
    if found.value is None:
        raise ValueError("a share of nothing has no verdict")
    below = found.value < limit - ROUNDING
    if found.interval is None:
        if by == "bound":
            return "open", ". Too little data to say: all are about one pair, which says nothing of others."
        return ("fail" if below else "open" if found.n < least else "pass"), ""
    if below and (by == "estimate" or found.n >= least or found.interval.high < limit):
        return "fail", ""
    if found.n < least:
        return "open", f". Too little data to say: at least {least} are needed."
    if by == "estimate" or found.interval.low >= limit - ROUNDING:
        return "pass", ""
    return "open", ". Too little data to say: the interval reaches below the limit."


def _gap(scored: Sequence[Count], rule: WidestGap) -> GateResult:
    """Test the largest difference between two vignettes."""
    names = list(dict.fromkeys(count.cell.vignette for count in scored))
    pairs = list(dict.fromkeys(count.cell.pair_id for count in scored))
    limit = f"<= {_share(rule.margin)}"
    if len(names) < 2:
        return GateResult("literacy_gap", "skip", "", limit, "There is only one vignette.")
    right = np.zeros((len(names), len(pairs)), dtype=np.int64)
    sizes = np.zeros_like(right)
    row = {name: number for number, name in enumerate(names)}
    column = {pair: number for number, pair in enumerate(pairs)}
    for count in scored:
        place = row[count.cell.vignette], column[count.cell.pair_id]
        sizes[place] += count.n
        right[place] += count.n if count.cell.right else 0
    shared = (sizes > 0).all(axis=0)
    right, sizes, few = right[:, shared], sizes[:, shared], int(shared.sum())
    gap = largest_gap(right, sizes) if rule.by == "estimate" or few >= FEWEST_SHARED else None
    if gap is None:
        why = f"Too little data to say: the vignettes share {few} pairs, and at least {FEWEST_SHARED} are needed."
        return GateResult("literacy_gap", "open", "", limit, why)
    shares = right.sum(axis=1) / sizes.sum(axis=1)
    said = f"{names[gap.best]} {_share(shares[gap.best])}, {names[gap.worst]} {_share(shares[gap.worst])}"
    if gap.best == gap.worst:
        said = f"all alike, {_share(shares[gap.best])}"
    if few < len(pairs):
        said += f" on the {few} of {len(pairs)} pairs that all were asked about"
    detail = f"{said}; {_between(gap.interval)}"
    if rule.by == "estimate":
        status = _status(gap.value <= rule.margin + ROUNDING)
    elif gap.interval.low > rule.margin:
        status = "fail"
    elif gap.interval.high <= rule.margin + ROUNDING:
        status = "pass"
    else:
        status, detail = "open", f"{detail}. Too little data to say: the interval reaches across the limit."
    return GateResult("literacy_gap", status, _share(gap.value), limit, detail)


def _between(interval: Interval) -> str:
    return f"95 % {_share(interval.low)} to {_share(interval.high)}"


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
        found_here = Measured(share, one.total.n, one.total.wilson)
        said = f", {_between(found_here.interval)}" if found_here.interval else ""
        status, why = _verdict(found_here, rules.min, rules.by, rules.least)
        yield GateResult(name, status, _share(share), limit, f"{one.total.met} of {one.total.n}{said}{why}")
        if one.total.n < rules.least:
            continue
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
    """Check urgent messages. One on which the system failed was neither found nor missed: it may be either."""
    if gates.urgent_recall is None:
        return
    rule = gates.urgent_recall
    asked = run.number(lambda cell: cell.kind == "urgent")
    failed = run.number(lambda cell: cell.kind == "urgent" and cell.decision == ERROR)
    found = run.number(lambda cell: cell.kind == "urgent" and cell.decision == "urgent")
    answered, limit = asked - failed, f">= {_share(rule.min)}"
    if not asked:
        yield GateResult("urgent_recall", "skip", "", limit, "The suite has no urgent messages.")
        return
    if not answered:
        detail = f"Too little data to say: the system failed on all {asked} urgent messages."
        yield GateResult("urgent_recall", "open", "", limit, detail)
        return
    measured = Measured(found / answered, answered, wilson(found, answered))
    about = f"{found} of {answered} messages found" + (f", the system failed on {failed} more" if failed else "")
    (result,) = _at_least("urgent_recall", measured, rule, about)
    missed = Measured(found / asked, asked, wilson(found, asked))
    if result.status == "pass" and _verdict(missed, rule.min, rule.by, rule.least)[0] != "pass":
        why = f"{result.detail}. Too little data to say: it would not pass if these were missed."
        result = replace(result, status="open", detail=why)
    yield result


def _failures(run: Counted, gates: Gates) -> Iterator[GateResult]:
    if gates.failures is None:
        return
    failed, asked = run.number(lambda cell: cell.decision == ERROR), run.number()
    share = failed / asked
    detail = f"{failed} of {asked}, for example: {run.failure}" if failed else ""
    limit = f"<= {_share(gates.failures.max)}"
    yield GateResult("failures", _status(share <= gates.failures.max + ROUNDING), _share(share), limit, detail)


def check_baseline(comparison: Comparison, rules: BaselineLimits) -> GateReport:
    """Check the change since a baseline, in total and by groups, by paired tests on the common questions.

    As with shares there are three verdicts. A change for the worse that is shown fails, and nothing else does. A group
    where no question broke (a run beside itself, for one) passes, and so does what cannot have become much worse: the
    interval of its change rules out a drop of more than `max_drop` (of groups: `LARGE_DROP`). Between the two there is
    too little data to say.

    Only a change for the worse fails, which is half of a two-sided level. The total has one half; the groups share the
    other by Holm. So a system that did not change fails in at most `alpha` of all comparisons, whichever gate it is.
    """
    if comparison.alpha != rules.alpha:
        comparison = replace(comparison, alpha=rules.alpha)
    rows = comparison.family
    if not comparison.scored and not comparison.spoken:
        nothing = GateResult("change: total", "fail", "", "", "The runs have no question in common.")
        return GateReport((nothing,), tuple(comparison.notes))
    results = [_change(row, rules) for row in rows]
    worse = f"not worse: no change for the worse with p < {rules.alpha:g} (exact test by pair)."
    adjusted = (comparison.adjusted_for,) if comparison.adjusted_for else ()
    return GateReport(tuple(results), (*comparison.notes, worse, *adjusted, _detectable(rows)), tuple(rows))


def _change(row: Paired, rules: BaselineLimits) -> GateResult:
    largest = rules.max_drop if row.name == "total" and rules.max_drop is not None else LARGE_DROP
    name, limit, value = f"change: {row.name}", f"not worse, >= {-largest:+.3f}", f"{row.difference:+.3f}"
    several = f" (one of {row.tests} groups)" if row.tests > 1 else ""
    interval = f", {_percent(1 - row.alpha)} {row.change.low:+.3f} to {row.change.high:+.3f}" if row.change else ""
    detail = f"{row.said}; p = {row.adjusted:.2g}{interval}{several}" if row.fixed or row.broken else row.said
    if row.difference < 0 and row.found:
        return GateResult(name, "fail", value, limit, detail)
    if not row.broken or (row.change is not None and row.change.low >= -largest - ROUNDING):
        return GateResult(name, "pass", value, limit, detail)
    why = f"Too little data to say: a drop of more than {_points(largest)} is not ruled out."
    return GateResult(name, "open", value, limit, f"{detail}. {why}")


def _detectable(rows: list[Paired]) -> str:
    said = [f"{row.name} {'none' if row.detectable is None else _points(row.detectable)}" for row in rows]
    return (
        f"Smallest change that these questions could show (power 0.8, at the level of these tests): {', '.join(said)}."
    )


def merge(*reports: GateReport) -> GateReport:
    """Return several reports as one."""

    def joined(part: Callable[[GateReport], tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(item for report in reports for item in part(report))

    paired = joined(lambda r: r.paired)
    alone = () if paired else joined(lambda r: r.alone)
    return GateReport(joined(lambda r: r.results), joined(lambda r: r.notes), paired, alone)


def _status(holds: bool) -> Status:
    return "pass" if holds else "fail"


def _share(value: float) -> str:
    return f"{value:.3f}"


def _percent(value: float) -> str:
    return f"{100 * value:g} %"


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"
