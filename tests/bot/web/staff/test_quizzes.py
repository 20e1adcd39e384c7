"""Quizzes in the console: who edits and who signs sees them, one is taken out, and what came of them is counted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert

from bot.adapters.sql_tables import TurnRow
from bot.catalog.catalog import Pair
from bot.catalog.quiz import Quiz
from bot.editorial.workbench import Draft
from bot.web.middleware import CONSOLE
from tests.bot.quizzes import a_quiz
from tests.bot.release.exams import change_pairs, write_exam
from tests.bot.web.staff.consoles import Staff, now, running_console
from tests.bot.web.staff.test_pairs import save

FIRST, SECOND = a_quiz("de"), a_quiz("de", "Und danach?")
HASH = Quiz.model_validate(FIRST).hash
WHAT = "pair pain de"


@pytest.fixture
def quizzed(tmp_path: Path) -> Iterator[Staff]:
    exam = write_exam(tmp_path / "content", languages=("de", "en"))
    change_pairs(exam, "de", only="pain", quizzes=[FIRST, SECOND])
    with running_console(tmp_path, exam=exam) as running:
        yield running


def test_who_edits_sees_the_quizzes_of_a_pair_and_takes_one_out(quizzed: Staff) -> None:
    browser = quizzed.logged_in("wanda", "curator")
    browser.open(f"{CONSOLE}/pairs/pain")
    for text in (FIRST["question"], FIRST["context"], FIRST["answer"], *FIRST["distractors"], SECOND["question"]):
        assert text in browser.text

    save(browser, de__answer="Das ist neu.")
    kept = quizzed.console.tools.candidate().pair("de", "pain")
    assert kept is not None
    assert [each.question for each in kept.quizzes] == [FIRST["question"], SECOND["question"]]
    save(browser, **{f"de.quizzes.drop.{HASH}": "yes"})

    left = quizzed.console.tools.candidate().pair("de", "pain")
    assert left is not None
    assert [each.question for each in left.quizzes] == [SECOND["question"]]
    assert left.answer == "Das ist neu."
    browser.open(f"{CONSOLE}/pairs/pain")
    assert "Remove this question" in browser.text
    assert browser.text.count(FIRST["context"]) == 1


def questions(staff: Staff, pair_id: str) -> list[str]:
    pair = staff.console.tools.candidate().pair("de", pair_id)
    assert pair is not None
    return [each.question for each in pair.quizzes]


def test_quizzes_of_a_new_pair_live_through_a_draft_that_lacks_something(quizzed: Staff) -> None:
    tools, browser = quizzed.console.tools, quizzed.logged_in("wanda", "curator")
    pair = Pair.model_validate({"id": "new", "question": "Und?", "answer": "Ja.", "quizzes": [FIRST, SECOND]})
    tools.workbench.save(
        Draft("content", "de", "new", pair.model_dump(mode="json")), by=quizzed.person("wanda"), now=now()
    )

    browser.open(f"{CONSOLE}/pairs/new")
    save(browser, de__answer="", unfinished="yes")
    assert ("de", "new") in tools.candidate().unfinished
    assert SECOND["question"] in browser.text
    save(browser, de__question="Und dann?", unfinished="yes")
    save(browser, de__answer="Doch.")

    assert questions(quizzed, "new") == [FIRST["question"], SECOND["question"]]


def test_a_quiz_that_was_taken_out_does_not_come_back_by_a_draft_that_lacks_something(quizzed: Staff) -> None:
    browser = quizzed.logged_in("wanda", "curator")
    browser.open(f"{CONSOLE}/pairs/pain")
    save(browser, **{f"de.quizzes.drop.{HASH}": "yes"})
    save(browser, de__answer="", unfinished="yes")
    assert FIRST["context"] in browser.text
    assert browser.text.count("Remove this question") == 1
    save(browser, de__answer="Wieder ganz.")

    assert questions(quizzed, "pain") == [SECOND["question"]]


def test_who_signs_reads_every_text_of_a_quiz_and_what_goes(quizzed: Staff) -> None:
    browser = quizzed.logged_in("wanda", "curator")
    browser.open(f"{CONSOLE}/pairs/pain")
    save(browser, **{f"de.quizzes.drop.{Quiz.model_validate(SECOND).hash}": "yes"})
    reviewer = quizzed.logged_in("rosa", "curator")
    reviewer.open(f"{CONSOLE}/to-sign/text?what={WHAT.replace(' ', '%20')}")

    for text in (FIRST["context"], FIRST["question"], FIRST["answer"], *FIRST["distractors"]):
        assert text in reviewer.text
    assert "1: right answer" in reviewer.text
    assert SECOND["question"] in [each.text for each in reviewer.page.all("del")]


def test_the_dashboard_counts_what_came_of_each_quiz_and_shows_no_words(quizzed: Staff) -> None:
    engine: Engine = quizzed.console.tools.records.engine  # type: ignore[attr-defined]
    steps = ["offered"] * 5 + ["asked"] * 3 + ["right 0", "wrong 1", "wrong 2", "declined"]
    at = now().astimezone(UTC)
    usual = {"conversation": "c", "at": at, "language": "de", "question": "Frau Unverwechselbar", "decision": "talk"}
    with engine.begin() as connection:
        rows = [{**usual, "score": 0.0, "catalog": "x", "quizzed": f"pain@{HASH} {step}"} for step in steps]
        connection.execute(insert(TurnRow), [*rows, {**rows[0], "quizzed": "gone@000000000000 offered"}])

    browser = quizzed.logged_in("rita", "rater")
    browser.open(f"{CONSOLE}/figures?days=7")

    assert f"pain: {FIRST['question']} 5 3 1 2 0 1" in browser.text
    assert "gone (no longer released like this) 1 0 0 0 0 0" in browser.text
    assert "Unverwechselbar" not in browser.answer.text
