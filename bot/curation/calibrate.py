"""What thresholds mean on the calibration questions, for curators to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from bot import wiring
from bot.calibration import Judged, Limit, Row, choose_with_risk, risk_table, smallest_sample
from bot.catalog import language_files
from bot.errors import UserFixable
from bot.ports import Encoder
from bot.settings import Settings
from bot.training import judge_calibration

SHOWN_EVERY = 5  # rows of the table between two that are printed


def calibration_report(folder: Path, encoder: Encoder, settings: Settings, limit: Limit) -> Iterator[str]:
    """Yield the lines of the report, language by language.

    Raises:
        UserFixable: There are no calibration questions, or too few to support the limit.
    """
    showing = wiring.Showing(sample=True, today=date.today())
    for language in language_files(folder):
        opened = wiring.open_language(folder, language, encoder, settings, showing)
        judged = judge_calibration(opened.catalog, opened.shown, opened.trained.head, encoder)
        if judged is None:
            raise UserFixable(
                f"{folder} has no calibration questions in {language!r}, so no risk can be stated. "
                f"Write {folder}/calibration/{language}.jsonl: at least {smallest_sample(limit)} questions a stratum."
            )
        yield from _language_report(language, judged, limit)


def _language_report(language: str, judged: Judged, limit: Limit) -> Iterator[str]:
    sizes = Counter(judged.stratum)
    counted = ", ".join(f"{name} {size}" for name, size in sizes.items())
    yield f"{language}: {len(judged.label)} questions that nothing was trained on ({counted})"
    smallest = min(sizes.values())
    if smallest < smallest_sample(limit):
        raise UserFixable(
            f"{smallest} questions in a stratum cannot show a risk of {limit.risk:.1%} at {limit.confidence:.0%} "
            f"confidence: at least {smallest_sample(limit)} are needed. Write more, or allow a larger `--risk`."
        )
    chosen = choose_with_risk(judged, limit)
    if chosen is None:
        raise UserFixable(
            f"No threshold keeps wrong direct answers below {limit.risk:.1%} at {limit.confidence:.0%} confidence in "
            "every stratum. Collect more variants and background questions, or allow a larger `--risk`."
        )
    yield "threshold  answered  right  wrong of all, by stratum" + " " * 30 + "p"
    for number, row in enumerate(risk_table(judged, limit)):
        if number % SHOWN_EVERY == 0 or row.answer == chosen.answer:
            yield _line(row) + ("  <- chosen" if row.answer == chosen.answer else "")
    yield (
        f"Direct answers from {chosen.answer:.2f}, choices from {chosen.clarify:.2f} together: with "
        f"{limit.confidence:.0%} confidence, at most {limit.risk:.1%} of all questions "
        "of any stratum get a wrong direct answer."
    )


def _line(row: Row) -> str:
    wrong = "  ".join(f"{name} {share:.3f}" for name, share in row.wrong.items())
    return f"{row.answer:9.2f}  {row.answered:8.3f}  {row.right:5.3f}  {wrong}  {row.p_value:.3f}"
