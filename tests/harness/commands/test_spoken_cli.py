"""From authors' files to a gate on the command line, said to the shipped assistant in real chats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.patients.suites import load_suite
from harness.running.run import load_outcomes
from tests.harness.inprocess import harness

DIALOGUES = [
    "pain|Tut die Aufnahme eigentlich weh?\teasier|einfacher bitte\treaction|danke",
    "costs|Was muss ich denn für die Untersuchung bezahlen?\tnew:duration|Wie viele Minuten dauert das Ganze?\tnone|und wie heißt der Hund vom Arzt?",
    "pain|Sind Schmerzen bei der Untersuchung zu erwarten?\talarm|Hilfe, ich bekomme keine Luft und mein Brustkorb ist eng",
]
ORIGIN = (
    "--lang",
    "de",
    "--catalog",
    "mammography",
    "--by",
    "model",
    "--model",
    "some",
    "--vignette",
    "low-health-literacy",
)


@pytest.fixture
def environ(shipped_data: Path) -> dict[str, str]:
    return {"KLARTEXT_DATA": str(shipped_data)}


def _lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_dialogues_are_imported_said_scored_gated_and_reported(tmp_path: Path, environ: dict[str, str]) -> None:
    suite, run, config = tmp_path / "talks", tmp_path / "run", tmp_path / "harness.yaml"
    file = _lines(tmp_path / "talks.tsv", *DIALOGUES, DIALOGUES[0])

    imported = harness("suite", "import", file, "--kind", "dialogues", "--out", suite, *ORIGIN)
    ran = harness("run", "--suite", suite, "--out", run, environ=environ)
    again = harness("run", "--suite", suite, "--out", run, environ=environ)

    assert imported.exit_code == 0, imported.output
    assert imported.stdout.strip().endswith("3 dialogues, 8 turns, 1 duplicate left out")
    assert load_suite(suite).meta.note == "Imported from talks.tsv; written by the model some."
    assert ran.exit_code == 0, ran.output
    assert again.exit_code == 0, again.output
    assert "first question answered" in ran.stdout
    outcomes = load_outcomes(run)
    assert [(outcome.expected, outcome.met) for outcome in outcomes] == [
        ("first", True),
        ("act", True),
        ("reaction", True),
        ("first", True),
        ("new", True),
        ("nothing", True),
        ("first", True),
        ("alarm", True),
    ]
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    assert summary["expectations"]["first"]["share"] == 1.0
    assert summary["expectations"]["first"]["vignettes"]["low-health-literacy"]["n"] == 3

    first = {"min": 0.9, "by": "estimate", "least": 3}
    config.write_text(yaml.safe_dump({"gates": {"expectations": {"first": first, "act": 0.5}}}))
    too_few = harness("gate", run, "--config", config)
    config.write_text(yaml.safe_dump({"gates": {"expectations": {"first": first}}}))
    passed = harness("gate", run, "--config", config, "--baseline", run)
    assert (too_few.exit_code, passed.exit_code) == (3, 0), too_few.output + passed.output
    assert "Too little data to say: expected: act" in too_few.stdout

    reported = harness("report", run, "--csv", tmp_path / "csv", "--junit", tmp_path / "j.xml", environ=environ)
    assert reported.exit_code == 0, reported.output
    page = (run / "report.html").read_text(encoding="utf-8")
    assert 'id="expectations"' in page
    assert 'data-show="x-first met"' in page
    assert "first,all,3,3" in (tmp_path / "csv" / "expectations.csv").read_text(encoding="utf-8")
    fhir = harness("report", run, "--fhir", tmp_path / "f.json", environ=environ)
    assert fhir.exit_code == 2
    assert not (tmp_path / "f.json").exists()


@pytest.mark.proof
def test_a_gate_fails_where_expectations_are_not_met(tmp_path: Path, environ: dict[str, str]) -> None:
    suite, run, config = tmp_path / "talks", tmp_path / "run", tmp_path / "harness.yaml"
    wrong = "costs|Tut so eine Aufnahme eigentlich weh?\treaction|Was muss ich denn für die Untersuchung bezahlen?"
    harness("suite", "import", _lines(tmp_path / "t.tsv", wrong), "--kind", "dialogues", "--out", suite, *ORIGIN)
    config.write_text(yaml.safe_dump({"gates": {"expectations": {"first": {"min": 0.5, "least": 1}}}}))

    ran = harness("run", "--suite", suite, "--out", run, environ=environ)
    gated = harness("gate", run, "--config", config)

    assert ran.exit_code == 0, ran.output
    assert [outcome.met for outcome in load_outcomes(run)] == [False, False]
    assert gated.exit_code == 1


@pytest.mark.proof
def test_single_messages_are_said_in_chats_of_their_own(tmp_path: Path, environ: dict[str, str]) -> None:
    vignettes = ("--vignette", "low-health-literacy", "--vignette", "high-health-literacy")
    files = _lines(tmp_path / "a.txt", "danke schön", "tschüss dann"), _lines(tmp_path / "b.txt", "na toll")
    suite, run = tmp_path / "everyday", tmp_path / "run"

    imported = harness("suite", "import", *files, "--kind", "everyday", "--out", suite, *ORIGIN[:-2], *vignettes)
    ran = harness("run", "--suite", suite, "--out", run, environ=environ)

    assert imported.exit_code == 0, imported.output
    assert ran.exit_code == 0, ran.output
    outcomes = load_outcomes(run)
    assert {outcome.expected for outcome in outcomes} == {"everyday"}
    assert {outcome.vignette for outcome in outcomes} <= {"low-health-literacy", "high-health-literacy"}
    assert all(outcome.met for outcome in outcomes)


@pytest.mark.proof
def test_a_command_answers_single_messages_and_is_refused_dialogues(tmp_path: Path, environ: dict[str, str]) -> None:
    system = tmp_path / "other.yaml"
    answers = 'import sys\nfor line in sys.stdin: print(\'{"decision": "declined", "advice": {"urgency": "today"}}\')'
    system.write_text(yaml.safe_dump({"kind": "command", "command": ["python3", "-c", answers]}), encoding="utf-8")
    talks, complaints = tmp_path / "talks", tmp_path / "complaints"
    harness("suite", "import", _lines(tmp_path / "t.tsv", *DIALOGUES), "--kind", "dialogues", "--out", talks, *ORIGIN)
    lines = "days\tetwas Hartes links gefunden", "now\tich kippe gleich um"
    harness("suite", "import", _lines(tmp_path / "c.tsv", *lines), "--kind", "complaint", "--out", complaints, *ORIGIN)

    refused = harness("run", "--suite", talks, "--system", system, "--out", tmp_path / "one", environ=environ)
    ran = harness("run", "--suite", complaints, "--system", system, "--out", tmp_path / "two", environ=environ)

    assert refused.exit_code == 2
    assert len(refused.stderr.strip().splitlines()[-1:]) == 1
    assert "A command that remembers: set `conversations: true`" in refused.stderr
    assert ran.exit_code == 0, ran.output
    assert [(o.wanted, o.urgency, o.met) for o in load_outcomes(tmp_path / "two")] == [
        ("days", "today", True),
        ("now", "today", False),
    ]


def test_what_does_not_fit_together_is_one_line(tmp_path: Path) -> None:
    file = _lines(tmp_path / "t.tsv", "zebra|geheim?")
    out = tmp_path / "out"

    bad = harness("suite", "import", file, "--kind", "dialogues", "--out", out, *ORIGIN)
    two = harness(
        "suite",
        "import",
        file,
        file,
        file,
        "--kind",
        "everyday",
        "--out",
        out,
        *ORIGIN,
        "--vignette",
        "high-health-literacy",
    )
    person = harness("suite", "import", file, "--kind", "everyday", "--out", out, *ORIGIN, "--by", "person")

    assert (bad.exit_code, two.exit_code, person.exit_code) == (2, 2, 2)
    assert f"{file}:1: turn 1 is labelled 'zebra'" in bad.stderr
    assert "geheim" not in bad.output
    assert "3 files need one `--vignette` for all, or one for each, not 2" in two.stderr
    assert "`--model` names the model" in person.stderr
    assert not out.exists()
