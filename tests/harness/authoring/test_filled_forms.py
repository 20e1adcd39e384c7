"""Forms come back as the raters' spreadsheets store them: one reader takes them all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bot import BadData, load_catalog, locate
from harness.authoring.discussion.rating_form import rating_form, tally
from harness.authoring.discussion.texts import load_texts
from harness.authoring.evidence.grading import COLUMNS, Answer, read_form
from harness.authoring.filled import read_form_rows
from harness.authoring.quiz.blind import as_form, read_forms
from harness.authoring.ranking import raters, study
from tests.harness.authoring.author import author
from tests.harness.authoring.quizzes import made, scripted

FORMS = load_texts("de").form
ROWS = [["id", "text", "remark"], ["1", "Schön, daß „es“\nging", ""], ["2", "a;b", "x"]]


def _excel(table: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=";", lineterminator="\r\n").writerows(csv.reader(io.StringIO(table, newline="")))
    return stream.getvalue()


def _commas(rows: list[list[str]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


STORED: dict[str, Callable[[str], bytes]] = {
    "commas": lambda table: table.encode(),
    "UTF-8 with a mark, semicolons": lambda table: _excel(table).encode("utf-8-sig"),
    "Windows-1252, semicolons": lambda table: _excel(table).encode("cp1252"),
    "said to Excel": lambda table: ("sep=;\r\n" + _excel(table)).encode("utf-8-sig"),
    "Unicode text": lambda table: _excel(table).replace(";", "\t").encode("utf-16"),
}


@pytest.mark.parametrize("stored", STORED)
def test_what_spreadsheets_store_is_the_same_table(stored: str, tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[1], [ROWS[2][0], "ab", "x"]] if stored == "Unicode text" else ROWS
    (path := tmp_path / "form.csv").write_bytes(STORED[stored](_commas([*rows, ["", "", ""]])))

    found = read_form_rows(path, ("id", "text"), "a form")

    assert [row for _, row in found] == [{"id": row[0], "text": row[1]} for row in rows[1:]]


def test_a_table_of_one_column_keeps_its_commas(tmp_path: Path) -> None:
    (path := tmp_path / "one.csv").write_bytes(
        'text\r\nKein Bus, kein Auto; wie?\r\n"Er sagt ""ja"", oder?"\r\n'.encode("utf-16")
    )

    found = read_form_rows(path, ("text",), "a form")

    assert [row["text"] for _, row in found] == ["Kein Bus, kein Auto; wie?", 'Er sagt "ja", oder?']


@pytest.mark.parametrize("stored", ["UTF-8 with a mark, semicolons", "Windows-1252, semicolons"])
def test_each_kind_of_form_is_read_from_excel(stored: str, tmp_path: Path) -> None:
    as_stored, path = STORED[stored], tmp_path / "anna.csv"

    answers = {"abc": Answer("abc", "Wofür?", "Schön, ja.", "with documents")}
    path.write_bytes(as_stored(_commas([[*COLUMNS], ["abc", "Wofür?", "Schön, ja.", "wrong", "1", "naß; kalt"]])))
    (graded,) = read_form(path, answers)
    assert (graded.rater, graded.grade, graded.unsupported) == ("anna", 3, 1)

    tracks = made(partial(scripted, score=lambda number: number + 1))
    rows = list(csv.reader(io.StringIO(as_form(tracks))))
    for row in rows[1:]:
        row[rows[0].index("rater")], row[rows[0].index("better")] = "Jürgen", "a"
    path.write_bytes(as_stored(_commas(rows)))
    judged = read_forms([path], tracks)
    assert judged
    assert {each.rater for each in judged} == {"Jürgen"}

    said = {"preferred": "A", "captured": "alles", "agreed": "den meisten", "harmful": "nein"}
    rows = list(csv.reader(io.StringIO(rating_form(FORMS))))
    filled = [rows[0], *([*row[:-1], said[row[0]]] for row in rows[1:])]
    path.write_bytes(as_stored(_commas(filled)))
    assert tally([(path, True)], FORMS).preferred == {"final": 1}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a;b\n1;2\n", "has no column 'id'"),
        (b"", "has no column 'id'"),
        (b"id,text\n1,\x81\xff\n", "cannot be read"),
        (b"id,text\n1," + b"x" * 200_000, "is no table"),
    ],
)
def test_what_is_no_form_is_one_line(raw: bytes, message: str, tmp_path: Path) -> None:
    (path := tmp_path / "form.csv").write_bytes(raw)
    with pytest.raises(BadData, match=message) as refused:
        read_form_rows(path, ("id", "text"), "a copy of `form.csv`")
    assert "Give a copy of `form.csv`, filled in." in str(refused.value)
    with pytest.raises(BadData, match="there is no such file"):
        read_form_rows(tmp_path / "none.csv", ("id",), "a form")
    with pytest.raises(BadData, match="it is no file"):
        read_form_rows(tmp_path, ("id",), "a form")


def test_a_copy_that_nobody_filled_in_keeps_no_other_from_being_counted(tmp_path: Path) -> None:
    said = {"preferred": "A", "captured": "alles", "agreed": "den meisten", "harmful": "nein"}
    rows = list(csv.reader(io.StringIO(rating_form(FORMS))))
    (tmp_path / "result.json").write_text(json.dumps({"form_final_is": "A"}), encoding="utf-8")
    (tmp_path / "form-ben.csv").write_text(_commas(rows), encoding="utf-8")

    done = author("forms", tmp_path)
    assert done.exit_code == 2
    assert "Fill in the column `answer`." in done.stderr

    filled = [rows[0], *([*row[:-1], said[row[0]]] for row in rows[1:])]
    (tmp_path / "form-anna.csv").write_text(_commas(filled), encoding="utf-8")
    done = author("forms", tmp_path)
    assert done.exit_code == 0, done.output
    assert "1 form" in done.stdout
    assert f"Not counted: {tmp_path / 'form-ben.csv'} has no answer yet." in done.stdout


@pytest.mark.proof
def test_a_form_of_another_ranking_is_said_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "run_study", lambda *_: pytest.fail("trained"))
    pairs = [each.id for each in load_catalog(locate("mammography"), "de").pairs[:6]]
    named = [part for id_ in pairs for part in ("--pair", id_)]
    (one := tmp_path / "a").mkdir()
    (other := tmp_path / "b").mkdir()
    head = ",".join(raters.FIELDS)
    for folder in (one, other):
        (folder / "anna.csv").write_text(f"{head}\n", encoding="utf-8")
    texts = tmp_path / "texts.jsonl"
    texts.write_text(
        "".join(json.dumps({"pair": id_, "system": "other", "text": f"Text zu {id_}."}) + "\n" for id_ in pairs),
        encoding="utf-8",
    )
    given: list[str | Path] = [*named, "--statements", "rules", "--candidates", texts, "--out", tmp_path / "out"]

    done = author("rank", *given, "--ranks", one / "anna.csv", "--ranks", other / "anna.csv")
    assert done.exit_code == 2, done.output
    assert "Two forms have the name 'anna'" in done.stderr

    done = author("rank", *given, "--ranks", one / "anna.csv")
    assert done.exit_code == 2, done.output
    assert "ranks 0 examples; agreement needs at least 5" in done.stderr
