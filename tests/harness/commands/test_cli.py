"""From exported prompts to labelled answers by command line, on the small catalog with the real encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harness.labelling.labels import load_labels
from harness.patients.suites import load_suite
from harness.running.run import load_outcomes

Command = Callable[..., CompletedProcess[str]]

# One answer for each pair; every question is new to the catalog and close to its pair's question.
ANSWERS = {
    "pain": "1. Tut die Untersuchung sehr weh?\n2. Tut diese Untersuchung weh?",
    "costs": "- Was kostet mich die Untersuchung?\n- Was kostet denn die Untersuchung?",
    "duration": "Wie lange dauert so eine Untersuchung?",
}
NOVEL = "Hier sind die Fragen:\nWie lange dauert die Untersuchung genau?\nDarf mein Hund in die Praxis?"


@dataclass(frozen=True)
class Files:
    """What the commands before have written."""

    catalog: Path
    prompts: Path
    answers: Path
    suite: Path
    run: Path


@pytest.fixture(scope="session")
def files(small_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("cli")
    return Files(
        small_folder, folder / "prompts.jsonl", folder / "answers.jsonl", folder / "suites" / "mine", folder / "run"
    )


PLAN = ("--lang", "de", "--variations", "2", "--novel", "2")


@pytest.fixture(scope="session")
def exported(command: Command, files: Files) -> CompletedProcess[str]:
    return command(
        *("suite", "make", "--out", files.suite, "--catalog", files.catalog, *PLAN),
        *("--temperature", "0.5", "--prompts", files.prompts),
    )


@pytest.fixture(scope="session")
def imported(exported: CompletedProcess[str], command: Command, files: Files) -> CompletedProcess[str]:
    assert exported.returncode == 0, exported.stderr
    with files.answers.open("w", encoding="utf-8") as file:
        for line in files.prompts.read_text(encoding="utf-8").splitlines():
            custom_id = json.loads(line)["custom_id"]
            content = ANSWERS.get(custom_id.rpartition("/")[2], NOVEL)
            body = {"model": "m-1", "choices": [{"message": {"content": content}}]}
            answer = {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}
            file.write(json.dumps(answer) + "\n")
    target = ("--out", files.suite, "--note", "Read [this] note.", "--allow-short")
    return command("suite", "make", "--answers", files.answers, "--catalog", files.catalog, *PLAN, *target)


@pytest.fixture(scope="session")
def finished(imported: CompletedProcess[str], command: Command, files: Files) -> CompletedProcess[str]:
    assert imported.returncode == 0, imported.stderr
    options = ("--suite", files.suite, "--catalog", files.catalog, "--method", "cosine")
    return command("run", *options, "--out", files.run)


def test_export_writes_a_batch_file_and_counts(exported: CompletedProcess[str], files: Files) -> None:
    requests = [json.loads(line) for line in files.prompts.read_text(encoding="utf-8").splitlines()]

    assert exported.returncode == 0, exported.stderr
    assert exported.stdout == f"12 prompts in {files.prompts}, for 24 questions\n"
    assert {request["url"] for request in requests} == {"/v1/chat/completions"}
    assert {request["body"]["temperature"] for request in requests} == {0.5}
    assert len({request["custom_id"] for request in requests}) == 12


def test_import_writes_a_suite_and_says_what_was_dropped(imported: CompletedProcess[str], files: Files) -> None:
    suite = load_suite(files.suite)

    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.endswith(f"{files.suite}: 15 paraphrases, 6 novel questions\n")
    assert imported.stdout.count("dropped (preamble) from novel/") == 3
    assert "short by 1: paraphrase/low-health-literacy/duration" in imported.stdout
    assert suite.meta.dropped == {"preamble": 3}
    assert {(q.source.kind, q.source.model, q.source.answered, q.source.temperature) for q in suite.questions} == {
        ("model", "m-1", "offline", None)
    }


def test_check_finds_the_suite_clean(imported: CompletedProcess[str], command: Command, files: Files) -> None:
    checked = command("suite", "check", "--suite", files.suite, "--catalog", files.catalog)

    assert (checked.returncode, checked.stdout) == (0, "21 questions, 0 near copies of training texts\n")


def test_run_prints_both_tables_and_writes_the_summary(finished: CompletedProcess[str], files: Files) -> None:
    summary = json.loads((files.run / "summary.json").read_text(encoding="utf-8"))

    assert finished.returncode == 0, finished.stderr
    assert "Table 1. Paraphrases" in finished.stdout
    assert "Table 2. Novel questions" in finished.stdout
    assert "Read [this] note." in finished.stdout
    assert summary["total"]["n"] == 15
    assert 0 < summary["total"]["accuracy"] <= summary["total"]["top1"] <= 1
    automatic = summary["automatic"]
    assert automatic["right"] + automatic["wrong"] + automatic["ambiguous"] == automatic["n"] == 15
    assert automatic["because"] == {}  # fifteen paraphrases are too few to tell when two candidates are close
    assert (files.run / "ambiguous.jsonl").is_file()
    assert set(summary["vignettes"]) == {"high-health-literacy", "low-health-literacy", "low-language-literacy"}
    assert [o.id for o in load_outcomes(files.run)] == [q.id for q in load_suite(files.suite).questions]


def test_run_again_asks_nothing_and_prints_the_same(
    finished: CompletedProcess[str], command: Command, files: Files
) -> None:
    before = (files.run / "outcomes.jsonl").read_bytes()
    options = ("--suite", files.suite, "--catalog", files.catalog, "--method", "cosine", "--out", files.run)

    again = command("run", *options)

    assert (again.returncode, again.stdout) == (0, finished.stdout)
    assert (files.run / "outcomes.jsonl").read_bytes() == before


def test_run_with_another_method_needs_another_folder(
    finished: CompletedProcess[str], command: Command, files: Files
) -> None:
    options = ("--suite", files.suite, "--catalog", files.catalog, "--method", "hybrid", "--out", files.run)

    other = command("run", *options)

    assert other.returncode == 2
    assert "holds a run with method 'cosine', but this one has 'hybrid'" in other.stderr


@pytest.mark.proof
def test_run_answers_from_the_listed_pairs_alone(
    imported: CompletedProcess[str], command: Command, files: Files, tmp_path: Path
) -> None:
    listed = tmp_path / "two.txt"
    listed.write_text("# two of three\npain\n\ncosts  # by hand\n", encoding="utf-8")
    options = ("--suite", files.suite, "--catalog", files.catalog, "--method", "cosine")

    by_file = command("run", *options, "--only", listed, "--out", tmp_path / "by-file")
    by_ids = command("run", *options, "--only", "costs,pain", "--out", tmp_path / "by-file")
    other = command("run", *options, "--only", "pain", "--out", tmp_path / "by-file")
    all_ = command("run", *options, "--out", tmp_path / "by-file")

    assert by_file.returncode == 0, by_file.stderr
    outcomes = load_outcomes(tmp_path / "by-file")
    assert {pair_id for outcome in outcomes for pair_id in outcome.candidates} == {"pain", "costs"}
    assert (by_ids.returncode, by_ids.stdout) == (0, by_file.stdout)
    assert other.returncode == 2
    assert "holds a run with only 'costs pain', but this one has 'pain'" in other.stderr
    assert all_.returncode == 2
    assert "holds a run with only 'costs pain', but this one has None" in all_.stderr


def test_label_through_a_pipe_resumes_where_it_ended(
    finished: CompletedProcess[str], command: Command, files: Files
) -> None:
    options = (files.run, "--rater", "anna")

    first = command("labels", "give", *options, typed="3\n")
    rest = command("labels", "give", *options, typed="1\n" * 9)
    done = command("labels", "give", *options)

    assert (first.returncode, rest.returncode, done.returncode) == (0, 0, 0)
    assert "Der Rest bleibt in der Liste." in first.stdout
    assert "Alles beurteilt. Vielen Dank." in rest.stdout
    assert done.stdout == "Es ist nichts mehr zu beurteilen.\n"
    labels = load_labels([files.run / "labels" / "person-anna.jsonl"])
    answered = [o.id for o in load_outcomes(files.run) if o.kind == "novel" and o.answered_with]
    assert sorted(label.question_id for label in labels) == sorted(answered)
    assert [label.label for label in labels] == ["correct"] + ["incorrect"] * (len(answered) - 1)
    assert {label.rater.kind for label in labels} == {"person"}
