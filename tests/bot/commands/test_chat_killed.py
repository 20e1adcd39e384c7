"""A chat that is killed at any moment loses no accepted answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.adapters.sql_records import SqlInterviews, SqlRecords
from bot.sentences.reply import SENTENCES
from tests.bot.interview.resources import form, item
from tests.forking import readable

# The chat with an encoder that needs no model.
SCRIPT = """\
import sys
from pathlib import Path
from bot.commands.chat import Visit, run_chat
from bot.testing import HashEncoder

catalog, data, questionnaire = (Path(argument) for argument in sys.argv[1:])
run_chat(str(catalog), encoder=HashEncoder(), data=data, visit=Visit("c1", questionnaire))
"""
QUESTIONS = [f"Frage nach Nummer {number}?" for number in range(6)]
PATIENCE_S = 120


class Terminal:
    """A chat in a process of its own."""

    def __init__(self, folder: Path, catalog: Path) -> None:
        environ = {**os.environ, "KLARTEXT_DATABASE_URL": f"sqlite:///{folder / 'chat.db'}", "COLUMNS": "300"}
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", SCRIPT, str(catalog), str(folder), str(folder / "Q.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environ,
        )
        self._read = ""

    def wait_for(self, words: str) -> str:
        """Read until `words` were printed; return all since the last wait."""
        assert self._process.stdout is not None
        end = time.monotonic() + PATIENCE_S
        while words not in self._read:
            ready = readable(self._process.stdout, max(0, end - time.monotonic()))
            chunk = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            assert chunk, f"{words!r} was not printed: {self._read[-2000:]}"
            self._read += chunk.decode("utf-8", "replace")
        seen, self._read = self._read, ""
        return seen

    def say(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n".encode())
        self._process.stdin.flush()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()
        assert self._process.returncode == -signal.SIGKILL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asked = form(*(item(f"q{number}", "string", text=text) for number, text in enumerate(QUESTIONS)))
    (tmp_path / "Q.json").write_text(json.dumps(asked), encoding="utf-8")
    return tmp_path


def answers(folder: Path) -> list[str]:
    records = SqlRecords.open(f"sqlite:///{folder / 'chat.db'}")
    stored = SqlInterviews(records.engine).interview("c1")
    records.close()
    events = [json.loads(event) for event in stored.events] if stored else []
    return [event["answers"][0]["value"] for event in events if event["event"] == "Given"]


@pytest.mark.proof
def test_a_chat_killed_after_every_question_goes_on_and_loses_nothing(folder: Path, small_folder: Path) -> None:
    for number, question in enumerate(QUESTIONS):
        terminal = Terminal(folder, small_folder)
        if number == 0:
            terminal.wait_for(SENTENCES["de"]["interview_offer"])
            terminal.say("ja")
        terminal.wait_for(question)  # the next open question, not one that was answered
        terminal.say(f"Antwort {number}")
        terminal.wait_for(QUESTIONS[number + 1] if number + 1 < len(QUESTIONS) else "Stimmt alles?")
        terminal.kill()
        # The next question was seen: then the answer before it is on disk.
        assert answers(folder) == [f"Antwort {each}" for each in range(number + 1)]


@pytest.mark.proof
@pytest.mark.parametrize("delay_s", [0.0, *(pytest.param(delay, marks=pytest.mark.proof) for delay in (0.01, 0.05))])
def test_a_chat_killed_in_the_middle_of_a_turn_keeps_all_or_nothing_of_it(
    folder: Path, small_folder: Path, delay_s: float
) -> None:
    terminal = Terminal(folder, small_folder)
    terminal.wait_for(SENTENCES["de"]["interview_offer"])
    terminal.say("ja")
    terminal.wait_for(QUESTIONS[0])
    terminal.say("Antwort 0")
    terminal.wait_for(QUESTIONS[1])
    terminal.say("Antwort 1")
    time.sleep(delay_s)
    terminal.kill()

    kept = answers(folder)
    again = Terminal(folder, small_folder)
    seen = again.wait_for(QUESTIONS[len(kept)])
    again.kill()

    assert kept in (["Antwort 0"], ["Antwort 0", "Antwort 1"])
    assert SENTENCES["de"]["resumed"] in seen
