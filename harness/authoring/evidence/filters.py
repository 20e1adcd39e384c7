"""What the self-refiner's filters keep of what is found, and whether the answer is still among it: the paper's Table 7.

The paper counts right answers to multiple-choice questions with each filter on and off. Our questions have no options;
what is known is the passage that answers, and the words in it that do. Precision is a lower bound: a passage that
nobody named may help as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import fold
from harness.authoring.evidence.drafting import Drafter, Evidence, Part, Plan
from harness.authoring.evidence.passages import Segment, segments_of
from harness.authoring.evidence.retrieval import Reach
from harness.authoring.evidence.study import Target
from harness.authoring.working import Work, together
from harness.statistics import Interval, clustered_share, wilson


@dataclass(frozen=True, slots=True)
class Kept:
    """What a reader would be given for one question; what answers it stands in `answering`."""

    passages: int
    answering_passages: int
    segments: int
    answering_segments: int
    words: int


@dataclass(frozen=True, slots=True)
class FilterRow:
    """What is kept with some filters on, of each question whose answering passage was found."""

    name: str
    kept: tuple[Kept, ...]

    def recall(self) -> Interval | None:
        """Share of questions that keep a passage that answers them."""
        return wilson(self.answered, len(self.kept))

    def precision(self) -> Interval | None:
        """Share of what is kept that answers, over passages; a question is a cluster."""
        return clustered_share([each.answering_passages for each in self.kept], [each.passages for each in self.kept])

    @property
    def answered(self) -> int:
        return sum(each.answering_passages > 0 for each in self.kept)

    @property
    def said(self) -> int:
        """Questions that keep the very words that answer them."""
        return sum(each.answering_segments > 0 for each in self.kept)

    def total(self, name: str) -> int:
        return sum(int(getattr(each, name)) for each in self.kept)

    def as_json(self) -> dict[str, object]:
        precision, recall = self.precision(), self.recall()
        return {
            "name": self.name,
            "questions": len(self.kept),
            "answered": self.answered,
            "answering_words": self.said,
            **{name: self.total(name) for name in ("passages", "answering_passages", "segments", "words")},
            "recall_interval": recall.as_json() if recall else None,
            "precision_interval": precision.as_json() if precision else None,
        }


def refined(
    drafter: Drafter, targets: Sequence[Target], reach: Reach, without: frozenset[Part]
) -> Work[list[Evidence]]:
    """Find and filter for all questions, side by side, with the prompts of a draft."""
    works = [drafter.refine(Plan(each.question, reach, without), prefix=f"{each.id}/") for each in targets]
    return (yield from together(works))


def useful_alone(drafter: Drafter, targets: Sequence[Target], found: Sequence[Evidence]) -> Work[list[list[Segment]]]:
    """Have the usefulness filter judge all that was found, as if there were no other filter before it."""
    works = [
        drafter.useful(Plan(target.question), _cut(drafter, evidence), prefix=f"{target.id}/alone/")
        for target, evidence in zip(targets, found, strict=True)
    ]
    return (yield from together(works))


def _cut(drafter: Drafter, evidence: Evidence) -> list[Segment]:
    """Cut what was found into segments, in the order of the documents, as a draft does."""
    ids = {each.passage.id for each in evidence.found}
    return segments_of(each for each in drafter.retriever.passages if each.id in ids)


def filter_rows(
    targets: Sequence[Target],
    found: Sequence[Evidence],
    without: frozenset[Part],
    alone: Sequence[Sequence[Segment]] | None = None,
) -> list[FilterRow]:
    """Return what is kept by no filter, by each that is on, in their order; `alone`: by the usefulness filter alone."""
    cases = [
        (target, evidence, by_one)
        for target, evidence, by_one in zip(targets, found, alone or [()] * len(found), strict=True)
        if any(each.passage.id in target.passages for each in evidence.found)
    ]
    rows = [_row("no filter", [(target, segments_of(one.passage for one in each.found)) for target, each, _ in cases])]
    if "relevance" not in without:
        rows.append(_row("relevance", [(target, evidence.segments) for target, evidence, _ in cases]))
    if alone is not None:
        rows.append(_row("usefulness", [(target, by_one) for target, _, by_one in cases]))
    if "usefulness" not in without:
        name = "usefulness" if "relevance" in without else "relevance + usefulness"
        rows.append(_row(name, [(target, evidence.useful) for target, evidence, _ in cases]))
    return rows


def _row(name: str, given: Sequence[tuple[Target, Sequence[Segment]]]) -> FilterRow:
    return FilterRow(name, tuple(_kept(target, segments) for target, segments in given))


def _kept(target: Target, segments: Sequence[Segment]) -> Kept:
    passages = {each.passage.id: each.passage for each in segments}
    right = set(passages) & target.passages
    answering = [each for each in segments if each.passage.id in right and _answers(each, target)]
    words = sum(len(each.text.split()) for each in segments)
    return Kept(len(passages), len(right), len(segments), len(answering), words)


def _answers(segment: Segment, target: Target) -> bool:
    """Whether a segment of an answering passage says it; where the words go over its end, all of the passage does."""
    here = [quote for quote in target.quotes if quote in fold(segment.passage.text)]
    whole = [quote for quote in here if any(quote in fold(each.text) for each in segments_of([segment.passage]))]
    return any(quote in fold(segment.text) for quote in whole) or len(whole) < len(here)


def page(rows: Sequence[FilterRow], about: Sequence[str]) -> str:
    """Return the table as Markdown, with what it was measured on."""
    lines = ["# What the filters keep", "", *(f"- {each}" for each in about), ""]
    lines += [
        "| | passages | precision | recall | segments | answering words kept | words |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        lines.append(f"| {row.name} | {' | '.join(cells(row, bounds=True))} |")
    end = (
        "Precision: share of the passages kept that are known to answer. Recall: share of the questions that keep one "
        "of those that were found. In brackets: 95 % intervals (Wilson; for precision with questions as clusters)."
    )
    return "\n".join([*lines, "", end, ""])


def cells(row: FilterRow, *, bounds: bool = False) -> list[str]:
    """Return the figures of a row, in the order of the page's columns."""

    def shown(part: int, of: int, interval: Interval | None) -> str:
        if not of:
            return "–"
        return f"{part / of:.3f}" + (f" ({interval.low:.2f}–{interval.high:.2f})" if bounds and interval else "")

    passages, n = row.total("passages"), len(row.kept)
    return [
        str(passages),
        shown(row.total("answering_passages"), passages, row.precision()),
        shown(row.answered, n, row.recall()),
        str(row.total("segments")),
        f"{row.said} of {n}",
        str(row.total("words")),
    ]
