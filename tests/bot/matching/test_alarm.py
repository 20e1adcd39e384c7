"""Emergencies that no rule foresaw: a model that only adds alarms."""

from dataclasses import replace

import numpy as np
import pytest

from bot.matching.alarm import FALSE_ALARMS, LOOKED_AT, MAX_ORDINARY, Alarm, AlarmTexts, fit_alarm
from bot.testing import HOSTILE_TEXTS, SMALL_PAIRS, HashEncoder

FLAGS = ("stroke", "bleeding")
TEXTS = AlarmTexts(
    urgent=(
        ("stroke", "my face droops on one side"),
        ("stroke", "her face suddenly droops"),
        ("bleeding", "blood is pouring out"),
        ("bleeding", "it keeps pouring blood"),
    ),
    harmless=("is my face on the picture", "do you take blood"),
    ordinary=tuple(text for texts in SMALL_PAIRS["en"].values() for text in texts),
)


@pytest.fixture(scope="module")
def alarm() -> Alarm:
    # A handful of texts teaches less confidence than the threshold for real catalogs asks for.
    return replace(fit_alarm(TEXTS, HashEncoder().encode(TEXTS.all), FLAGS), threshold=0.5)


def _check(alarm: Alarm, texts: list[str]) -> list[str | None]:
    return alarm.check(HashEncoder().encode(texts), texts)


def test_an_emergency_in_new_words_around_known_ones_is_heard_with_its_flag(alarm: Alarm) -> None:
    assert _check(alarm, ["his face droops", "so much blood is pouring"]) == ["stroke", "bleeding"]


def test_what_it_was_trained_on_as_harmless_or_ordinary_is_left_alone(alarm: Alarm) -> None:
    assert _check(alarm, [*TEXTS.harmless, *TEXTS.ordinary]) == [None] * (2 + len(TEXTS.ordinary))


def test_what_the_gate_lets_pass_is_not_urgent_whatever_the_quadratic_model_says(alarm: Alarm) -> None:
    shut = replace(alarm, gate=1e9)

    assert _check(alarm, ["his face droops"]) == ["stroke"]
    assert _check(shut, ["his face droops"]) == [None]


def test_the_same_texts_give_bit_identical_numbers(alarm: Alarm) -> None:
    again = fit_alarm(TEXTS, HashEncoder().encode(TEXTS.all), FLAGS)

    assert again.term_weights.tobytes() == alarm.term_weights.tobytes()
    assert again.meaning_weights.tobytes() == alarm.meaning_weights.tobytes()
    assert again.dual.tobytes() == alarm.dual.tobytes()


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_texts_get_finite_scores(alarm: Alarm, hostile: str) -> None:
    scores = alarm.scores(HashEncoder().encode([hostile]), [hostile])

    assert scores.shape == (1, 1 + len(FLAGS))
    assert np.isfinite(scores).all()


def test_a_big_catalog_is_thinned_out_evenly() -> None:
    ordinary = tuple(str(number) for number in range(3 * MAX_ORDINARY))

    texts = AlarmTexts((), (), ordinary).all

    assert texts == [str(number) for number in range(0, 3 * MAX_ORDINARY, 3)]


def test_the_threshold_lets_few_ordinary_questions_alarm_and_the_gate_most_pass(alarm: Alarm) -> None:
    words = [word for text in TEXTS.all for word in text.split()]
    draw = np.random.default_rng(0)
    ordinary = [" ".join(draw.choice(words, 5)) for _ in range(1000)]

    calmed = alarm.calmed(HashEncoder().encode(ordinary), ordinary)

    scores = calmed.scores(HashEncoder().encode(ordinary), ordinary)[:, 0]
    assert 1 <= (scores >= calmed.threshold).sum() <= FALSE_ALARMS * 1000 + 2
    assert sum(flag is not None for flag in _check(calmed, ordinary)) <= FALSE_ALARMS * 1000 + 2
    assert calmed.gate < calmed.threshold
    assert LOOKED_AT < 0.5


def test_too_few_ordinary_questions_set_no_threshold(alarm: Alarm) -> None:
    few = ["is my face on the picture"] * 100

    assert alarm.calmed(HashEncoder().encode(few), few) is alarm
