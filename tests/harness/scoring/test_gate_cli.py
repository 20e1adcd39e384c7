"""`klartext harness gate` and `compare` as CI runs them: exit codes, JSON, JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree as ET

import pytest

from bot import BadData
from harness.running.outcomes import Outcome
from harness.scoring.gate import DEFAULT, load_config
from tests.harness.runs import write_run

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture
def runs(make_outcome: Callable[..., Outcome], tmp_path: Path) -> dict[str, Path]:
    """A good run, a bad one, and one without questions."""
    good, bad = [], []
    for n in range(120):
        asked = {"vignette": f"v{n // 60}", "text": f"Frage {n}?", "pair_id": f"pair-{n % 30}"}
        good.append(make_outcome(f"q{n}", **asked, answered_with=f"pair-{n % 30}"))
        bad.append(make_outcome(f"q{n}", **asked, answered_with=None))
    return {
        "good": write_run(tmp_path / "good", good),
        "bad": write_run(tmp_path / "bad", bad),
        "empty": write_run(tmp_path / "empty", []),
        "dir": tmp_path,
    }


STARTS = ("pass", "fail", "open", "skip", "Smallest", "not worse", "5 of", "6 of", "7 of")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("gate {good}", 0, "Gate passed."),
        ("gate {bad}", 1, "accuracy"),
        ("gate {empty}", 1, "The run holds no answered question"),
        ("gate {good} --baseline {good}", 0, "change: total"),
        ("gate {bad} --baseline {good}", 1, "change: total"),
        ("gate {good} --baseline {bad}", 0, "Smallest change"),
        ("compare {good} {bad}", 0, "Broken: 120"),
        ("compare {bad} {good} --list 1", 0, "and 119 more"),
    ],
)
def test_exit_codes(command: Command, runs: dict[str, Path], arguments: str, code: int, said: str) -> None:
    done = command(*(argument.format(**runs) for argument in arguments.split()))

    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert done.stderr == ""
    # Nothing is wrapped where CI reads it: the verdict is one line, and so is every gate.
    assert done.stdout.count("\n") == len(done.stdout.splitlines())
    assert all(line.startswith(STARTS) for line in done.stdout.splitlines() if "change: " in line)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("gate {dir}", "holds no run"),
        ("gate {good} --baseline {dir}/nope", "holds no run"),
        ("gate {good} --config {dir}/nope.yaml", "cannot be read"),
        ("gate {good} --junit {dir}/good/run.json/x.xml", "cannot be written"),
        ("compare {good} {dir}", "holds no run"),
        ("compare {good} {empty}", "no answered question in common"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(command: Command, runs: dict[str, Path], arguments: str, said: str) -> None:
    done = command(*(argument.format(**runs) for argument in arguments.split()))

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_json_and_junit_hold_every_gate(command: Command, runs: dict[str, Path], tmp_path: Path) -> None:
    junit = tmp_path / "new" / "gate.xml"

    done = command("gate", runs["bad"], "--baseline", runs["good"], "--json", "--junit", junit)

    record = json.loads(done.stdout)
    assert (done.returncode, record["passed"], record["config"]) == (1, False, str(DEFAULT))
    assert record["baseline"][0]["broken"] == 120
    suite = ET.parse(junit).getroot().find("testsuite")
    assert suite is not None
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    tags = {"pass": ["system-out"], "fail": ["failure"], "skip": ["skipped"]}
    assert cases == {gate["name"]: tags[gate["status"]] for gate in record["gates"]}
    assert suite.get("failures") == str(sum(tag == ["failure"] for tag in cases.values()))


def test_compare_as_json_lists_what_changed(command: Command, runs: dict[str, Path]) -> None:
    record = json.loads(command("compare", runs["good"], runs["bad"], "--json").stdout)

    assert (len(record["broken"]), record["fixed"]) == (120, [])
    assert record["broken"][0]["after"] == {"decision": "declined", "answered_with": None}
    assert {row["name"] for row in record["vignettes"]} == {"v0", "v1"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gates: {acuracy: {min: 0.5}}", r"gates\.acuracy: .*Known here: accuracy, worst_vignette"),
        ("gate: {}", r"Known here: gates, baseline|gates: is missing"),
        ("gates: {accuracy: {max: 0.5}}", r"gates\.accuracy\.min"),
        ("gates: {accuracy: {min: 75}}", r"gates\.accuracy\.min: must be at most 1"),
        ("gates: {}\nbaseline: {alpha: 0}", r"baseline\.alpha"),
        ("- a list", "the file"),
        ("", "the file"),
        ("gates: [", "cannot be read"),
    ],
)
def test_gates_that_cannot_be_understood_are_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "harness.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match=said) as caught:
        load_config(file)
    assert "\n" not in str(caught.value)


def test_gates_of_the_current_folder_come_before_the_shipped_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(None)[1] == DEFAULT

    Path("harness.yaml").write_text("gates: {}", encoding="utf-8")

    assert load_config(None)[1] == Path("harness.yaml")


def test_what_did_not_pass_is_annotated_where_the_build_is_read(
    command: Command, runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    github = command("gate", runs["bad"], "--annotate", "github").stdout.splitlines()
    gitlab = command("gate", runs["bad"], "--annotate", "gitlab")

    errors = [line for line in github if line.startswith("::error title=bad%3A ")]
    assert any("accuracy::0.000 (limit >= 0.750)" in line and "95 %25" in line for line in errors)
    assert gitlab.returncode == 1
    found = json.loads((tmp_path / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert {"accuracy", "worst_vignette"} <= {one["check_name"] for one in found}
    assert {one["severity"] for one in found} <= {"critical", "minor"}
    assert len({one["fingerprint"] for one in found}) == len(found)


@pytest.mark.parametrize(("code", "config"), [(3, ""), (0, "too_little_data: 0"), (1, "too_little_data: 1")])
def test_too_little_data_ends_as_configured(
    command: Command, make_outcome: Callable[..., Outcome], tmp_path: Path, code: int, config: str
) -> None:
    run = write_run(
        tmp_path / "ten", [make_outcome(f"q{n}", pair_id=f"p{n}", answered_with=f"p{n}") for n in range(10)]
    )
    (tmp_path / "h.yaml").write_text(f"gates: {{accuracy: {{min: 0.95}}}}\n{config}\n", encoding="utf-8")

    done = command("gate", run, "--config", tmp_path / "h.yaml")

    assert done.returncode == code
    assert "Too little data to say: accuracy" in done.stdout
