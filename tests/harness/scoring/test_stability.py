"""Answers that change between repeats are found, counted with intervals, and listed; a steady system shows none."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer
import yaml
from typer.testing import CliRunner

from harness.commands.comparing import compare_
from harness.patients.suites import Suite
from harness.running.outcomes import ERROR, Outcome
from harness.scoring.stability import stability
from harness.statistics import wilson
from tests.harness.runs import write_run

Command = Callable[..., CompletedProcess[str]]
MakeOutcome = Callable[..., Outcome]


def test_decision_pair_and_choices_make_an_answer(make_outcome: MakeOutcome) -> None:
    first = [
        make_outcome("same"),
        make_outcome("pair"),
        make_outcome("decision"),
        make_outcome("choices", answered_with=None, decision="clarify", choices=("pain", "costs")),
        make_outcome("novel", pair_id=None, answered_with="costs", vignette="anxious"),
    ]
    second = [
        make_outcome("same"),
        make_outcome("pair", answered_with="costs"),
        make_outcome("decision", answered_with=None),
        make_outcome("choices", answered_with=None, decision="clarify", choices=("pain", "duration")),
        make_outcome("novel", pair_id=None, answered_with="duration", vignette="anxious"),
    ]

    found = stability([first, second])

    assert [one.first.id for one in found.changed] == ["pair", "decision", "choices", "novel"]
    assert [one.first.id for one in found.compared if one.flipped] == ["pair", "decision"]
    assert (found.total.n, found.total.changed, found.total.flipped) == (5, 4, 2)
    assert found.total.wilson == wilson(4, 5)
    assert {name: (share.n, share.changed) for name, share in found.vignettes.items()} == {
        "low-health-literacy": (4, 3),
        "anxious": (1, 1),
    }
    assert {name: (share.n, share.changed) for name, share in found.pairs.items()} == {
        "(novel)": (1, 1),
        "pain": (4, 3),
    }


def test_one_change_in_many_repeats_is_a_change(make_outcome: MakeOutcome) -> None:
    runs = [[make_outcome("1")] for _ in range(9)] + [[make_outcome("1", answered_with="costs")]]

    assert stability(runs).total.changed == 1
    assert stability(runs[:9]).total.changed == 0


def test_failures_are_no_answers_and_lonely_questions_are_counted_apart(make_outcome: MakeOutcome) -> None:
    runs = [
        [make_outcome("1"), make_outcome("2"), make_outcome("3")],
        [make_outcome("1", decision=ERROR), make_outcome("2", decision=ERROR)],
        [make_outcome("1"), make_outcome("3", text="Another question under the same id?")],
    ]

    found = stability(runs)

    assert [(one.first.id, one.changed) for one in found.compared] == [("1", False)]
    assert found.alone == 3  # 2, and two questions called 3


# Answers at random where it hears "weh", and the same always where it does not.
FICKLE = """\
import json, random, sys
for line in sys.stdin:
    question = json.loads(line)["question"]
    pair = random.choice(["pain", "costs"]) if "Parkplatz" in question else "duration"
    print(json.dumps({"question": question, "pair_id": pair, "decision": "answered"}))
"""


def test_a_system_that_answers_at_random_is_found_out(
    command: Command,
    make_suite: Callable[..., Suite],
    make_question: Callable[..., object],
    small_folder: Path,
    tmp_path: Path,
) -> None:
    make_suite(
        [make_question(n, f"Gibt es Parkplatz Nummer {n}?", "pain", "anxious") for n in range(30)]
        + [make_question(n, f"Was dauert an Nummer {n} so lange?", "duration", "steady") for n in range(30)]
    )
    file = tmp_path / "fickle.yaml"
    file.write_text(yaml.safe_dump({"kind": "command", "command": [sys.executable, "-c", FICKLE]}), encoding="utf-8")
    options = ("--suite", tmp_path / "suite", "--catalog", small_folder, "--out", tmp_path / "runs", "--repeats", 4)

    done = command("run", *map(str, options), "--system", file, "--jobs", "2")
    repeats = [tmp_path / "runs" / f"repeat-{n}" for n in range(1, 5)]
    told = json.loads(command("compare", *repeats, "--json").stdout)

    assert done.returncode == 0, done.stderr
    assert "Stability of 4 runs" in done.stdout
    # All four the same by chance: 1 in 8 for each question, so fewer than ten changes in 30 are one in ten million.
    anxious, steady = told["vignettes"]["anxious"], told["vignettes"]["steady"]
    assert anxious["n"] == steady["n"] == 30
    assert 10 <= anxious["changed"] == anxious["flipped"] == len(told["changed"])
    assert steady["changed"] == 0
    assert steady["ci95"]["wilson"][0] == 0
    assert list(told["pairs"]) == ["pain"]
    assert {len({answer["pair_id"] for answer in one["answers"]}) for one in told["changed"]} == {2}
    shown = command("compare", *repeats, "--list", "1")
    assert f"… and {anxious['changed'] - 1} more; `--list N` shows more" in shown.stdout
    assert told["changed"][0]["text"] in shown.stdout


@pytest.mark.proof
def test_this_assistant_never_changes_its_mind(
    command: Command, suite: Suite, small_folder: Path, tmp_path: Path
) -> None:
    options = ("--suite", tmp_path / "suite", "--catalog", small_folder, "--out", tmp_path / "runs", "--repeats", "2")

    done = command("run", *options)

    assert done.returncode == 0, done.stderr
    repeats = [tmp_path / "runs" / f"repeat-{n}" for n in (1, 2)]
    told = json.loads(command("compare", "--repeats", *repeats, "--json").stdout)
    assert (told["runs"], told["total"]["n"], told["total"]["changed"], told["changed"]) == (2, 4, 0, [])


def test_releases_are_compared_and_what_differs_is_said(
    command: Command, make_outcome: MakeOutcome, tmp_path: Path
) -> None:
    old = write_run(tmp_path / "old", [make_outcome("1"), make_outcome("2")])
    new = write_run(tmp_path / "new", [make_outcome("1"), make_outcome("2", answered_with="costs")])
    identity = json.loads((new / "run.json").read_text(encoding="utf-8"))
    (new / "run.json").write_text(json.dumps({**identity, "catalog_hash": "b" * 8}), encoding="utf-8")

    done = command("compare", "--repeats", old, new)

    assert done.returncode == 0, done.stderr
    assert "The runs differ in catalog_hash: –, bbbbbbbb." in done.stdout
    assert "answered pain | answered costs" in done.stdout
    assert "Stability of 2 runs" in done.stdout


def test_runs_of_different_systems_are_compared_by_name_with_the_accuracy_of_each(
    command: Command, make_outcome: MakeOutcome, tmp_path: Path
) -> None:
    answers = {"ours": "pain", "theirs": "costs", "silent": None}
    for name, shown in answers.items():
        folder = write_run(tmp_path / name, [make_outcome("1"), make_outcome("2", answered_with=shown)])
        identity = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        (folder / "run.json").write_text(json.dumps({**identity, "system": f"Bot of {name}"}), encoding="utf-8")
    folders = [tmp_path / name for name in answers]

    done = command("compare", *folders)
    told = json.loads(command("compare", *folders, "--json").stdout)

    assert done.returncode == 0, done.stderr
    assert "Stability" not in done.stdout
    assert "3 runs of different systems compared" in done.stdout
    assert "Questions that the systems answer differently" in done.stdout
    accuracies = {row[0]: row[1:3] for line in done.stdout.splitlines() if (row := line.split()) and row[0] in answers}
    assert accuracies == {"ours": ["2", "1.000"], "theirs": ["2", ".500"], "silent": ["2", ".500"]}
    assert [one["score"]["accuracy"] for one in told["systems"]] == [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["one"], "One run shows no change"),
        (["one", "two"], "one holds no run"),
        (["one", "two", "three"], "one holds no run"),
        (["--repeats", "one", "two"], "one holds no run"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(arguments: list[str], said: str) -> None:
    app = typer.Typer()
    app.command()(compare_)

    done = CliRunner().invoke(app, arguments)

    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
