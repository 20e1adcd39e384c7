"""Both searches find what is there, and cross-validation unmasks what is not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from harness.judging.selection import (
    Preferences,
    agreement,
    all_combinations,
    best_first,
    choose,
    everything,
    greedy,
    running,
)


def preferences(differences: object, people: object) -> Preferences:
    signs = np.array(people, dtype=np.int64)
    return Preferences(np.array(differences, dtype=np.float64), signs, tuple(range(len(signs))))


def planted(n: int, rng: np.random.Generator, *, good: int, noise: int) -> Preferences:
    """People follow the first `good` aspects; the others are noise."""
    people = rng.choice([-1, 1], n)
    seen = [np.where(rng.random(n) < 0.9, people, -people) * rng.integers(1, 4, n) for _ in range(good)]
    guessed = [rng.integers(-3, 4, n) for _ in range(noise)]
    return preferences(np.stack([*seen, *guessed], axis=1), people)


drawn = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(drawn)
def test_agreement_and_kappa_are_as_scikit_learn_has_them(rng: np.random.Generator) -> None:
    people = rng.integers(-1, 2, 25)
    judged = rng.integers(-1, 2, (4, 25))

    assert agreement(judged, people, "agreement") == pytest.approx([(row == people).mean() for row in judged])
    assert agreement(judged, people, "kappa") == pytest.approx([cohen_kappa_score(row, people) for row in judged])


def test_kappa_is_zero_where_chance_alone_would_agree() -> None:
    assert agreement(np.ones((1, 5), dtype=np.int64), np.ones(5, dtype=np.int64), "kappa").tolist() == [0.0]


@settings(max_examples=15)
@given(drawn, st.sampled_from(["agreement", "kappa"]))
def test_all_combinations_is_never_beaten_by_any_subset_and_greedy_never_beats_it(rng, measure) -> None:
    data = planted(30, rng, good=2, noise=4)
    subsets = [subset for size in range(1, 7) for subset in combinations(range(6), size)]
    values = agreement(data.judged(subsets), data.people, measure)

    best = agreement(data.judged([all_combinations(data, measure)]), data.people, measure)[0]
    quick = agreement(data.judged([greedy(data, measure)]), data.people, measure)[0]

    assert best == pytest.approx(values.max())
    single = agreement(data.judged([(best_first(data, measure)[0],)]), data.people, measure)[0]
    assert single <= quick <= best + 1e-12


def test_of_equally_good_subsets_the_smallest_is_taken() -> None:
    data = preferences([[1, 1, 0], [-1, -1, 0], [2, 1, 0]], [1, -1, 1])

    assert all_combinations(data, "agreement") == (0,)
    assert greedy(data, "agreement") == (0,)
    assert everything(data, "agreement") == (0, 1, 2)


def test_greedy_takes_what_helps_and_leaves_what_does_not() -> None:
    # The first aspect decides three of four; the second mends the fourth; the third spoils.
    data = preferences([[3, 0, -9], [3, 0, 9], [-3, 0, 9], [0, -1, 9]], [1, 1, -1, -1])

    assert best_first(data, "agreement")[0] == 0
    assert greedy(data, "agreement") == (0, 1)
    assert [step[0] for step in running(data, "agreement")] == [0, 1, 2]
    assert [round(share, 2) for _, share, _ in running(data, "agreement")] == [0.75, 1.0, 0.25]


def test_only_the_best_aspects_are_combined() -> None:
    data = planted(60, np.random.default_rng(2), good=1, noise=9)

    assert all_combinations(data, "agreement", most=1) == (best_first(data, "agreement")[0],)


def test_on_noise_the_chosen_subset_looks_good_and_the_held_out_figure_says_that_it_is_not() -> None:
    rng = np.random.default_rng(11)
    people = rng.choice([-1, 1], 40)
    data = preferences(rng.integers(-3, 4, (40, 30)), people)

    found = {item.search: item for item in choose(data, "kappa", rng=rng, repeats=5)}

    combined = found["all combinations"]
    assert combined.in_sample > 0.45  # as good as the paper's best, out of pure noise
    assert combined.held_out is not None
    assert combined.held_out < 0.25
    assert len(combined.subset) < 30
    assert found["all aspects"].held_out == pytest.approx(found["all aspects"].in_sample)


def test_a_real_signal_holds_on_unseen_items() -> None:
    rng = np.random.default_rng(4)

    found = {item.search: item for item in choose(planted(120, rng, good=3, noise=5), "agreement", rng=rng, repeats=5)}

    for search in ("greedy", "all combinations"):
        held_out = found[search].held_out
        assert held_out is not None
        assert held_out > 0.8
        assert set(found[search].subset) & {0, 1, 2}


def test_pairs_of_one_question_are_never_on_both_sides() -> None:
    # Each question has four copies of a pair that only its own noise aspect can explain: with copies on both sides,
    # held-out figures would be perfect.
    rng = np.random.default_rng(9)
    people = rng.choice([-1, 1], 12)
    rows = np.where(np.eye(12) == 1, people[:, None], 0)
    data = Preferences(
        np.repeat(rows, 4, axis=0).astype(float), np.repeat(people, 4), tuple(np.repeat(np.arange(12), 4).tolist())
    )

    found = {item.search: item for item in choose(data, "agreement", rng=rng, repeats=3)}

    assert found["all combinations"].held_out == 0.0


def test_with_fewer_questions_than_folds_nothing_is_held_out() -> None:
    data = preferences([[1.0], [-1.0], [1.0]], [1, -1, -1])

    assert {item.held_out for item in choose(data, "kappa", rng=np.random.default_rng(1))} == {None}


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="people 3"):
        Preferences(np.zeros((2, 2)), np.zeros(3, dtype=np.int64), (1, 2, 3))
