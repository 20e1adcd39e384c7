"""A rater's file survives kills, keeps others out, and belongs to one rater."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot import BadData
from harness.labelling.labels import Rater
from harness.labelling.rater_files import file_name, open_rater_file
from tests.harness.labelling.conftest import make_label

ANNA = Rater(kind="person", name="anna")


def test_names_become_file_names_that_differ() -> None:
    names = ["anna", "Anna", "ANNA", "Zoë", "../../etc/passwd", "a/b", "a b", "a" * 200, "日本"]

    files = [file_name(Rater(kind="person", name=name)) for name in names]

    assert files[0] == "person-anna.jsonl"
    assert len(set(files)) == len(names)
    assert all("/" not in file and len(file) < 80 for file in files)
    assert file_name(ANNA, adjudicator=True) == "adjudicator-anna.jsonl"
    assert file_name(Rater(kind="model", name="anna")) == "model-anna.jsonl"


def test_a_line_that_a_kill_left_unfinished_is_cut_off(tmp_path: Path) -> None:
    with open_rater_file(tmp_path, ANNA) as own:
        own.append(make_label("anna", "n1", "pain", "correct"))
    with own.path.open("a", encoding="utf-8") as stream:
        stream.write('{"question_id": "n2", "pair')

    with open_rater_file(tmp_path, ANNA) as again:
        assert [label.question_id for label in again.labels] == ["n1"]
        again.append(make_label("anna", "n3", "pain", "partial"))
    with open_rater_file(tmp_path, ANNA) as third:
        assert [label.question_id for label in third.labels] == ["n1", "n3"]


def test_undo_removes_the_last_line_from_the_disk(tmp_path: Path) -> None:
    with open_rater_file(tmp_path, ANNA) as own:
        for question in ("n1", "n2"):
            own.append(make_label("anna", question, "pain", "correct", comment="Zeile\u2028zwei"))
        taken = own.undo()
        assert taken is not None
        assert taken.question_id == "n2"
        assert own.path.read_text(encoding="utf-8").count("\n") == 1
        own.undo()
        assert own.undo() is None
        assert own.path.read_bytes() == b""


def test_one_rater_labels_in_one_terminal_at_a_time(tmp_path: Path) -> None:
    other = (
        "import sys\nfrom pathlib import Path\nfrom bot import friendly_errors\nfrom harness.labelling.labels import Rater\n"
        "from harness.labelling.rater_files import open_rater_file\n"
        "with friendly_errors(), open_rater_file(Path(sys.argv[1]), Rater(kind='person', name=sys.argv[2])): print('in')"
    )

    def attempt(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", other, str(tmp_path), name], capture_output=True, text=True, check=False
        )

    with open_rater_file(tmp_path, ANNA):
        refused, welcome = attempt("anna"), attempt("ben")

    assert refused.returncode == 2
    assert "'anna' is labelling in another terminal" in refused.stderr
    assert welcome.stdout == "in\n"
    assert attempt("anna").stdout == "in\n"


def test_a_file_with_someone_elses_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels" / file_name(ANNA)
    with open_rater_file(tmp_path, Rater(kind="person", name="ben")) as own:
        own.append(make_label("ben", "n1", "pain", "correct"))
    own.path.rename(path)

    with (
        pytest.raises(BadData, match="holds labels of person:ben, not of person:anna"),
        open_rater_file(tmp_path, ANNA),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "labels").write_text("a file", encoding="utf-8")

    with pytest.raises(BadData, match=r"cannot be written \(File exists"), open_rater_file(tmp_path, ANNA):
        pass
