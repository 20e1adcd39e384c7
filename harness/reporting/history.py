"""Many runs over time on one page: how accuracy, verdict and time to answer went from release to release."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot import BadData
from harness.judging.rescore import by_people
from harness.patients.vignettes import ALL, load_vignettes
from harness.reporting.board import TEMPLATES, Verdict, Words, latencies, verdict_of, words
from harness.running.outcomes import ERROR
from harness.running.run import Counted, Run, begun_at, load_run
from harness.running.store import RUN
from harness.scoring.gate import Gates, load_config
from harness.scoring.judged import check_judged
from harness.scoring.score import Score, summarise

WIDTH, HEIGHT, EDGE = 640, 260, 36  # of the chart, in its own units
SIDE, BELOW = 90, 56  # room for names beside the first and last run, and below all
MOST_NAMES, NAME = 6, 18  # names below the chart, and characters of each


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run.

    Attributes:
        name: Its folder below the history.
        begun: When.
        system: What was asked, with method and catalog.
        suite, suite_hash: What it was asked.
        n: Outcomes.
        total: Score of its questions; None for a run of messages in chats alone.
        worst: The vignette that fares worst, and its share; None where there are not two.
        p95_ms: Time within which 95 % of the answers came; None where no time is known.
        why_none: Why it has no score: ``unreachable``, ``not_judged`` or ``unscored``.
        verdict: By the limits of today.
        exam: Whose catalog answered; empty where the system did not say it.
    """

    name: str
    begun: datetime
    system: str
    suite: str
    suite_hash: str
    n: int
    total: Score | None
    worst: tuple[str, float] | None
    p95_ms: float | None
    verdict: Verdict
    why_none: str = "unscored"
    exam: str = ""


def runs_below(folder: Path, config: Path | None = None) -> tuple[list[PastRun], list[str]]:
    """Return the runs in a folder and its folders, oldest first, and the names of those that cannot be read.

    Raises:
        BadData: There is no run at all.
    """
    rules, _ = load_config(config)
    found, unread = [], []
    for record in sorted(folder.rglob(RUN)):
        name = str(record.parent.relative_to(folder))
        try:
            found.append(past_run(record.parent, name, rules.gates))
        except BadData:
            unread.append(name)
    if not found:
        raise BadData(f"{folder} holds no run. Give the folder that holds the folders of your runs.")
    return sorted(found, key=lambda one: (one.begun, one.name)), unread


def past_run(folder: Path, name: str, gates: Gates) -> PastRun:
    """Return how a run fared, by people's labels where there are any; raise BadData when it cannot be read."""
    run = load_run(folder)
    if not run.outcomes:
        raise BadData(f"{folder} holds no outcomes.")
    judged = by_people(run)
    report = check_judged(Counted.of(judged.run), gates, judged.found)
    return _past(name, judged.run, begun_at(folder), verdict_of(report))


def _past(name: str, run: Run, begun: datetime, verdict: Verdict) -> PastRun:
    scored = any(outcome.right is not None for outcome in run.outcomes)
    scores = summarise(run.outcomes) if scored else None
    groups = scores.vignettes if scores is not None else {}
    worst = min(groups, key=lambda one: groups[one].accuracy) if len(groups) > 1 else None
    times = latencies(run.outcomes)
    identity = run.identity
    why = "not_judged" if any(outcome.unjudged for outcome in run.outcomes) else "unscored"
    why = "unreachable" if all(outcome.decision == ERROR for outcome in run.outcomes) else why
    return PastRun(
        name=name,
        begun=begun,
        system=" ".join(filter(None, (identity.get(key, "") for key in ("system", "method", "catalog")))),
        suite=run.suite,
        suite_hash=run.suite_hash,
        n=len(run.outcomes),
        total=scores.total if scores is not None else None,
        worst=(worst, groups[worst].accuracy) if worst is not None else None,
        p95_ms=times[2] if times is not None else None,
        verdict=verdict,
        why_none=why,
        exam=exam_of(identity),
    )


def exam_of(identity: Mapping[str, str]) -> str:
    """Return whose catalog answered in a run; empty where the system did not say it."""
    return str(identity.get("catalog", "")).partition("@")[0]


@dataclass(frozen=True, slots=True)
class Section:
    """The runs of one suite on one exam, ready to be shown."""

    title: str
    chart: Markup | None
    rows: tuple[tuple[str, ...], ...]
    verdicts: tuple[Verdict, ...]


def render_history(folder: Path, *, language: str, made: datetime, config: Path | None = None, exam: str = "") -> str:
    """Return one HTML page about all runs below a folder, exam by exam; `exam`: about this one alone.

    Raises:
        BadData: There is no run, or none about that exam.
    """
    told = words(language)
    runs, unread = runs_below(folder, config)
    titles = {one.id: one.title for one in load_vignettes(language, names=[ALL])}
    # A suite asks about one exam: systems that do not say what they answer from stand beside those that do.
    of_suite = {(one.suite, one.suite_hash): one.exam for one in runs if one.exam}
    of_run = [one.exam or of_suite.get((one.suite, one.suite_hash), "") for one in runs]
    exams = sorted(set(of_run))
    if exam and exam not in exams:
        raise BadData(f"{folder} holds no run about {exam!r}. There are: {', '.join(filter(None, exams)) or 'none'}.")
    runs = [one for one, of in zip(runs, of_run, strict=True) if exam in ("", of)]
    of_run = [of for of in of_run if exam in ("", of)]
    suites: dict[tuple[str, str, str], list[PastRun]] = {}
    for one, of in zip(runs, of_run, strict=True):
        suites.setdefault((of, one.suite, one.suite_hash), []).append(one)
    sections = []
    for of, suite, hash_ in sorted(suites, key=lambda key: key[0]):
        group = suites[of, suite, hash_]
        several = len({key[2] for key in suites if key[1] == suite}) > 1
        title = f"{suite or '?'} ({hash_[:8]})" if several else suite or "?"
        title = f"{of or told['history_exam_unsaid']}: {title}" if len(exams) > 1 or exam else title
        rows = tuple(_row(one, titles, told) for one in group)
        sections.append(Section(title, _chart(group, told), rows, tuple(one.verdict for one in group)))
    _, used = load_config(config)
    left_out = told.say("history_left_out", names=", ".join(unread)) if unread else ""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("history.html").render(
        language=language,
        words=told,
        lead=told.say("history_lead", runs=told.count("run", len(runs)), folder=folder.name, file=used.name),
        left_out=left_out,
        sections=sections,
        made=made,
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
    )


def _row(one: PastRun, titles: dict[str, str], told: Words) -> tuple[str, ...]:
    within = one.total.interval if one.total is not None else None
    worst = f"{titles.get(one.worst[0], one.worst[0])} {100 * one.worst[1]:.0f} %" if one.worst else "–"
    return (
        one.name,
        f"{one.begun:%Y-%m-%d %H:%M}",
        one.system,
        str(one.n),
        told.number(f"{100 * one.total.accuracy:.1f} %") if one.total is not None else told[one.why_none],
        f"{100 * within.low:.0f}–{100 * within.high:.0f} %" if within is not None else "–",
        worst,
        told.say("seconds", value=f"{one.p95_ms:.0f}") if one.p95_ms is not None else "–",
        told["verdict"][one.verdict],
    )


def _chart(group: Sequence[PastRun], told: Words) -> Markup | None:
    """Draw accuracy over runs, with intervals, one line for each system; None with fewer than two."""
    scored = [(one, one.total) for one in group if one.total is not None]
    if len(scored) < 2:
        return None
    floor = max(0.0, int(min(total.interval.low for _, total in scored) * 10) / 10)

    def y(share: float) -> float:
        return HEIGHT - BELOW - (share - floor) / (1 - floor) * (HEIGHT - EDGE - BELOW)

    step = (WIDTH - 2 * SIDE) / (len(scored) - 1)
    parts: list[str] = []
    lines: dict[str, list[str]] = {}
    for number, (one, total) in enumerate(scored):
        x, within = SIDE + number * step, total.interval
        said = (
            f"{one.name}, {one.system}: {100 * total.accuracy:.1f} % ({100 * within.low:.0f}–{100 * within.high:.0f} %)"
        )
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y(within.low):.1f}" y2="{y(within.high):.1f}" class="bar"/>'
            f'<circle cx="{x:.1f}" cy="{y(total.accuracy):.1f}" r="5" class="dot">'
            f"<title>{html.escape(told.number(said))}</title></circle>"
        )
        if number % -(-len(scored) // MOST_NAMES) == 0:
            name = one.name if len(one.name) <= NAME else f"{one.name[: NAME - 1]}…"
            parts.append(
                f'<text x="{x:.1f}" y="{HEIGHT - 26}" text-anchor="middle">{html.escape(name)}</text>'
                f'<text x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{one.begun:%Y-%m-%d}</text>'
            )
        lines.setdefault(one.system, []).append(f"{x:.1f},{y(total.accuracy):.1f}")
    paths = "".join(f'<polyline points="{" ".join(line)}" class="path"/>' for line in lines.values() if len(line) > 1)
    ticks = "".join(
        f'<line x1="{EDGE}" x2="{WIDTH}" y1="{y(share):.1f}" y2="{y(share):.1f}" class="tick"/>'
        f'<text x="2" y="{y(share) + 4:.1f}">{100 * share:.0f} %</text>'
        for share in (floor, (1 + floor) / 2, 1.0)
    )
    label = html.escape(told["history_chart"])
    return Markup(
        f'<svg class="history" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{ticks}'
        f"{paths}{''.join(parts)}</svg>"
    )
