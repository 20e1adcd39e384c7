"""The list of questions behind all numbers of a page: each row carries the marks by which numbers find it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot import MAX_CHARACTERS
from harness.reporting.facts import Facts, result_of
from harness.reporting.parts import Places, name_of
from harness.run import ERROR, Outcome

MOST = 5_000  # questions on a page; of larger runs, those that were not answered right come first


@dataclass(frozen=True, slots=True)
class Row:
    """One question.

    Attributes:
        text, lang: Of the question.
        result: What became of it, in words.
        shown: The pairs that were shown or offered.
        first: The first candidate.
        score: Its score.
        before: What the baseline made of it; empty without one.
        marks: By which numbers find it.
    """

    text: str
    lang: str
    result: str
    shown: str
    first: str
    score: float
    before: str
    marks: str


@dataclass(frozen=True, slots=True)
class Group:
    """The questions about a pair in a vignette.

    Attributes:
        id: Where links lead.
        title: What it holds.
        rows: Its questions.
        first_of: Anchor of the vignette, in its first group; else empty.
    """

    id: str
    title: str
    rows: tuple[Row, ...]
    first_of: str


def groups_of(facts: Facts, places: Places) -> tuple[list[Group], int]:
    """Return the questions by vignette and pair, and how many are left out since there are too many."""
    outcomes = sorted(facts.run.outcomes, key=lambda o: bool(o.right))[:MOST]
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
        groups.append(Group(f"c{vignette}-p{pair}" if pair < last else f"c{vignette}-n", _title(found), rows, first))
    return groups, len(facts.run.outcomes) - len(outcomes)


def _title(found: Sequence[Outcome]) -> str:
    one = found[0]
    about = one.pair_id or "without a right pair"
    return f"{name_of(one.vignette)} · {about}"


def _row(outcome: Outcome, places: Places, before: Outcome | None, outside: bool) -> Row:
    shown = [outcome.answered_with] if outcome.answered_with else list(outcome.choices)
    return Row(
        text=outcome.text if len(outcome.text) <= MAX_CHARACTERS else f"{outcome.text[:MAX_CHARACTERS]} …",
        lang=outcome.lang,
        result=result_of(outcome),
        shown=", ".join(shown) or outcome.error or "",
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
    if outcome.kind != "paraphrase":
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
