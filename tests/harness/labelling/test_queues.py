"""Every item gets as many raters as wanted, all pairs of raters meet, and queues tell nobody why an item is in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import BadData
from harness.labelling.ambiguous import AMBIGUOUS
from harness.labelling.labels import Item
from harness.labelling.rater_files import assign, items_to_label, queue_file, queue_of, write_queues
from harness.running.outcomes import Outcome
from harness.running.run import load_outcomes


@given(count=st.integers(1, 60), raters=st.integers(1, 5), each=st.integers(1, 3))
def test_every_item_gets_its_raters_and_nobody_much_more_than_others(
    make_outcome: Callable[..., Outcome], count: int, raters: int, each: int
) -> None:
    items = [Item(make_outcome(f"n{number}", pair_id=None), "pain") for number in range(count)]
    names = [f"rater-{number}" for number in range(raters)]
    if raters < each:
        with pytest.raises(BadData, match=f"{each} labels for each item need {each} raters, but there are {raters}"):
            assign(items, names, each=each)
        return

    queues = assign(items, names, each=each)

    seen = Counter(item.outcome.id for queue in queues.values() for item in queue)
    assert set(seen.values()) == {each}
    assert len(seen) == count
    groups = Counter(
        tuple(sorted(name for name in names if any(i.outcome.id == item.outcome.id for i in queues[name])))
        for item in items
    )
    assert max(groups.values()) - min((groups[g] for g in combinations(names, each)), default=0) <= 1


def test_a_rater_gets_what_was_assigned_in_that_order(run: Path) -> None:
    outcomes = load_outcomes(run)
    queues = assign(items_to_label(run, outcomes), ["anna", "ben", "cem"], each=2)

    write_queues(run, queues)

    for name, items in queues.items():
        assert [item.outcome.id for item in queue_of(run, outcomes, name)] == [item.outcome.id for item in items]
        assert len(items) == 2
    assert len(queue_of(run, outcomes, "someone else")) == 3


def test_a_queue_holds_ids_and_nothing_that_could_sway_a_rater(run: Path) -> None:
    doubt = {"question_id": "p1", "pair_id": "pain", "because": ["close"], "confidence": 0.4}
    (run / AMBIGUOUS).write_text(json.dumps(doubt) + "\n", encoding="utf-8")
    items = items_to_label(run, load_outcomes(run), "ambiguous")

    write_queues(run, assign(items, ["anna"], each=1))

    assert json.loads(queue_file(run, "anna").read_text(encoding="utf-8")) == {"question_id": "p1", "pair_id": "pain"}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [("novel", ["n1", "n2", "n4"]), ("ambiguous", ["p1", "n2"]), ("all", ["n1", "p1", "n2", "n4"])],
)
def test_what_is_labelled_is_novel_or_ambiguous_and_was_answered(run: Path, kinds, expected: list[str]) -> None:
    lines = [json.dumps({"question_id": question}) for question in ("p1", "n2", "n3")]
    (run / AMBIGUOUS).write_text("\n".join(lines), encoding="utf-8")

    assert [item.outcome.id for item in items_to_label(run, load_outcomes(run), kinds)] == expected


def test_queues_are_not_overwritten(run: Path) -> None:
    queues = assign(items_to_label(run, load_outcomes(run)), ["anna"], each=1)
    write_queues(run, queues)

    with pytest.raises(BadData, match=r"person-anna\.jsonl exists\. Delete it to assign anew"):
        write_queues(run, queues)


def test_a_queue_of_another_run_is_named_with_its_line(run: Path) -> None:
    queue_file(run, "anna").parent.mkdir()
    queue_file(run, "anna").write_text('{"question_id": "zebra", "pair_id": "pain"}\n', encoding="utf-8")

    with pytest.raises(BadData, match=r"person-anna\.jsonl:1 names no question of this run"):
        queue_of(run, load_outcomes(run), "anna")


def test_without_a_queue_ambiguous_answers_come_after_the_novel_ones(run: Path) -> None:
    (run / AMBIGUOUS).write_text('{"question_id": "p1"}\n{"question_id": "n1"}\n', encoding="utf-8")

    for rater in ("anna", "ben", "cem", "dora", "ege"):
        order = [item.outcome.id for item in queue_of(run, load_outcomes(run), rater)]
        assert sorted(order[:3]) == ["n1", "n2", "n4"]
        assert order[3:] == ["p1"]
