"""Suites come back as they were written, and cannot be changed unnoticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import pytest

from bot import Assistant, BadData
from harness.patients.suites import Dropped, Question, Recording, Suite, load_suite, save_suite

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


def test_a_suite_comes_back_as_it_was_written(small: Assistant, make_question: MakeQuestion, tmp_path: Path) -> None:
    questions = (make_question(1, "Tut's weh „sehr“?\u2028"), make_question(2, "Und die Oma?", None))
    recording = Recording(questions, (Dropped("p", "x", "preamble"), Dropped("p", "y", "preamble")), {})

    written = save_suite(
        tmp_path / "mine", catalog=small.catalog("de"), note="Über", recording=recording, today=date(2026, 1, 2)
    )

    suite = load_suite(tmp_path / "mine")
    assert suite == Suite(written, questions)
    assert (written.name, written.catalog, written.language) == ("mine", "small", "de")
    assert (written.note, written.created, written.dropped) == ("Über", date(2026, 1, 2), {"preamble": 2})
    assert written.counts == {"paraphrase": 1, "novel": 1}
    assert [question.text for question in suite.paraphrases] == ["Tut's weh „sehr“?\u2028"]


def test_the_same_questions_have_the_same_version(
    small: Assistant, make_question: MakeQuestion, tmp_path: Path
) -> None:
    def version(name: str, text: str, day: date) -> str:
        recording = Recording((make_question(1, text),), (), {})
        return save_suite(
            tmp_path / name, catalog=small.catalog("de"), note=name, recording=recording, today=day
        ).sha256

    first = version("a", "Tut das weh?", date(2026, 1, 2))

    assert version("b", "Tut das weh?", date(2027, 3, 4)) == first
    assert version("c", "Tut das weh", date(2026, 1, 2)) != first


def test_a_changed_question_is_noticed(make_suite: MakeSuite, make_question: MakeQuestion, tmp_path: Path) -> None:
    make_suite([make_question(1, "Tut das weh?")])
    file = tmp_path / "suite" / "questions.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("weh", "sehr weh"), encoding="utf-8")

    with pytest.raises(BadData, match=r"was changed after it was recorded .*restore it, or import it under another"):
        load_suite(tmp_path / "suite")


def test_an_existing_folder_is_never_overwritten(
    make_suite: MakeSuite, make_question: MakeQuestion, tmp_path: Path
) -> None:
    before = make_suite([make_question(1, "Tut das weh?")])

    with pytest.raises(BadData, match=r"suite exists, and suites are immutable\. Choose another folder with `--out`"):
        make_suite([make_question(1, "Was kostet das?")])

    assert load_suite(tmp_path / "suite") == before


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("suite.yaml", "name: [", r"suite cannot be read \(.+\)\. Import it again"),
        ("suite.yaml", "", "suite cannot be read"),
        ("suite.yaml", "name: x\n", "suite cannot be read"),
        ("questions.jsonl", None, "suite cannot be read"),
    ],
)
def test_a_broken_suite_is_one_clear_line(
    make_suite: MakeSuite,
    make_question: MakeQuestion,
    tmp_path: Path,
    file: str,
    content: str | None,
    message: str,
) -> None:
    make_suite([make_question(1, "Tut das weh?")])
    (tmp_path / "suite" / file).unlink()
    if content is not None:
        (tmp_path / "suite" / file).write_text(content, encoding="utf-8")

    with pytest.raises(BadData, match=message):
        load_suite(tmp_path / "suite")


def test_an_unknown_suite_names_those_there_are() -> None:
    with pytest.raises(BadData, match=r"no suite 'nope'\. Shipped suites: .*mammography-de, mammography-en, "):
        load_suite("nope")


def test_a_folder_that_cannot_be_made_is_one_clear_line(small: Assistant, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadData, match=r"file/mine cannot be written \(.+\)"):
        save_suite(
            tmp_path / "file" / "mine",
            catalog=small.catalog("de"),
            note="",
            recording=Recording((), (), {}),
            today=date(2026, 1, 2),
        )


KILLED = """\
import os, signal, sys, time
from datetime import date
from pathlib import Path
import harness.patients.suites
from bot import load_catalog
from harness.patients.suites import Recording

signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background ignores it


def strike(*_, **__):
    os.kill(os.getpid(), getattr(signal, sys.argv[3]))
    time.sleep(50)  # a signal may reach another thread first


harness.patients.suites.yaml.safe_dump = strike
catalog = load_catalog(Path(sys.argv[1]), "de")
harness.patients.suites.save_suite(
    Path(sys.argv[2]), catalog=catalog, note="", recording=Recording((), (), {}), today=date(2026, 1, 2)
)
"""


@pytest.mark.parametrize("blow", ["SIGKILL", "SIGINT"])
def test_a_kill_while_saving_leaves_no_half_written_suite(small_folder: Path, tmp_path: Path, blow: str) -> None:
    folder = tmp_path / "suites" / "mine"
    arguments = [sys.executable, "-c", KILLED, str(small_folder), str(folder), blow]

    killed = subprocess.run(arguments, check=False, capture_output=True, env={**os.environ}, timeout=60)

    assert killed.returncode == -getattr(signal, blow)
    assert not folder.exists()
    with pytest.raises(BadData, match="There is no suite"):
        load_suite(folder)
    left = [path.name for path in folder.parent.iterdir()]
    assert all(name.startswith(".partial-") for name in left)
    assert not left or blow == "SIGKILL"
