"""What the page shows beside replies: its labels, the words of consent among them; and the words that answers and
helplines are named with, wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from bot.catalog.countries import LINES
from bot.interview.reading.vocabulary import words_for
from bot.languages.files import load
from bot.sentences.emergency_texts import listening, naming


def page_labels(language: str) -> dict[str, str]:
    """Return the labels of the page in a language; the language's own name is one of them."""
    read = {key: str(value).strip() for key, value in load(language, "page.yaml").items()}
    return {"name": str(load(language, "language.yaml")["name"]), **read}


def page_texts(language: str, topics: Mapping[str, str]) -> dict[str, str]:
    """Return all that patients see of this, by a name for it; `topics`: what those of the catalog are called."""
    words, names = words_for(language), naming(language)
    beside = {
        "switch": str(load(language, "language.yaml")["switch"]),
        "helpline poison": names.poison,
        **{f"helpline {country}": listening(country, language) for country in LINES},
        **{f"country {country}": name for country, name in names.countries.items()},
        **{f"month {number}": name for number, name in enumerate(words.month_names, 1)},
        **{f"unit {code}": name for code, name in sorted(words.unit_names.items())},
        **{f"answer {key}": str(text) for key, text in words.texts.items()},
        **{f"topic {key}": name for key, name in topics.items()},
    }
    return page_labels(language) | beside
