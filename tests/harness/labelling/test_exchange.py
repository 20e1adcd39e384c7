"""Labels go to other tools and come back the same; what is wrong is named by its line, and then nothing is taken."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import BadData
from harness.labelling.exchange import LABEL_FIELDS, Added, add_labels, read_labels, write_items, write_labels
from harness.labelling.labels import VERDICTS, Label, Rater, label_files, load_labels, load_reasons
from harness.labelling.rater_files import items_to_label
from harness.running.run import load_outcomes
from tests.harness.labelling.conftest import make_label

KNOWN = {"novel/low/1/1", "n1", "n2"}
NOW = datetime(2030, 1, 1, tzinfo=UTC)
names = st.text(st.characters(categories=("L", "N", "P", "Zs"), codec="utf-8"), min_size=1, max_size=12).filter(
    str.strip
)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n"), max_size=40)
labels = st.builds(
    Label,
    question_id=st.sampled_from(sorted(KNOWN)),
    pair_id=st.sampled_from(["pain", "dense-tissue", "*", "a.b_c"]),
    label=st.sampled_from(VERDICTS),
    rater=st.builds(Rater, kind=st.sampled_from(["person", "model"]), name=names),
    reason=st.sampled_from(["", *(reason.code for reason in load_reasons())]),
    comment=texts,
    time=st.none() | st.datetimes(datetime(2020, 1, 1), NOW.replace(tzinfo=None), timezones=st.just(UTC)),
)


@given(
    st.lists(labels, min_size=1, max_size=6, unique_by=lambda label: (label.rater.id, label.item)),
    st.sampled_from(["labels.csv", "labels.jsonl"]),
)
def test_labels_come_back_as_they_went(tmp_path: Path, given_labels: list[Label], name: str) -> None:
    file = tmp_path / name

    write_labels(given_labels, file)

    assert read_labels(file, known=KNOWN, now=NOW) == given_labels


def test_the_columns_are_those_of_the_reference(tmp_path: Path) -> None:
    decision = make_label("carla", "n1", "pain", "partial", "buried", 'sagt "ja",\nund mehr')
    decision = decision.model_copy(update={"role": "adjudication", "time": datetime(2026, 11, 22, tzinfo=UTC)})

    write_labels([decision], tmp_path / "labels.csv")

    rows = list(csv.reader(io.StringIO((tmp_path / "labels.csv").read_text(encoding="utf-8"))))
    assert rows == [
        list(LABEL_FIELDS),
        ["n1#pain", "adjudicator:carla", "partial", "buried", 'sagt "ja",\nund mehr', "2026-11-22T00:00:00+00:00"],
    ]
    assert read_labels(tmp_path / "labels.csv", known=KNOWN, now=NOW) == [decision]


def test_a_spreadsheets_file_with_a_mark_other_line_ends_and_fewer_columns_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    file.write_bytes("\ufeffrater_id,item_id,label\r\nperson:anna,n1#pain,Partially correct\r\n".encode())

    # Nobody was asked for reasons: silence says nothing of harm.
    assert read_labels(file, known=KNOWN) == [
        make_label("anna", "n1", "pain", "partial").model_copy(update={"assessed": False})
    ]


ROW = {"item_id": "n1#pain", "rater_id": "person:anna", "label": "correct"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item_id": "n9#pain"}, "the run has no item 'n9#pain'"),
        ({"item_id": "n1"}, "the run has no item 'n1'"),
        ({"item_id": "n1#"}, "the run has no item 'n1#'"),
        ({"rater_id": "anna"}, "rater_id 'anna' must be `person:NAME`, `model:NAME` or `adjudicator:NAME`"),
        ({"rater_id": "human:anna"}, "must be `person:NAME`"),
        ({"rater_id": "person: "}, "must be `person:NAME`"),
        ({"label": "good"}, "label: must be 'incorrect', 'partial' or 'correct'"),
        ({"label": None}, "label: must be"),
        ({"reason": "mood"}, "there is no reason 'mood'. Known: other-topic, "),
        ({"time": "yesterday"}, "time: must be a time such as 2026-01-31T14:05:00+01:00"),
        ({"time": "2030-01-01T00:06:00Z"}, "the time 2030-01-01T00:06:00+00:00 is in the future"),
        ({"time": "2030-01-02"}, "is in the future"),
        ({"commment": "x"}, "commment: is not known here"),
        ({"comment": "a\x00b"}, "`comment` holds the control character U+0000"),
        ({"rater_id": "person:\x1b[31manna"}, "`rater_id` holds the control character U+001B"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, change: dict[str, str], message: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps(ROW) + "\n\n" + json.dumps(ROW | change) + "\n", encoding="utf-8")

    with pytest.raises(BadData) as error:
        read_labels(file, known=KNOWN, now=NOW)

    assert f"{file}:3: " in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.tsv", b"", "is neither .csv nor .jsonl"),
        ("x.csv", b"item_id,label\n", "has no column 'rater_id'"),
        ("x.csv", b"", "x.csv is empty. Export the labels again."),
        ("x.csv", b"item_id,rater_id,label\n", "has a header and no label"),
        ("x.csv", b"item_id,rater_id,label\n" + b"x" * 140_000, "x.csv:2 is no CSV (a cell has more than 131,072"),
        ("x.csv", b"item_id,rater_id,label\na,b,c,d,e\n", "x.csv:2: "),
        ("x.jsonl", b"[1]\n", "x.jsonl:1 is no JSON object"),
        ("x.jsonl", b"{\n", "x.jsonl:1 is no JSON"),
        ("x.jsonl", b"\xff\xfe", "cannot be read (it is no UTF-8 text (byte 0))"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadData) as error:
        read_labels(tmp_path / name, known=KNOWN)

    assert message in str(error.value)


def test_a_folder_is_no_file_of_labels(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").mkdir()

    with pytest.raises(BadData, match=r"labels\.csv cannot be read \(it is a folder\)\. Give a file of labels"):
        read_labels(tmp_path / "labels.csv", known=KNOWN)


def test_a_rater_who_says_two_things_of_one_item_is_asked_which_came_last(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    head = "item_id,rater_id,label,time\n"
    other = "n1#pain,person:ben,correct,\n"
    first, last = ("n1#pain,person:anna,{},{}\n".format(*said) for said in (("correct", ""), ("incorrect", "")))
    file.write_text(head + first + other + last, encoding="utf-8")
    with pytest.raises(BadData, match=r"labels\.csv: line 4 contradicts line 2: person:anna says 'correct' and"):
        read_labels(file, known=KNOWN)

    dated = head + first.replace(",\n", ",2026-01-02T08:00:00Z\n") + last.replace(",\n", ",2026-01-03T08:00:00Z\n")
    file.write_text(dated, encoding="utf-8")
    assert [label.label for label in read_labels(file, known=KNOWN)] == ["correct", "incorrect"]


def test_a_time_without_a_zone_is_compared_all_the_same(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    for time in ("2026-01-02T08:00:00", "2026-01-03T08:00:00Z", "2026-01-01T08:00:00"):
        file.write_text(json.dumps(ROW | {"time": time, "comment": time}) + "\n", encoding="utf-8")
        done = add_labels(run, read_labels(file, known=KNOWN))

    assert done == Added(0, 0, 1)


def test_added_labels_go_to_their_raters_files_once(run: Path) -> None:
    given_labels = [
        make_label("anna", "n1", "pain", "correct"),
        make_label("gpt-x", "n1", "pain", "partial"),
        make_label("carla", "n2", "costs", "correct").model_copy(update={"role": "adjudication"}),
    ]

    assert add_labels(run, given_labels) == Added(3, 0, 0)
    assert add_labels(run, given_labels) == Added(0, 3, 0)

    assert sorted(path.name for path in (run / "labels").glob("[!.]*")) == [
        "adjudicator-carla.jsonl",
        "model-gpt-x.jsonl",
        "person-anna.jsonl",
    ]
    found = load_labels(label_files(run))
    assert sorted(found, key=repr) == sorted(given_labels, key=repr)


def test_an_older_label_does_not_replace_a_newer_one(run: Path) -> None:
    newer, older = (
        make_label("anna", "n1", "pain", "correct", comment=f"day {day}").model_copy(
            update={"time": datetime(2026, 1, day, tzinfo=UTC)}
        )
        for day in (9, 2)
    )

    assert add_labels(run, [newer]) == Added(1, 0, 0)
    assert add_labels(run, [older]) == Added(0, 0, 1)
    assert add_labels(run, [newer]) == Added(0, 1, 0)


def test_items_for_another_tool_hold_question_and_answer_and_no_label(run: Path, tmp_path: Path) -> None:
    items = items_to_label(run, load_outcomes(run))
    answers = {"pain": "Kaum.", "costs": "Nichts.", "duration": "Kurz."}

    write_items(items, answers, tmp_path / "items.jsonl")

    lines = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[1] == {"item_id": "n2#costs", "question": "Zahlt das die Kasse?", "answer": "Nichts."}
    assert len(lines) == 3
