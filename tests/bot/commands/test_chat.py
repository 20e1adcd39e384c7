"""`klartext chat`, driven through a pipe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from tests.shipped_texts import SAID

DE, EN = SAID["de"], SAID["en"]


def _chat(shipped_data: Path, database: Path, said: bytes) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from bot.commands.main import main; main()", "chat"],
        input=said,
        capture_output=True,
        timeout=240,
        env={
            **os.environ,
            "KLARTEXT_DATA": str(shipped_data),
            "KLARTEXT_DATABASE_URL": f"sqlite:///{database}",
            "COLUMNS": "400",
        },
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    # Frames break lines: only the words count.
    return " ".join(done.stdout.decode().translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _in_order(transcript: str, *texts: str) -> bool:
    place = 0
    for text in map(_one_line, texts):
        place = transcript.find(text, place)
        if place < 0:
            return False
        place += len(text)
    return True


@pytest.mark.proof
def test_a_whole_conversation(shipped: Assistant, shipped_data: Path, tmp_path: Path) -> None:
    pain = shipped.catalog("de").pair("pain")
    costs = shipped.catalog("en").pair("costs")
    said = "Tut das weh?\nmehr dazu\n/easy\n\nHow much does it cost?\n/flag\n/quit\nnot read any more\n"

    transcript = _chat(shipped_data, tmp_path / "chat.db", said.encode())

    assert _in_order(
        transcript,
        DE["welcome"],
        DE["emergency_notice"],
        pain.short_answer or "",
        DE["sample_label"],
        DE["more_hint"],
        DE["whole_answer"],
        pain.answer,
        DE["easy_intro"],
        pain.easy_answer or "",
        DE["empty"],
        costs.short_answer or "",
        EN["sample_label"],
        EN["flagged"],
        EN["goodbye"],
    )


def test_an_emergency_and_the_question_whether_it_is_one(
    shipped: Assistant, shipped_data: Path, tmp_path: Path
) -> None:
    said = "Druck auf der Brust\nnein\nich kriege keine Luft\n"

    transcript = _chat(shipped_data, tmp_path / "chat.db", said.encode())

    assert _in_order(transcript, DE["urgent_chest_pain"], DE["chest_question"], f"1 {DE['chest_breast']}", DE["urgent"])
    assert transcript.endswith(DE["goodbye"])  # the pipe's end is a farewell
    assert shipped.answer("Druck auf der Brust", "de").decision == "urgent"


@pytest.mark.proof
@pytest.mark.usefixtures("shipped")
def test_bytes_that_are_no_text_do_not_end_the_conversation(shipped_data: Path, tmp_path: Path) -> None:
    database = tmp_path / "chat.db"

    transcript = _chat(shipped_data, database, b"Quark \xff\xfe mit Erdbeeren\n\x00\x07\n/help\n")

    assert _in_order(transcript, DE["empty"], DE["help"], DE["goodbye"])
    records = SqlRecords.open(f"sqlite:///{database}")
    questions = [turn.question for turn in records.open_questions()]
    records.close()
    assert questions == ["Quark \ufffd\ufffd mit Erdbeeren"]
