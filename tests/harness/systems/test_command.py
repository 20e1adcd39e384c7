"""Commands are asked as real processes, and started anew after a fault."""

from __future__ import annotations

import json
import sys

import pytest

from bot import Unreachable
from harness.systems.command import LONGEST_COMPLAINT, unquoting
from harness.systems.system import Failure, Reply
from tests.harness.systems.conftest import Opener

# Answers "pain", unless the question names a fault; notes every start on standard error.
SCRIPT = """\
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    question = asked["question"]
    if question == "exit": sys.exit(3)
    if question == "sleep": time.sleep(60)
    if question == "babble": print("Hello!"); continue
    if question == "half": sys.stdout.write('{"pair_id"'); sys.exit(0)
    if question == "latin": sys.stdout.buffer.write(b'{"answer": "f\\xfcr"}\\n'); sys.stdout.flush(); continue
    if question == "kind": print('{"answer": {"text": "x"}}'); continue
    if question == "other": asked["question"] = "?"
    print(json.dumps({"question": asked["question"], "pair_id": "pain", "decision": "answered"}))
"""


def asked(opener: Opener, *texts: str) -> list[Reply | Failure]:
    record = {"kind": "command", "command": [sys.executable, "-c", SCRIPT], "timeout_s": 5}
    with opener(record) as (system, _):
        return list(system.ask(texts, "de"))  # type: ignore[arg-type]


def test_a_command_answers_line_by_line(opener: Opener) -> None:
    replies = asked(opener, "weh?", "Ü\u2028\n\ud83d?", "")

    assert [(r.decision, r.pair_id, r.matched) for r in replies if isinstance(r, Reply)] == [
        ("answered", "pain", "id")
    ] * 3


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("exit", "the command ended with exit code 3"),
        ("half", "the command ended with exit code 0"),
        ("babble", "no JSON"),
        ("other", "the answer is to another question"),
        ("sleep", "no answer within 5 s"),
        ("latin", "not UTF-8"),
        ("kind", "`answer` is an object, not a text (at $.answer)"),
    ],
)
def test_a_fault_is_a_failure_and_the_next_question_is_answered(opener: Opener, fault: str, reason: str) -> None:
    first, failed, last = asked(opener, "weh?", fault, "weh?")

    assert isinstance(first, Reply)
    assert isinstance(failed, Failure)
    assert failed.reason == reason
    assert isinstance(last, Reply)


def test_a_command_that_is_not_there_is_one_clear_line(opener: Opener) -> None:
    with (
        pytest.raises(Unreachable, match=r"'/no/such' cannot be started \(No such file"),
        opener({"kind": "command", "command": ["/no/such"]}) as (system, _),
    ):
        list(system.ask(["weh?"], "de"))


# Says something on standard error of every question, then breaks down over it.
LOUD = """\
import json, sys
for line in sys.stdin:
    question = json.loads(line)["question"]
    print("::error::asked " + question, file=sys.stderr)
    print("\\x1b[31mKeyError: " + repr(question) + "\\x07 in table 7", file=sys.stderr, flush=True)
    if question.endswith("!"): sys.exit(1)
    print(json.dumps({"pair_id": "pain"}))
"""


def test_what_a_command_says_on_standard_error_is_in_the_fault_alone(
    opener: Opener, capfd: pytest.CaptureFixture[str]
) -> None:
    with opener({"kind": "command", "command": [sys.executable, "-c", LOUD]}) as (system, _):
        good, bad = system.ask(["Tut es Frau Muster weh?", "Brüste abtasten, Krebs!"], "de")

    assert isinstance(good, Reply)
    assert isinstance(bad, Failure)
    assert bad.reason == "the command ended with exit code 1; it says: KeyError: '…!' in table 7"
    assert capfd.readouterr() == ("", "")


CHATTERING = """\
import sys
for line in sys.stdin:
    sys.stderr.write("x" * 3_000_000 + "\\n")
    print('{"pair_id": "pain"}')
"""


def test_a_command_that_says_much_on_standard_error_is_not_held_up(opener: Opener) -> None:
    with opener({"kind": "command", "command": [sys.executable, "-c", CHATTERING], "timeout_s": 20}) as (system, _):
        replies = list(system.ask(["weh?", "weh?"], "de"))

    assert all(isinstance(reply, Reply) for reply in replies)


@pytest.mark.parametrize(
    "quoted",
    [
        "Was kostet Müllers Mammographie",
        "was KOSTET müllers",
        json.dumps("Was kostet Müllers Mammographie"),
        repr("Was kostet Müllers Mammographie".encode()),
        "Was kostet Müllers Mammogra",
        "text=Was_kostet_Müllers_Mammographie",
    ],
)
def test_no_word_of_a_message_is_left_however_it_is_quoted(quoted: str) -> None:
    line = unquoting(f"Cannot read {quoted} in line 3", ["Was kostet Müllers Mammographie?"])

    assert line.startswith("Cannot read")
    assert line.endswith("in line 3")
    assert not any(part in line.casefold() for part in ("kost", "llers", "mammo"))


def test_a_complaint_is_one_short_line_that_steers_nothing() -> None:
    line = unquoting("::error file=x::##[error]\x1b[2J\u202e" + "no model " * 100, [])

    assert "::" not in line
    assert "##" not in line
    assert line.isprintable()
    assert len(line) == LONGEST_COMPLAINT
