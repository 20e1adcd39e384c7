"""What authors write as patients is read line by line, and each bad line is named without quoting it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from bot import BadData
from harness.patients.expectations import Expect
from harness.patients.spoken_files import Origin, SpokenKind, read_dialogues, read_messages
from harness.patients.suites import QuestionSource

ORIGIN = Origin("de", "plain", QuestionSource(kind="model", model="some"))
PAIRS = ("pain", "costs")


def _file(folder: Path, *lines: str) -> Path:
    path = folder / "lines.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_every_label_of_a_dialogue_is_an_expectation(tmp_path: Path) -> None:
    labels = ["pain", "same", "costs", "none", "reaction", "easier", "shorter", "again", "more", "new:costs"]
    labels += ["alarm", "complaint:days", "language:tr"]
    line = "\t".join(f"{label}|Text {number}" for number, label in enumerate(labels))

    (dialogue,) = read_dialogues(_file(tmp_path, line, ""), ORIGIN, PAIRS)

    assert [turn.text for turn in dialogue.turns] == [f"Text {number}" for number in range(len(labels))]
    assert [turn.expect for turn in dialogue.turns] == [
        Expect(pair="pain"),
        Expect(same=True),
        Expect(pair="costs"),
        Expect(nothing=True),
        Expect(reaction=True),
        Expect(act="easier"),
        Expect(act="shorter"),
        Expect(act="again"),
        Expect(act="more"),
        Expect(pair="costs", new=True),
        Expect(alarm=True),
        Expect(complaint="days"),
        Expect(language="tr"),
    ]
    groups = [question.expected for question in dialogue.questions()]
    assert groups[:5] == ["first", "same", "pair", "nothing", "reaction"]
    assert groups[5:] == ["act"] * 4 + ["new", "alarm", "complaint", "language"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("zebra|secret?", "turn 1 is labelled 'zebra'"),
        ("pain|secret?\tnew:zebra|secret?", "turn 2 is labelled 'new:zebra'"),
        ("same|secret?", "turn 1 is labelled 'same', but nothing was answered before it"),
        ("easier|secret?", "turn 1 is labelled 'easier'"),
        ("secret?", "turn 1 is not `label|text`"),
        ("pain|secret?\tsame|sec|ret", "turn 2 is not `label|text`"),
        ("pain|secret?\tsame| ", "turn 2 has no text"),
        ("complaint:soon|secret?", "'soon' is no complaint: it must be one of now, today, days, appointment, other"),
        ("language:Turkish|secret?", "'Turkish' is no language"),
    ],
)
def test_each_bad_line_is_named_and_not_quoted(tmp_path: Path, line: str, fault: str) -> None:
    path = _file(tmp_path, "pain|gut?", line, "costs|gut?", line)

    with pytest.raises(BadData) as refused:
        read_dialogues(path, ORIGIN, PAIRS)

    first, second = str(refused.value).splitlines()
    assert first.startswith(f"{path}:2: {fault}")
    assert second.startswith(f"{path}:4: {fault}")
    assert "secret" not in str(refused.value)


def test_of_many_bad_lines_twenty_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadData) as refused:
        read_dialogues(_file(tmp_path, *["bad"] * 50), ORIGIN, PAIRS)

    assert len(str(refused.value).splitlines()) == 21
    assert str(refused.value).endswith("… and 30 more lines.")


def test_single_messages_expect_what_their_kind_does(tmp_path: Path) -> None:
    complaints = _file(tmp_path, "days\tknoten gefunden", "other\tmein Knie")
    found = read_messages(complaints, "complaint", ORIGIN)
    assert [(q.text, q.expect, q.expected) for q in found] == [
        ("knoten gefunden", Expect(complaint="days"), "complaint"),
        ("mein Knie", Expect(complaint="other"), "complaint"),
    ]
    (foreign,) = read_messages(_file(tmp_path, "tr\tacıyor mu?"), "foreign", ORIGIN)
    assert (foreign.expect, foreign.expected) == (Expect(language="tr"), "foreign")
    (everyday,) = read_messages(_file(tmp_path, "na du"), "everyday", ORIGIN)
    assert (everyday.expect, everyday.expected) == (Expect(nothing=True), "everyday")
    (real,) = read_messages(_file(tmp_path, "hat das wer?"), "real-manner", ORIGIN)
    assert (real.expect, real.expected) == (Expect(unanswered=True), "real-manner")


@pytest.mark.parametrize(
    ("kind", "line", "fault"),
    [
        ("complaint", "secret", "the line is not level<TAB>text"),
        ("complaint", "soon\tsecret", "'soon' is no complaint"),
        ("complaint", "days\t ", "the line has no text"),
        ("foreign", "secret", "the line is not language<TAB>text"),
        ("everyday", "secret\tsecret", "the line is not one text without tabs"),
        ("real-manner", "secret\tsecret", "the line is not one text without tabs"),
    ],
)
def test_bad_messages_are_named_and_not_quoted(tmp_path: Path, kind: SpokenKind, line: str, fault: str) -> None:
    assert kind in get_args(SpokenKind)
    path = _file(tmp_path, line)

    with pytest.raises(BadData) as refused:
        read_messages(path, kind, ORIGIN)

    assert str(refused.value).startswith(f"{path}:1: {fault}")
    assert "secret" not in str(refused.value)


def test_an_empty_file_and_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no line"):
        read_messages(_file(tmp_path, "", " "), "everyday", ORIGIN)
    (tmp_path / "broken").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadData, match="cannot be read"):
        read_messages(tmp_path / "broken", "everyday", ORIGIN)
