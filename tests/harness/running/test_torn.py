"""A run that was damaged, or in which everything failed, is told so in plain words; what can be used is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData
from harness.reporting.facts import load_costs
from harness.running.outcomes import ERROR, Outcome
from harness.running.run import load_counted, load_run
from harness.running.store import OUTCOMES, RUN
from tests.harness.inprocess import harness
from tests.harness.runs import write_run

MakeOutcome = Callable[..., Outcome]


@pytest.fixture
def run(make_outcome: MakeOutcome, tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", [make_outcome(f"q{number}") for number in range(3)])


def test_a_torn_last_line_is_named_once_and_the_rest_is_used(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = run / OUTCOMES
    file.write_bytes(file.read_bytes()[:-30])

    assert [outcome.id for outcome in load_run(run).outcomes] == ["q0", "q1"]
    assert load_counted(run).number() == 2
    said = capfd.readouterr().err
    command = f"klartext harness run --suite mine --out {run}"
    assert said == f"klartext: {file}:3 is torn and left out; the rest is used. Run `{command}`.\n"


def test_a_line_that_only_lacks_its_end_is_whole(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = run / OUTCOMES
    file.write_bytes(file.read_bytes()[:-1])

    assert len(load_run(run).outcomes) == 3
    assert capfd.readouterr().err == ""


def test_a_broken_line_within_is_named_with_the_command(run: Path) -> None:
    lines = (run / OUTCOMES).read_text(encoding="utf-8").splitlines()
    (run / OUTCOMES).write_text("\n".join([lines[0], "{", lines[2], ""]), encoding="utf-8")

    done = harness("gate", run)

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert f"{run / OUTCOMES}:2 is no outcome. Remove the line; it is asked again. Run `klartext" in done.stderr
    assert f"--suite mine --out {run}`" in done.stderr


@pytest.mark.parametrize("command", ["report", "advise"])
def test_a_run_in_which_everything_failed_says_what_failed(
    command: str, make_outcome: MakeOutcome, tmp_path: Path
) -> None:
    failed = [
        replace(
            make_outcome(f"q{n}", answered_with=None, decision=ERROR), right=None, top1=None, error=f"status {code}"
        )
        for n, code in enumerate((500, 500, 404))
    ]
    run = write_run(tmp_path / "run", failed)

    done = harness(command, run)

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert f"The system failed on every question of {run} (3): status 500 (2), status 404 (1)." in done.stderr
    assert f"Run `klartext harness run --suite mine --out {run}`." in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"gates: {colour: {min: 1}}", "gates.colour: is not known here. Known here: "),
        (b"gates: {top1: {min: red}}", "must be a number. See docs/reference.md."),
        (b"\xff", "cannot be read (it is no UTF-8 text (byte 0))"),
        (b"gates: {", "cannot be read (it is no YAML, line 1)"),
        (None, "cannot be read (there is no such file)"),
    ],
)
def test_a_wrong_file_of_gates_is_told_in_plain_words(
    run: Path, tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "gates.yaml"
    if content is not None:
        file.write_bytes(content)

    done = harness("gate", run, "--config", file)

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert said in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"currency": "CHF", "total": {}}, "is missing"),
        ([], "must hold names with values"),
        (None, "there is no such file"),
    ],
)
def test_a_wrong_file_of_costs_is_told_in_plain_words(tmp_path: Path, content: object, said: str) -> None:
    file = tmp_path / "costs.json"
    if content is not None:
        file.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(BadData) as caught:
        load_costs(tmp_path, file)

    assert said in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_the_next_command_names_no_suite_that_the_run_does_not_name(run: Path) -> None:
    (run / RUN).write_text("{}", encoding="utf-8")
    (run / OUTCOMES).write_text("{\n", encoding="utf-8")

    with pytest.raises(BadData, match=r"--suite NAME --out "):
        load_run(run)
