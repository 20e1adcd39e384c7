"""Emergencies that no rule foresaw: a model that only adds alarms."""

from dataclasses import replace

import numpy as np
import pytest

from bot.matching.alarm import DEFAULT_THRESHOLD, MAX_ORDINARY, Alarm, AlarmTexts, fit_alarm, threshold_for
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


def test_the_same_texts_give_bit_identical_numbers(alarm: Alarm) -> None:
    again = fit_alarm(TEXTS, HashEncoder().encode(TEXTS.all), FLAGS)

    assert again.term_weights.tobytes() == alarm.term_weights.tobytes()
    assert again.meaning_weights.tobytes() == alarm.meaning_weights.tobytes()


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_texts_get_finite_scores(alarm: Alarm, hostile: str) -> None:
    scores = alarm.scores(HashEncoder().encode([hostile]), [hostile])

    assert scores.shape == (1, 1 + len(FLAGS))
    assert np.isfinite(scores).all()


def test_a_big_catalog_is_thinned_out_evenly() -> None:
    ordinary = tuple(str(number) for number in range(3 * MAX_ORDINARY))

    texts = AlarmTexts((), (), ordinary).all

    assert texts == [str(number) for number in range(0, 3 * MAX_ORDINARY, 3)]


def test_the_threshold_lets_one_ordinary_question_in_two_hundred_alarm() -> None:
    scores = np.arange(1000, dtype=np.float32)

    threshold = threshold_for(scores)

    assert int((scores >= threshold).sum()) == 5


def test_too_few_ordinary_questions_set_no_threshold() -> None:
    assert threshold_for(np.zeros(199, dtype=np.float32)) == DEFAULT_THRESHOLD
