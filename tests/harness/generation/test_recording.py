"""Answers in OpenAI Batch output files become questions that say truthfully where they come from."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bot import BadData, LanguageDetector
from harness.generation.recording import record
from harness.llm.batch_files import ModelAnswer, read_answers
from harness.patients.prompts import Prompt
from harness.patients.suites import QuestionSource, Recording

PAIN = Prompt("paraphrase/v/pain", "paraphrase", "v", "pain", "de", "Sie sind …", "Tut es weh?", 2)
NOVEL = [Prompt(f"novel/v/{part}", "novel", "v", None, "de", "Sie sind …", f"Teil {part}", 2) for part in (1, 2)]
OFFLINE = QuestionSource(kind="model", answered="offline", temperature=0.7, date=date(2026, 1, 2))


def line(custom_id: str, content: str | None, *, model: str | None = "m-1", status: int = 200) -> dict[str, Any]:
    choices = [{"index": 0, "message": {"role": "assistant", "content": content}}]
    return {"custom_id": custom_id, "response": {"status_code": status, "body": {"model": model, "choices": choices}}}


def write(file: Path, *lines: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in lines), encoding="utf-8")
    return file


def recorded(prompts: list[Prompt], answers: list[dict[str, Any]], detector: LanguageDetector, at: Path) -> Recording:
    return record(prompts, read_answers([write(at, *answers)]), detector=detector, source=OFFLINE)


def test_good_answers_are_read_whatever_separators_they_hold(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", line("a", "Tut das weh?\u2028Wie lange?\x85"), line("b", None))

    assert read_answers([file]) == {
        "a": ModelAnswer("a", "Tut das weh?\u2028Wie lange?\x85", "m-1", ""),
        "b": ModelAnswer("b", "", "m-1", ""),
    }


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (line("a", "x", status=429), "error (status 429)"),
        ({**line("a", "x"), "error": {"code": "expired"}}, "error (status 200)"),
        ({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}, "error (status 0)"),
        ({"custom_id": "a"}, "error (status 0)"),
        ({"custom_id": "a", "response": "late"}, "error (status 0)"),
        ({"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}}, "no message"),
        ({"custom_id": "a", "response": {"status_code": 200, "body": "down"}}, "no message"),
        ({"custom_id": "a", "response": {"status_code": 200, "body": {"choices": None}}}, "no message"),
    ],
)
def test_error_lines_are_problems_not_crashes(tmp_path: Path, bad: dict[str, Any], problem: str) -> None:
    assert read_answers([write(tmp_path / "a.jsonl", bad)])["a"].problem == problem


def test_the_first_good_answer_counts_across_files(tmp_path: Path) -> None:
    first = write(tmp_path / "1.jsonl", line("a", "x", status=500), line("b", "erste?"))
    second = write(tmp_path / "2.jsonl", line("a", "zweite?"), line("b", "zu spät?"), line("a", "x", status=500))

    answers = read_answers([first, second])

    assert {key: answer.content for key, answer in answers.items()} == {"a": "zweite?", "b": "erste?"}


@pytest.mark.parametrize("broken", ["{", "[]", '"a"', "null", '{"id": 1}', "1. Tut das weh?"])
def test_a_line_that_is_no_batch_output_is_named_with_its_number(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{json.dumps(line('a', 'x'))}\n\n{broken}\n", encoding="utf-8")

    with pytest.raises(BadData, match=r"a\.jsonl:3 is no line of a Batch output file"):
        read_answers([file])


def test_a_file_that_is_no_text_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe\x00")

    for wrong in (tmp_path / "a.jsonl", tmp_path / "missing.jsonl"):
        with pytest.raises(BadData, match=r"cannot be read \((it is no UTF-8 text \(byte 0\)|there is no such file)\)"):
            read_answers([wrong])
    with pytest.raises(BadData, match=r"has no files named like `001 … answer\.txt`"):
        read_answers([tmp_path])


def test_questions_carry_their_prompt_and_a_truthful_source(detector: LanguageDetector, tmp_path: Path) -> None:
    recording = recorded([PAIN], [line(PAIN.id, "1. Tut das weh?\n2. Ist es schlimm?")], detector, tmp_path / "a")

    first, second = recording.questions
    assert (first.id, first.text, first.pair_id, first.vignette) == ("paraphrase/v/pain/1", "Tut das weh?", "pain", "v")
    assert (second.id, second.text, second.kind, second.lang) == (
        "paraphrase/v/pain/2",
        "Ist es schlimm?",
        "paraphrase",
        "de",
    )
    assert first.source == QuestionSource(
        kind="model", model="m-1", answered="offline", prompt=PAIN.hash, temperature=0.7, date=date(2026, 1, 2)
    )
    assert recording.short == {}


def test_a_model_that_does_not_say_its_name_stays_nameless(detector: LanguageDetector, tmp_path: Path) -> None:
    recording = recorded([PAIN], [line(PAIN.id, "Tut das weh?", model=None)], detector, tmp_path / "a")

    assert recording.questions[0].source.model is None


def test_what_is_missing_is_counted_for_each_prompt(detector: LanguageDetector, tmp_path: Path) -> None:
    answers = [line(PAIN.id, "Hier sind die Fragen:\nTut das weh?"), line(NOVEL[0].id, "x", status=500)]

    recording = recorded([PAIN, *NOVEL], answers, detector, tmp_path / "a")

    assert recording.short == {PAIN.id: 1, NOVEL[0].id: 2, NOVEL[1].id: 2}
    assert recording.reasons == {"error (status 500)": 1, "no answer": 1, "preamble": 1}


def test_a_question_that_comes_again_in_a_later_part_is_left_out(detector: LanguageDetector, tmp_path: Path) -> None:
    answers = [line(NOVEL[0].id, "Muss ich hin?\nWas sieht man?"), line(NOVEL[1].id, "muss ich hin?\nUnd danach?")]

    recording = recorded(NOVEL, answers, detector, tmp_path / "a")

    assert [question.text for question in recording.questions] == ["Muss ich hin?", "Was sieht man?", "Und danach?"]
    assert recording.reasons == {"duplicate": 1}
    assert recording.short == {NOVEL[1].id: 1}


def test_answers_to_other_prompts_are_refused(detector: LanguageDetector, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"2 answers to no prompt of this plan, for example 'a'\. .*`--catalog`"):
        recorded([PAIN], [line("z", "x"), line("a", "x"), line(PAIN.id, "Tut das weh?")], detector, tmp_path / "a")
