"""What was expected of messages in chats is counted per kind and vignette, and gates hold them to a share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import BadData
from harness.running.outcomes import Outcome, tally
from harness.scoring.comparison import compare
from harness.scoring.expectations import expectations_of
from harness.scoring.gate import BaselineLimits, GateReport, Gates, check_baseline, check_run, load_config
from harness.statistics import wilson
from tests.harness.runs import run_of

Make = Callable[..., Outcome]


@pytest.fixture
def spoken(make_outcome: Make) -> Callable[..., list[Outcome]]:
    """Make `n` messages of which `met` brought what was expected."""

    def make(expected: str, met: int, n: int, *, vignette: str = "plain", **more: Any) -> list[Outcome]:
        one = make_outcome("", pair_id=None, vignette=vignette)
        return [
            replace(
                one,
                id=f"{expected}/{vignette}/{i}",
                kind="turn",
                expected=expected,
                met=i < met,
                dialogue=str(i),
                **more,
            )
            for i in range(n)
        ]

    return make


def _statuses(report: GateReport) -> dict[str, str]:
    return {result.name: result.status for result in report.results}


def test_shares_have_intervals_and_what_was_not_scored_counts_apart(spoken: Callable[..., list[Outcome]]) -> None:
    unscored = [replace(one, id=f"u{one.id}", met=None) for one in spoken("same", 0, 3)]
    failed = [replace(one, id=f"f{one.id}", met=None, decision="error") for one in spoken("same", 0, 2)]
    offered = [replace(one, offered=True) for one in spoken("same", 0, 4, vignette="other")]

    found = expectations_of(tally([*spoken("same", 6, 8), *unscored, *failed, *offered, *spoken("first", 1, 1)]))

    assert list(found) == ["first", "same"]
    total = found["same"].total
    assert (total.n, total.met, total.offered, total.unscored, total.failed) == (12, 6, 4, 3, 2)
    record = found["same"].as_json()
    interval = wilson(6, 12)
    assert interval is not None
    assert record["share"] == 0.5
    assert record["ci95"] == interval.as_json()
    assert record["worst_vignette"] == "other"
    assert record["vignettes"]["plain"]["n"] == 8


def test_plain_questions_expect_nothing(make_outcome: Make) -> None:
    assert expectations_of(tally([make_outcome("one"), make_outcome("two", pair_id=None)])) == {}


def test_a_gate_fails_below_its_share_and_passes_from_it_on(spoken: Callable[..., list[Outcome]]) -> None:
    run = run_of([*spoken("same", 15, 20), *spoken("nothing", 18, 20)])

    report = check_run(
        run, Gates.model_validate({"expectations": {"same": {"min": 0.75, "by": "estimate"}, "nothing": 0.95}})
    )

    assert _statuses(report) == {"expected: same": "pass", "expected: nothing": "fail"}
    assert report.failed
    assert not report.undecided


def test_a_vignette_that_is_left_behind_fails(spoken: Callable[..., list[Outcome]]) -> None:
    run = run_of([*spoken("same", 95, 100), *spoken("same", 15, 30, vignette="left")])

    by_chance = check_run(run, Gates(expectations={"same": 0.75}))
    few = check_run(
        run_of([*spoken("same", 95, 100), *spoken("same", 1, 2, vignette="few")]), Gates(expectations={"same": 0.75})
    )
    stated = check_run(run, Gates.model_validate({"expectations": {"same": {"min": 0.75, "worst": 0.3}}}))

    assert _statuses(by_chance) == {"expected: same": "pass", "worst vignette: same": "fail"}
    assert "left, 15 of 30" in by_chance.results[1].detail
    assert _statuses(few)["worst vignette: same"] == "pass"
    assert _statuses(stated)["worst vignette: same"] == "pass"


def test_too_little_data_is_said_and_neither_passes_nor_fails(spoken: Callable[..., list[Outcome]]) -> None:
    few = check_run(run_of(spoken("same", 5, 5)), Gates(expectations={"same": 0.5}))
    enough = check_run(
        run_of(spoken("same", 5, 5)), Gates.model_validate({"expectations": {"same": {"min": 0.5, "least": 5}}})
    )
    thin = check_run(
        run_of([*spoken("same", 9, 10), *spoken("same", 9, 10, vignette="other")]),
        Gates.model_validate({"expectations": {"same": {"min": 0.5, "worst": 0.5}}}),
    )
    unlimited = check_run(run_of(spoken("same", 5, 5)), Gates())

    assert (few.undecided, few.passed, few.failed) == (True, False, False)
    assert enough.passed
    assert _statuses(thin) == {"expected: same": "pass", "worst vignette: same": "open"}
    assert _statuses(unlimited) == {"expectations": "open"}


def test_kinds_that_a_run_does_not_have_are_skipped(spoken: Callable[..., list[Outcome]], make_outcome: Make) -> None:
    gates = Gates(expectations={"same": 0.5, "foreign": 0.9})

    assert _statuses(check_run(run_of(spoken("same", 20, 20)), gates))["expected: others"] == "skip"
    assert _statuses(check_run(run_of([make_outcome("one")]), gates)) == {}


def test_questions_and_messages_of_one_run_are_both_checked(
    spoken: Callable[..., list[Outcome]], make_outcome: Make
) -> None:
    run = run_of([*(make_outcome(str(i)) for i in range(5)), *spoken("same", 20, 20)])

    gates = Gates.model_validate(
        {
            "accuracy": {"min": 0.9, "by": "estimate", "least": 5},
            "expectations": {"same": {"min": 0.9, "by": "estimate"}},
        }
    )

    report = check_run(run, gates)

    assert _statuses(report) == {"accuracy": "pass", "expected: same": "pass"}


def test_a_change_for_the_worse_since_a_baseline_fails(spoken: Callable[..., list[Outcome]]) -> None:
    before = [*spoken("same", 30, 40), *spoken("nothing", 38, 40)]
    after = [*spoken("same", 10, 40), *spoken("nothing", 38, 40)]

    worse = check_baseline(compare(run_of(before), run_of(after)), BaselineLimits())
    same = check_baseline(compare(run_of(before), run_of(before)), BaselineLimits())

    assert _statuses(worse) == {"change: same": "fail", "change: nothing": "pass"}
    assert worse.paired[0].broken == 20
    assert same.passed


def test_messages_that_expect_something_else_are_not_compared(spoken: Callable[..., list[Outcome]]) -> None:
    before = spoken("pair", 5, 5, wanted="pain")
    after = spoken("pair", 5, 5, wanted="costs")

    assert compare(run_of(before), run_of(after)).spoken == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gates: {expectations: {smae: 0.5}}", "Known here: first, same"),
        ("gates: {expectations: {same: 1.5}}", "must be at most 1"),
        ("gates: {expectations: {same: {mim: 0.5}}}", "."),
    ],
)
def test_limits_that_are_none_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "harness.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadData) as refused:
        load_config(file)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
