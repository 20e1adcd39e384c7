"""What a board must know of a run, in plain words: verdict, what was asked by whom, labels, and time to answer."""

from __future__ import annotations

import re
from collections import Counter
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
from harness.running.run import Counted, Run, suite_of
from harness.scoring.gate import GateReport, GateResult, check_baseline, load_config, merge
from harness.scoring.judged import JUDGED, check_judged
from harness.scoring.score import SEED
from harness.statistics import ALPHA

TEMPLATES = Path(__file__).parent / "templates"
Verdict = Literal["passed", "failed", "open"]
Table = tuple[tuple[str, ...], ...]


class Words:
    """The texts of a language."""

    def __init__(self, texts: Mapping[str, Any], phrases: Sequence[tuple[str, str]] = ()) -> None:
        self._texts = texts
        self._phrases = [(re.compile(pattern), there) for pattern, there in phrases]

    def __getitem__(self, key: str) -> Any:
        """Return a text, list or mapping as it stands; ``a.b`` is b within a."""
        found: Any = self._texts
        for part in key.split("."):
            found = found[part]
        return found

    def say(self, key: str, **values: object) -> str:
        """Return a text with its slots filled."""
        return Template(str(self[key]).strip()).substitute(values)

    def count(self, noun: str, n: int) -> str:
        """Return a number with its noun, singular or plural."""
        one, many = self["nouns"][noun]
        return f"{n} {one if n == 1 else many}"

    def listed(self, parts: Sequence[str]) -> str:
        """Return parts as people list them: a, b and c."""
        return f" {self['and']} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

    def gate(self, name: str) -> str:
        """Return a gate's name in words; after a colon stands what it is about."""
        kind, colon, about = name.partition(": ")
        known = self["gate_names"]
        return f"{known.get(kind, kind)}{colon}{known.get(about, about)}"

    def translate(self, said: str) -> str:
        """Return what gates and figures say in English in this language, with its decimal mark."""
        for pattern, there in self._phrases:
            said = pattern.sub(there, said)
        return self.number(said)

    def number(self, said: str) -> str:
        """Return figures with the decimal mark of this language."""
        return re.sub(r"(?<=\d)\.(?=\d)", self["decimal"], said)


@cache
def words(language: str) -> Words:
    """Return the texts of a language, English where there are none."""
    path = TEMPLATES / f"board-{language}.yaml"
    path = path if path.is_file() else TEMPLATES / "board-en.yaml"
    phrases = TEMPLATES / f"phrases-{language}.yaml"
    known = yaml.safe_load(phrases.read_text(encoding="utf-8")) if phrases.is_file() else ()
    return Words(yaml.safe_load(path.read_text(encoding="utf-8")), known)


@dataclass(frozen=True, slots=True)
class Board:
    """The top of a report, ready to be shown.

    Attributes:
        words: Texts of its language.
        verdict: By the gates.
        lead: The sentence that everybody reads.
        paragraph: What a board member reads after it, in short sentences.
        gates, labels, latency: Rows of tables, without their heads.
        limits: Which limits were used.
        labelled: Who labelled how much; empty when nobody did.
        note: What the suite's authors say of it.
    """

    words: Words
    verdict: Verdict
    lead: str
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
    report = check_judged(Counted.of(facts.run), rules.gates, facts.judged.found if facts.judged else None)
    if facts.comparison is not None:
        report = merge(report, check_baseline(facts.comparison, rules.baseline))
    labels, labelled = _labels(facts.run, facts.verdicts, told)
    kinds, models, note = _written(facts.run)
    by = "both" if len(kinds) > 1 else next(iter(kinds), "unknown")
    said = (*_asked(facts, told, by), *_right(facts, told), *_changed(facts, told), *_harm(facts, told))
    return Board(
        words=told,
        verdict=verdict_of(report),
        lead=lead_of(report, told),
        paragraph=(*said, *_content(facts, told), told.say(f"written.{by}", models=models)),
        gates=tuple(_gate(one, told) for one in report.results),
        labels=labels,
        latency=_latency(facts.run, baseline, told),
        limits=told.say("limits_from", file=used.name),
        labelled=labelled,
        note=note,
    )


def verdict_of(report: GateReport) -> Verdict:
    """Return one of three verdicts."""
    return "failed" if report.failed else "open" if report.undecided else "passed"


def lead_of(report: GateReport, told: Words) -> str:
    """Return the reason for the verdict; what nobody judged comes before all else that is open."""
    verdict = verdict_of(report)
    waiting = next((result for result in report.results if result.name == JUDGED), None)
    wanted = {"failed": "fail", "open": "open"}.get(verdict, "")
    results = [result for result in report.results if result.status == wanted]
    names = ", ".join(told.gate(result.name) for result in results)
    if waiting is None:
        return told.say(f"because.{verdict}", names=names)
    asked = int(waiting.limit.removeprefix("= "))
    unjudged = told.say("unjudged", n=asked - int(waiting.value), asked=asked)
    return f"{told.say('because.failed', names=names)} {unjudged}" if verdict == "failed" else unjudged


def _gate(one: GateResult, told: Words) -> tuple[str, ...]:
    return told["status"][one.status], told.gate(one.name), *map(told.translate, (one.value, one.limit, one.detail))


def _asked(facts: Facts, told: Words, by: str) -> list[str]:
    """Say who was asked what, and how often it did not answer."""
    run = facts.run
    system = " ".join(filter(None, (run.identity.get("system", "?"), run.identity.get("method"))))
    questions, groups = told.count("question", len(run.outcomes)), told.count("group", len(facts.vignettes))
    who = told.say("asked_by_people" if by == "person" else "asked_by_patients", groups=groups)
    said = [told.say("asked", system=system, questions=questions, who=who)]
    decided = Counter(outcome.decision for outcome in run.outcomes)
    waiting = sum(outcome.unjudged for outcome in run.outcomes)
    numbers = (("declined", decided["declined"]), ("clarify", decided["clarify"]), ("failed", decided[ERROR]))
    short = [told.count(f"{name}_n", n) for name, n in (*numbers, ("waiting", waiting)) if n]
    return [*said, told.say("of_these", counts=told.listed(short))] if short else said


def _right(facts: Facts, told: Words) -> list[str]:
    """Say how much was right, and what that rests on: checked text, the system's word, or people's."""
    said = []
    if facts.scores is not None:
        total, groups = facts.scores.total, facts.scores.vignettes
        basis = Counter(_basis(outcome, facts.run) for outcome in facts.run.outcomes if outcome.right)
        people = told.count("person", facts.judged.people if facts.judged else 0)
        if any(outcome.unjudged for outcome in facts.run.outcomes):
            said.append(told.say("so_far", right=total.n - total.errors, questions=told.count("question", total.n)))
        else:
            between = {"low": _of_100(total.interval.low), "high": _of_100(total.interval.high)}
            alone = next(iter(basis)) if len(basis) == 1 else "checked" if not basis else "mixed"
            said.append(told.say(f"right.{alone}", share=_of_100(total.accuracy), people=people, **between))
        if len(basis) > 1:
            parts = [told.say(f"basis.{name}", n=basis[name], people=people) for name in BASES if basis[name]]
            said.append(told.say("basis.all", parts=told.listed(parts)))
        if len(groups) > 1:
            worst = min(groups, key=lambda name: groups[name].accuracy)
            said.append(told.say("weakest", name=facts.name(worst), share=_of_100(groups[worst].accuracy)))
        answered = total.n - total.errors + total.wrong
        if answered:
            said.append(told.say("wrong", wrong=total.wrong, answers=told.count("answer", answered)))
    n = sum(one.total.n for one in facts.expectations.values())
    if n:
        met = sum(one.total.met for one in facts.expectations.values())
        said.append(told.say("messages", messages=told.count("message", n), share=_of_100(met / n)))
    return said


BASES = ("checked", "id", "people")


def _basis(outcome: Outcome, run: Run) -> str:
    """Return what a right answer rests on. Over Klartext's own API the texts shown are the catalog's."""
    if outcome.own_words:
        return "people"
    outside = run.identity.get("kind", "klartext-api") != "klartext-api"
    return "id" if outside and outcome.matched == "id" else "checked"


def _changed(facts: Facts, told: Words) -> list[str]:
    if facts.comparison is None or not facts.comparison.scored:
        return []
    row = facts.comparison.total()
    sure = told["sure"]["beyond" if row.p_value < ALPHA else "chance"] if row.fixed or row.broken else ""
    broken = [now for was, now in facts.comparison.scored if was.right and not now.right]
    wrong = sum(outcome.decision == "answered" for outcome in broken)
    fixed, silent = row.fixed, len(broken) - wrong
    return [told.say("compared", fixed=told.count("question", fixed), wrong=wrong, silent=silent, sure=sure)]


def _harm(facts: Facts, told: Words) -> list[str]:
    """Say what people found in the answers they labelled, or that nobody asked them."""
    if facts.judged is None or not facts.judged.people:
        return []
    found = facts.judged
    people, answers = told.count("person", found.people), told.count("answer", found.labelled)
    said = [told.say("by_labels", people=people, answers=answers)]
    for name, one in found.statements.items():
        key = f"found.{name}" if one.n else f"found.{name}_not_assessed"
        said.append(told.say(key, hits=one.answers, answers=told.count("answer", one.n)))
    return said


def _of_100(share: float) -> str:
    return f"{100 * share:.0f}"


def _content(facts: Facts, told: Words) -> list[str]:
    if facts.approved is None:
        return []
    approved, n = facts.approved
    return [told.say("sample")] if not approved else [told.say("approved", n=n, approved=approved)]


def _written(run: Run) -> tuple[set[str], str, str]:
    """Return who wrote the questions, with which models, and what they say of the suite, the one asked."""
    try:
        suite = load_suite(suite_of(run.folder) or run.suite)
    except BadData:
        return set(), "?", ""
    if run.suite_hash and suite.meta.sha256 != run.suite_hash:
        return set(), "?", ""
    models = ", ".join(sorted({one.source.model for one in suite.questions if one.source.model})) or "?"
    return {question.source.kind for question in suite.questions}, models, suite.meta.note


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
            rows.append((f"{one.identity.get('system', '?')} ({name})", _measured(one, told), str(times[0]), *figures))
    return tuple(rows)


def _measured(run: Run, told: Words) -> str:
    """Say how times were taken: in batches of this process an answer's time is a share of its batch."""
    if any(outcome.dialogue or outcome.expected for outcome in run.outcomes):
        return str(told["measured"]["chat"])
    known = told["measured"]
    return str(known.get(run.identity.get("kind", "here"), known["http"]))


def latencies(outcomes: Sequence[Outcome]) -> tuple[int, float, float, float] | None:
    """Return how many answers there are, and their times in milliseconds: median, 95 % quantile, longest."""
    times = [outcome.elapsed_ms for outcome in outcomes if outcome.decision != ERROR and outcome.elapsed_ms > 0]
    if not times:  # a file of answers often knows no times
        return None
    half, most = np.percentile(times, [50, 95]).tolist()
    return len(times), half, most, max(times)
