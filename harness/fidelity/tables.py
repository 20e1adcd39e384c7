"""Fidelity for people: a table per vignette, and the questions that look unlike their patient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from harness.fidelity.drift import Drift, Judged, VignetteDrift
from harness.fidelity.measures import Miss
from harness.vignettes import Targets

NAMES = {
    "words": "words",
    "reading_ease": "reading ease",
    "jargon_share": "jargon, %",
    "typo_share": "unknown words, %",
    "foreign_share": "foreign words, %",
    "capital_share": "capitals, %",
    "marks_per_word": "marks, per 100 words",
}
WHOLE = ("words", "reading_ease")

NOTE = """\
mean: what the range is about for readability and shares. outside: questions
outside the range, beyond what chance explains in so short a text (one-sided 5 %).
A measure drifts when its mean leaves the range, or clearly more than a tenth of
the questions do. unknown words: in no word list; dialect counts, grammar does not."""


def drift_table(title: str, drift: VignetteDrift) -> Table:
    """Return the table of one vignette; measures without a range of their own are left out while they fit."""
    caption = f"{title}: {drift.n} questions, {drift.outside} unlike this patient"
    table = Table(title=caption, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("measure", no_wrap=True)
    for name in ("target", "median", "5 to 95 %", "mean", "outside"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for one in drift.measures:
        if one.verdict != "fits" or not _unlimited(one):
            table.add_row(*_cells(one))
    return table


def _unlimited(one: Drift) -> bool:
    """Whether the range is the one that leaves everything open."""
    return one.target == Targets.model_fields[one.measure].default and one.measure != "foreign_share"


def _cells(one: Drift) -> list[str]:
    show = [_number(one.measure, value) for value in (*one.target, one.median, one.low, one.high)]
    return [
        NAMES[one.measure],
        f"{show[0]} to {show[1]}",
        show[2],
        f"{show[3]} to {show[4]}",
        _number(one.measure, one.mean, digits=1),
        f"{100 * one.outside:.1f} %",
        one.verdict,
    ]


def _number(measure: str, value: float, digits: int = 0) -> str:
    return f"{value if measure in WHOLE else 100 * value:.{digits}f}"


def outside_lines(judged: Sequence[Judged], texts: dict[str, str], most: int) -> Iterator[str]:
    """Yield up to `most` questions that look unlike their patient, with the reason."""
    unlike = [one for one in judged if one.misses]
    for one in unlike[:most]:
        yield f"{one.id}: {'; '.join(map(reason, one.misses))}: {texts[one.id]}"
    if most and len(unlike) > most:
        yield f"… and {len(unlike) - most} more"


def reason(miss: Miss) -> str:
    """Say in a few words why a question is unlike its patient."""
    low, high = (_number(miss.measure, value) for value in miss.target)
    return f"{NAMES[miss.measure]} {miss.side} ({_number(miss.measure, miss.value)}, not {low} to {high})"
