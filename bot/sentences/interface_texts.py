"""Every fixed sentence that Klartext itself says to patients, by language and key.

The sentences stand in `texts/*.yaml`, where a further language is one more entry. Slots hold only typed values, never
patient text; in the interview also typed answers of the patient who reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from bot.catalog.exam import PHRASES


def _read(name: str) -> Mapping[str, Mapping[str, str]]:
    text = (Path(__file__).parent / "texts" / name).read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


_A_PHRASE = re.compile(r"\{(" + "|".join(PHRASES) + r")\}")


def _phrased(text: str, phrases: Mapping[str, str]) -> str:
    """Return a sentence with what it says of the exam; its slots for values stay."""
    return _A_PHRASE.sub(lambda found: phrases[found[1]], text)


# What sentences say of an exam that nothing is known of.
NEUTRAL_PHRASES = _read("exam.yaml")
_FILES = {name: _read(name) for name in ("interface.yaml", "interview.yaml", "remarks.yaml")}


def _of_file(name: str, language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    return {key: _phrased(text, phrases) for key, text in _FILES[name].get(language, {}).items()}


def fixed_texts(language: str, phrases: Mapping[str, str]) -> dict[str, str]:
    """Return every sentence of these files in a language, by key; `phrases`: what they say of the exam."""
    return {key: text for name in _FILES for key, text in _of_file(name, language, phrases).items()}


# As they speak of no exam.
INTERFACE_TEXTS, INTERVIEW_TEXTS = (
    {language: _of_file(name, language, phrases) for language, phrases in NEUTRAL_PHRASES.items()}
    for name in ("interface.yaml", "interview.yaml")
)
# The languages that patients can be talked to in.
LANGUAGES = tuple(INTERFACE_TEXTS)
