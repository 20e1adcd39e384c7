"""Every feature that `docs/fhir.md` lists has a test behind it, and every published form has a result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.bot.interview.validate.test_corpus_questionnaires import LEFT_OUT, NAMES

ROOT = Path(__file__).parent.parent
HEAD = ["feature", "interview", "validators", "test behind it"]
VERDICTS = ("yes", "part", "no", "left out", "refused", "a warning", "an error", "–")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the conformance tables."""

    feature: str
    interview: str
    validators: str
    tests: tuple[tuple[str, str], ...]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(heading: str) -> list[list[list[str]]]:
    """Return the tables below a heading, each as rows with its head first."""
    page = (ROOT / "docs" / "fhir.md").read_text(encoding="utf-8")
    level = heading.partition(" ")[0]
    section = re.split(rf"^{level} ", page.partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"(?:^\|.*\n?)+", section, flags=re.MULTILINE)
    return [[cells(line) for line in table.splitlines() if not set(line) <= set("|-")] for table in found]


def conformance() -> list[Row]:
    wanted = [table for table in tables("## What of FHIR and SDC is supported") if table[0] == HEAD]
    return [_row(each) for table in wanted for each in table[1:]]


def _row(parts: list[str]) -> Row:
    feature, interview, validators, tests = parts
    return Row(feature, interview, validators, tuple(re.findall(r"`(test_\w+\.py)::(test_\w+)`", tests)))


@cache
def functions(file: str) -> frozenset[str]:
    """Return the tests in all files of this name."""
    paths = (ROOT / "tests").rglob(file)
    return frozenset(
        name for path in paths for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.M)
    )


ROWS = conformance()


def test_the_tables_are_found() -> None:
    assert len(ROWS) > 90


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.feature[:40])
def test_each_feature_names_tests_that_exist(row: Row) -> None:
    missing = [f"{file}::{name}" for file, name in row.tests if name not in functions(file)]

    assert missing == []
    assert row.tests or row.interview.startswith("no")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.feature[:40])
def test_each_feature_has_a_verdict_and_what_is_partial_says_why(row: Row) -> None:
    for cell in (row.interview, row.validators):
        assert cell.startswith(VERDICTS)
        assert cell != "part"
    assert row.interview != "no"


def test_fifteen_published_forms_load_and_what_is_left_out_is_said() -> None:
    (table,) = tables("### Published forms tried")
    results = [result for _, _, result in table[1:]]

    assert len(results) == len(NAMES) == 15
    assert sum("left out: " in result for result in results) == len(LEFT_OUT)
    assert all(result.startswith("loads") for result in results)
