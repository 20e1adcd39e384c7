"""Orders that contradict each other are filtered and counted, and preferences are compared with people's labels."""

from __future__ import annotations

import pytest

from harness.judging.judge import Better, DuelVerdict, Rating
from harness.judging.judge_report import against, both_orders, duels_of_ratings, preference_of_labels
from harness.labelling.labels import Label, Rater, Verdict, Verdicts


def duel(question: str, ab: Better | None, ba: Better | None) -> list[DuelVerdict]:
    return [
        DuelVerdict(question_id=question, a="x", b="y", order=order, better=better)  # type: ignore[arg-type]
        for order, better in (("ab", ab), ("ba", ba))
        if better is not None
    ]


def verdicts(**labels: tuple[Verdict, Verdict]) -> Verdicts:
    anna = Rater(kind="person", name="anna")
    return Verdicts(
        [
            Label(question_id=question, pair_id=pair, label=verdict, rater=anna)
            for question, both in labels.items()
            for pair, verdict in zip(("x", "y"), both, strict=True)
        ]
    )


def test_what_both_orders_say_alike_is_kept_and_the_rest_is_counted_by_kind() -> None:
    said = [
        *duel("same-a", "a", "a"),
        *duel("same-b", "b", "b"),
        *duel("tie", "tie", "tie"),
        *duel("first", "a", "b"),
        *duel("second", "b", "a"),
        *duel("wavering", "a", "tie"),
        *duel("once", "a", None),
    ]

    orders = both_orders(said)

    assert dict(orders.preferences) == {("same-a", "x", "y"): 1, ("same-b", "x", "y"): -1, ("tie", "x", "y"): 0}
    assert (orders.first, orders.second, orders.wavering, orders.single) == (1, 1, 1, 1)
    assert (orders.n, orders.inconsistent) == (6, 3)
    assert orders.bias is not None
    assert orders.bias.low < 0.5 < orders.bias.high


def test_without_comparisons_there_is_no_bias_to_state() -> None:
    assert both_orders([]).bias is None


def test_labels_prefer_the_better_text_and_say_nothing_without_both() -> None:
    prefer = preference_of_labels(
        verdicts(q1=("correct", "partial"), q2=("incorrect", "partial"), q3=("partial", "partial"))
    )

    assert [prefer((question, "x", "y")) for question in ("q1", "q2", "q3", "q4")] == [1, -1, 0, None]
    assert prefer(("q1", "x", "z")) is None


def test_a_judge_beside_people() -> None:
    people = preference_of_labels(
        verdicts(
            q1=("correct", "partial"),
            q2=("incorrect", "partial"),
            q3=("partial", "partial"),
            q4=("correct", "incorrect"),
        )
    )
    judge = {("q1", "x", "y"): 1, ("q2", "x", "y"): -1, ("q3", "x", "y"): 1, ("q4", "x", "y"): 1, ("q9", "x", "y"): 1}

    found = against(judge, people)

    assert found is not None
    assert (found.n, found.agreement) == (4, 0.75)
    # Margins: judge 3 A, 1 B; people 2 A, 1 B, 1 tie: chance (3 * 2 + 1 * 1) / 16.
    assert found.kappa == pytest.approx((0.75 - 7 / 16) / (1 - 7 / 16))
    # Six pairs of duels: three concordant, none discordant; the judge ties three of them, people one.
    assert found.tau == pytest.approx(3 / (3 * 5) ** 0.5)
    assert against({("q9", "x", "y"): 1}, people) is None


def test_when_everybody_prefers_the_same_there_is_no_kappa_and_no_tau() -> None:
    people = preference_of_labels(verdicts(q1=("correct", "partial"), q2=("correct", "incorrect")))

    found = against({("q1", "x", "y"): 1, ("q2", "x", "y"): 1}, people)

    assert found is not None
    assert (found.agreement, found.kappa, found.tau) == (1.0, None, None)
    assert found.interval is not None
    assert found.interval.low < 0.5


def test_ratings_of_one_question_become_pairs_with_peoples_preference() -> None:
    ratings = [
        Rating(question_id="q1", pair_id="x", scores={"plain": 5, "kind": 2}),
        Rating(question_id="q1", pair_id="y", scores={"plain": 3}),
        Rating(question_id="q2", pair_id="x", scores={"plain": 1}),
    ]

    data = duels_of_ratings(ratings, preference_of_labels(verdicts(q1=("correct", "partial"))), ["plain", "kind"])

    assert data is not None
    assert data.differences.tolist() == [[2.0, 0.0]]  # nothing is made of an aspect that one side lacks
    assert data.people.tolist() == [1]
    assert data.groups == ("q1",)
    assert duels_of_ratings(ratings, lambda _: None, ["plain"]) is None
