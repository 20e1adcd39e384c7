"""How many files of ours a newcomer has to follow: the walks that `docs/architecture.md` draws, counted as they run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.interview.values.fhir_json import dump
from bot.ports import StoredConversation
from bot.talk.conversation import Conversation
from bot.talk.interviewing import Interviewer
from tests.bot.interview.chat import mammography

ROOT = Path(__file__).parents[1]
NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
# Files, at most; six hear remarks, simple words, what one can do, danger, places; one withholds; one bounds what context
# can change.
A_QUESTION, A_TURN = 15, 38  # what a message names where it is not answered (matters.py) is one
AN_INTERVIEW_TURN = 57  # wanted: 30 (docs/status.md); seven of them evaluate formulas, which a library did before
QUESTIONS = ("Wie lange dauert das denn ungefähr?", "Muss ich nüchtern kommen?", "Blumenkohl und Fahrrad")


def files(walk: Callable[[], Any]) -> list[str]:
    """Return the files of the assistant whose functions run in a walk, in the order they are entered."""
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT / 'bot'}/"):
            entered.setdefault(str(Path(frame.f_code.co_filename).relative_to(ROOT)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(before)
    return list(entered)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_passes_few_files(shipped: Assistant, question: str) -> None:
    shipped.answer(question, "de")

    found = files(lambda: shipped.answer(question + " bitte", "de"))
    assert len(found) <= A_QUESTION, "\n".join(found)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_turn_passes_few_files(shipped: Assistant, records: SqlRecords, question: str) -> None:
    talk = Conversation.begin(shipped, records, StoredConversation("c", NOW, "de", "terminal"))
    talk.turn("Muss ich mich ausziehen?", at=NOW)

    found = files(lambda: talk.turn(question, at=NOW))
    assert len(found) <= A_TURN, "\n".join(found)


@pytest.mark.parametrize("said", ["ja", "45", "nein, noch nie", "letztes Jahr im März"])
def test_a_turn_of_the_interview_passes_few_files(shipped: Assistant, records: SqlRecords, said: str) -> None:
    interviewer = Interviewer(dump(mammography()), SqlInterviews(records.engine), "c")
    talk = Conversation.begin(shipped, records, StoredConversation("c", NOW, "de", "terminal"), interviewer=interviewer)
    before = {"ja": 0, "45": 2, "nein, noch nie": 4, "letztes Jahr im März": 5}[said]
    for answer in ("/interview", "ja", "Früherkennung", "45", "nein", "ja")[: before + 1]:
        talk.turn(answer, at=NOW)

    found = files(lambda: talk.turn(said, at=NOW))
    assert len(found) <= AN_INTERVIEW_TURN, "\n".join(found)
