"""The dashboard: counts that everybody may see who logs in, as a page, as CSV, and beside what a run foretold."""

from __future__ import annotations

import csv
import json
from datetime import UTC
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert

from bot.adapters.sql_tables import TurnRow
from bot.catalog.catalog import load_catalog
from bot.matching.simple_words import SHIPPED, estimated_share, quality, read_weights
from bot.resources import data_folder
from bot.web.middleware import CONSOLE
from bot.web.staff.simulated import FILE, Compared, Rate, read_simulated
from tests.bot.web.staff.consoles import Staff, now

SECRET = "Ich heiße Frau Unverwechselbar, tut das weh?"


def ask(staff: Staff, *decisions: str, question: str = SECRET, pair: str = "pain") -> None:
    engine: Engine = staff.console.tools.records.engine  # type: ignore[attr-defined]
    at = now().astimezone(UTC)
    with engine.begin() as connection:
        connection.execute(
            insert(TurnRow),
            [
                {
                    "conversation": "c", "at": at, "language": "de", "question": question, "decision": each,
                    "pair_id": pair if each == "answered" else None, "score": 0.5, "catalog": "x",
                }
                for each in decisions
            ],
        )  # fmt: skip


def test_the_dashboard_counts_and_shows_no_words_to_anybody(staff: Staff) -> None:
    browser = staff.logged_in("rita", "rater")
    browser.follow("Figures")
    assert "Nobody has asked anything in this period" in browser.text
    assert "No run of simulated patients has left its rates here" in browser.text

    ask(staff, "answered", "answered", "declined", "urgent")
    browser.open(f"{CONSOLE}/figures?days=7")
    assert "Questions 4" in browser.text
    assert "answered 2 50%" in browser.text
    assert "Unverwechselbar" not in browser.answer.text
    assert "pain" in browser.text
    browser.follow("As CSV")
    rows = list(csv.DictReader(browser.answer.text.splitlines()))
    assert len(rows) == 7
    assert rows[-1] == {
        "day": now().date().isoformat(), "exam": "x", "questions": "4", "answered": "2", "clarify": "0", "declined": "1",
        "urgent": "1", "flagged": "0",
    }  # fmt: skip
    for days in ("30", "365", "9999", "x"):
        assert browser.open(f"{CONSOLE}/figures?days={days}").one("h1").text == "Figures"


def test_what_a_run_foretold_stands_beside_what_came_true(staff: Staff) -> None:
    ask(staff, *["declined"] * 40)
    groups = {"other": {"answered": 90, "declined": 10}, "plain": {"answered": 5}}
    said = {"run": "<b>r1</b>", "at": "2026-11-20", "groups": groups}
    (staff.console.tools.settings.data / FILE).write_text(json.dumps(said), encoding="utf-8")

    browser = staff.logged_in("rita", "rater")
    browser.open(f"{CONSOLE}/figures")

    assert "Run <b>r1</b> (2026-11-20)" in browser.text
    assert "<b>r1" not in browser.answer.text
    rows = [row.text for row in browser.page.all("tr") if row.text.startswith("others")]
    assert rows[0].endswith("real ones less often")
    assert rows[2].endswith("real ones more often")
    assert all(row.text.endswith("too few to tell") for row in browser.page.all("tr") if "plain words" in row.text)


@pytest.mark.parametrize("broken", ["", "[]", '{"run": "a", "at": "b", "groups": {"other": {"answered": -1}}}'])
def test_a_run_that_cannot_be_read_is_none(tmp_path: Path, broken: str) -> None:
    (tmp_path / FILE).write_text(broken, encoding="utf-8")

    assert read_simulated(tmp_path) is None


@pytest.mark.parametrize(
    ("simulated", "real", "verdict"),
    [
        ((80, 100), (78, 100), "fits"),
        ((80, 100), (50, 100), "lower"),
        ((50, 100), (80, 100), "higher"),
        ((80, 100), (3, 10), "too few"),
        ((0, 0), (3, 100), "too few"),
    ],
)
def test_a_difference_is_one_where_chance_would_hardly_bring_it(
    simulated: tuple[int, int], real: tuple[int, int], verdict: str
) -> None:
    assert Compared("other", "answered", Rate(*simulated), Rate(*real)).verdict == verdict


def test_the_share_of_people_with_little_language_is_mended_for_what_the_words_cannot_tell() -> None:
    found = estimated_share(100, 1000, "de")
    assert found is not None
    assert found.value == pytest.approx((0.1 - 0.0069) / (0.2974 - 0.0069))
    assert found.low < found.value < found.high
    few = estimated_share(0, 10, "en")
    assert few is not None
    assert (few.value, few.high > 0.3) == (0.0, True)
    assert estimated_share(0, 0, "de") is None
    assert estimated_share(1, 2, "fr") is None


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_what_is_said_of_the_measure_is_what_the_shipped_weights_do(language: str) -> None:
    found = quality(load_catalog(data_folder("qa_pairs") / "mammography", language), read_weights(language))

    assert found.recall == pytest.approx(SHIPPED[language].recall, abs=0.00006)
    assert found.false_alarms == pytest.approx(SHIPPED[language].false_alarms, abs=0.00006)
