"""One self-contained HTML page about a run: nothing is loaded from anywhere, all is readable without scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.reporting.charts import advice, changes, confused, deciding, reading, strata
from harness.reporting.facts import Facts, interval_of
from harness.reporting.parts import Cell, Figure, Places, percent
from harness.reporting.questions import groups_of

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure at the top of the page."""

    name: str
    value: Cell
    detail: str


def render(facts: Facts, *, made: datetime) -> str:
    """Return the page."""
    places = _places(facts)
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
        tiles=list(_tiles(facts)),
        figures=list(_figures(facts, places)),
        advised=list(_advice(facts, places)),
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


def _places(facts: Facts) -> Places:
    """Number the pairs in the order of the heat map, then those that only came up as candidates."""
    named = {pair for one in facts.confused for pair in (one.first, one.second)}
    named |= {o.candidates[0] for o in facts.run.outcomes if o.candidates}
    named |= {row.name for row in facts.by_pair}
    return Places.of(facts.vignettes, [*facts.pairs, *sorted(named - set(facts.pairs))])


def _system(facts: Facts) -> str:
    identity = facts.run.identity
    return " ".join(filter(None, (identity.get("system", "a system"), identity.get("method"))))


def _tiles(facts: Facts) -> Iterator[Tile]:
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


def _figures(facts: Facts, places: Places) -> Iterator[Figure]:
    found = (
        strata.accuracy(facts, places),
        changes.by_vignette(facts, places),
        strata.heat_map(facts, places),
        changes.by_pair(facts, places),
        confused.confusion(facts, places),
        deciding.risk_coverage(facts),
        reading.readability(facts, places),
        reading.cost(facts, places),
    )
    yield from (figure for figure in found if figure is not None)


def _advice(facts: Facts, places: Places) -> Iterator[Figure]:
    found = (
        advice.confused_pairs(facts, places),
        advice.strata(facts, places),
        advice.weak(facts, places),
        deciding.thresholds(facts, places),
    )
    yield from (figure for figure in found if figure is not None)
