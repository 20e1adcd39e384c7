"""Words by which replies are recognised, folded (`bot.text.fold`); `words.yaml` lists them and says what for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

_LISTS = yaml.load((Path(__file__).parent / "words.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _words(text: str) -> frozenset[str]:
    """Return the words of a list, or its phrases where it has commas."""
    return frozenset(" ".join(each.split()) for each in (text.split(",") if "," in text else text.split()))


def _by_language(name: str) -> Mapping[str, frozenset[str]]:
    return {language: _words(text) for language, text in _LISTS[name].items()}


QUESTION_OPENERS = _by_language("question_openers")
ASKED_ABOUT = _by_language("asked_about")
STATED_AFTER = _by_language("stated_after")
GLADLY = _by_language("gladly")
QUESTION_PADDING = _by_language("question_padding")
SECOND_THOUGHTS = _by_language("second_thoughts")
END_PHRASES = _by_language("end_phrases")
SEND_WORDS = _by_language("send_words")
AGREEING_WORDS = _words(_LISTS["agreeing_words"])
RIGHT_WORDS = _words(_LISTS["right_words"])
ROW_WORDS = _words(_LISTS["row_words"])
CORRECTING_WORDS = _words(_LISTS["correcting_words"])
ADDING_WORDS = _words(_LISTS["adding_words"])
EMPTY_WORDS = _words(_LISTS["empty_words"])
COMMON_WORDS = _words(_LISTS["common_words"])
SOUNDS = _words(_LISTS["sounds"])
