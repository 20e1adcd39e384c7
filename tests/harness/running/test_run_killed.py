"""A run that is killed goes on where it was: what was stored is neither asked again nor lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.patients.suites import Question, Suite
from harness.running.chunks import CHUNK
from harness.running.run import load_outcomes

# Runs the suite with a system that logs every question, and hangs at the question number in its last argument.
SCRIPT = """\
import sys, time
from pathlib import Path
from bot import Assistant
from bot.testing import HashEncoder
from harness.running.run import run_suite
from harness.patients.suites import load_suite
from harness.systems.system import InProcess

folder, catalog, data, stop = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
assistant = Assistant.open(catalog, data=data, encoder=HashEncoder(), sample=True, languages=["de"])
inner = InProcess(assistant, "cosine", {"system": "klartext"})

class Logging:
    identity = inner.identity
    asked = 0
    def ask(self, texts, language):
        responses = []
        for text in texts:
            self.asked += 1
            if self.asked == stop:
                time.sleep(600)
            with (folder / "asked.txt").open("a") as log:
                log.write(text + "\\n")
            responses += inner.ask([text], language)
        return responses

run_suite(load_suite(folder / "suite"), Logging(), assistant.catalog("de"), folder / "run")
"""


def start(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, *map(str, arguments)], stderr=subprocess.PIPE)


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []


@pytest.mark.proof
def test_a_killed_run_is_resumed_without_asking_twice_or_losing_an_answer(
    small_folder: Path,
    tmp_path: Path,
    make_suite: Callable[[Sequence[Question]], Suite],
    make_question: Callable[..., Question],
) -> None:
    count, answered_before_kill = CHUNK * 2 + 50, CHUNK + 10
    suite = make_suite([make_question(n, f"Was kostet die Untersuchung Nummer {n}?", "costs") for n in range(count)])
    data, log, stored = tmp_path / "data", tmp_path / "asked.txt", tmp_path / "run" / "outcomes.jsonl"

    with start(tmp_path, small_folder, data, answered_before_kill + 1) as process:
        deadline = time.monotonic() + 60
        while len(lines(log)) < answered_before_kill and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = stored.read_bytes()
    with start(tmp_path, small_folder, data, 0) as process:
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors.decode()
    assert len(before.splitlines()) == CHUNK
    assert stored.read_bytes().startswith(before)
    assert [outcome.id for outcome in load_outcomes(tmp_path / "run")] == [question.id for question in suite.questions]
    times = Counter(lines(log))
    assert [times[question.text] for question in suite.questions[:CHUNK]] == [1] * CHUNK
    # Only what was answered but not yet stored is asked again, as `CHUNK` says.
    assert sum(times.values()) - count == answered_before_kill - CHUNK
