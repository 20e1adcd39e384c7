"""An answer that ended at the token limit keeps its whole questions and loses the piece at its end."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import LanguageDetector
from harness.generation.parse import parse_answer, split_unfinished
from harness.generation.recording import record
from harness.llm.batch_files import ModelAnswer
from harness.patients.prompts import Prompt
from harness.patients.suites import QuestionSource

PAIN = Prompt("paraphrase/v/pain", "paraphrase", "v", "pain", "de", "Sie sind …", "Tut es weh?", 3)


@pytest.mark.parametrize(
    ("answer", "questions", "lost"),
    [
        ("1. Tut das weh?\n2. Wie lange dau", ["Tut das weh?"], "2. Wie lange dau"),
        ("1. Tut das weh?\n2. Wie lange?", ["Tut das weh?", "Wie lange?"], ""),
        ("1. Tut das weh? 2. Wie lange? 3. Was kos", ["Tut das weh?", "Wie lange?"], "3. Was kos"),
        ("Tut das", [], "Tut das"),
        ("", [], ""),
        ('{"questions": ["Tut das weh?", "Wie lan', ["Tut das weh?"], '"Wie lan'),
        ('{"questions": ["Tut das weh?", "Wie lange?"', ["Tut das weh?"], '"Wie lange?"'),
        ('```json\n["Tut \\"das\\" weh?",\n "Wie', ['Tut "das" weh?'], '"Wie'),
        ('["Tut das', [], '["Tut das'),
        ('["Tut das weh", "Wie lange"]', ["Tut das weh", "Wie lange"], ""),
        ('["Tut das weh?", "Wie lange?"]', ["Tut das weh?", "Wie lange?"], ""),
    ],
)
def test_only_what_is_whole_becomes_a_question(answer: str, questions: list[str], lost: str) -> None:
    whole, rest = split_unfinished(answer)

    assert list(parse_answer(whole, prompt_id="p", count=5, language="de").questions) == questions
    assert rest == lost


@given(st.text(max_size=80))
def test_any_answer_can_be_split_and_loses_nothing_without_saying_so(answer: str) -> None:
    whole, rest = split_unfinished(answer)

    assert rest in answer
    assert rest or whole == answer


def test_what_a_model_thought_aloud_is_no_question() -> None:
    thought = "<think>\nOkay, the user wants questions.\nHow many?\n</think>\n1. Tut das weh?"

    assert parse_answer(thought, prompt_id="p", count=5, language="de").questions == ("Tut das weh?",)
    assert parse_answer("<think>How many?", prompt_id="p", count=5, language="de").questions == ()


def test_the_lost_piece_is_reported(detector: LanguageDetector, tmp_path: Path) -> None:
    answer = ModelAnswer(PAIN.id, "1. Tut das sehr weh?\n2. Ist es schli", "m", "", cut=True)
    source = QuestionSource(kind="model", answered="live", date=date(2026, 1, 2))

    recording = record([PAIN], {PAIN.id: answer}, detector=detector, source=source)

    assert [question.text for question in recording.questions] == ["Tut das sehr weh?"]
    assert [(item.reason, item.text) for item in recording.dropped] == [("cut off", "2. Ist es schli")]
    assert recording.short == {PAIN.id: 2}
