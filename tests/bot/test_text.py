"""Any text becomes safe for an encoder, and comparable."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.testing import HOSTILE_TEXTS
from bot.text import MAX_CHARACTERS, Sanitised, fold, sanitise, words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("", ""),
        ("   \t\n ", ""),
        ("  Tut \n das\tweh? ", "Tut das weh?"),
        ("a\x00b", "ab"),
        ("a\ud800b\udfff", "ab"),
        ("\u202eevil\u2069", "evil"),
        ("\ufeffweh?", "weh?"),
        ("ﬁnger", "finger"),
        ("mu\u0308de", "müde"),
        ("weh 😢?", "weh 😢?"),
    ],
)
def test_sanitise_removes_what_encoders_cannot_take(raw: str, clean: str) -> None:
    assert sanitise(raw) == Sanitised(clean, too_long=False)


def test_sanitise_cuts_a_hundred_thousand_characters() -> None:
    result = sanitise("a" * 100_000)

    assert result == Sanitised("a" * MAX_CHARACTERS, too_long=True)


def test_sanitise_takes_exactly_the_longest_text() -> None:
    assert not sanitise("a" * MAX_CHARACTERS).too_long
    assert sanitise("a" * (MAX_CHARACTERS + 1)).too_long


def test_sanitise_does_not_call_many_spaces_too_long() -> None:
    assert sanitise(" " * 100_000) == Sanitised("", too_long=False)


def test_sanitise_bounds_characters_that_grow_under_nfkc() -> None:
    raw = "\ufdfa" * 100  # each becomes 18 characters

    result = sanitise(raw)

    assert result.too_long
    assert len(result.text) <= MAX_CHARACTERS


@given(ANY_TEXT.flatmap(lambda text: st.integers(1, 60).map(lambda times: text * times)))
def test_sanitised_text_is_short_and_has_no_control_characters(raw: str) -> None:
    text = sanitise(raw).text

    assert len(text) <= MAX_CHARACTERS
    assert not [mark for mark in text if unicodedata.category(mark) in ("Cc", "Cs")]
    assert text == " ".join(text.split())
    text.encode("utf-8")


@given(ANY_TEXT.flatmap(lambda text: st.integers(1, 60).map(lambda times: text * times)))
def test_sanitise_changes_nothing_the_second_time(raw: str) -> None:
    once = sanitise(raw).text

    assert sanitise(once) == Sanitised(once, too_long=False)


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_sanitise_and_fold_take_hostile_texts(hostile: str) -> None:
    folded = fold(sanitise(hostile).text)

    assert folded == folded.lower()
    folded.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Müsst ihr?", "muesst ihr qqq"),
        ("MUESST IHR?", "muesst ihr qqq"),
        ("weiß", "weiss"),
        ("Röntgen, café_au-lait!", "roentgen cafe au lait"),
        ("", ""),
        ("…", ""),
    ],
)
def test_fold_makes_spellings_equal(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(ANY_TEXT)
def test_fold_leaves_single_spaces_and_no_capitals(text: str) -> None:
    folded = fold(sanitise(text).text)

    assert folded == " ".join(folded.split())


def test_words_have_no_punctuation() -> None:
    assert words("Tut's weh, oder?") == ["tut", "s", "weh", "oder"]
