"""Messages that ask two things are split in front of words that begin a question, and nowhere else."""

from __future__ import annotations

import pytest

from bot.text import segments


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Tut es weh und wie lange dauert es?", ("Tut es weh", "wie lange dauert es?")),
        ("Was kostet das? Muss ich das Deo weglassen?", ("Was kostet das?", "Muss ich das Deo weglassen?")),
        ("does it hurt and who pays for it", ("does it hurt", "who pays for it")),
        ("Was ist mit Deo und Creme?", ()),
        ("Schmerzen und Kosten?", ()),
        ("Tut es weh?", ()),
        ("", ()),
    ],
)
def test_a_message_is_split_only_where_a_second_question_begins(text: str, parts: tuple[str, ...]) -> None:
    assert segments(text) == parts


def test_a_long_list_of_questions_is_cut_to_three_parts() -> None:
    assert len(segments("Tut es weh? Was kostet es? Wie lange geht es? Darf mein Mann mit?")) == 3
