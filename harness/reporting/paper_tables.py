"""The paper's two tables for a run, with intervals, another method beside it, and the paper's own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Column, Table

from harness.console import plain_table
from harness.labelling.labels import NovelScore, Verdicts, score_novel
from harness.running.outcomes import Outcome
from harness.scoring.score import Score, Summary
from harness.statistics import Interval

# Reichenpfader et al. (2024), Tables 1 and 2: errors of 330 paraphrases; (incorrect, partial, correct) of 10.
PAPER_N = 330
PAPER_ERRORS = {"high-health-literacy": 101, "low-health-literacy": 75, "low-language-literacy": 69}
PAPER_NOVEL = {
    "high-health-literacy": (5, 5, 0),
    "low-health-literacy": (8, 0, 2),
    "low-language-literacy": (5, 0, 5),
}


@dataclass(frozen=True, slots=True)
class Titles:
    """Names of vignettes for people."""

    by_id: Mapping[str, str]

    def of(self, vignette: str) -> str:
        return self.by_id.get(vignette, vignette)


def table_1(ours: Summary, cosine: Summary | None, titles: Titles, *, paper: bool = True) -> Table:
    """Return Table 1: accuracy on paraphrases per vignette; `paper`: with the published method and figures beside."""
    names = ("n", "err.", "acc.", "95 %", "un-\nansw.", "of-\nfered", "pre-\ncis.")
    table = _table("Table 1. Paraphrases", names, ("co-\nsine", "paper") if paper else ())
    for name, score in ours.vignettes.items():
        beside = cosine.vignettes[name].accuracy if cosine and name in cosine.vignettes else None
        others = [_share(beside), _share(_paper(name))] if paper else []
        table.add_row(titles.of(name), *_cells(score), *others)
    table.add_section()
    published = 1 - sum(PAPER_ERRORS.values()) / (PAPER_N * len(PAPER_ERRORS))
    others = [_share(cosine.total.accuracy if cosine else None), _share(published)] if paper else []
    table.add_row("Total", *_cells(ours.total), *others, style="bold")
    return table


NOTE_1 = """\
acc.: answered with the right pair; asking back counts as wrong. 95 %: questions
about one pair fare alike, and count accordingly. offered: right pair among the
choices when asking back. precis.: right among direct answers."""
NOTE_PAPER = """\
cosine: the published method on our questions. paper: the published assistant on
its own questions, another set: not a comparison of like with like."""


def table_2(
    ours: Sequence[Outcome],
    cosine: Sequence[Outcome] | None,
    verdicts: Verdicts,
    titles: Titles,
    *,
    paper: bool = True,
) -> Table:
    """Return Table 2: raters' verdicts on novel questions per vignette; `paper` as in Table 1."""
    names = ("n", "incor-\nrect", "par-\ntial", "cor-\nrect", "unan-\nswered", "to\nlabel")
    table = _table("Table 2. Novel questions", names, ("cosine\ni/p/c/u/l", "paper\ni/p/c") if paper else ())
    for name in dict.fromkeys(outcome.vignette for outcome in ours if outcome.kind == "novel"):
        score = score_novel([outcome for outcome in ours if outcome.vignette == name], verdicts)
        beside = score_novel([o for o in cosine if o.vignette == name], verdicts) if cosine else None
        published = "/".join(map(str, PAPER_NOVEL.get(name, ())))
        table.add_row(titles.of(name), *_novel_cells(score), *([_novel_line(beside), published] if paper else []))
    table.add_section()
    beside = score_novel(cosine, verdicts) if cosine else None
    published = "/".join(str(sum(column)) for column in zip(*PAPER_NOVEL.values(), strict=True))
    others = [_novel_line(beside), published] if paper else []
    table.add_row("Total", *_novel_cells(score_novel(ours, verdicts)), *others, style="bold")
    return table


def note_2(verdicts: Verdicts, *, paper: bool = True) -> str:
    """Return who labelled, and what the columns mean."""
    raters = ", ".join(f"{name} ({kind})" for kind, name in verdicts.raters) or "none yet"
    of_paper = "; the paper counts these as\nincorrect. paper: 10 questions per vignette, another set."
    return (
        f"Raters: {raters}. Where they differ, the question stays to label.\n"
        f"unanswered: declined, asked back or sent to a human{of_paper if paper else '.'}"
    )


def _table(title: str, figures: Sequence[str], beside: Sequence[str]) -> Table:
    """Return an empty table that fits 80 columns; what stands beside our figures is dim."""
    dim = (Column(name, justify="right", style="dim", no_wrap=True) for name in beside)
    return plain_table(title, "Patient vignette", *figures, *dim, padding=0)


def _cells(score: Score) -> list[str]:
    return [
        str(score.n),
        str(score.errors),
        _share(score.accuracy),
        _range(score.interval),
        str(score.unanswered),
        _share(score.offered),
        _share(score.precision),
    ]


def _novel_cells(score: NovelScore) -> list[str]:
    counts = (score.n, score.incorrect, score.partial, score.correct, score.unanswered, score.open)
    return [str(count) for count in counts]


def _novel_line(score: NovelScore | None) -> str:
    if score is None:
        return ""
    return f"{score.incorrect}/{score.partial}/{score.correct}/{score.unanswered}/{score.open}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".removeprefix("0")


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f"{_share(interval.low)}-{_share(interval.high)}"


def _paper(vignette: str) -> float | None:
    errors = PAPER_ERRORS.get(vignette)
    return None if errors is None else 1 - errors / PAPER_N
