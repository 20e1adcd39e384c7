"""The real program on a real terminal: single keys, a kill, and a terminal that is left as it was."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from harness.labelling.labels import load_labels
from tests.harness.labelling.conftest import make_label

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)

Start = Callable[..., pexpect.spawn]
PROGRAM = "from bot.commands.main import main; main()"
LEFT = "\x1b[D"


@pytest.fixture
def start(run: Path, small_folder: Path) -> Iterator[Start]:
    """Start a labelling command on a terminal of 80 columns and 24 lines; what still runs at the end is killed."""
    started: list[pexpect.spawn] = []

    def begin(*more: str, rater: str = "anna") -> pexpect.spawn:
        arguments = ["harness", "labels", "give", str(run), "--rater", rater, "--catalog", str(small_folder), *more]
        child = pexpect.spawn(
            sys.executable,
            ["-c", PROGRAM, *arguments],
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=30,
            use_poll=True,
        )
        child.delaybeforesend = None
        started.append(child)
        return child

    yield begin
    for child in started:
        child.close(force=True)


def labels(run: Path, name: str = "person-anna") -> list[tuple[str, str, str]]:
    return [(x.label, x.reason, x.comment) for x in load_labels([run / "labels" / f"{name}.jsonl"])]


def test_a_rater_works_with_single_keys_and_every_label_is_on_the_disk_before_the_next_item(
    start: Start, run: Path
) -> None:
    child = start()
    child.expect("0 von 3 beurteilt, 0%")
    child.expect("Hilfe")
    before = child.before

    child.send("1")
    child.expect("Enter: kein Grund")
    child.send("a")
    child.expect("1 von 3 beurteilt, 33%")
    assert labels(run) == [("incorrect", "other-topic", "")]

    child.send("c")
    child.expect("Kommentar: ")
    child.send("schräg\x7f\x7fön\r")
    child.expect("Kommentar: schrön")
    child.send("2")
    child.expect("Enter: kein Grund")
    child.send("\r")
    child.expect("2 von 3 beurteilt, 67%")
    assert labels(run)[1:] == [("partial", "", "schrön")]

    child.send(LEFT)
    child.expect("zurückgenommen")
    assert len(labels(run)) == 1
    child.send("3")
    child.expect("2 von 3 beurteilt")
    child.send("3")
    child.expect("Alles beurteilt. Vielen Dank")
    child.send("q")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0
    assert [label for label, _, _ in labels(run)] == ["incorrect", "correct", "correct"]
    assert before is not None
    assert "literacy" not in before


def when_it_reads_keys(child: pexpect.spawn) -> pexpect.spawn:
    """Wait until single keys are read: what is typed before that is thrown away with the line."""
    until = time.monotonic() + 20
    while termios.tcgetattr(child.child_fd)[3] & termios.ICANON:
        assert time.monotonic() < until, "keys are not read"
        time.sleep(0.01)
    return child


def test_after_a_kill_nothing_is_lost_and_ctrl_c_leaves_the_terminal_as_it_was(start: Start, run: Path) -> None:
    killed = start()
    killed.expect("0 von 3")
    when_it_reads_keys(killed).send("3")
    killed.expect("1 von 3")
    killed.kill(signal.SIGKILL)
    killed.expect(pexpect.EOF)
    killed.close()

    child = start()
    usual = termios.tcgetattr(child.child_fd)[3]
    child.expect("1 von 3 beurteilt")
    child.expect("Schluss")
    when_it_reads_keys(child).send("x\x1b[A\x1b[15~é7")  # keys that mean nothing, one of them long, one not ASCII
    when_it_reads_keys(child).send("3")
    child.expect("2 von 3 beurteilt")
    when_it_reads_keys(child)
    keying = termios.tcgetattr(child.child_fd)[3]
    child.sendintr()
    child.expect(r"Mit demselben Befehl geht es weiter: 1 von 3")
    left = termios.tcgetattr(child.child_fd)[3]
    child.expect(pexpect.EOF)
    child.wait()

    assert child.exitstatus == 0
    assert not keying & termios.ICANON
    assert left & (termios.ICANON | termios.ECHO) == usual & (termios.ICANON | termios.ECHO) != 0
    assert labels(run) == [("correct", "", "")] * 2


def test_a_third_person_sees_both_labels_with_reasons_and_no_names(start: Start, run: Path) -> None:
    (run / "labels").mkdir()
    given = [
        make_label("anna", "n1", "pain", "incorrect", "off-point", "nur vorher"),
        make_label("ben", "n1", "pain", "partial", "part-missing", "danach fehlt"),
        make_label("anna", "n2", "costs", "correct"),
        make_label("ben", "n2", "costs", "correct"),
    ]
    for name in ("anna", "ben"):
        lines = "".join(label.model_dump_json() + "\n" for label in given if label.rater.name == name)
        (run / "labels" / f"person-{name}.jsonl").write_text(lines, encoding="utf-8")

    child = start("--decide", rater="carla")
    child.expect("0 von 1 beurteilt")
    child.expect("Hilfe")
    seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", child.before or "")
    child.send("2")
    child.expect("Enter: kein Grund")
    child.send("d")
    child.expect("Alles beurteilt")
    child.sendeof()
    child.expect(pexpect.EOF)

    for text in (
        "falsch",
        "teilweise richtig",
        "Richtiges Thema, aber nicht das Gefragte",
        "nur vorher",
        "danach fehlt",
    ):
        assert text in seen
    assert "Beurteilung 1 (Mensch)" in seen
    assert "anna" not in seen
    assert "ben" not in seen.replace("abends", "")
    assert labels(run, "adjudicator-carla") == [("partial", "part-missing", "")]
    assert os.path.getsize(run / "labels" / "person-anna.jsonl") == len(
        "".join(label.model_dump_json() + "\n" for label in given if label.rater.name == "anna").encode()
    )
