"""Two runs are compared on what they have in common, and the rest is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot import BadData
from harness.running.outcomes import Outcome
from harness.running.run import load_run
from harness.scoring.comparison import compare
from tests.harness.runs import run_of, write_run

MakeOutcome = Callable[..., Outcome]


def test_fixed_and_broken_questions_are_told(make_outcome: MakeOutcome) -> None:
    before = [
        make_outcome("a"),
        make_outcome("b", answered_with=None),
        make_outcome("c"),
        make_outcome("n", pair_id=None),
    ]
    after = [
        make_outcome("a", answered_with="costs"),
        make_outcome("b"),
        make_outcome("c"),
        make_outcome("n", pair_id=None),
    ]

    comparison = compare(run_of(before), run_of(after))

    assert [now.id for _, now in comparison.fixed] == ["b"]
    assert [now.id for _, now in comparison.broken] == ["a"]
    total = comparison.total()
    assert (total.n, total.fixed, total.broken, total.difference, total.p_value) == (3, 1, 1, 0.0, 1.0)
    assert comparison.notes == []


def test_only_common_questions_count_and_the_rest_is_said(make_outcome: MakeOutcome) -> None:
    failed = replace(make_outcome("d", answered_with=None, decision="error"), right=None)
    before = [make_outcome("a"), make_outcome("b"), make_outcome("d")]
    after = [make_outcome("a"), make_outcome("b", text="Anders gefragt?"), make_outcome("c"), failed]

    comparison = compare(run_of(before), run_of(after, suite_hash="b" * 64))

    assert comparison.total().n == 1
    assert (comparison.only_before, comparison.only_after, comparison.failed) == (1, 2, 1)
    assert comparison.notes == [
        "The runs asked different suites (their hashes differ).",
        "1 questions only in the baseline: not compared.",
        "2 questions only in the new run: not compared.",
        "1 questions without an answer, since a system failed: not compared.",
    ]


def test_strata_are_adjusted_for_their_number(make_outcome: MakeOutcome) -> None:
    def outcomes(answered_with: str | None) -> list[Outcome]:
        worse = [
            make_outcome(f"x{n}", vignette="x", pair_id=f"p{n}", answered_with=answered_with and f"p{n}")
            for n in range(8)
        ]
        return [*worse, make_outcome("y", vignette="y"), make_outcome("z", vignette="z")]

    rows = compare(run_of(outcomes("pain")), run_of(outcomes(None))).strata()

    assert [row.name for row in rows] == ["x", "y", "z"]
    assert rows[0].p_value == pytest.approx(2 / 2**8)
    assert rows[0].adjusted == pytest.approx(4 * 2 / 2**8)  # with wrong answers, one family of four
    assert [row.adjusted for row in rows[1:]] == [1.0, 1.0]


def test_a_run_is_loaded_with_its_identity(make_outcome: MakeOutcome, tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path / "run", [make_outcome("a")]))

    assert [outcome.id for outcome in run.outcomes] == ["a"]
    assert (run.identity["system"], run.questions) == ("klartext", 1)


def test_a_run_of_an_earlier_version_is_still_read(make_outcome: MakeOutcome, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [make_outcome("a")])
    (folder / "run.json").unlink()
    line = (folder / "outcomes.jsonl").read_text(encoding="utf-8").replace(', "matched": null, "error": null', "")
    (folder / "outcomes.jsonl").write_text(line, encoding="utf-8")

    run = load_run(folder)

    assert (len(run.outcomes), run.questions, run.suite_hash) == (1, None, "")


@pytest.mark.parametrize("broken", ["{", "[]", "7"])
def test_a_run_that_does_not_say_what_it_is_is_one_clear_line(
    make_outcome: MakeOutcome, tmp_path: Path, broken: str
) -> None:
    folder = write_run(tmp_path / "run", [make_outcome("a")])
    (folder / "run.json").write_text(broken, encoding="utf-8")

    with pytest.raises(BadData, match=r"run\.json does not say which run this is"):
        load_run(folder)


def test_a_folder_without_a_run_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"holds no run\. Run `klartext harness run"):
        load_run(tmp_path)
