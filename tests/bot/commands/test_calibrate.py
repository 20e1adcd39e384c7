"""The calibration report says what thresholds mean, and refuses what the data cannot show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.commands.qa import calibration_report
from bot.errors import UserFixable
from bot.matching.calibration import Limit
from bot.settings import Settings
from bot.testing import HashEncoder, write_small_catalog


@pytest.mark.usefixtures("few_alarm_examples")
def test_a_catalog_without_calibration_questions_is_refused(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "small", languages=["de"])

    with pytest.raises(UserFixable, match="no calibration questions in 'de'"):
        list(calibration_report(folder, HashEncoder(), Settings(tmp_path / "data"), Limit()))


@pytest.mark.proof
def test_too_few_questions_for_the_limit_are_refused_with_the_number_needed(tmp_path: Path) -> None:
    folder = write_small_catalog(tmp_path / "small", languages=["de"])
    (folder / "calibration").mkdir()
    question = {"text": "wird mir das wehtun?", "pair_id": "pain", "stratum": "all"}
    (folder / "calibration" / "de.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")

    with pytest.raises(UserFixable, match="at least 99 are needed"):
        list(calibration_report(folder, HashEncoder(), Settings(tmp_path / "data"), Limit()))
