"""Advice: pairs that are confused, vignettes that lack variants, thresholds that would do better."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from scipy.stats import false_discovery_control, fisher_exact

from harness.advice.advice import advise, fisher
from harness.advice.thresholds import advise_threshold
from harness.commands.advice import advice_tables
from harness.labelling.labels import Label, Rater, Verdicts
from harness.running.outcomes import Outcome
from harness.statistics import false_discovery
from tests.harness.runs import write_run

Make = Callable[..., Outcome]
NOBODY = Verdicts([])
PAIRS = ("pain", "costs", "duration", "preparation", "results")


def scored(make: Make, id_: str, score: float, **more: object) -> Outcome:
    return replace(make(id_, **more), score=score)


@pytest.fixture
def good(make_outcome: Make) -> list[Outcome]:
    """Five pairs, ten questions each in each of two vignettes, all right."""
    return [
        make_outcome(f"{vignette}/{pair}/{number}", pair_id=pair, answered_with=pair, vignette=vignette)
        for pair in PAIRS
        for vignette in ("clear", "shy")
        for number in range(10)
    ]


def changed(outcomes: list[Outcome], which: Callable[[Outcome], bool], answered_with: str | None) -> list[Outcome]:
    def other(outcome: Outcome) -> Outcome:
        decision = "answered" if answered_with else "declined"
        first = (answered_with or "results",)
        return replace(
            outcome, answered_with=answered_with, right=False, top1=False, decision=decision, candidates=first
        )

    return [other(outcome) if which(outcome) else outcome for outcome in outcomes]


def test_nothing_is_advised_where_nothing_is_wrong(good: list[Outcome]) -> None:
    advice = advise(good, NOBODY)

    assert (advice.confused, advice.strata, advice.weak, advice.threshold) == ((), (), (), None)


def test_pairs_taken_for_each_other_are_to_be_merged_or_rephrased(good: list[Outcome]) -> None:
    run = changed(good, lambda o: o.pair_id == "pain" and o.id.endswith(("1", "2", "3")), "costs")
    run = changed(run, lambda o: o.pair_id == "costs" and o.id.endswith(("4", "5")), "pain")

    (one,) = advise(run, NOBODY, pairs=33).confused

    assert {one.confusion.first, one.confusion.second} == {"pain", "costs"}
    assert (one.confusion.forth, one.confusion.back) == (6, 4)
    assert one.confusion.beyond_chance
    assert "merge pain and costs" in one.action
    assert set(one.questions) == {o.id for o in run if not o.right}


def test_a_pair_that_only_loses_questions_is_to_be_rephrased_alone(good: list[Outcome]) -> None:
    run = changed(good, lambda o: o.pair_id == "pain" and o.id.endswith(("1", "2", "3")), "costs")

    (one,) = advise(run, NOBODY, pairs=33).confused

    assert one.action.startswith("Rephrase pain,")
    assert "merge" not in one.action


def test_a_pair_missed_in_one_vignette_needs_variants_from_it(good: list[Outcome]) -> None:
    run = changed(good, lambda o: o.pair_id == "pain" and o.vignette == "shy", None)

    advice = advise(run, NOBODY)

    (one,) = advice.strata
    assert (one.pair_id, one.vignette, one.missed, one.n, one.other_missed, one.other_n) == (
        "pain",
        "shy",
        10,
        10,
        0,
        10,
    )
    assert one.beyond_chance
    assert "in the voice of shy" in one.action
    assert [(weak.pair_id, weak.vignette) for weak in advice.weak] == [("pain", None)]


def test_a_pair_missed_everywhere_is_no_matter_of_one_vignette(good: list[Outcome]) -> None:
    advice = advise(changed(good, lambda o: o.pair_id == "pain", None), NOBODY)

    assert advice.strata == ()
    assert "by several authors" in advice.weak[0].action


@pytest.mark.parametrize(
    ("missed", "n", "other_missed", "other_n"), [(8, 10, 2, 20), (0, 5, 3, 7), (3, 3, 0, 1), (300, 1000, 9000, 40000)]
)
def test_the_test_is_that_of_fisher(missed: int, n: int, other_missed: int, other_n: int) -> None:
    table = [[missed, n - missed], [other_missed, other_n - other_missed]]

    assert fisher(missed, n, other_missed, other_n) == pytest.approx(fisher_exact(table, alternative="greater")[1])


def test_q_values_are_those_of_benjamini_and_hochberg() -> None:
    p_values = [0.2, 0.001, 0.04, 0.03, 0.9]

    assert false_discovery(p_values) == pytest.approx(false_discovery_control(p_values))
    assert false_discovery([]) == []


def graded(make: Make) -> list[Outcome]:
    """A hundred questions at scores from 0.01 to 1: right from 0.31 on, answered from 0.61 on."""
    return [
        scored(
            make,
            f"q{n}",
            n / 100,
            pair_id=PAIRS[n % 5],
            answered_with=PAIRS[n % 5] if n > 60 else None,
            vignette="clear" if n % 2 else "shy",
        )
        for n in range(1, 101)
    ]


def with_candidates(outcomes: list[Outcome]) -> list[Outcome]:
    return [replace(o, top1=o.score > 0.3, candidates=(o.pair_id or "",)) for o in outcomes]


def test_a_lower_threshold_is_advised(make_outcome: Make) -> None:
    advice = advise_threshold(with_candidates(graded(make_outcome)), NOBODY)

    assert advice is not None
    assert advice.current.answer == pytest.approx(0.61)
    assert advice.current.total.accuracy == pytest.approx(0.40)
    assert advice.best is not None
    assert advice.best.answer == pytest.approx(0.31)
    assert advice.best.total.accuracy == pytest.approx(0.70)
    assert (advice.best.total.precision, advice.best.worst) == (1.0, 0.0)
    assert advice.said.startswith("A lower threshold, 0.31 instead of 0.61, would answer 70.0%")
    assert advice.held_out is not None
    assert 0.5 < (advice.held_out.accuracy or 0) <= 0.71


def test_a_lower_threshold_stops_where_a_vignette_gets_too_many_wrong_answers(make_outcome: Make) -> None:
    """Of 50 questions of a vignette one wrong answer is 2 %, two are more than 3 %."""
    bad = (0.50, 0.51, 0.52, 0.53)
    run = [replace(o, top1=o.top1 and o.score not in bad) for o in with_candidates(graded(make_outcome))]

    advice = advise_threshold(run, NOBODY)

    assert advice is not None
    assert advice.best is not None
    assert advice.best.answer == pytest.approx(0.54)
    assert {move.answer: move.keeps_limit for move in advice.moves}[0.50] is False


def test_where_every_threshold_errs_too_often_none_is_advised(make_outcome: Make) -> None:
    wrong = [replace(o, top1=False, right=False if o.decision == "answered" else o.right) for o in graded(make_outcome)]
    wrong = [replace(o, score=1.0) if n % 2 else o for n, o in enumerate(wrong)]

    advice = advise_threshold(wrong, NOBODY)

    assert advice is not None
    assert advice.best is None
    assert advice.said.startswith("No threshold keeps within 3% wrong answers in every vignette")


def test_novel_questions_count_as_wrong_unless_raters_called_the_answer_correct(make_outcome: Make) -> None:
    novel = [
        scored(make_outcome, f"n{n}", 0.9, pair_id=None, answered_with="costs", vignette="clear") for n in range(10)
    ]
    run = [*with_candidates(graded(make_outcome)), *novel]
    rater = Rater(kind="person", name="anna")
    correct = Verdicts([Label(question_id=o.id, pair_id="costs", label="correct", rater=rater) for o in novel])

    unlabelled, labelled = advise_threshold(run, NOBODY), advise_threshold(run, correct)

    assert unlabelled is not None
    assert labelled is not None
    assert unlabelled.current.worst == pytest.approx(10 / 60)
    assert labelled.current.worst == 0


def test_emergencies_and_failures_are_no_matter_of_thresholds(make_outcome: Make) -> None:
    run = with_candidates(graded(make_outcome))
    alarm = replace(run[-1], id="alarm", decision="urgent", answered_with=None, right=False)
    failed = replace(run[-1], id="failed", decision="error", answered_with=None, right=None, top1=None, candidates=())

    advice = advise_threshold([*run, alarm, failed], NOBODY)

    assert advice is not None
    assert all(move.total.scored == 101 for move in advice.moves)  # the alarm counts, the failure does not
    assert max(move.total.accuracy or 0.0 for move in advice.moves) < 1


def test_a_system_whose_scores_grade_nothing_gets_no_threshold(make_outcome: Make) -> None:
    assert advise_threshold([make_outcome(f"q{n}") for n in range(50)], NOBODY) is None
    assert advise_threshold([], NOBODY) is None


def test_the_command_prints_tables_and_json(
    command: Callable[..., CompletedProcess[str]], make_outcome: Make, good: list[Outcome], tmp_path: Path
) -> None:
    bad = changed(good, lambda o: o.pair_id == "pain" and o.vignette == "shy", "costs")
    folder = write_run(tmp_path / "run", [*bad, *with_candidates(graded(make_outcome))])

    said, record = command("advise", folder), json.loads(command("advise", folder, "--json").stdout)

    assert said.returncode == 0, said.stderr
    for title in ("Pairs to merge or rephrase", "need variants from a vignette", "missed more", "Other thresholds"):
        assert title in said.stdout
    assert record["strata"][0]["vignette"] == "shy"
    assert record["threshold"]["best"] == pytest.approx(0.91)  # what was taken for "costs" has 0.90


def test_a_run_without_scores_is_one_line(
    command: Callable[..., CompletedProcess[str]], make_outcome: Make, tmp_path: Path
) -> None:
    novel = write_run(tmp_path / "novel", [make_outcome("n1", pair_id=None)])

    done = command("advise", novel)

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "no answered question with a right pair" in done.stderr


def test_no_advice_is_said_in_words(good: list[Outcome]) -> None:
    right, text = advice_tables(advise(good, NOBODY)).renderables

    assert str(right) == f"{len(good)} of {len(good)} questions were answered right (100%)."
    assert str(text) == "No pair is confused or missed more than chance would have it."


def test_where_most_is_missed_that_is_said_and_no_threshold_is_offered(make_outcome: Make) -> None:
    outcomes = [
        make_outcome(f"q{n}", pair_id=f"p{n % 4}", answered_with="p0" if n % 10 == 0 else None) for n in range(20)
    ]

    advice = advise(outcomes, NOBODY)
    said = " ".join(str(one) for one in advice_tables(advice).renderables)

    assert advice.mostly_missed
    assert "1 of 20 questions were answered right (5%)." in said
    assert "Most questions are missed, whatever pair they ask for" in said
    assert "No pair is confused or missed" not in said
    assert "20 questions are too few to say anything of thresholds" in said
    assert advice.as_json()["threshold"] is None
