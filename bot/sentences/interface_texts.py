"""Every fixed sentence that Klartext itself says to patients, by language and key.

The sentences are files of each language (`bot/languages`): those of the package stand in `texts/*.yaml`. Slots hold
only typed values, never patient text; in the interview also typed answers of the patient who reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.catalog.exam import PHRASES
from bot.languages.files import Live, known, load

_A_PHRASE = re.compile(r"\{(" + "|".join(PHRASES) + r")\}")


def _phrased(text: str, phrases: Mapping[str, str]) -> str:
    """Return a sentence with what it says of the exam; its slots for values stay."""
    return _A_PHRASE.sub(lambda found: phrases[found[1]], text)


# The files that the sentences stand in.
_FILES = ("interface.yaml", "interview.yaml", "remarks.yaml")


def _phrases() -> dict[str, Mapping[str, str]]:
    return {language: load(language, "phrases.yaml") for language in known()}


# What sentences say of an exam that nothing is known of.
NEUTRAL_PHRASES: Mapping[str, Mapping[str, str]] = Live(_phrases)


def _of_file(name: str, language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    return {key: _phrased(text, phrases) for key, text in load(language, name).items()}


def fixed_texts(language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return every sentence of these files in a language, by key; `phrases`: what they say of the exam."""
    return {key: text for name in _FILES for key, text in _of_file(name, language, phrases).items()}


def _neutral(name: str) -> Mapping[str, Mapping[str, str]]:
    return Live(lambda: {language: _of_file(name, language, phrases) for language, phrases in NEUTRAL_PHRASES.items()})


# As they speak of no exam.
INTERFACE_TEXTS, INTERVIEW_TEXTS = _neutral("interface.yaml"), _neutral("interview.yaml")
