"""Scores from counts are those from the outcomes themselves, as they were computed before runs were counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import Assistant
from harness.patients.suites import load_suite
from harness.running import parquet
from harness.running import store as stores
from harness.running.outcomes import ERROR, Outcome, tally
from harness.running.parquet import ParquetStore
from harness.running.run import RunPlan, ask_suite, load_outcomes
from harness.running.store import PARTS, JsonlStore, Store
from harness.scoring.score import summarise, summarise_tally
from harness.statistics import clustered_share, wilson
from harness.systems.system import InProcess

PAIRS = ("pain", "costs", "duration")


def outcome_of(number: int, vignette: str, kind: str, pair_id: str, decision: str, shown: str) -> Outcome:
    scored = kind == "paraphrase" and decision != ERROR
    answered = shown if decision == "answered" else None
    return Outcome(
        id=f"q{number}",
        text="Tut das weh?",
        lang="de",
        vignette=vignette,
        kind=kind,
        pair_id=pair_id if kind == "paraphrase" else None,
        decision=decision,
        answered_with=answered,
        score=0.5,
        candidates=(shown, "costs"),
        choices=(shown,) if decision == "clarify" else (),
        right=answered == pair_id if scored else None,
        offered=(decision == "clarify" and shown == pair_id) if scored else None,
        top1=shown == pair_id if scored else None,
        elapsed_ms=1.0,
    )


@st.composite
def runs(draw: st.DrawFn) -> list[Outcome]:
    """Draw a run with at least one question that has a right pair and an answer."""
    parts = st.tuples(
        st.sampled_from(["anxious", "hurried", "older"]),
        st.sampled_from(["paraphrase", "paraphrase", "novel", "urgent"]),
        st.sampled_from(PAIRS),
        st.sampled_from(["answered", "clarify", "declined", "urgent", ERROR]),
        st.sampled_from(PAIRS),
    )
    drawn = draw(st.lists(parts, max_size=60))
    drawn.insert(draw(st.integers(0, len(drawn))), ("older", "paraphrase", "pain", "answered", "costs"))
    return [outcome_of(number, *part) for number, part in enumerate(drawn)]


def by_hand(outcomes: list[Outcome]) -> dict[str, Any]:
    """Score a run question by question, as the paper's tables define it."""
    scored = [o for o in outcomes if o.right is not None]
    names = dict.fromkeys(o.vignette for o in outcomes)
    novel = {name: Counter(o.decision for o in outcomes if o.vignette == name and o.kind == "novel") for name in names}
    urgent = [o for o in outcomes if o.kind == "urgent" and o.decision != ERROR]
    groups = {name: [o for o in scored if o.vignette == name] for name in names}
    return {
        "total": score_by_hand(scored),
        "vignettes": {name: score_by_hand(group) for name, group in groups.items() if group},
        "novel": {name: dict(counts) for name, counts in novel.items() if counts},
        "failed": sum(o.decision == ERROR for o in outcomes),
        "urgent": {"n": len(urgent), "found": sum(o.decision == "urgent" for o in urgent)},
    }


def score_by_hand(group: list[Outcome]) -> dict[str, Any]:
    n, right = len(group), [bool(o.right) for o in group]
    answered = sum(o.decision == "answered" for o in group)
    by_question = wilson(sum(right), n)
    pairs: dict[str | None, list[bool]] = {}
    for o in group:
        pairs.setdefault(o.pair_id, []).append(bool(o.right))
    by_pair = clustered_share([sum(one) for one in pairs.values()], [len(one) for one in pairs.values()])
    assert by_question is not None
    return {
        "n": n,
        "top1": sum(bool(o.top1) for o in group) / n,
        "accuracy": sum(right) / n,
        "offered": sum(bool(o.offered) for o in group) / n,
        "precision": sum(right) / answered if answered else None,
        "errors": n - sum(right),
        "wrong": answered - sum(right),
        "unanswered": sum(o.decision in ("declined", "urgent") for o in group),
        "ci95": {
            "wilson": [by_question.low, by_question.high],
            "clustered": [by_pair.low, by_pair.high] if by_pair else None,
        },
    }


@given(runs())
def test_counts_score_as_questions_do(outcomes: list[Outcome]) -> None:
    summary = summarise(outcomes)

    assert json.dumps(summary.as_json()) == json.dumps(by_hand(outcomes))  # the order of vignettes, too
    assert summary.asked == len(outcomes)


@given(outcomes=runs(), failed=st.sets(st.integers(0, 60)))
def test_json_lines_count_each_question_once_whatever_failed_before(
    outcomes: list[Outcome], failed: set[int], tmp_path: Path
) -> None:
    ids = {f"q{number}" for number in failed}
    lost = [replace(o, decision=ERROR, right=None, offered=None, top1=None) if o.id in ids else o for o in outcomes]
    again = [outcome for outcome in outcomes if outcome.id in ids]
    store = JsonlStore(tmp_path / "outcomes.jsonl")
    store.path.write_bytes(stores.encode(list(enumerate(lost + again))))

    assert store.tally() == tally(outcomes)
    assert list(store.outcomes()) == outcomes


@pytest.fixture(scope="module")
def real_run(shipped: Assistant, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped suite, asked for real, as JSON lines."""
    out = tmp_path_factory.mktemp("real") / "run"
    ask_suite(
        load_suite("mammography-de"),
        InProcess(shipped, "hybrid", {"system": "klartext"}),
        shipped.catalog("de"),
        out,
        RunPlan(),
    )
    return out


def test_every_store_scores_a_shipped_suite_exactly_as_memory_does(real_run: Path, tmp_path: Path) -> None:
    outcomes = load_outcomes(real_run)
    parts = ParquetStore(tmp_path / PARTS)
    for start in range(0, len(outcomes), 300):
        parts.append(parquet.encode(list(enumerate(outcomes[start : start + 300], start))))
    stores: list[Store] = [JsonlStore(real_run / "outcomes.jsonl"), parts]

    expected = json.dumps(by_hand(outcomes))

    assert len(outcomes) == 1050
    assert [json.dumps(summarise_tally(store.tally()).as_json()) for store in stores] == [expected] * 2
    assert [list(store.outcomes()) for store in stores] == [outcomes] * 2
    novel = [replace(o, text="", candidates=()) for o in outcomes if o.kind == "novel"]
    assert [list(store.novel()) for store in stores] == [novel] * 2


MakeOutcome = Callable[..., Outcome]


def test_places_decide_on_the_order_not_the_parts(make_outcome: MakeOutcome, tmp_path: Path) -> None:
    outcomes = [make_outcome(str(n), vignette="late" if n else "first", pair_id=PAIRS[n % 3]) for n in range(9)]
    parts = ParquetStore(tmp_path / PARTS)
    for place in reversed(range(9)):
        parts.append(parquet.encode([(place, outcomes[place])]))

    assert parts.tally() == tally(outcomes)
    assert list(parts.outcomes()) == outcomes
