"""The lists of words by which replies are recognised."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.interview.manners import words as lists
from bot.text import words

LISTS = {
    name: found
    for name in dir(lists)
    if name.isupper() and not name.startswith("_")
    for found in [getattr(lists, name)]
}


@pytest.mark.parametrize("name", LISTS)
def test_what_is_listed_is_folded_as_messages_are(name: str) -> None:
    found = LISTS[name]
    by_language = found if isinstance(found, Mapping) else {"": found}

    assert set(by_language) in ({"de", "en"}, {""})
    assert any(by_language.values())
    assert [each for listed in by_language.values() for each in listed if " ".join(words(each)) != each] == []


def test_phrases_are_parted_by_commas_and_words_by_spaces() -> None:
    assert {"hang on", "actually"} <= lists.SECOND_THOUGHTS["en"]
    assert {"kann", "weswegen"} & lists.QUESTION_OPENERS["de"] == {"kann"}
