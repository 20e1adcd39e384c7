"""The paper's two tables for a run, with intervals, another method beside it, and the paper's own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from harness.labels import NovelScore, Verdicts, score_novel
from harness.run import Outcome
from harness.score import Score, Summary
from harness.stats import Interval

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


def table_1(ours: Summary, cosine: Summary | None, titles: Titles) -> Table:
    """Return Table 1: accuracy on paraphrases per vignette."""
    table = Table(title="Table 1. Paraphrases", title_justify="left", caption=_CAPTION_1, caption_justify="left")
    table.add_column("Patient vignette")
    for name in ("n", "errors", "accuracy", "Wilson 95 %", "by pair 95 %", "unanswered", "offered", "precision"):
        table.add_column(name, justify="right")
    table.add_column("cosine", justify="right", style="dim")
    table.add_column("paper*", justify="right", style="dim")
    for name, score in ours.vignettes.items():
        beside = cosine.vignettes[name].accuracy if cosine and name in cosine.vignettes else None
        table.add_row(titles.of(name), *_cells(score), _share(beside), _share(_paper(name)))
    paper_total = 1 - sum(PAPER_ERRORS.values()) / (PAPER_N * len(PAPER_ERRORS))
    table.add_section()
    total = cosine.total.accuracy if cosine else None
    table.add_row("Total", *_cells(ours.total), _share(total), _share(paper_total), style="bold")
    return table


_CAPTION_1 = (
    "accuracy: answered with the right pair; asking back counts as wrong. offered: right pair among the choices.\n"
    "* the published assistant, on another question set: not a comparison of like with like."
)


def table_2(ours: Sequence[Outcome], cosine: Sequence[Outcome] | None, verdicts: Verdicts, titles: Titles) -> Table:
    """Return Table 2: raters' verdicts on novel questions per vignette."""
    table = Table(
        title="Table 2. Novel questions", title_justify="left", caption=_caption_2(verdicts), caption_justify="left"
    )
    table.add_column("Patient vignette")
    for name in ("n", "incorrect", "partial", "correct", "unanswered", "to label"):
        table.add_column(name, justify="right")
    table.add_column("cosine inc./part./corr./unans.", justify="right", style="dim")
    table.add_column("paper* inc./part./corr.", justify="right", style="dim")
    names = dict.fromkeys(outcome.vignette for outcome in ours if outcome.kind == "novel")
    for name in names:
        score = score_novel([o for o in ours if o.vignette == name], verdicts)
        beside = score_novel([o for o in cosine if o.vignette == name], verdicts) if cosine else None
        paper = "/".join(map(str, PAPER_NOVEL[name])) + " of 10" if name in PAPER_NOVEL else ""
        table.add_row(titles.of(name), *_novel_cells(score), _novel_line(beside), paper)
    table.add_section()
    beside = score_novel(cosine, verdicts) if cosine else None
    table.add_row(
        "Total", *_novel_cells(score_novel(ours, verdicts)), _novel_line(beside), "18/5/7 of 30", style="bold"
    )
    return table


def _caption_2(verdicts: Verdicts) -> str:
    raters = ", ".join(f"{name} ({kind})" for kind, name in verdicts.raters) or "none yet"
    return f"Raters: {raters}. unanswered: declined, asked back or sent to a human; the paper counts them as incorrect."


def _cells(score: Score) -> list[str]:
    return [
        str(score.n),
        str(score.errors),
        _share(score.accuracy),
        _range(score.wilson),
        _range(score.clustered),
        str(score.unanswered),
        _share(score.offered),
        _share(score.precision),
    ]


def _novel_cells(score: NovelScore) -> list[str]:
    return [
        str(value) for value in (score.n, score.incorrect, score.partial, score.correct, score.unanswered, score.open)
    ]


def _novel_line(score: NovelScore | None) -> str:
    return f"{score.incorrect}/{score.partial}/{score.correct}/{score.unanswered}" if score else ""


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:.3f}-{interval.high:.3f}"


def _paper(vignette: str) -> float | None:
    errors = PAPER_ERRORS.get(vignette)
    return None if errors is None else 1 - errors / PAPER_N
