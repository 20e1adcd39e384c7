"""A run with everything that a report shows, its baseline, and the page about it, read as a browser reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.labelling.labels import Verdicts
from harness.patients.vignettes import load_vignettes
from harness.reporting.facts import Context, Facts, RunCosts, Spent, facts_of
from harness.reporting.page import render
from harness.running.outcomes import Outcome
from harness.running.run import Run
from tests.harness.runs import HASH, write_run

PAIRS = ("pain", "costs", "duration", "preparation")
VIGNETTES = ("high-health-literacy", "low-health-literacy")
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def outcomes_of(make: Callable[..., Outcome], *, better: bool) -> list[Outcome]:
    """Ten questions about each pair in each vignette; `better` is the later run."""
    found = []
    for vignette in VIGNETTES:
        for pair in PAIRS:
            for number in range(10):
                taken = "costs" if pair == "pain" and number < (3 if better else 6) else pair
                taken = "pain" if pair == "costs" and number == 0 and better else taken
                one = make(
                    f"{vignette}/{pair}/{number}",
                    pair_id=pair,
                    answered_with=taken,
                    vignette=vignette,
                    text=f"Frage {number} zu {pair}, tut das weh?",
                )
                found.append(replace(one, score=0.5 + 0.05 * number, candidates=(taken, "duration")))
    asked_back = make("asked-back", pair_id="pain", answered_with=None, decision="clarify", choices=("pain", "costs"))
    failed = replace(make("failed", answered_with=None), decision="error", right=None, top1=None, error="timed out")
    urgent = replace(make("urgent", pair_id=None, answered_with=None), kind="urgent", decision="urgent")
    novel = make("novel", pair_id=None, answered_with="costs", text="Darf mein Hund mit?")
    return [*found, asked_back, failed, urgent, novel]


@pytest.fixture
def run(make_outcome: Callable[..., Outcome]) -> Run:
    identity = {"suite": "mine", "suite_hash": HASH, "system": "klartext", "method": "hybrid"}
    return Run(Path("runs/new"), tuple(outcomes_of(make_outcome, better=True)), identity, None)


@pytest.fixture
def baseline(run: Run, make_outcome: Callable[..., Outcome]) -> Run:
    return replace(run, folder=Path("runs/old"), outcomes=tuple(outcomes_of(make_outcome, better=False)))


@pytest.fixture
def context() -> Context:
    return Context(
        verdicts=Verdicts([]),
        # A catalog of many pairs: there, being taken for one certain other pair is no chance.
        answers={name: f"Die Antwort zu {name} ist kurz." for name in (*PAIRS, *(f"other-{n}" for n in range(29)))},
        targets={vignette.id: vignette.targets for vignette in load_vignettes("de")},
        costs=RunCosts(
            currency="USD",
            total=Spent(cost=3.43),
            vignette=dict.fromkeys(VIGNETTES, Spent(cost=1.7)),
            pair={"pain": Spent(cost=0.5)},
        ),
    )


@pytest.fixture
def facts(run: Run, baseline: Run, context: Context) -> Facts:
    return facts_of(run, baseline, context)


@pytest.fixture
def folders(run: Run, baseline: Run, tmp_path: Path) -> tuple[Path, Path]:
    return write_run(tmp_path / "new", run.outcomes), write_run(tmp_path / "old", baseline.outcomes)


@dataclass
class Link:
    href: str
    show: str
    text: str = ""


@dataclass
class Page(HTMLParser):
    """What is in a page.

    Attributes:
        html: Its source.
        tags: Every opening tag.
        ids: Every id.
        links: Every link.
        rows: Marks and score of every question.
        scripts: Source of every script.
        texts: Text outside tags.
        questions: Text of every question.
    """

    html: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    rows: list[tuple[set[str], float]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append((tag, found))
        self._open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a":
            self.links.append(Link(found.get("href", ""), found.get("data-show", "")))
        if "data-m" in found:
            self.rows.append((set(found["data-m"].split()), 0.0))
        if tag == "bdi":
            self.questions.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.texts.append(data)
        if inside == "a" and self.links:
            self.links[-1].text += data
        if inside == "bdi":
            self.questions[-1] += data
        if inside == "td" and self.rows and data.replace(".", "").isdigit() and len(data) == 6:
            self.rows[-1] = (self.rows[-1][0], float(data))

    def count(self, show: str) -> int:
        """Return how many questions a number leads to, as the page's script counts them."""
        wanted = show.split()
        least = max((float(mark[3:]) for mark in wanted if mark.startswith("s>=")), default=0.0)
        marks = {mark for mark in wanted if not mark.startswith("s>=") and mark != "all"}
        return sum(marks <= has and score >= least for has, score in self.rows)


@pytest.fixture
def page(facts: Facts) -> Page:
    return Page(render(facts, made=NOW))
