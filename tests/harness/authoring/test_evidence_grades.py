"""Forms for raters of drafted answers, who do not know which was written from documents, and what they say together."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.harness.authoring.author import author


def _draft(folder: Path, question: str, answer: str = "Ja. ", closed: str = "=Nein.") -> Path:
    folder.mkdir()
    sentences = [
        {"field": "answer", "text": answer, "flaw": ""},
        {"field": "answer", "text": "Gestrichen.", "flaw": "it cites no segment"},
        {"field": "easy_answer", "text": "Leicht.", "flaw": ""},
    ]
    record = {"question": question, "sentences": sentences, "closed": closed}
    (folder / "result.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def _fill(form: Path, out: Path, grades: dict[str, tuple[str, str]]) -> Path:
    with form.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["grade"], row["unsupported"] = grades.get(row["answer"], ("", ""))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return out


@pytest.fixture
def form(tmp_path: Path) -> Path:
    folders = [_draft(tmp_path / "a", "Wo?"), _draft(tmp_path / "b", "Wann?", "Heute.", closed="Morgen.")]
    done = author("grades", *folders, "--form", tmp_path / "form.csv")
    assert done.exit_code == 0, done.output
    assert "4 answers in " in done.stdout
    return tmp_path / "form.csv"


def test_a_form_tells_nobody_who_wrote_an_answer_and_no_sheet_takes_it_for_a_formula(form: Path) -> None:
    text = form.read_text(encoding="utf-8")

    assert "documents" not in text
    assert "Gestrichen" not in text
    assert "'=Nein." in text


def test_grades_of_two_raters_are_counted_by_system_with_their_agreement(form: Path, tmp_path: Path) -> None:
    anna = _fill(
        form,
        tmp_path / "anna.csv",
        {
            "Ja.": ("correct", "0"),
            "Ja. ": ("correct", "0"),
            "'=Nein.": ("Wrong", "1"),
            "Heute.": ("mostly correct", ""),
        },
    )
    ben = _fill(form, tmp_path / "ben.csv", {"Ja. ": ("correct", "1"), "'=Nein.": ("wrong", "1")})

    done = author("grades", tmp_path / "a", tmp_path / "b", "--filled", anna, "--filled", ben)

    assert done.exit_code == 0, done.output
    rows = {line.split("  ")[0].strip(): line.split() for line in done.stdout.splitlines()}
    assert rows["with documents"][-9:] == ["2", "1", "0", "0", "3", "1", "in", "2", "0"]
    assert rows["without documents"][-9:] == ["0", "0", "0", "2", "2", "2", "in", "2", "0"]
    assert "alpha (ordinal), 2 raters: 1.000 (fewer than 10 items)" in done.stdout


def test_a_question_that_one_side_alone_answers_is_graded_for_neither_and_counted(tmp_path: Path) -> None:
    folders = [
        _draft(tmp_path / "a", "Wo?"),
        _draft(tmp_path / "b", "Wann?", answer="", closed="Heute, denke ich."),
        _draft(tmp_path / "c", "Wie?", closed=""),
        _draft(tmp_path / "d", "Wer?", answer="", closed=""),
    ]
    out = (
        "Only questions with both answers are graded. Left out: no answer with documents: 1; "
        "no answer without documents: 1"
    )

    written = author("grades", *folders, "--form", tmp_path / "form.csv")
    filled = _fill(tmp_path / "form.csv", tmp_path / "anna.csv", {"Ja. ": ("correct", ""), "'=Nein.": ("wrong", "")})
    read = author("grades", *folders, "--filled", filled)

    assert "denke ich" not in (tmp_path / "form.csv").read_text(encoding="utf-8")
    assert (written.exit_code, read.exit_code) == (0, 0)
    assert f"{out}; no answer at all: 1." in written.stdout
    assert out in read.stdout
    rows = {line.split("  ")[0].strip(): line.split() for line in read.stdout.splitlines()}
    assert rows["with documents"][-8:] == ["1", "0", "0", "0", "1", "not", "counted", "1"]
    assert rows["without documents"][-8:] == ["0", "0", "0", "1", "1", "not", "counted", "1"]
    alone = author("grades", folders[1], "--form", tmp_path / "x.csv")
    assert (alone.exit_code, alone.stdout) == (2, "")
    assert "has an answer with and one without documents to compare" in alone.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("Wo?,'=Nein.,,", "Wo?,'=Nein.,good,"), "'good' is no grade. Grades: correct"),
        (lambda text: text.replace("Wo?,'=Nein.,,", "Wo?,'=Nein.,wrong,many"), "`unsupported` is 'many'"),
        (lambda text: text.replace("Wo?,'=Nein.,,", "Wo?,'=Nein.,wrong,99"), "is 99, and the answer has 1 sentence."),
        (lambda text: text + text.splitlines()[1] + "\n", "is of no answer of these drafts, or of one twice"),
        (lambda text: text, "No row of these forms has a grade"),
    ],
)
def test_a_form_that_says_what_none_may_is_one_line(form: Path, tmp_path: Path, change, message: str) -> None:
    form.write_text(change(form.read_text(encoding="utf-8")), encoding="utf-8")

    done = author("grades", tmp_path / "a", tmp_path / "b", "--filled", form)

    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_folders_without_drafts_and_contradicting_options_are_one_line(form: Path, tmp_path: Path) -> None:
    cases: tuple[tuple[list[str | Path], str], ...] = (
        ([tmp_path], "result.json cannot be used (there is no such file)"),
        ([tmp_path / "a", "--form", form, "--filled", form], "Give `--form FILE` to write a form, or `--filled FILE`"),
        ([tmp_path / "a", tmp_path / "a", "--form", form], "holds a draft that another folder holds, too"),
        ([tmp_path / "a", "--filled", tmp_path / "none.csv"], "none.csv cannot be read (there is no such file)"),
    )
    for words, message in cases:
        more: list[str | Path] = ["--form", tmp_path / "x.csv"] if words == [tmp_path] else []
        done = author("grades", *words, *more)
        assert done.exit_code == 2
        assert message in done.stderr
