"""Training, calibration and test questions share no near copy."""

import pytest

from bot.text import NearCopies, NearCopy

NUMBERS = "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwoelf"


def _known(*texts: str) -> NearCopies:
    known = NearCopies()
    for number, text in enumerate(texts):
        known.add(text, f"label-{number}")
    return known


def test_texts_that_fold_to_the_same_words_are_near_copies() -> None:
    assert _known("Müsst ihr?").find("MUESST ihr!") == NearCopy("Müsst ihr?", "label-0", 1.0)


def _one_word_changed(count: int) -> tuple[str, str]:
    words = NUMBERS.split()[:count]
    return " ".join(words), " ".join([*words[:-1], "anders"])


@pytest.mark.parametrize(
    ("words", "similarity"),
    # n words have n - 2 trigrams; another last word changes one of them: (n - 3) of (n - 1) are shared.
    [(12, 9 / 11), (11, 8 / 10)],
)
def test_long_texts_with_one_other_word_are_near_copies(words: int, similarity: float) -> None:
    text, other = _one_word_changed(words)

    found = _known(text).find(other)

    assert found is not None
    assert (found.text, found.label) == (text, "label-0")
    assert found.similarity == pytest.approx(similarity)


def test_texts_below_a_jaccard_of_point_eight_are_no_near_copies() -> None:
    text, other = _one_word_changed(10)  # 7 of 9 trigrams: 0.78

    assert _known(text).find(other) is None


def test_texts_below_five_words_are_near_copies_only_when_equal() -> None:
    assert _known("tut das sehr weh").find("tut das sehr weh bitte") is None
    assert _known("tut das weh").find("das tut weh") is None


def test_the_nearest_of_several_near_copies_is_reported() -> None:
    near = NUMBERS.replace("zwoelf", "anders")
    nearer = NUMBERS + " dreizehn"

    found = _known(near, nearer).find(NUMBERS)

    assert found is not None
    assert (found.text, found.label) == (nearer, "label-1")
    assert found.similarity == pytest.approx(10 / 11)


def test_an_empty_set_has_no_near_copies() -> None:
    assert NearCopies().find("") is None
