"""Emergencies that no rule foresaw: a model that only adds alarms."""

from dataclasses import replace

import numpy as np
import pytest

from bot.matching.emergency import FALSE_ALARMS, LOOKED_AT, MAX_ORDINARY, Alarm, AlarmTexts, fit_alarm
from bot.matching.features import Floats
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
    return fit_alarm(TEXTS, HashEncoder().encode(TEXTS.all), FLAGS)


def _scores(alarm: Alarm, texts: list[str]) -> Floats:
    return alarm.scores(HashEncoder().encode(texts), texts)


def test_an_emergency_in_new_words_around_known_ones_is_heard_with_its_flag(alarm: Alarm) -> None:
    scores = _scores(alarm, ["his face droops", "so much blood is pouring"])

    assert (scores[:, 0] > 0.5).all()
    assert scores[:, 1:].argmax(axis=1).tolist() == [0, 1]


def test_what_it_was_trained_on_as_harmless_or_ordinary_is_left_alone(alarm: Alarm) -> None:
    assert _scores(alarm, [*TEXTS.harmless, *TEXTS.ordinary])[:, 0].max() < 0.3


def test_an_emergency_is_suspect_and_no_gate_lets_everything_pass(alarm: Alarm) -> None:
    text = ["his face droops"]

    assert alarm.suspect(HashEncoder().encode(text), text).tolist() == [True]
    assert replace(alarm, gate=1e9).suspect(HashEncoder().encode(text), text).tolist() == [False]


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


def test_the_gate_lets_most_ordinary_questions_pass(alarm: Alarm) -> None:
    words = [word for text in TEXTS.all for word in text.split()]
    draw = np.random.default_rng(0)
    ordinary = [" ".join(draw.choice(words, 5)) for _ in range(1000)]
    vectors = HashEncoder().encode(ordinary)

    gated = alarm.gated(vectors, ordinary)

    assert LOOKED_AT * 1000 - 20 <= gated.suspect(vectors, ordinary).sum() <= LOOKED_AT * 1000 + 20
    assert LOOKED_AT < 0.5


def test_the_threshold_lets_few_ordinary_questions_alarm(alarm: Alarm) -> None:
    likely = np.random.default_rng(0).random(1000)

    calmed = alarm.calmed(likely.tolist())

    assert 1 <= (likely >= calmed.threshold).sum() <= FALSE_ALARMS * 1000 + 1


def test_too_few_ordinary_questions_set_neither_gate_nor_threshold(alarm: Alarm) -> None:
    few = ["is my face on the picture"] * 4

    assert alarm.gated(HashEncoder().encode(few), few) is alarm
    assert alarm.calmed([0.1] * 100) is alarm
