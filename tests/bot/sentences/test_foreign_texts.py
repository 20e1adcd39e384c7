"""Sentences in languages that no catalog has: complete, with the right number, and guarded like all others."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import bot.matching.foreign as recognition
from bot.catalog.countries import LINES
from bot.errors import GuardViolation
from bot.sentences.foreign_texts import FOREIGN_TEXTS, RIGHT_TO_LEFT, URGENT, foreign_key, written_in
from bot.sentences.reply import Place, Reply, foreign_sentence, guard, interface, read_reply, worded, write_reply

WANTED = "tr ar uk ru fr it es pt pl ro sq hr hu el ta fa ps ku ti so vi zh th hi bg nl cs bs sr"


@pytest.mark.parametrize("language", WANTED.split())
def test_every_language_of_the_street_is_told_in_its_own_words(language: str) -> None:
    own = written_in(language, "")

    assert own
    texts = FOREIGN_TEXTS[own]
    assert set(texts) == set(FOREIGN_TEXTS["tr"])
    assert all(text.strip() and "{" not in text and "\n" not in text for text in texts.values())
    assert len({texts[key] for key in ("foreign", "foreign_german", "foreign_english", URGENT)}) == 4


@pytest.mark.parametrize("language", sorted(FOREIGN_TEXTS))
def test_the_number_is_that_of_the_country(language: str) -> None:
    for country, lines in LINES.items():
        for key in ("foreign", "foreign_german", URGENT):
            assert lines.emergency in FOREIGN_TEXTS[language][f"{key}_{country.lower()}"]
    assert {"112", "144", "999"} <= set(FOREIGN_TEXTS[language][URGENT].replace(")", " ").replace(",", " ").split())


def test_languages_that_are_recognised_and_told_something_have_emergency_phrases() -> None:
    path = Path(recognition.__file__).parent / "foreign_words" / "emergencies.yaml"
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    phrases = {each.removesuffix("-latn") for each in written}  # Arabic in Latin letters is answered in its own

    assert phrases <= set(FOREIGN_TEXTS)
    assert set(FOREIGN_TEXTS) - phrases == {"de", "en", "sk"}  # those with rules; and Slovak, which nobody wrote yet


def test_the_catalogs_languages_choose_the_sentence() -> None:
    assert [foreign_key(each) for each in (("de", "en"), ("en", "de"), ("de",), ("en",))] == [
        "foreign", "foreign", "foreign_german", "foreign_english",
    ]  # fmt: skip
    assert "Almanca ve İngilizce" in FOREIGN_TEXTS["tr"]["foreign"]
    assert "Almanca veya İngilizce" in FOREIGN_TEXTS["tr"]["foreign"]
    assert "İngilizce" not in FOREIGN_TEXTS["tr"]["foreign_german"]


def test_a_language_without_a_sentence_gets_that_of_the_chat() -> None:
    assert written_in("sv", "de") == "de"
    assert written_in("bs", "de") == "hr"


def test_right_to_left_languages_are_marked() -> None:
    assert {"ar", "fa", "ps", "ur"} == RIGHT_TO_LEFT


def test_a_sentence_in_another_language_passes_the_guard_and_is_read_back_as_it_was() -> None:
    reply = Reply("de", (foreign_sentence("ar", "foreign"), interface("de", "ask_away")))
    there = worded(reply, Place("page", "CH"))

    assert guard(there, None, shown=frozenset()) is there
    assert read_reply(write_reply(there)) == there
    assert there.parts[0].text == FOREIGN_TEXTS["ar"]["foreign_ch"]


def test_a_sentence_that_is_not_of_its_language_is_refused() -> None:
    part = foreign_sentence("tr", "foreign")
    forged = [
        replace(part, text=part.text + " "),
        replace(part, language="fr"),
        replace(part, language="xx"),
        replace(part, language=""),
        replace(part, key="urgent"),
    ]

    for each in forged:
        with pytest.raises(GuardViolation, match="not approved text"):
            guard(Reply("en" if not each.language else "de", (each,)), None, shown=frozenset())
