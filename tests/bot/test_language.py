"""The language of short questions, learned from the catalog itself."""

from collections.abc import Mapping

import pytest

from bot import Catalog, LanguageDetector
from bot.testing import HOSTILE_TEXTS

GERMAN = [
    "Tut das weh?",
    "was kostet das",
    "wie lange dauerts",
    "Deo vorher erlaubt?",
    "Muss ich nüchtern",
    "schadet die Strahlung",
    "bin ich schwanger",
    "Wer macht das",
    "und bei Implantaten",
    "wann kommt Ergebnis",
]
ENGLISH = [
    "Does it hurt?",
    "how much cost",
    "how long takes",
    "deodorant before it?",
    "is radiation harmful",
    "when results come",
    "who does it",
    "what about implants",
    "can husband come",
    "need a referral",
]


@pytest.fixture(scope="module")
def detector(shipped_catalogs: Mapping[str, Catalog]) -> LanguageDetector:
    return LanguageDetector(
        {
            language: [text for pair in catalog.pairs for text in (pair.question, pair.answer)]
            + [variant.text for pair in catalog.pairs for variant in pair.variants]
            for language, catalog in shipped_catalogs.items()
        }
    )


@pytest.mark.parametrize("text", GERMAN)
def test_three_german_words_are_enough(detector: LanguageDetector, text: str) -> None:
    assert detector.detect(text, fallback="en") == "de"


@pytest.mark.parametrize("text", ENGLISH)
def test_three_english_words_are_enough(detector: LanguageDetector, text: str) -> None:
    assert detector.detect(text, fallback="de") == "en"


@pytest.mark.parametrize("fallback", ["de", "en"])
@pytest.mark.parametrize("text", ["", "?", "123", "😢", "☎ ☎"])
def test_text_without_a_sign_stays_in_the_language_of_the_conversation(
    detector: LanguageDetector, text: str, fallback: str
) -> None:
    assert detector.detect(text, fallback=fallback) == fallback


def test_an_unknown_fallback_is_replaced_by_a_language_of_the_catalog(detector: LanguageDetector) -> None:
    assert detector.detect("", fallback="fr") == "de"


def test_a_catalog_of_one_language_knows_only_that() -> None:
    assert LanguageDetector({"en": ["does it hurt"]}).detect("Tut das weh?", fallback="de") == "en"


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_any_text_has_a_language(detector: LanguageDetector, hostile: str) -> None:
    assert detector.detect(hostile, fallback="de") in ("de", "en")
