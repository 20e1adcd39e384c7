"""Right, wrong or ambiguous: for three reasons, with confidences that hold, and without touching the paper's figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bot import BadData, Catalog, load_catalog
from harness.labelling.ambiguous import (
    automatic_as_json,
    confidences,
    judge_all,
    load_ambiguous,
    load_unfaithful,
    reliability,
    write_ambiguous,
)
from harness.labelling.labels import Label, Rater, Verdicts
from harness.running.outcomes import Equivalence, Outcome

MakeOutcome = Callable[..., Outcome]
NOBODY = Verdicts([])


@pytest.fixture
def run_of_many(make_outcome: MakeOutcome) -> list[Outcome]:
    """600 paraphrases of 30 pairs; the first candidate is right with probability 0.5 + margin / 2."""
    rng = np.random.default_rng(8)
    outcomes = []
    for number in range(600):
        pair = f"pair-{number % 30}"
        margin = float(rng.random())
        shown = pair if rng.random() < 0.5 + margin / 2 else "another"
        outcome = make_outcome(str(number), pair_id=pair, answered_with=shown)
        outcomes.append(replace(outcome, score=0.3 + margin / 2, runner_up=0.3 - margin / 2))
    return outcomes


def test_confidences_foretell_what_comes(run_of_many: list[Outcome]) -> None:
    confidence = confidences(run_of_many)

    assert len(confidence) == 600
    for found in reliability(run_of_many, confidence):
        assert found.right == pytest.approx(found.foretold, abs=2.5 * (0.25 / found.n) ** 0.5)
    truth = np.array([0.5 + (o.score - (o.runner_up or 0)) / 2 for o in run_of_many])
    assert np.abs(np.array([confidence[o.id] for o in run_of_many]) - truth).mean() < 0.08


def test_a_pair_has_no_say_in_its_own_confidence(run_of_many: list[Outcome]) -> None:
    own = [outcome for outcome in run_of_many if outcome.pair_id == "pair-3"]
    turned = [replace(o, top1=not o.top1) if o.pair_id == "pair-3" else o for o in run_of_many]

    before, after = confidences(run_of_many), confidences(turned)

    assert [before[outcome.id] for outcome in own] == [after[outcome.id] for outcome in own]
    assert before != after


def test_novel_questions_are_as_sure_as_paraphrases_of_the_same_margin(
    run_of_many: list[Outcome], make_outcome: MakeOutcome
) -> None:
    novel = [
        replace(make_outcome(name, pair_id=None), score=0.5 + margin / 2, runner_up=0.5 - margin / 2)
        for name, margin in (("close", 0.02), ("clear", 0.98))
    ]

    found = confidences([*run_of_many, *novel])

    assert found["close"] < 0.7
    assert found["clear"] > 0.9


def test_systems_without_scores_and_small_runs_have_no_confidences(
    run_of_many: list[Outcome], make_outcome: MakeOutcome
) -> None:
    assert confidences(run_of_many[:40]) == {}
    assert confidences([replace(outcome, runner_up=None) for outcome in run_of_many]) == {}
    one_pair = [replace(outcome, pair_id="pain") for outcome in run_of_many]
    assert confidences(one_pair) == {}


def test_three_ways(run_of_many: list[Outcome], make_outcome: MakeOutcome) -> None:
    judged = judge_all(run_of_many, NOBODY, level=0.7)
    counts = automatic_as_json(judged, level=0.7)

    close = [item for item in judged if item.verdict == "ambiguous"]
    assert counts["n"] == 600 == counts["right"] + counts["wrong"] + counts["ambiguous"]
    assert counts["because"] == {"close": len(close)}
    assert 100 < len(close) < 400
    assert all(item.confidence is not None and item.confidence < 0.7 for item in close)
    sure = [item for item in judged if item.verdict != "ambiguous"]
    assert all((item.verdict == "right") == item.outcome.right for item in sure)


def test_a_right_pair_for_a_question_that_does_not_fit_its_vignette_is_ambiguous(make_outcome: MakeOutcome) -> None:
    outcomes = [
        make_outcome("right"),
        make_outcome("wrong", answered_with="costs"),
        make_outcome("declined", answered_with=None),
        make_outcome("fine"),
    ]

    judged = judge_all(outcomes, NOBODY, unfaithful={"right", "wrong", "declined"})

    assert [item.verdict for item in judged] == ["ambiguous", "wrong", "wrong", "right"]
    assert judged[0].because == ("fidelity",)


def test_what_judges_differ_on_is_ambiguous_until_a_person_has_spoken(make_outcome: MakeOutcome) -> None:
    def label(kind, name, verdict) -> Label:
        return Label(question_id="q", pair_id="pain", label=verdict, rater=Rater(kind=kind, name=name))

    models = [label("model", "a", "correct"), label("model", "b", "partial")]
    outcome = make_outcome("q")

    assert judge_all([outcome], Verdicts(models))[0].because == ("judges",)
    assert judge_all([outcome], Verdicts([*models, label("person", "anna", "correct")]))[0].because == ()
    assert judge_all([make_outcome("n", pair_id=None)], NOBODY)[0].verdict is None


def test_failures_and_urgent_messages_are_not_judged(make_outcome: MakeOutcome) -> None:
    failed = replace(make_outcome("f"), decision="error", right=None)
    urgent = replace(make_outcome("u", pair_id=None), kind="urgent")

    assert judge_all([failed, urgent], NOBODY) == []


def test_the_queue_is_written_anew_and_read_back(tmp_path: Path, make_outcome: MakeOutcome) -> None:
    judged = judge_all([make_outcome("a"), make_outcome("b")], NOBODY, unfaithful=["b"])

    assert load_ambiguous(tmp_path) == set()
    assert write_ambiguous(tmp_path, judged) == 1
    assert load_ambiguous(tmp_path) == {"b"}
    assert write_ambiguous(tmp_path, []) == 0
    assert load_ambiguous(tmp_path) == set()
    (tmp_path / "ambiguous.jsonl").write_text("[]\n", encoding="utf-8")
    with pytest.raises(BadData, match="is no queue"):
        load_ambiguous(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        '["a", "b"]',
        '{"a": "too long", "b": "jargon"}',
        '{"suite": "s", "outside": {"a": ["words"], "b": []}}',
        '{"id": "a"}\n{"id": "b"}\n',
        '{"question_id": "a"}\n\n{"id": "b"}',
    ],
)
def test_failed_fidelity_is_read_from_a_list_an_object_or_lines(tmp_path: Path, content: str) -> None:
    (tmp_path / "f").write_text(content, encoding="utf-8")

    assert set(load_unfaithful(tmp_path / "f")) == {"a", "b"}


@pytest.mark.parametrize("content", ["a, b", "[1]", '{"name": "a"}\n{"name": "b"}', '"a"', "[1]\n[2]"])
def test_a_file_without_ids_is_one_clear_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "f").write_text(content, encoding="utf-8")

    with pytest.raises(BadData, match="holds no question ids: give a JSON list"):
        load_unfaithful(tmp_path / "f")


def _with_same(catalog: Catalog, **same: tuple[str, ...]) -> Catalog:
    pairs = tuple(pair.model_copy(update={"same_as": same.get(pair.id, ())}) for pair in catalog.pairs)
    return replace(catalog, pairs=pairs)


def test_equivalence_holds_both_ways_and_through_a_third_pair(small_folder: Path) -> None:
    catalog = load_catalog(small_folder, "de")
    first, second, third, *_ = [pair.id for pair in catalog.pairs]

    same = Equivalence.of(_with_same(catalog, **{first: (second,), third: (second,)}))

    assert same.accepted(first) == same.accepted(second) == same.accepted(third) == {first, second, third}
    assert Equivalence.of(catalog).accepted(first) == {first}
    assert same.accepted(None) == frozenset()
    with pytest.raises(BadData, match="There is no pair 'zebra'"):
        same.accepted("zebra")


def test_the_queue_does_not_say_more_than_it_must(tmp_path: Path, make_outcome: MakeOutcome) -> None:
    write_ambiguous(tmp_path, judge_all([make_outcome("a", text="geheim")], NOBODY, unfaithful=["a"]))

    line = json.loads((tmp_path / "ambiguous.jsonl").read_text(encoding="utf-8"))

    assert line == {"question_id": "a", "pair_id": "pain", "because": ["fidelity"], "confidence": None}
