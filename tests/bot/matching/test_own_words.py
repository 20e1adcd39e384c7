"""Messages that stand alone by their own words do so whatever was said before: the bounds hold, and none is missed."""

import numpy as np
import pytest

from bot.matching.context import ALONE, KINDS, LEAST, VIEWS, WEIGHED, load_weights, softmax
from bot.matching.own_words import ROUNDING, OwnWords

Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def _features(draw: np.random.Generator, count: int) -> Matrix:
    """Return features as they may come: probabilities of views with their logarithms, the others from no to yes."""
    found = draw.random((count, len(WEIGHED)), dtype=np.float32)
    for view in VIEWS:
        for name in ("own", "best", "none"):
            probability = np.exp(draw.uniform(np.log(LEAST), 0, count))
            found[:, WEIGHED.index(f"{view} {name}")] = probability
            found[:, WEIGHED.index(f"{view} {name} log")] = np.log(probability) / 4
    found[:, [WEIGHED.index(f"wording {kind}") for kind in KINDS]] = draw.uniform(-6, 0, (count, len(KINDS)))
    return found


@pytest.mark.parametrize("language", ["de", "en"])
def test_no_message_stands_alone_less_than_its_own_words_say(language: str) -> None:
    weights = load_weights(language)
    assert weights is not None
    features = _features(np.random.default_rng(1), 20_000)

    least = weights.own_words.alone(features)

    likely = softmax(features @ weights.kinds + weights.intercept)[:, ALONE]
    assert (least <= likely).all()


@pytest.mark.parametrize("language", ["de", "en"])
def test_own_words_know_nothing_of_the_other_views(language: str) -> None:
    weights = load_weights(language)
    assert weights is not None
    draw = np.random.default_rng(2)
    one, other = _features(draw, 50), _features(draw, 50)
    seen = [
        n for n, name in enumerate(WEIGHED) if not name.startswith(("after ", "beside ")) and name != "alone is after"
    ]
    other[:, seen] = one[:, seen]

    assert weights.own_words.alone(one).tolist() == weights.own_words.alone(other).tolist()


def test_nothing_is_left_open_where_own_words_are_all_that_counts() -> None:
    weights = load_weights("de")
    assert weights is not None
    kinds = weights.kinds.copy()
    kinds[[n for n, name in enumerate(WEIGHED) if name.startswith(("after ", "beside ", "alone is after"))]] = 0
    features = _features(np.random.default_rng(3), 50)

    least = OwnWords.of(WEIGHED, kinds, weights.intercept, least=LEAST).alone(features)

    likely = softmax(features @ kinds + weights.intercept)[:, ALONE]
    np.testing.assert_allclose(least, likely - ROUNDING, atol=1e-5)
