"""Whatever a model writes: never too many questions, never empty ones, nothing invented."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from bot import words
from harness.files import without_controls
from harness.generation.parse import parse_answer

PREFIXES = st.sampled_from(
    ["", "1. ", "2) ", "(3) ", "- ", "* ", "• ", "## ", "**", "Frage 1: ", "„", '"', "```", "a) "]
)
SUFFIXES = st.sampled_from(["", "?", "**", "“", '"', ",", ":", "```", " 2. "])
LINES = st.builds(lambda prefix, text, suffix: prefix + text + suffix, PREFIXES, st.text(max_size=40), SUFFIXES)
ANSWERS = st.lists(LINES, max_size=8).map("\n".join)


def spaced(text: str) -> str:
    return " ".join(without_controls(text).split())


@given(answer=ANSWERS, count=st.integers(min_value=0, max_value=4))
def test_there_are_never_more_questions_than_asked_for(answer: str, count: int) -> None:
    assert len(parse_answer(answer, prompt_id="p", count=count, language="de").questions) <= count


@given(answer=ANSWERS)
def test_every_question_has_words_and_single_spaces(answer: str) -> None:
    for question in parse_answer(answer, prompt_id="p", count=5, language="de").questions:
        assert words(question)
        assert question == spaced(question)


@given(answer=ANSWERS.filter(lambda answer: "{" not in answer and "[" not in answer))
def test_every_question_stands_in_the_answer(answer: str) -> None:
    for question in parse_answer(answer, prompt_id="p", count=5, language="de").questions:
        assert question in spaced(answer)


@example(items=["```a[", "```"], key=None)
@given(items=st.lists(st.text(max_size=40), max_size=6), key=st.none() | st.text(max_size=5))
def test_every_question_of_a_json_list_stands_in_an_item(items: list[str], key: str | None) -> None:
    answer = json.dumps(items if key is None else {key: items})

    for question in parse_answer(answer, prompt_id="p", count=5, language="de").questions:
        assert any(question in spaced(item) for item in items)


@given(answer=ANSWERS)
def test_every_line_becomes_a_question_or_is_reported(answer: str) -> None:
    parsed = parse_answer(answer, prompt_id="p", count=3, language="de")

    assert parsed.questions or parsed.dropped
    assert all(item.reason and item.prompt_id == "p" for item in parsed.dropped)
