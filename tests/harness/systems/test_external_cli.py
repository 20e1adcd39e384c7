"""`klartext harness run --system FILE` against `klartext answer`, a process of its own, agrees with the run in process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import yaml

from harness.patients.suites import Suite
from harness.running.outcomes import Outcome
from harness.running.run import load_outcomes

Command = Callable[..., CompletedProcess[str]]


def told(outcomes: list[Outcome]) -> list[object]:
    return [(o.decision, o.answered_with, o.candidates, o.choices, o.right, o.top1, o.matched) for o in outcomes]


def test_the_assistant_as_a_command_answers_as_in_process(
    command: Command, suite: Suite, small_folder: Path, tmp_path: Path
) -> None:
    main = [
        sys.executable,
        "-c",
        "from bot.commands.main import main; main()",
        "answer",
        "--catalog",
        str(small_folder),
    ]
    file = tmp_path / "outside.yaml"
    file.write_text(yaml.safe_dump({"kind": "command", "command": [*main, "--method", "cosine"]}), encoding="utf-8")
    options = ("--suite", tmp_path / "suite", "--catalog", small_folder)

    outside = command("run", *options, "--system", file, "--out", tmp_path / "outside")
    inside = command("run", *options, "--method", "cosine", "--out", tmp_path / "inside")

    assert (outside.returncode, inside.returncode) == (0, 0), outside.stderr + inside.stderr
    assert told(load_outcomes(tmp_path / "outside")) == told(load_outcomes(tmp_path / "inside"))
    identity = json.loads((tmp_path / "outside" / "run.json").read_text(encoding="utf-8"))
    assert (identity["system"], identity["kind"], identity["questions"]) == ("outside", "command", 4)
    compared = command("gate", tmp_path / "outside", "--baseline", tmp_path / "inside", "--json")
    assert {row["broken"] for row in json.loads(compared.stdout)["baseline"]} == {0}


def test_a_system_that_answers_nothing_is_one_clear_line(
    command: Command, suite: Suite, small_folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "outside.yaml"
    file.write_text("kind: http\nurl: http://127.0.0.1:9\nretries: 0\npaths: {pair: $.pair}\n", encoding="utf-8")

    done = command(
        "run", "--suite", tmp_path / "suite", "--catalog", small_folder, "--system", file, "--out", tmp_path / "run"
    )

    assert done.returncode == 2
    assert "The system answered no question (no connection (ConnectError)). Mend it and run this again." in done.stderr
    assert "Traceback" not in done.stderr
