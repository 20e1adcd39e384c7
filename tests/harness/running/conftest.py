"""Systems that take their time, in files as the command line reads them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from harness.patients.suites import Question, Suite
from harness.running.outcomes import Outcome
from harness.systems.system import Opening

MakeLong = Callable[[int], Suite]
MakeSystem = Callable[..., Path]

# Needs so many milliseconds; what it answers depends on the question alone. Notes every question it gets, and for whom
# (the process that started it).
SCRIPT = """\
import hashlib, json, os, sys, time
needs_s, log, asking = float(sys.argv[1]) / 1000, open(sys.argv[2], "a"), open(f"{sys.argv[2]}.{os.getppid()}", "a")
for line in sys.stdin:
    question = json.loads(line)["question"]
    log.write(question + "\\n"); log.flush()
    asking.write(question + "\\n"); asking.flush()
    time.sleep(needs_s)
    number = int(hashlib.sha256(question.encode()).hexdigest(), 16)
    pair = ["costs", "pain", None][number % 3]
    print(json.dumps({"question": question, "pair_id": pair, "decision": "answered" if pair else "declined"}))
"""


@pytest.fixture
def make_system(tmp_path: Path) -> MakeSystem:
    """Write the file of a command that needs so many milliseconds; it notes its questions in ``tmp_path/asked.txt``."""

    def make(needs_ms: float) -> Path:
        file = tmp_path / "takes-time.yaml"
        command = [sys.executable, "-c", SCRIPT, str(needs_ms), str(tmp_path / "asked.txt")]
        file.write_text(yaml.safe_dump({"kind": "command", "command": command}), encoding="utf-8")
        return file

    return make


@pytest.fixture(scope="package")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the first test trains the small catalog with the real encoder, for all others."""
    return tmp_path_factory.mktemp("trained")


@pytest.fixture
def opening(small_folder: Path, trained: Path) -> Opening:
    return Opening(str(small_folder), "embedded", "hybrid", trained)


@pytest.fixture
def long_suite(make_suite: Callable[[Sequence[Question]], Suite], make_question: Callable[..., Question]) -> MakeLong:
    """Make a suite of so many questions for the small catalog, in ``tmp_path/suite``."""

    def make(count: int) -> Suite:
        vignettes = ("low-health-literacy", "high-health-literacy")
        questions = [
            make_question(n, f"Was kostet die Untersuchung Nummer {n}?", "costs", vignettes[n % 2])
            if n % 10
            else make_question(n, f"Gibt es Parkplatz Nummer {n}?", None)
            for n in range(count)
        ]
        return make_suite(questions)

    return make


def timeless(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return outcomes without what differs between any two runs."""
    return [replace(outcome, elapsed_ms=0.0) for outcome in outcomes]


def eventually(holds: Callable[[], bool], *, within_s: float = 120) -> bool:
    """Wait until something holds; a busy machine takes its time."""
    deadline = time.monotonic() + within_s
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()
