"""The word files of both languages load completely, and a mistake in one is named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.interview.reading import vocabulary
from bot.interview.reading.vocabulary import load_words, words_for

FOLDER = Path(vocabulary.__file__).parent / "words"


def _document(language: str) -> Any:
    return yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_word_file_loads_completely(language: str) -> None:
    words = load_words(_document(language), f"{language}.yaml")

    assert "yes" in words["yes"]
    assert words.tables["months"]["august"] == 8
    assert words.month_names[7] == "August"


def test_both_languages_have_the_same_keys_and_kinds_of_values() -> None:
    german, english = _document("de"), _document("en")

    shapes = [
        {(section, key): type(value) for section, part in document.items() if isinstance(part, dict)
         for key, value in part.items()}
        for document in (german, english)
    ]  # fmt: skip
    assert shapes[0] == shapes[1]
    assert german["commands"]["commands"].keys() == english["commands"]["commands"].keys()
    assert german["units"]["measured"].keys() == english["units"]["measured"].keys()


def test_a_tag_finds_its_region_else_its_language_else_english() -> None:
    assert words_for("de_CH") is words_for("de")
    assert words_for("fr") is words_for("en")
    assert "month_first" in words_for("en-US").flags
    assert "month_first" not in words_for("en-GB").flags


def test_a_tilde_stands_for_every_word_of_negation() -> None:
    refused = words_for("de")["refused"]

    assert "mochte nicht sagen" in refused
    assert "mochte ned sagen" in refused


def test_phrases_are_stripped_of_padding_unless_a_single_word_would_be_left() -> None:
    commands = words_for("en").commands

    assert commands["pause"].longest == 3
    assert "not now" in commands["pause"]
    assert "not" not in commands["pause"]


def test_the_readers_ask_for_lists_that_there_are_and_for_each_of_them() -> None:
    words = words_for("en")
    source = "".join(path.read_text(encoding="utf-8") for path in FOLDER.parent.glob("*.py"))
    lists, tables = (set(re.findall(name + r"\[\"(\w+)\"\]", source)) for name in (r"words", "tables"))
    flags = set(re.findall(r"\"(\w+)\" (?:not )?in [\w.]*\bflags", source))

    assert lists <= words.lists.keys()
    assert tables <= words.tables.keys()
    assert flags == {"units_first", "month_first", "half_before", "twelve_hours", "change_last"}
    assert not [name for name in (*words.lists, *words.tables) if f'"{name}"' not in source]


def test_a_missing_or_unknown_key_is_named() -> None:
    missing, unknown = _document("en"), _document("en")
    del missing["agreement"]["meta"]
    unknown["times"]["clock"] = "tick"

    with pytest.raises(ValueError, match=r"^xx.yaml: agreement: missing are \['meta'\], unknown are none\.$"):
        load_words(missing, "xx.yaml")
    with pytest.raises(ValueError, match=r"^xx.yaml: times: missing are none, unknown are \['clock'\]\.$"):
        load_words(unknown, "xx.yaml")


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("agreement", "yes", ["yes"]),
        ("times", "half_before", "no"),
        ("numbers", "small", {"one": "many"}),
        ("dates", "feasts", {"easter": {"month": 4}}),
        ("wordings", "yes", True),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(section: str, key: str, value: object) -> None:
    document = _document("en")
    document[section][key] = value

    with pytest.raises(ValueError, match=rf"^xx.yaml: {section}.{key} cannot be read\.$"):
        load_words(document, "xx.yaml")
