"""The error browser on a real run: each planted miss is found with its cause, and nothing leaves the run's folder."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml
from rich.console import Console

from bot import Assistant, BadData
from bot.testing import HashEncoder
from harness.advice.misses import Findings, browse, load_explainable
from harness.commands.advice import misses_tables
from harness.patients.suites import Suite
from harness.running.run import Run, run_suite
from harness.systems.system import InProcess
from tests.alarm_examples import few_taught
from tests.harness.authored import write_authored_catalog, write_authored_suite

Command = Callable[..., CompletedProcess[str]]

PLANTED = {
    "tut das Pressen arg dolle weh?": ("pain", "mislabelled"),
    "Meine Tante wohnt in Bremen. Sie backt gern Kuchen und hat einen Garten mit Hund und Katze. "
    "was kostet das Röntgen denn nun?": ("costs", "narrative"),
    "Brennt es hinterher noch?": ("pain", "gap"),
    "wer bezahlt Schmerzen": ("pain", "threshold"),
    "Guten Tag weh": ("pain", "background"),
    "Wie lange dauert das Wetter?": (None, "intruding"),
}
UNDERSTOOD = [("spüre ich das", "pain"), ("zahlt die Kasse das Röntgen alles", "costs")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("misses")


@pytest.fixture(scope="module")
def assistant(folder: Path) -> Assistant:
    """The authored catalog with one question about pain among the variants of costs."""
    catalog = write_authored_catalog(folder / "catalog")
    document = yaml.safe_load((catalog / "de.yaml").read_text(encoding="utf-8"))
    costs = next(pair for pair in document["pairs"] if pair["id"] == "costs")
    costs["variants"].append({"text": "tut das Pressen arg weh?"})
    (catalog / "de.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    opened = Assistant.open(catalog, data=folder / "data", encoder=HashEncoder(), sample=True, languages=["de"])
    with few_taught():
        opened.prepare()
    return opened


@pytest.fixture(scope="module")
def run(folder: Path, assistant: Assistant) -> Run:
    content = assistant.catalog("de")
    asked = [(text, pair_id) for text, (pair_id, _) in PLANTED.items()] + UNDERSTOOD
    suite: Suite = write_authored_suite(folder / "suite", content.path.parent, asked)
    identity = {"method": "hybrid", "catalog": content.ref, "catalog_hash": content.content_hash}
    run_suite(suite, InProcess(assistant, "hybrid", identity), content, folder / "run")
    return load_explainable(folder / "run")


@pytest.fixture(scope="module")
def findings(run: Run, assistant: Assistant) -> Findings:
    return browse(run, assistant)


def test_each_planted_miss_is_grouped_under_its_cause(findings: Findings) -> None:
    grouped = {
        clues.miss.outcome.text: cause for cause, group in findings.groups.items() for e in group for clues in e.clues
    }

    assert grouped == {text: cause for text, (_, cause) in PLANTED.items()}


def test_the_sentence_that_asks_and_the_suspect_variant_are_named(findings: Findings) -> None:
    by_cause = {found.causes[0]: found.clues for found in findings.found}

    assert by_cause["narrative"].part == "was kostet das Röntgen denn nun?"
    assert by_cause["mislabelled"].suspect is not None
    assert by_cause["mislabelled"].suspect.text == "tut das Pressen arg weh?"
    (entry,) = findings.groups["mislabelled"]
    assert entry.pairs == ("costs", "pain")
    assert "“tut das Pressen arg weh?”" in entry.proposal


def test_no_proposal_copies_a_test_question(findings: Findings) -> None:
    proposals = [entry.proposal for group in findings.groups.values() for entry in group]

    assert len(proposals) == len(PLANTED)
    assert not [text for text in PLANTED for proposal in proposals if text in proposal]


def test_the_json_holds_everything_and_lies_beside_the_run(findings: Findings, run: Run) -> None:
    written = json.loads(findings.write().read_text(encoding="utf-8"))

    assert written == json.loads(json.dumps(findings.as_json()))
    assert (written["questions"], written["misses"], written["stale"]) == (8, 6, False)
    assert sum(written["kinds"].values()) == sum(group["misses"] for group in written["groups"]) == 6
    gap = next(group for group in written["groups"] if group["cause"] == "gap")
    (question,) = gap["entries"][0]["questions"]
    assert question["text"] == "Brennt es hinterher noch?"
    assert question["causes"] == ["gap", "background"]
    assert gap["entries"][0]["words"] == ["Brennt", "hinterher", "noch"]
    assert {path.name for path in run.folder.iterdir()} == {
        "errors.json",
        "outcomes.jsonl",
        "run.json",
        "run.lock",
    }


def test_the_tables_fit_the_terminal_and_show_every_group(findings: Findings) -> None:
    screen = io.StringIO()

    Console(file=screen, width=80, markup=False).print(misses_tables(findings))

    shown = screen.getvalue()
    assert shown.startswith("6 of 8 questions were missed.")
    assert max(map(len, shown.splitlines())) <= 80
    for title in ("What happened", "Why", "No variant near (1)", "Pairs taken for each other", "Other thresholds"):
        assert title in shown
    assert "The catalog has changed" not in shown


def test_a_changed_catalog_is_told(run: Run, assistant: Assistant) -> None:
    older = replace(run, identity={**run.identity, "catalog_hash": "0"})
    screen = io.StringIO()

    Console(file=screen, width=80).print(misses_tables(browse(older, assistant)))

    assert "The catalog has changed since this run" in screen.getvalue()


def test_a_run_without_misses_has_nothing_to_show(run: Run, assistant: Assistant) -> None:
    understood = replace(run, outcomes=tuple(outcome for outcome in run.outcomes if outcome.right))
    screen = io.StringIO()

    Console(file=screen, width=80).print(misses_tables(browse(understood, assistant)))

    assert screen.getvalue() == "0 of 2 questions were missed.\n"


def test_progress_is_told_for_every_miss(run: Run, assistant: Assistant) -> None:
    told: list[tuple[int, int]] = []

    browse(run, assistant, lambda done, total: told.append((done, total)))

    assert told == [(number, 6) for number in range(1, 7)]


def test_a_run_against_another_catalog_is_refused(run: Run, assistant: Assistant) -> None:
    other = replace(run, identity={**run.identity, "catalog": "mri@1"})

    with pytest.raises(
        BadData, match=r"a run against 'mri@1', but the catalog is 'small@1'. Choose it with `--catalog`"
    ):
        browse(other, assistant)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "holds no complete run"),
        ({"outcomes.jsonl": ""}, "does not say which run this is"),
        ({"outcomes.jsonl": "", "run.json": "[]"}, "does not say which run this is"),
        ({"outcomes.jsonl": "", "run.json": '{"method": "hybrid"}'}, "holds no outcomes"),
        ({"outcomes.jsonl": "{}\n"}, "outcomes.jsonl:1 is no outcome"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match=expected):
        load_explainable(tmp_path)


def test_the_published_method_cannot_be_explained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "outcomes.jsonl").write_bytes((run.folder / "outcomes.jsonl").read_bytes())
    (tmp_path / "run.json").write_text('{"method": "cosine"}', encoding="utf-8")

    with pytest.raises(BadData, match=r"method 'cosine', and only `hybrid` can be explained"):
        load_explainable(tmp_path)


def test_the_command_prints_tables_or_json(command: Command, small_folder: Path, tmp_path: Path) -> None:
    asked = [("Was kostet denn die Untersuchung?", "costs"), ("Brennt es hinterher noch?", "pain")]
    write_authored_suite(tmp_path / "suite", small_folder, asked)
    catalog = ("--catalog", small_folder)
    done = command("run", "--suite", tmp_path / "suite", *catalog, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr

    tables = command("advise", tmp_path / "run", "--misses")
    as_json = command("advise", tmp_path / "run", "--misses", *catalog, "--json")

    assert (tables.returncode, as_json.returncode) == (0, 0), tables.stderr + as_json.stderr
    assert "questions were missed." in tables.stdout
    assert str(tmp_path / "run" / "errors.json") in tables.stdout
    written = json.loads((tmp_path / "run" / "errors.json").read_text(encoding="utf-8"))
    assert json.loads(as_json.stdout) == written
    assert written["questions"] == 2


def test_a_folder_without_a_run_is_one_line(command: Command, tmp_path: Path) -> None:
    done = command("advise", tmp_path, "--misses")

    assert done.returncode == 2
    assert done.stderr.startswith("klartext: ")
    assert "holds no run. Run `klartext harness run" in done.stderr
