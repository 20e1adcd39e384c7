"""The languages in which replies can be read. A further one is a module of words and a line here. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot.interview.reading import words_de, words_en
from bot.interview.reading.vocabulary import Words

_US = replace(words_en.WORDS, dates=replace(words_en.WORDS.dates, month_first=True))
_WORDS = {"de": words_de.WORDS, "en": words_en.WORDS, "en-us": _US}


def words_for(language: str) -> Words:
    """Return the words of a language tag such as "de-CH", by its region, else its language, else English."""
    tag = language.strip().lower().replace("_", "-")
    return _WORDS.get(tag) or _WORDS.get(tag.split("-", maxsplit=1)[0]) or words_en.WORDS
