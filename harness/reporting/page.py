"""One self-contained HTML page about a run: nothing is loaded from anywhere, all is readable without scripts.

Behind its numbers is the list of questions: each row carries the marks by which numbers find it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot import MAX_CHARACTERS
from harness.advice.outside import what_came
from harness.reporting import advice_charts, charts, chat_charts
from harness.reporting.board import Board
from harness.reporting.drawing import Cell, Figure, Places, percent
from harness.reporting.facts import Facts, cut, interval_of, result_of
from harness.running.outcomes import ERROR, Outcome
from harness.scoring.expectations import KINDS

MOST = 5_000  # questions on a page; of larger runs, those that were not answered right come first
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One question.

    Attributes:
        text, lang: Of the question.
        result: What became of it, in words.
        shown: The pairs that were shown or offered.
        said: What the system said in words that no approved text has; empty where it did not.
        first: The first candidate.
        score: Its score.
        before: What the baseline made of it; empty without one.
        marks: By which numbers find it.
    """

    text: str
    lang: str
    result: str
    shown: str
    said: str
    first: str
    score: float
    before: str
    marks: str


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """The questions about a pair in a vignette.

    Attributes:
        id: Where links lead.
        title: What it holds.
        rows: Its questions.
        first_of: Anchor of the vignette, in its first group; else empty.
    """

    id: str
    title: str
    rows: tuple[QuestionRow, ...]
    first_of: str


def groups_of(facts: Facts, places: Places) -> tuple[list[QuestionGroup], int]:
    """Return the questions by vignette and pair, and how many are left out since there are too many."""
    outcomes = sorted(facts.run.outcomes, key=lambda o: bool(o.right or o.met))[:MOST]
    before = {now.id: was for was, now in facts.comparison.common} if facts.comparison else {}
    outside = {id_ for one in facts.reading for id_ in one.outside}
    last = len(places.pairs)  # what has no right pair comes last
    cells: dict[tuple[int, int], list[Outcome]] = {}
    for outcome in outcomes:
        pair = places.pairs.get(outcome.pair_id, last) if outcome.pair_id else last
        cells.setdefault((places.vignettes[outcome.vignette], pair), []).append(outcome)
    seen: set[int] = set()
    groups = []
    for (vignette, pair), found in sorted(cells.items()):
        rows = tuple(_row(o, places, before.get(o.id), o.id in outside) for o in sorted(found, key=lambda o: o.id))
        first = f"v{vignette}" if vignette not in seen else ""
        seen.add(vignette)
        groups.append(
            QuestionGroup(
                f"c{vignette}-p{pair}" if pair < last else f"c{vignette}-n", _title(found, places), rows, first
            )
        )
    return groups, len(facts.run.outcomes) - len(outcomes)


def _title(found: Sequence[Outcome], places: Places) -> str:
    one = found[0]
    about = one.pair_id or "without a right pair"
    return f"{places.name(one.vignette)} · {about}"


def _row(outcome: Outcome, places: Places, before: Outcome | None, outside: bool) -> QuestionRow:
    shown = [outcome.answered_with] if outcome.answered_with else list(outcome.choices)
    return QuestionRow(
        text=outcome.text if len(outcome.text) <= MAX_CHARACTERS else f"{outcome.text[:MAX_CHARACTERS]} …",
        lang=outcome.lang,
        result=result_of(outcome),
        shown=", ".join(shown) or outcome.error or "",
        said=cut(outcome.said or ""),
        first=outcome.candidates[0] if outcome.candidates else "",
        score=outcome.score,
        before=result_of(before) if before else "",
        marks=" ".join(_marks(outcome, places, before, outside=outside)),
    )


def _marks(outcome: Outcome, places: Places, before: Outcome | None, *, outside: bool) -> Iterable[str]:
    yield f"v{places.vignettes[outcome.vignette]}"
    if outcome.pair_id is not None and outcome.pair_id in places.pairs:
        yield f"p{places.pairs[outcome.pair_id]}"
    if outcome.decision == ERROR:
        yield "failed"
    if outcome.expected is not None:
        yield chat_charts.mark_of(outcome.expected)
        if outcome.met is not None:
            yield "met" if outcome.met else "unmet"
        if outcome.offered and not outcome.met:
            yield "offered"
    elif outcome.kind != "paraphrase":
        yield "danger" if outcome.kind == "urgent" else "novel"
    if outcome.decision not in (ERROR, "urgent") and outcome.candidates:
        yield "open"
    if outside:
        yield "outside"
    if outcome.right is not None:
        yield from _scored(outcome, places.pairs, before)


def _scored(outcome: Outcome, pairs: Mapping[str, int], before: Outcome | None) -> Iterable[str]:
    yield "scored"
    yield "right" if outcome.right else "missed"
    if not outcome.right:
        yield "wrong" if outcome.decision == "answered" else "silent"
    if outcome.offered:
        yield "offered"
    if outcome.decision == "answered":
        yield "answered"
    if outcome.candidates:
        yield "ranked"
        yield "first" if outcome.top1 else "other"
        if not outcome.top1 and outcome.candidates[0] in pairs:
            yield f"t{pairs[outcome.candidates[0]]}"
    if before is not None and before.right is not None and before.right != outcome.right:
        yield "fixed" if outcome.right else "broken"


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure at the top of the page."""

    name: str
    value: Cell
    detail: str


def render(facts: Facts, *, made: datetime, board: Board | None = None, language: str = "en") -> str:
    """Return the page, with what a board must know at its top."""
    # Number the pairs in the order of the heat map, then those that only came up as candidates.
    named = {pair for one in facts.confused for pair in (one.first, one.second)}
    named |= {o.candidates[0] for o in facts.run.outcomes if o.candidates}
    named |= {row.name for row in facts.by_pair}
    places = Places.of(facts.vignettes, [*facts.pairs, *sorted(named - set(facts.pairs))], facts.titles)
    groups, left_out = groups_of(facts, places)
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        title=f"{facts.run.identity.get('suite') or facts.run.folder.name}: {_system(facts)}",
        identity=facts.run.identity,
        folder=facts.run.folder.name,
        made=made,
        board=board,
        language=language,
        tiles=list(_tiles(facts)),
        figures=_figures(facts, places),
        advised=_advice(facts, places),
        headline=facts.advice.headline,
        instead=what_came(facts.run.outcomes),
        threshold=facts.advice.threshold,
        groups=groups,
        total=len(facts.run.outcomes),
        left_out=left_out,
        has_baseline=facts.comparison is not None,
        style=Markup(style),
        script=Markup(script),
        # Nothing but this very script may run, even if a question got past the escaping.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def _system(facts: Facts) -> str:
    identity = facts.run.identity
    return " ".join(filter(None, (identity.get("system", "a system"), identity.get("method"))))


def _tiles(facts: Facts) -> Iterator[Tile]:
    if facts.scores is not None:
        yield from _question_tiles(facts)
    for kind, one in facts.expectations.items():
        share = Cell(percent(one.total.share, 1), f"{chat_charts.mark_of(kind)} met")
        yield Tile(KINDS.get(kind, kind), share, f"{one.total.met} of {one.total.n} messages")


def _question_tiles(facts: Facts) -> Iterator[Tile]:
    total = facts.summary.total
    low, high = interval_of(total)
    yield Tile(
        "answered right",
        Cell(percent(total.accuracy, 1), "right"),
        f"95 %: {percent(low, 1)} to {percent(high, 1)}, of {total.n}",
    )
    yield Tile("precision", Cell(percent(total.precision, 1), "answered"), f"{total.wrong} wrong answers")
    yield Tile("right pair first", Cell(percent(total.top1, 1), "first"), "whether or not it was shown")
    yield Tile("right pair offered", Cell(percent(total.offered, 1), "offered"), "when asking back")
    n, found = facts.summary.urgent
    if n:
        yield Tile("urgent found", Cell(percent(found / n, 1), "danger"), f"{found} of {n} messages")
    novel = sum(sum(counts.values()) for counts in facts.summary.novel.values())
    if novel:
        answered = sum(counts.get("answered", 0) for counts in facts.summary.novel.values())
        yield Tile(
            "novel answered", Cell(percent(answered / novel, 1), "novel"), f"{answered} of {novel}; raters judge"
        )
    if facts.summary.failed:
        yield Tile("failures", Cell(str(facts.summary.failed), "failed"), "the system gave no answer; not scored")


def _figures(facts: Facts, places: Places) -> list[Figure]:
    if facts.scores is None:
        spoken = (
            chat_charts.expectations(facts, places),
            charts.readability(facts, places),
            charts.cost(facts, places),
        )
        return [figure for figure in spoken if figure is not None]
    found = (
        charts.accuracy(facts, places),
        chat_charts.expectations(facts, places),
        charts.by_vignette(facts, places),
        charts.heat_map(facts, places),
        charts.by_pair(facts, places),
        advice_charts.confusion(facts, places),
        advice_charts.risk_coverage(facts),
        charts.readability(facts, places),
        charts.cost(facts, places),
    )
    return [figure for figure in found if figure is not None]


def _advice(facts: Facts, places: Places) -> list[Figure]:
    if facts.scores is None:
        return []
    found = (
        advice_charts.confused_pairs(facts, places),
        advice_charts.weak_strata(facts, places),
        advice_charts.weak(facts, places),
        advice_charts.thresholds(facts, places),
    )
    return [figure for figure in found if figure is not None]
