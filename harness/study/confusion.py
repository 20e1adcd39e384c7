"""Which pairs the matcher confuses most on a suite."""

from __future__ import annotations

from dataclasses import asdict

from harness.confusions import Confusion, confusions, mistakes_of
from harness.study.scoring import Study, ask
from harness.study.tables import StudyTable

LISTED = 15


def confusion(study: Study, *, listed: int = LISTED) -> StudyTable:
    """List the most confused pairs of pairs."""
    mistakes = mistakes_of(ask(study.whole, study.questions, study.language))
    found = confusions(mistakes, len(study.whole.catalog(study.language).pairs))
    beyond = sum(one.beyond_chance for one in found)
    note = (
        f"{study.about} {len(mistakes)} questions had a wrong first candidate, in {len(found)} pairs of pairs; "
        f"{beyond} of these are beyond chance (false discovery rate 5 %). The {min(listed, len(found))} least likely "
        "by chance are shown. Expected: if each pair drew mistakes as it does from the questions about all other pairs."
    )
    return StudyTable(
        title=f"Confused pairs ({study.language})",
        note=note,
        columns=("asked about / taken for", "forth", "back", "expected", "q"),
        rows=tuple(map(_row, found[:listed])),
        figures=tuple(asdict(one) for one in found),
    )


def _row(one: Confusion) -> tuple[str, ...]:
    return (
        f"{one.first} / {one.second}",
        str(one.forth),
        str(one.back),
        f"{one.expected:.2f}",
        f"{one.q_value:.3f}",
    )
