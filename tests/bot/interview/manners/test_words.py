"""The lists of words by which replies are recognised."""

from __future__ import annotations

import pytest

from bot.interview.manners.listening import WORDS, WORDS_OF
from bot.text import words

LISTS = {
    **WORDS,
    **{f"{name} ({language})": listed for language, lists in WORDS_OF.items() for name, listed in lists.items()},
}
EMPTY = {"asked_about (de)", "stated_after (en)", "gladly (en)"}  # what is not said that way in a language


@pytest.mark.parametrize("name", LISTS)
def test_what_is_listed_is_folded_as_messages_are(name: str) -> None:
    assert bool(LISTS[name]) is (name not in EMPTY)
    assert [each for each in LISTS[name] if " ".join(words(each)) != each] == []


def test_phrases_are_parted_by_commas_and_words_by_spaces() -> None:
    assert {"hang on", "actually"} <= WORDS_OF["en"]["second_thoughts"]
    assert {"kann", "weswegen"} & WORDS_OF["de"]["question_openers"] == {"kann"}
