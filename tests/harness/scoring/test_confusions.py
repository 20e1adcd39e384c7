"""Confusions are counted both ways and compared with chance."""

from __future__ import annotations

import pytest

from harness.scoring.confusions import Mistake, confusions


def test_two_pairs_that_are_taken_for_each_other_stand_out() -> None:
    spread = [Mistake(f"p{number}", f"p{(number + 7) % 30}") for number in range(30)]
    mutual = [Mistake("p1", "p2")] * 5 + [Mistake("p2", "p1")] * 3

    first, *others = confusions(spread + mutual, 30)

    assert (first.first, first.second, first.forth, first.back, first.count) == ("p1", "p2", 5, 3, 8)
    assert first.mutual
    assert first.beyond_chance
    assert first.expected < 1
    assert not any(other.beyond_chance or other.mutual for other in others)
    assert len(others) == 30


def test_a_pair_that_draws_mistakes_from_everywhere_is_no_confusion() -> None:
    drawn = [Mistake(f"p{number}", "p0") for number in range(1, 30) for _ in range(2)]

    assert not any(found.beyond_chance for found in confusions(drawn, 30))


def test_the_direction_with_more_mistakes_comes_first() -> None:
    (found,) = confusions([Mistake("a", "b"), Mistake("b", "a"), Mistake("b", "a")], 5)

    assert (found.first, found.second, found.forth, found.back) == ("b", "a", 2, 1)


def test_one_mistake_in_a_catalog_of_two_pairs_proves_nothing() -> None:
    (found,) = confusions([Mistake("a", "b")], 2)

    assert (found.p_value, found.q_value) == (1, 1)
    assert found.expected == pytest.approx(1)


def test_without_mistakes_nothing_is_confused() -> None:
    assert confusions([], 33) == []


def test_the_chance_is_that_of_a_binomial_draw() -> None:
    # Four mistakes about a, of which two went to b; nothing is known of other pairs: one in ten each.
    found = confusions([Mistake("a", "b"), Mistake("a", "b"), Mistake("a", "c"), Mistake("a", "d")], 11)[0]

    exact = 1 - 0.9**4 - 4 * 0.1 * 0.9**3
    assert found.second == "b"
    assert found.expected == pytest.approx(0.4)
    assert found.p_value == pytest.approx(exact)
    assert found.q_value == pytest.approx(min(1.0, exact * 55))
