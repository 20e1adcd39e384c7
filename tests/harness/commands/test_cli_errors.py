"""What a person can mend ends in one line on standard error and exit code 2."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.main import get_command

from bot.commands.main import app, assemble
from harness.cli import COMMANDS, FAMILIES
from harness.commands.options import ModelOptions
from harness.patients.suites import Question, Suite
from tests.harness.inprocess import harness

Command = Callable[..., CompletedProcess[str]]

# Arguments, and what the line must say. {bad} is a file that is no folder, {small} the small catalog, {suite} a suite
# for it, {dir} an empty folder.
BAD_INPUT = [
    ("run --suite nope --out {dir}/run", "There is no suite 'nope'"),
    ("run --suite {dir} --out {dir}/run", "There is no suite"),
    ("run --suite {suite} --system rasa --out {dir}/run", "There is no system 'rasa'"),
    ("run --suite {suite} --catalog {dir} --out {dir}/run", "No catalog at"),
    ("run --suite {suite} --catalog {small} --encoder magic --out {dir}/run", "There is no encoder 'magic'"),
    ("run --suite {suite} --catalog {small} --data {bad}/data --out {dir}/run", "data folder"),
    ("run --suite {suite} --catalog {small} --method cosine --out {bad}/run", "cannot be written"),
    ("run --suite {novel} --catalog {small} --method cosine --out {dir}/run", "no paraphrase to score"),
    ("run --suite {suite} --catalog {small} --only pain,nope --out {dir}/run", "has no pair 'nope' to answer from"),
    ("run --suite {suite} --catalog {small} --only , --out {dir}/run", "names no pair"),
    ("run --suite {suite} --catalog {small} --only mine.txt --out {dir}/run", "There is no list 'mine.txt'"),
    ("run --suite {suite} --system {bad} --only pain --out {dir}/run", "chooses pairs of this assistant"),
    ("suite check --suite nope", "There is no suite 'nope'"),
    ("suite check --suite {changed}", "was changed after it was recorded"),
    ("suite check --suite {suite} --catalog {dir}", "No catalog at"),
    ("labels give {dir} --rater anna", "holds no complete run"),
    ("suite make --out {dir}/x --catalog nope --prompts {dir}/prompts.jsonl", "No catalog at 'nope'"),
    ("suite make --out {dir}/x --catalog {small} --prompts {bad}/prompts.jsonl", "cannot be written"),
    ("suite make --answers {dir}/missing.jsonl --catalog {small} --out {dir}/x", "cannot be read"),
    ("suite make --answers {bad} --catalog {small} --out {dir}/x", "bad:1 is no line of a Batch output file"),
    ("suite make --answers {other} --catalog {small} --out {dir}/x", "1 answer to no prompt"),
    ("suite make --answers {empty} --allow-short --catalog {small} --out {dir}/x", "No question could be read"),
    ("suite make --answers {good} --allow-short --catalog {small} --out {bad}/suites/x", "cannot be written"),
    ("suite make --answers {good} --catalog {small} --out {suite}", "suites are immutable"),
    ("suite make --model m --catalog {small} --out {dir}/x", "No language model endpoint is set"),
    ("suite make --catalog {small} --out {dir}/x", "Say who answers: `--model NAME`"),
    ("suite make --prompts {dir}/p --answers {good} --catalog {small} --out {dir}/x", "Give one of them at a time"),
]
PROGRESS = re.compile(r" \d+/\d+ [-:\d]+$")  # the bar stands on standard error too
ANSWER = '{"custom_id": "%s", "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "%s"}}]}}}'


@pytest.fixture
def places(
    small_folder: Path,
    make_suite: Callable[..., Suite],
    make_question: Callable[..., Question],
    tmp_path: Path,
) -> dict[str, Path]:
    """The folders and files that the arguments name."""
    named = {name: tmp_path / name for name in ("dir", "bad", "other", "empty", "good", "changed", "novel", "suite")}
    make_suite([make_question(1, "Ist das schön?", None)])
    named["suite"].rename(named["novel"])
    make_suite([make_question(1, "Was kostet das alles?", "costs")])
    named["suite"].rename(named["changed"])
    (named["changed"] / "questions.jsonl").write_text("", encoding="utf-8")
    make_suite([make_question(1, "Tut die Untersuchung weh?")])
    named["dir"].mkdir()
    named["bad"].write_text("no json\n", encoding="utf-8")
    named["other"].write_text(ANSWER % ("paraphrase/x/y", "Weh?"), encoding="utf-8")
    named["empty"].write_text("\n", encoding="utf-8")
    named["good"].write_text(ANSWER % ("paraphrase/low-health-literacy/pain", "Tut es sehr weh?"), encoding="utf-8")
    return {**named, "small": small_folder}


@pytest.mark.parametrize(("arguments", "expected"), BAD_INPUT)
def test_bad_input_is_one_line_and_exit_2(
    command: Command, places: dict[str, Path], arguments: str, expected: str
) -> None:
    done = command(*(argument.format(**places) for argument in arguments.split()))

    assert done.returncode == 2, done.stderr
    said = [line for line in done.stderr.splitlines() if not PROGRESS.search(line)]
    assert len(said) == 1, done.stderr
    assert said[0].startswith("klartext: ")
    assert expected in said[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run --suite mammography-de", "Missing option '--out'. Run `klartext harness run --help`."),
        ("run --suite mammography-de --out x --method magic", "'magic' is not one of 'hybrid', 'cosine'"),
        (
            "suite make --out x --lang fr",
            "has no language 'fr' (it has de, en). Choose one with `--lang`.",
        ),
        ("suite make --out x --variations -1", "'--variations': it must be greater than or equal to 0"),
        ("suite make --model m", "Missing option '--out'"),
        ("labels give x", "Missing option '--rater'"),
        ("nothing", "No such command 'nothing'. Run `klartext harness --help`."),
        ("run --nothing", "No such option: --nothing"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: str, said: str) -> None:
    done = harness(*arguments.split())

    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert done.stderr.startswith("klartext: ")
    assert said in done.stderr


def test_no_arguments_show_the_help() -> None:
    done = harness("suite")

    assert "Usage: " in done.output
    assert "vignettes" in done.output
    assert "klartext: " not in done.output


def test_contamination_exits_1_and_names_the_training_text(
    command: Command,
    small_folder: Path,
    make_suite: Callable[..., Suite],
    make_question: Callable[..., Question],
    tmp_path: Path,
) -> None:
    make_suite([make_question(1, "wer bezahlt das", "costs"), make_question(2, "Was noch alles?")])

    done = command("suite", "check", "--suite", tmp_path / "suite", "--catalog", small_folder)

    assert done.returncode == 1
    assert "'wer bezahlt das' ~ 'Wer bezahlt das?' (costs, 1.00)" in done.stdout
    assert done.stdout.endswith("2 questions, 1 near copy of training texts\n")


def test_help_lists_every_option_of_the_system(command: Command) -> None:
    shown = command("run", "--help").stdout

    assert {"--system", "--method", "--catalog", "--encoder", "--only", "--jobs"} <= set(re.findall(r"--\w+", shown))


def test_there_are_at_most_twenty_commands_and_each_shows_an_example_that_it_understands(command: Command) -> None:
    entries = [(name, entry) for name, entry in COMMANDS.items()]
    entries += [(f"{family} {name}", entry) for family, (_, found) in FAMILIES.items() for name, entry in found.items()]

    assert len(entries) <= 20
    assemble()
    harness = get_command(app).commands["harness"]  # type: ignore[attr-defined]
    for name, entry in entries:
        leaf = harness
        for part in name.split():
            leaf = leaf.commands[part]
        assert f"Example: klartext harness {name} {entry.example}" in " ".join(str(leaf.epilog).split())
        leaf.make_context(name, entry.example.split(), resilient_parsing=False)


def test_what_asks_a_model_has_the_same_options(command: Command) -> None:
    shared = {f"--{field.name.replace('_', '-')}" for field in fields(ModelOptions)}
    for name in ("suite make", "suite refine", "judge"):
        shown = command(*name.split(), "--help").stdout
        assert shared <= set(re.findall(r"--[a-z-]+", shown)), name
