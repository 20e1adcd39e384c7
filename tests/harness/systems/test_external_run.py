"""A run against a system outside: failures are kept apart, and a run goes on when the system is mended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot import BadData, Unreachable
from harness.patients.suites import Question, Suite
from harness.running.chunks import MOST_FAILURES
from harness.running.run import load_outcomes, run_suite
from harness.scoring.score import summarise
from tests.harness.systems.conftest import Opener
from tests.harness.systems.servers import Seen, Server, serving

MakeSuite = Callable[[Sequence[Question]], Suite]
MakeQuestion = Callable[..., Question]


def pain_or_costs(seen: Seen) -> Any:
    return {"pair": "costs" if "kostet" in json.loads(seen.body)["q"] else "pain"}


def endpoint(server: Server, **more: Any) -> dict[str, Any]:
    return {
        "kind": "http",
        "url": server.url,
        "body": {"q": "{question}"},
        "paths": {"pair": "$.pair"},
        "retries": 0,
        **more,
    }


def test_failures_are_outcomes_of_their_own_and_are_asked_again(suite: Suite, opener: Opener, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(pain_or_costs, faults=[200, 500]) as server:
        with opener(endpoint(server)) as (system, catalog):
            first = run_suite(suite, system, catalog, out)
        summary = summarise(first)
        with opener(endpoint(server, timeout_s=5)) as (system, catalog):  # pace may change, the system may not
            again = run_suite(suite, system, catalog, out)

    assert [(o.decision, o.right, o.matched, o.error) for o in first] == [
        ("answered", True, "id", None),
        ("error", None, None, "status 500"),
        ("answered", False, "id", None),
        ("answered", None, "id", None),
    ]
    assert (summary.total.n, summary.failed) == (2, 1)
    assert [o.decision for o in again] == ["answered"] * 4
    assert len(server.seen) == 5
    assert load_outcomes(out)[1].decision == "answered"
    assert len(load_outcomes(out)) == 4


def test_another_description_is_another_system(suite: Suite, opener: Opener, tmp_path: Path) -> None:
    with serving(pain_or_costs) as server:
        with opener(endpoint(server)) as (system, catalog):
            run_suite(suite, system, catalog, tmp_path / "run")
        with (
            opener(endpoint(server, similarity=0.5)) as (system, catalog),
            pytest.raises(BadData, match="holds a run with system_hash"),
        ):
            run_suite(suite, system, catalog, tmp_path / "run")


def test_a_system_that_is_down_ends_the_run_and_what_was_answered_is_kept(
    make_suite: MakeSuite, make_question: MakeQuestion, opener: Opener, tmp_path: Path
) -> None:
    count, answered = 40, 5
    suite = make_suite([make_question(n, f"Was kostet Nummer {n}?", "costs") for n in range(count)])
    with serving(pain_or_costs, faults=[200] * answered + [503] * MOST_FAILURES) as server:
        with (
            opener(endpoint(server)) as (system, catalog),
            pytest.raises(Unreachable, match=r"failed 10 times in a row, at last: status 503\. Mend it"),
        ):
            run_suite(suite, system, catalog, tmp_path / "run")
        kept = len(load_outcomes(tmp_path / "run"))
        with opener(endpoint(server)) as (system, catalog):
            outcomes = run_suite(suite, system, catalog, tmp_path / "run")

    assert kept == answered + MOST_FAILURES
    assert len(server.seen) == count + MOST_FAILURES
    assert [outcome.right for outcome in outcomes] == [True] * count


def test_a_run_whose_last_ten_questions_fail_is_over_with_failures(
    make_suite: MakeSuite, make_question: MakeQuestion, opener: Opener, tmp_path: Path
) -> None:
    answered = 5
    suite = make_suite([make_question(n, f"Was kostet Nummer {n}?", "costs") for n in range(answered + MOST_FAILURES)])
    with (
        serving(pain_or_costs, faults=[200] * answered + [503] * MOST_FAILURES) as server,
        opener(endpoint(server)) as (system, catalog),
    ):
        outcomes = run_suite(suite, system, catalog, tmp_path / "run")

    assert [outcome.decision for outcome in outcomes].count("error") == MOST_FAILURES
