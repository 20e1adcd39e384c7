"""Commands are asked as real processes, and started anew after a fault."""

from __future__ import annotations

import sys

import pytest

from bot import Unreachable
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
