"""JUnit XML, CSV and FHIR of a run, and the command that writes them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from fhir.resources.R4B.measurereport import MeasureReport

from bot.testing import HOSTILE_TEXTS
from harness.labelling.labels import Verdicts
from harness.reporting.exports import junit_xml, measure_report, tables
from harness.reporting.facts import Context, Facts, facts_of
from harness.running.outcomes import Outcome
from harness.running.run import Run
from tests.bot.handover.fhir_process import fhir_process
from tests.harness.reporting.conftest import NOW, VIGNETTES
from tests.harness.runs import write_run

Command = Callable[..., CompletedProcess[str]]


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_junit_has_a_case_for_every_question(facts: Facts) -> None:
    root = ET.fromstring(junit_xml(facts))

    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert len(cases) == len(facts.run.outcomes)
    kinds = Counter(child.tag for case in cases.values() for child in case if child.tag != "properties")
    wrong = sum(outcome.right is False for outcome in facts.run.outcomes)
    assert kinds == {"failure": wrong, "error": 1, "skipped": 1}
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == (str(wrong), "1", "1")
    assert sum(int(suite.get("tests", "")) for suite in root) == len(cases)
    missed = cases[f"{VIGNETTES[0]}/pain/0"]
    assert missed.get("classname") == f"{VIGNETTES[0]}.pain"
    assert {each.get("name"): each.get("value") for each in missed.iter("property")} == {
        "stratum": VIGNETTES[0],
        "pair": "pain",
        "question": "Frage 0 zu pain, tut das weh?",
    }
    failure = missed.find("failure")
    assert failure is not None
    assert failure.get("message") == "wrong (costs): Frage 0 zu pain, tut das weh?"


def test_csv_tables_agree_with_the_summary(facts: Facts) -> None:
    found = {name: read(text) for name, text in tables(facts).items()}

    total = facts.summary.total
    (all_,) = (row for row in found["vignettes"] if row["vignette"] == "all")
    assert (int(all_["n"]), int(all_["wrong"])) == (total.n, total.wrong)
    assert float(all_["accuracy"]) == pytest.approx(total.accuracy, abs=1e-6)
    assert sum(int(row["right"]) for row in found["pairs"]) == total.n - total.errors
    assert len(found["questions"]) == len(facts.run.outcomes)
    assert sum(row["right"] == "0" for row in found["questions"]) == total.errors
    assert found["risk_coverage"][-1]["coverage"] == "1.0"
    assert {row["name"] for row in found["changes"]} == {"total", *VIGNETTES}
    assert sum(int(row["fixed"]) for row in found["changes_by_pair"]) == int(found["changes"][0]["fixed"])
    assert {row["current"] for row in found["thresholds"]} == {"0", "1"}
    assert [row["outside"] for row in found["readability"]] == [str(len(one.outside)) for one in facts.reading]


def test_a_spreadsheet_takes_no_question_for_a_formula(run: Run) -> None:
    texts = ['=HYPERLINK("http://evil.example","x")', "+1", "-2", "@SUM(A1)", "\t=1", 'Zitat: "so", sagt sie', "a\nb"]
    outcomes = tuple(replace(o, text=text) for o, text in zip(run.outcomes, texts, strict=False))

    rows = read(tables(facts_of(replace(run, outcomes=outcomes), None, Context(Verdicts([]))))["questions"])

    assert [row["text"] for row in rows] == [*(f"'{text}" for text in texts[:5]), *texts[5:]]


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_texts_leave_all_files_readable(run: Run, text: str) -> None:
    outcomes = tuple(replace(outcome, text=text, id=f"{n}{text}") for n, outcome in enumerate(run.outcomes))
    facts = facts_of(replace(run, outcomes=outcomes), None, Context(Verdicts([])))

    cases = list(ET.fromstring(junit_xml(facts).encode()).iter("testcase"))
    rows = read(tables(facts)["questions"])

    assert len(cases) == len(rows) == len(outcomes)


def groups(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {group["code"]["coding"][0]["code"]: group for group in report["group"]}


def counts(figures: dict[str, Any]) -> dict[str, int]:
    return {each["code"]["coding"][0]["code"]: each["count"] for each in figures["population"]}


def test_the_measure_report_says_what_the_summary_says(facts: Facts) -> None:
    report = json.loads(measure_report(facts, now=NOW))

    found, total = groups(report), facts.summary.total
    assert list(found) == ["accuracy", "precision", "top1", "offered"]
    right, answered = total.n - total.errors, total.n - total.errors + total.wrong
    assert counts(found["accuracy"]) == {"initial-population": total.n, "denominator": total.n, "numerator": right}
    assert counts(found["precision"]) == {"initial-population": answered, "denominator": answered, "numerator": right}
    assert found["offered"]["measureScore"]["value"] == pytest.approx(total.offered, abs=1e-6)
    (stratifier,) = found["accuracy"]["stratifier"]
    strata = {stratum["value"]["coding"][0]["code"]: stratum for stratum in stratifier["stratum"]}
    assert list(strata) == list(VIGNETTES)
    for name, score in facts.summary.vignettes.items():
        assert strata[name]["measureScore"]["value"] == pytest.approx(score.accuracy, abs=1e-6)
    assert sum(counts(stratum)["numerator"] for stratum in strata.values()) == right


def test_the_measure_report_is_valid_for_the_library_of_r4(facts: Facts) -> None:
    text = measure_report(facts, now=NOW)

    parsed = MeasureReport.model_validate_json(text)

    assert json.loads(parsed.model_dump_json(exclude_none=True)) == {**json.loads(text), "date": "2026-11-22T12:00:00Z"}


def test_a_score_without_a_denominator_is_left_out(make_outcome: Callable[..., Outcome], run: Run) -> None:
    silent = replace(run, outcomes=tuple(make_outcome(f"q{n}", answered_with=None) for n in range(3)))

    report = json.loads(measure_report(facts_of(silent, None, Context(Verdicts([]))), now=NOW))

    precision = groups(report)["precision"]
    assert "measureScore" not in precision
    assert counts(precision)["denominator"] == 0
    MeasureReport.model_validate(report)


def test_a_fhir_r4_server_takes_the_measure_report(facts: Facts) -> None:
    report = json.loads(measure_report(facts, now=NOW))
    with fhir_process() as base, httpx.Client(trust_env=False, timeout=30) as client:
        taken = client.post(f"{base}/MeasureReport", json=report)
        refused = client.post(f"{base}/MeasureReport", json={**report, "status": None, "gruop": []})

    assert taken.status_code == 201, taken.text
    assert refused.status_code == 400  # the server does look


def test_the_command_writes_every_file(command: Command, folders: tuple[Path, Path], tmp_path: Path) -> None:
    new, old = folders
    out = tmp_path / "out"

    done = command(
        *("report", new, "--baseline", old, "--out", out / "page.html", "--csv", out / "csv"),
        *("--junit", out / "junit.xml", "--fhir", out / "measure.json"),
    )

    assert done.returncode == 0, done.stderr
    written = [Path(line) for line in done.stdout.splitlines()]
    assert {path.name for path in written} >= {"page.html", "junit.xml", "measure.json", "vignettes.csv", "changes.csv"}
    assert all(path.is_file() for path in written)
    assert json.loads((out / "measure.json").read_text(encoding="utf-8"))["status"] == "complete"
    assert 'id="change"' in (out / "page.html").read_text(encoding="utf-8")


def test_the_page_comes_beside_the_run_with_its_costs(command: Command, folders: tuple[Path, Path]) -> None:
    costs = {"currency": "EUR", "total": {"cost": 2.5, "calls": 7}, "vignette": {}, "calls": []}
    (folders[0] / "costs.json").write_text(json.dumps(costs), encoding="utf-8")

    done = command("report", folders[0])

    assert done.stdout.strip() == str(folders[0] / "report.html")
    page = (folders[0] / "report.html").read_text(encoding="utf-8")
    assert "All cost 2.50 EUR" in page
    assert 'id="change"' not in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("report {dir}", "holds no run"),
        ("report {new} --baseline {dir}", "holds no run"),
        ("report {novel}", "no answered question with a right pair"),
        ("report {new} --out {new}/run.json/x.html", "cannot be written"),
        ("report {other}", "is a run against 'kidney', but the catalog is 'mammography'"),
        ("report {new} --costs {dir}/none.json", "does not say what the questions cost"),
        ("report {costly}", "does not say what the questions cost"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    command: Command, folders: tuple[Path, Path], make_outcome: Callable[..., Outcome], arguments: str, said: str
) -> None:
    new = folders[0]
    place = new.parent
    paths = {"dir": place, "new": new, "novel": place / "novel", "other": place / "other", "costly": place / "costly"}
    write_run(paths["novel"], [make_outcome("n", pair_id=None)])
    write_run(paths["costly"], [make_outcome("q")])
    (paths["costly"] / "costs.json").write_text('{"total": "much"}', encoding="utf-8")
    identity = json.loads((write_run(paths["other"], [make_outcome("q")]) / "run.json").read_text(encoding="utf-8"))
    (paths["other"] / "run.json").write_text(json.dumps({**identity, "catalog": "kidney@1"}), encoding="utf-8")

    done = command(*(argument.format(**paths) for argument in arguments.split()))

    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
