"""Lint finds what a careful curator would, at its line."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from bot import data_folder
from bot.catalog.lint import lint, worst
from bot.errors import Finding
from bot.testing import HashEncoder, write_small_catalog

TODAY = date(2026, 11, 1)
LONG = "Die Untersuchung dauert nicht lange und tut meistens auch nur ganz wenig weh. "

# Every line is numbered, since findings must point at it.
BAD = f"""\
catalog: bad
language: de
version: "1"
pairs:
  - id: pain
    question: Tut die Untersuchung weh?
    answer: Kaum.
    easy_answer: {LONG * 5}
    review: {{status: approved}}
    variants:
      - weh?
      - tut die UNTERSUCHUNG weh
      - wie lange muss ich bei der untersuchung denn wohl ungefähr noch warten
  - id: costs
    question: Was kostet das?
    answer: {LONG * 5}
    easy_answer: Computertomographieuntersuchungen bezahlen Krankenversicherungen ausnahmsweise.
    review: {{status: approved, by: Dr. A, on: 2020-01-01, valid_until: 2021-01-01}}
    sources: [{{title: T, publisher: P, year: 2024}}]
    variants:
      - Weh!
      - wie lange muss ich bei der untersuchung denn wohl ungefähr noch bleiben
  - id: duration
    question: Wie lange dauert es?
    answer: {LONG * 5}
    sources: [{{title: T, publisher: P, year: 2024}}]
"""
BAD_BACKGROUND = """\
catalog: bad
language: de
questions:
  weather:
    - Wie wird das Wetter?
    - was kostet das
"""


@pytest.fixture(scope="module")
def bad_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "de.yaml").write_text(BAD, encoding="utf-8")
    (folder / "background").mkdir()
    (folder / "background" / "de.yaml").write_text(BAD_BACKGROUND, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def findings(bad_folder: Path) -> list[Finding]:
    return lint(bad_folder, today=TODAY, encoder=HashEncoder())


@pytest.mark.parametrize(
    ("rule", "line", "where", "severity", "problem"),
    [
        ("length", 7, "pain", "warning", "The answer has 1 words, outside 50 to 120"),
        ("readability", 8, "pain", "error", "The easy answer has 65 words; fewer than 60"),
        ("readability", 8, "pain", "error", "13.0 words on average, over 10"),
        ("readability", 17, "costs", "error", "below 65"),
        ("review", 9, "pain", "error", "Approved without a name or a date"),
        ("review", 18, "costs", "error", "expired on 2021-01-01"),
        ("review", 23, "duration", "info", "Draft"),
        ("variants", 11, "pain", "warning", "3 variants; patients put a question in at least 20 ways"),
        ("sources", 5, "pain", "warning", "No source"),
        ("easy-answer", 23, "duration", "error", "There is no easy answer"),
        ("near-copy", 12, "pain", "error", "repeats 'Tut die Untersuchung weh?' of this pair"),
        ("near-copy", 21, "costs", "error", "repeats 'weh?' of the pair pain"),
        ("near-copy", 22, "costs", "error", "nearly repeats (0.82)"),
        ("near-copy", 6, "costs", "error", "background question 'was kostet das'"),
        ("confusable", 5, "pain", "info", "Confusable with costs"),
    ],
)
def test_every_rule_finds_its_fault_at_its_line(
    findings: list[Finding], rule: str, line: int, where: str, severity: str, problem: str
) -> None:
    found = [finding for finding in findings if finding.rule == rule and problem in finding.problem]

    assert [(finding.line, finding.where, finding.severity) for finding in found] == [(line, where, severity)]
    assert found[0].remedy


def test_nothing_else_is_an_error(findings: list[Finding]) -> None:
    assert sum(finding.severity == "error" for finding in findings) == 10


def test_errors_come_first(findings: list[Finding]) -> None:
    severities = [finding.severity for finding in findings]

    assert severities == sorted(severities, key=("error", "warning", "info").index)
    assert worst(findings) == "error"


def test_a_finding_prints_as_one_line(findings: list[Finding], bad_folder: Path) -> None:
    easy = next(finding for finding in findings if finding.rule == "easy-answer")

    assert easy.as_line() == (
        f"{bad_folder}/de.yaml:23: error: [duration] There is no easy answer. "
        "Write one in easy language under `easy_answer`."
    )


def test_without_an_encoder_nothing_is_called_confusable(bad_folder: Path) -> None:
    assert "confusable" not in {finding.rule for finding in lint(bad_folder, today=TODAY)}


def test_a_pair_of_one_language_only_is_found(tmp_path: Path) -> None:
    write_small_catalog(tmp_path)
    english = tmp_path / "en.yaml"
    english.write_text(english.read_text().replace("id: costs", "id: price"))

    found = [finding for finding in lint(tmp_path, today=TODAY) if finding.rule == "ids"]

    assert [(finding.path.name, finding.where, finding.problem) for finding in found] == [
        ("en.yaml", "costs", "The pair is in de only."),
        ("de.yaml", "price", "The pair is in en only."),
    ]


def test_schema_errors_do_not_hide_the_other_language(tmp_path: Path) -> None:
    write_small_catalog(tmp_path)
    (tmp_path / "de.yaml").write_text("catalog: [", encoding="utf-8")

    found = lint(tmp_path, today=TODAY)

    assert (found[0].path.name, found[0].rule, found[0].severity) == ("de.yaml", "schema", "error")
    assert any(finding.path.name == "en.yaml" for finding in found)


def test_an_empty_list_of_findings_has_no_worst() -> None:
    assert worst([]) is None


def test_the_shipped_catalog_has_no_error(shipped_catalogs: Mapping[str, object]) -> None:
    found = lint(data_folder("qa_pairs") / "mammography", today=TODAY)

    assert set(shipped_catalogs) == {"de", "en"}
    assert [finding.as_line() for finding in found if finding.severity == "error"] == []


def test_a_catalog_of_one_pair_has_nothing_confusable(tmp_path: Path) -> None:
    pair = "  - id: p\n    question: Tut es weh?\n    answer: Nein.\n    review: {status: draft}\n"
    (tmp_path / "de.yaml").write_text(f"catalog: c\nlanguage: de\nversion: '1'\npairs:\n{pair}", encoding="utf-8")

    found = lint(tmp_path, today=date(2026, 11, 22), encoder=HashEncoder())

    assert [each for each in found if each.rule == "confusable"] == []
