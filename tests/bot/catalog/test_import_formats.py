"""Question sets in other people's formats become the same catalog."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.catalog.exchange.question_set import QuestionSet, read_question_set
from bot.errors import BadData

RASA = """\
version: "3.1"
nlu:
- intent: parking
  examples: |
    - Where can I park?
    - is there a [garage](place)
- intent: out_of_scope
  examples: |
    - tell me a joke
- synonym: garage
  examples: |
    - car park
"""
TSV = "pair_id\ttext\nparking\tWhere can I park?\nparking\tis there a garage\n\ttell me a joke\n"
JSON = json.dumps({"parking": ["Where can I park?", "is there a garage"], "": ["tell me a joke"]})


def texts(imported: QuestionSet) -> tuple[list[tuple[str, list[str]]], tuple[str, ...]]:
    return [(pair.id, pair.texts) for pair in imported.pairs], imported.background


@pytest.mark.parametrize(("name", "content"), [("q.yml", RASA), ("q.tsv", TSV), ("q.json", JSON)])
def test_every_format_reads_the_same_questions(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")

    pairs, background = texts(read_question_set(file))

    assert pairs == [("parking", ["Where can I park?", "is there a garage"])]
    assert background == ("tell me a joke",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.yml", "nlu: [", "not valid YAML"),
        ("q.yml", "rules: []", "no list `nlu`"),
        ("q.json", "{", "not valid JSON"),
        ("q.json", "[1, 2]", "no list of objects"),
        ("q.txt", "hello", "ends in .txt"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")

    with pytest.raises(BadData, match=message):
        read_question_set(file)
