"""What a board must know of a run, in plain words: verdict, what was asked by whom, labels, and time to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal

import numpy as np
import yaml

from bot import BadData
from harness.judging.agreement import agreement_of
from harness.labelling.labels import Verdicts
from harness.patients.suites import load_suite
from harness.reporting.facts import Facts
from harness.running.outcomes import ERROR, Outcome
from harness.running.run import Run
from harness.scoring.gate import GateReport, check_baseline, check_run, load_config, merge
from harness.scoring.score import SEED
from harness.statistics import ALPHA

TEMPLATES = Path(__file__).parent / "templates"
Verdict = Literal["passed", "failed", "open"]
Table = tuple[tuple[str, ...], ...]


class Words:
    """The texts of a language."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self._texts = texts

    def __getitem__(self, key: str) -> Any:
        """Return a text, list or mapping as it stands; ``a.b`` is b within a."""
        found: Any = self._texts
        for part in key.split("."):
            found = found[part]
        return found

    def say(self, key: str, **values: object) -> str:
        """Return a text with its slots filled."""
        return Template(str(self[key]).strip()).substitute(values)


@cache
def words(language: str) -> Words:
    """Return the texts of a language, English where there are none."""
    path = TEMPLATES / f"board-{language}.yaml"
    path = path if path.is_file() else TEMPLATES / "board-en.yaml"
    return Words(yaml.safe_load(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Board:
    """The top of a report, ready to be shown.

    Attributes:
        words: Texts of its language.
        verdict: By the gates.
        paragraph: What a board member reads.
        gates, labels, latency: Rows of tables, without their heads.
        limits: Which limits were used.
        labelled: Who labelled how much; empty when nobody did.
        note: What the suite's authors say of it.
    """

    words: Words
    verdict: Verdict
    paragraph: tuple[str, ...]
    gates: Table
    labels: Table
    latency: Table
    limits: str
    labelled: str
    note: str


def board_of(facts: Facts, *, language: str, baseline: Run | None = None, config: Path | None = None) -> Board:
    """Gather what a board must know; raise BadData when the gates cannot be read."""
    told = words(language)
    rules, used = load_config(config)
    report = check_run(facts.run, rules.gates)
    if facts.comparison is not None:
        report = merge(report, check_baseline(facts.comparison, rules.baseline))
    verdict = verdict_of(report)
    labels, labelled = _labels(facts.run, facts.verdicts, told)
    written, note = _written(facts.run, told)
    return Board(
        words=told,
        verdict=verdict,
        paragraph=(*_said(facts, told), why(report, told), *_content(facts, told), written),
        gates=tuple((told["status"][one.status], one.name, one.value, one.limit, one.detail) for one in report.results),
        labels=labels,
        latency=_latency(facts.run, baseline, told),
        limits=told.say("limits_from", file=used.name),
        labelled=labelled,
        note=note,
    )


def verdict_of(report: GateReport) -> Verdict:
    """Return one of three verdicts."""
    return "failed" if report.failed else "open" if report.undecided else "passed"


def why(report: GateReport, told: Words) -> str:
    """Return the reason for the verdict, in a sentence."""
    wanted = {"failed": "fail", "open": "open"}.get(verdict_of(report), "")
    names = ", ".join(result.name for result in report.results if result.status == wanted)
    return told.say(f"because.{verdict_of(report)}", names=names)


def _said(facts: Facts, told: Words) -> list[str]:
    identity = facts.run.identity
    system = " ".join(filter(None, (identity.get("system", "?"), identity.get("method"))))
    said = [told.say("asked", system=system, n=len(facts.run.outcomes), patients=len(facts.vignettes))]
    if facts.scores is not None:
        total, groups = facts.scores.total, facts.scores.vignettes
        between = {"low": _of_100(total.interval.low), "high": _of_100(total.interval.high)}
        said.append(told.say("right", share=_of_100(total.accuracy), **between))
        if len(groups) > 1:
            worst = min(groups, key=lambda name: groups[name].accuracy)
            said.append(told.say("weakest", name=facts.name(worst), share=_of_100(groups[worst].accuracy)))
        if total.precision is not None:
            said.append(told.say("wrong", wrong=_of_100(1 - total.precision)))
    n = sum(one.total.n for one in facts.expectations.values())
    if n:
        met = sum(one.total.met for one in facts.expectations.values())
        said.append(told.say("messages", n=n, share=_of_100(met / n)))
    if facts.comparison is not None and facts.comparison.scored:
        row = facts.comparison.total()
        sure = told["sure"]["beyond" if row.p_value < ALPHA else "chance"] if row.fixed or row.broken else ""
        said.append(told.say("compared", fixed=row.fixed, broken=row.broken, sure=sure))
    return said


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}"


def _content(facts: Facts, told: Words) -> list[str]:
    if facts.approved is None:
        return []
    approved, n = facts.approved
    return [told.say("sample")] if not approved else [told.say("approved", n=n, approved=approved)]


def _written(run: Run, told: Words) -> tuple[str, str]:
    """Return who wrote the questions, and what they say of the suite; the suite must be the very one that was asked."""
    try:
        suite = load_suite(run.suite)
    except BadData:
        suite = None
    if suite is None or (run.suite_hash and suite.meta.sha256 != run.suite_hash):
        return told.say("written.unknown"), ""
    kinds = {question.source.kind for question in suite.questions}
    models = ", ".join(sorted({one.source.model for one in suite.questions if one.source.model})) or "?"
    by = "both" if len(kinds) > 1 else next(iter(kinds), "unknown")
    return told.say(f"written.{by}", models=models), suite.meta.note


def _labels(run: Run, verdicts: Verdicts, told: Words) -> tuple[Table, str]:
    shown = [(outcome.id, outcome.shown) for outcome in run.outcomes if outcome.shown is not None]
    if not verdicts.rater_ids or not shown:
        return (), ""
    found = agreement_of(verdicts, shown, rng=np.random.default_rng(SEED))
    labelled = {rater: n for rater, n in found.labelled.items() if n}
    if not labelled:
        return (), ""
    rows = []
    for group in found.pairs:
        figure = group.figures.get("agreement")
        share = "–" if figure is None or figure.value is None else f"{100 * figure.value:.0f} %"
        inside = figure.interval if figure is not None else None
        between = f"{100 * inside.low:.0f}–{100 * inside.high:.0f} %" if inside else "–"
        rows.append((", ".join(group.raters), str(group.n), share, between))
    return tuple(rows), told.say("labelled", raters=", ".join(f"{rater} {n}" for rater, n in labelled.items()))


def _latency(run: Run, baseline: Run | None, told: Words) -> Table:
    rows = []
    for name, one in ((told["this_run"], run), (told["baseline"], baseline)):
        times = latencies(one.outcomes) if one is not None else None
        if one is not None and times is not None:
            figures = tuple(
                told.say("seconds", value=f"{value:.0f}" if value >= 10 else f"{value:.1f}") for value in times[1:]
            )
            rows.append((f"{one.identity.get('system', '?')} ({name})", str(times[0]), *figures))
    return tuple(rows)


def latencies(outcomes: Sequence[Outcome]) -> tuple[int, float, float, float] | None:
    """Return how many answers there are, and their times in milliseconds: median, 95 % quantile, longest."""
    times = [outcome.elapsed_ms for outcome in outcomes if outcome.decision != ERROR]
    if not times:
        return None
    half, most = np.percentile(times, [50, 95]).tolist()
    return len(times), half, most, max(times)
